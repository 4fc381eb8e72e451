"""Comparable text and its map."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bedside.language.normalise import normalise, plain


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("cafe\u0301 noir", "café noir"),
        ("a\r\nb", "a\nb"),
        ("two  blanks\u00a0here", "two blanks here"),
        ("“Don’t”", '"Don\'t"'),
        ("5–10 mg", "5-10 mg"),
        ("\u2212 5", "- 5"),
        ("soft\u00adhyphen", "softhyphen"),
        ("ﬁbrosis of the oﬃce", "fibrosis of the office"),
        ("zero\u200bwidth", "zerowidth"),
        ("hyper-\ntension", "hypertension"),
        ("beta-\n  blocker", "beta-blocker"),
        ("5-\n10 mg", "5-10 mg"),
        ("50 µg", "50 μg"),
        ("K &lt; 3.5 &amp;amp; falling", "K < 3.5 & falling"),
        ("👩\u200d⚕\ufe0f seen", "👩⚕ seen"),
        ("ＡＢＣ １２", "ABC 12"),
        ("\u1112\u1161\u11ab", "한"),
    ],
)
def test_spellings_of_the_same_words_become_the_same_text(left, right):
    assert plain(left) == plain(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("5 mg", "50 mg"),
        ("10⁹/L", "109/L"),
        ("5 mg", "5 Mg"),
        ("1.5", "15"),
        ("m²", "m2"),
        ("½", "1/2"),
        ("no pain", "pain"),
        ("5 - 10", "5 10"),
        ("-5", "5"),
    ],
)
def test_different_words_and_figures_stay_different(left, right):
    assert plain(left) != plain(right)


text = st.text(
    alphabet=st.sampled_from(
        "ab1 5-–\u00ad\u200b\n\r\t.e\u0301é\ufb01“’µ&lt;amp;👍\u200d\ufe0f\u00a0ｘ\u1112\u1161"
    ),
    max_size=40,
)


@given(text)
def test_the_map_points_into_the_original_and_never_falls(original):
    made = normalise(original)
    assert len(made.text) == len(made.starts) == len(made.ends)
    assert made.size == len(original)
    assert list(made.starts) == sorted(made.starts)
    assert list(made.ends) == sorted(made.ends)
    for char, start, end in zip(made.text, made.starts, made.ends, strict=True):
        assert 0 <= start < end <= len(original)
        if char.isascii() and char.isalnum() and end - start == 1 and original[start].isascii():
            assert original[start] == char


@given(text)
def test_making_comparable_twice_changes_nothing_more_for_plain_letters(original):
    once = plain(original)
    if "&" not in once and "-" not in once:
        assert plain(once) == once


@given(st.text(max_size=60))
def test_composition_never_matters(original):
    assert plain(unicodedata.normalize("NFC", original)) == plain(
        unicodedata.normalize("NFD", original)
    )
