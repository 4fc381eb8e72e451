"""What of a tagged answer reaches a person: the plain text, whatever the chunking."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.flows.companion.tags import TagDecoder

HEAD = "<thinking>\nMode: NEEDS\nUserIntensity: 7\nStrategy: zzz\n</thinking>"
SHORT = (
    "<draft>z</draft>a b.",
    "a.<draft>z</draft>b",
    "<thinking>z",
    "z</thinking>ab",
    "<draft z\na",
    "<thinking>z<draft>z</draft>z</thinking>a",
    "&lt;draft&gt;z&lt;/draft&gt;a",
    "a < b & c",
    "<dispatch>z</dispatch >a<thi",
)
"""Everything that is to stay hidden is the letter z."""


def fed(pieces) -> tuple[str, str, object]:
    """(what came out as it streamed, the whole text, the payload)."""
    decoder, out = TagDecoder(), []
    for piece in pieces:
        out += decoder.feed(piece)
    draft = decoder.finish()
    return "".join(out), draft.text, draft.payload


@pytest.mark.requirement("CM-02")
@pytest.mark.parametrize("message", SHORT)
def test_every_way_to_cut_a_short_answer_gives_the_same_and_hides_the_same(message):
    _, whole, payload = fed([message])
    assert "z" not in whole
    cuts = range(1, len(message))
    sizes = range(len(message)) if len(message) < 15 else (1, 2, 3, len(message) - 1)
    for size in sizes:
        for places in combinations(cuts, size):
            ends = (0, *places, len(message))
            pieces = [message[a:b] for a, b in pairwise(ends)]
            streamed, text, same = fed(pieces)
            assert (text, same) == (whole, payload)
            assert whole.startswith(streamed)


PLAIN = st.text(alphabet="ab c.,!\n<>&/'é", max_size=25).map(lambda text: text.replace("/", ""))
HIDDEN = st.text(alphabet="zZ 9.\n&", min_size=1, max_size=25)
NAME = st.sampled_from(["thinking", "Draft", "DISPATCH", "think", "reasoning"])


@st.composite
def answers(draw):
    """Parts that begin with a tag; what is inside is made of z, Z and 9 alone."""
    parts = [HEAD]
    for _ in range(draw(st.integers(0, 4))):
        name = draw(NAME)
        kind = draw(st.sampled_from(["plain", "closed", "nested", "spaced", "unclosed"]))
        body = draw(HIDDEN)
        parts.append(
            {
                "plain": draw(PLAIN),
                "closed": f"<{name}>{body}</{name}>",
                "nested": f"<{name}>{body}<draft>{body}</draft>{body}</{name}>",
                "spaced": f"< {name} >{body}</ {name} >",
                "unclosed": f"<{name}>{body}",
            }[kind]
        )
    return "".join(parts)


@pytest.mark.requirement("CM-02")
@settings(max_examples=150, deadline=None)
@given(answers(), st.lists(st.integers(1, 12), min_size=1, max_size=60))
def test_nothing_inside_a_tag_comes_out_of_a_long_answer_at_any_chunking(message, sizes):
    pieces, at, turn = [], 0, 0
    while at < len(message):
        step = sizes[turn % len(sizes)]
        pieces.append(message[at : at + step])
        at, turn = at + step, turn + 1
    streamed, text, payload = fed(pieces)
    assert not set(text) & set("zZ9")
    assert (text, payload) == fed([message])[1:]
    assert text.startswith(streamed)


@pytest.mark.requirement("CM-02")
def test_plain_text_comes_out_as_soon_as_it_is_certain():
    decoder = TagDecoder()
    assert decoder.feed(HEAD) == ()
    assert "".join(decoder.feed("\n\nI hear you. ")) == "I hear you. "
    assert "".join(decoder.feed("Go on")) == "Go on"


@pytest.mark.requirement("CM-02")
def test_the_fields_are_read_and_values_out_of_range_are_unknown():
    *_, tags = fed([HEAD + "<draft> D </draft><dispatch>PAUSE</dispatch>Hello."])
    assert (tags.mode, tags.intensity, tags.draft, tags.dispatch) == ("NEEDS", 7, "D", "PAUSE")
    *_, tags = fed(["<thinking>\nMode: SLEEP\nUserIntensity: 70\n</thinking>Hello."])
    assert (tags.mode, tags.intensity, tags.heard) == (None, None, None)


@pytest.mark.requirement("CM-02")
@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("I hear you.", "I hear you."),
        ("I hear you. <th", "I hear you. "),
        ("Mode: WITNESS\nStrategy: zzz\n\nI hear you.", "I hear you."),
        ("Strategy: zzz\n\nzz</thinking>\nI hear you.", "I hear you."),
        ("<thinking>z</thinking>I hear.\nUserIntensity: 4\nGo on.", "I hear.\nGo on."),
        ("<thinking>zzz", ""),
        ("<thinking>z</draft>I hear you.", ""),
        ("", ""),
    ],
)
def test_a_missing_or_broken_tag_neither_leaks_nor_blocks(message, shown):
    for size in (1, 2, 5, len(message) or 1):
        pieces = [message[at : at + size] for at in range(0, len(message), size)]
        assert fed(pieces)[1] == shown
