"""The inline quote protocol, as it streams."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.core.turn import Quote
from bedside.grounding.prose import BROKEN, Prose, prompt_text


def merged(pieces: list[str | Quote]) -> list[str | Quote]:
    out: list[str | Quote] = []
    for piece in pieces:
        if isinstance(piece, str) and out and isinstance(out[-1], str):
            out[-1] += piece
        else:
            out.append(piece)
    return out


def decode(text: str) -> tuple[str, list[tuple[int, str]]]:
    decoder = Prose()
    decoder.feed(text)
    draft = decoder.finish()
    for quote in draft.quotes:
        if quote.n != BROKEN:
            assert draft.text[quote.at[0] : quote.at[1]] == f"[{quote.n}]"
    return draft.text, [(quote.n, quote.text) for quote in draft.quotes]


@pytest.mark.parametrize(
    ("written", "shown", "quotes"),
    [
        ('Was 8.2 % [3: "HbA1c 8.2 %"].', "Was 8.2 % [3].", [(3, "HbA1c 8.2 %")]),
        ("Was 8.2 % [3].", "Was 8.2 % [3].", [(3, "")]),
        ("a [3: “x]y”] b", "a [3] b", [(3, "x]y")]),
        ('a [source 3: "x"; 4: "y"] b', "a [3][4] b", [(3, "x"), (4, "y")]),
        ('a [3: "he said "no" twice"] b', "a [3] b", [(3, 'he said "no" twice')]),
        ("a [3: HbA1c 8.2] b", "a [3] b", [(3, "HbA1c 8.2")]),
        (
            "range [3.5-5.0], [see below], [ ] and [12:30]",
            "range [3.5-5.0], [see below], [ ] and [12:30]",
            [],
        ),
        ("[12 March] x", "[12 March] x", []),
        ('a [3: "x', "a ", [(BROKEN, "")]),
        ('a [3: "x\n\nnext', "a \n\nnext", [(BROKEN, "")]),
        ("a [3", "a ", [(BROKEN, "")]),
        ("a [", "a [", []),
    ],
)
def test_markup_becomes_markers_and_quotes_and_other_brackets_stay(written, shown, quotes):
    assert decode(written) == (shown, quotes)


def test_markup_longer_than_any_quote_is_hidden_up_to_its_limit():
    shown, quotes = decode('a [3: "' + "x" * 3000)
    assert quotes == [(BROKEN, "")]
    assert '[3: "' not in shown


piece = st.sampled_from(
    ['[3: "', '"]', "[", "]", '"', "3", ":", " ", "[4]", "mg 5.", "\n", "\n\n", "; 5: ", "“", "”", "[1, 2]",
     "source ", "n=", "x]y", "ß", "'", "[n 7", "é"]
)  # fmt: skip


@settings(max_examples=300)
@given(st.lists(piece, max_size=25).map("".join), st.data())
def test_any_cutting_of_the_stream_gives_the_same_pieces(text, data):
    whole = Prose()
    expected = merged(list(whole.feed(text)))
    draft = whole.finish()
    cut = Prose()
    found: list[str | Quote] = []
    at = 0
    while at < len(text):
        size = data.draw(st.integers(1, 5))
        found += cut.feed(text[at : at + size])
        at += size
    assert merged(found) == expected
    assert cut.finish() == draft


@settings(max_examples=300)
@given(st.lists(piece, max_size=25).map("".join))
def test_markup_never_leaks_into_the_text(text):
    shown, _ = decode(text)
    assert '[3: "' not in shown


def test_the_prompt_shows_the_form_that_the_decoder_reads():
    example = 'HbA1c was 8.2 % in November [3: "HbA1c 8.2 %"].'
    assert example in prompt_text()
    assert decode(example) == ("HbA1c was 8.2 % in November [3].", [(3, "HbA1c 8.2 %")])
