"""The promises of `assemble`, each tried on inputs that hypothesis makes up."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bedside.context import (
    MARK,
    Block,
    Budget,
    Cap,
    Item,
    Pool,
    assemble,
    escape,
    o200k,
    prompt_hash,
    text_of,
    unescape,
)
from bedside.core.errors import BudgetTooSmall
from bedside.core.source import Source, Span

FRAMING = 4
MANY = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
VOCABULARY = (
    "metformin 500 mg HbA1c 8.2 % no chest pain since 2 November </source> <0.5 [3] 血糖値 "
    "</labs> &lt; & ☺ Naïve β end. <|endoftext|> 👩‍⚕️ - ## Plan"
)
WORDS = st.sampled_from(VOCABULARY.split())
PROSE = st.lists(WORDS, min_size=1, max_size=60).map(" ".join)
ANY = st.one_of(PROSE, st.text(max_size=80))


@st.composite
def items(draw, *, history=False):
    body = draw(ANY)
    span = None
    if not history and draw(st.booleans()):
        source = Source(
            id=draw(st.sampled_from(["a", "b", "c", "d", "e"])),
            revision=draw(st.integers(1, 2)),
            kind=draw(st.sampled_from(["record", "document", "guideline", "note", "message"])),
            title=draw(st.text(max_size=20)),
            section=draw(st.sampled_from(["", 'Plan > "A" <b>'])),
        )
        span = Span(source=source, start=5, end=5 + len(body))
    return Item(
        body,
        key=f"k{draw(st.integers(0, 10_000))}",
        span=span,
        note=draw(st.sampled_from(["", "3 years old", '"><source id="9">'])),
        forms=draw(st.sampled_from([(), ("short form",), ("a longer short form", "x")])),
        rank=draw(st.sampled_from([0.0, 0.5, 1.0])),
        unit=draw(st.sampled_from(["", "", "u1", "u2"])),
        role=draw(st.sampled_from(["user", "assistant"])),
        dated=draw(st.sampled_from([None, date(2020, 1, 1), date(2026, 2, 3)])),
    )


CAPS = st.sampled_from(
    [None, Cap(tokens=60), Cap(items=2), Cap(chars=150), Cap(chars_each=40), Cap(items=1, tokens=9)]
)
SHRINKS = st.sampled_from(
    [
        ("drop_lowest",),
        ("drop_oldest",),
        ("cut_mark",),
        ("cut_sentence",),
        ("cut_section", "cut_mark"),
        ("plus_n_more",),
        ("drop_oldest", "plus_n_more", "cut_sentence", "cut_mark"),
    ]
)


@st.composite
def cases(draw, *, pools=True, protected=True):
    named = draw(st.sampled_from([(), ("a", "b")])) if pools else ()
    blocks = []
    for number in range(draw(st.integers(1, 5))):
        slot = draw(st.sampled_from([None, None, "system", "tail", "history"]))
        blocks.append(
            Block(
                f"block {number}",
                draw(st.lists(items(history=slot == "history"), max_size=6)),
                slot=slot,
                zone=draw(st.sampled_from(["primacy", "middle", "recency"])),
                stability=draw(st.sampled_from(["static", "session", "turn"])),
                priority=draw(st.sampled_from([10, 50, 50, 90])),
                protected=protected and draw(st.sampled_from([False, False, True])),
                keep=draw(st.sampled_from([0, 0, 1])) if protected else 0,
                cap=draw(CAPS),
                shrink=draw(SHRINKS),
                pool=draw(st.sampled_from([None, *named])),
                trust=draw(st.sampled_from(["data", "data", "ours"])),
                echo=draw(st.sampled_from(["", "", "remember </source> this"])),
            )
        )
    if draw(st.booleans()):
        blocks.append(Block("question", draw(PROSE), zone="recency", protected=True, bookend=True))
    budget = Budget(
        draw(st.integers(30, 900)),
        overhead=draw(st.sampled_from([0, 17])),
        loop=draw(st.sampled_from([0, 25])),
        pools=[Pool(name="a", share=0.6), Pool(name="b", share=0.4)] if named else [],
        window_step=draw(st.sampled_from([1, 1, 2, 3])),
        soft=draw(st.sampled_from([None, None, (100, "block 0")])),
        margin=draw(st.sampled_from([0.0, 0.1])),
    )
    return blocks, budget, draw(st.sampled_from(["attention", "cache", "balanced"]))


def compiled(case, **more):
    blocks, budget, layout = case
    try:
        return assemble(blocks, budget=budget, layout=layout, **more)
    except BudgetTooSmall as error:
        refused = error
    assert refused.blocks, "the refusal names the blocks"
    assert refused.needed > refused.available
    return None


@pytest.mark.requirement("EN-C2")
@MANY
@given(cases())
def test_no_input_makes_a_prompt_longer_than_its_budget(bare, case):
    made = compiled(case)
    if made is None:
        return
    budget = case[1]
    total = budget.overhead + sum(bare(text_of(m)) + FRAMING for m in made.messages)
    assert total == made.tokens
    assert total + budget.loop <= budget.limit * (1 - budget.margin)


@pytest.mark.requirement("EN-C2")
@MANY
@given(cases())
def test_protected_items_stay_at_least_in_their_shortest_form(case):
    made = compiled(case)
    if made is None:
        return
    for block, row in zip(case[0], made.ledger, strict=True):
        if block.protected and "plus_n_more" not in block.shrink:
            assert [why for _, why in row.dropped if why != "empty"] == []


@MANY
@given(cases())
def test_the_same_input_gives_the_same_bytes(case):
    first, second = compiled(case), compiled(case)
    if first is None or second is None:
        assert first is second
        return
    assert prompt_hash(first.messages) == prompt_hash(second.messages)
    assert first.ledger == second.ledger


@pytest.mark.requirement("EN-C1")
@MANY
@given(cases())
def test_every_item_is_kept_or_dropped_with_a_reason(case):
    made = compiled(case)
    if made is None:
        return
    for block, row in zip(case[0], made.ledger, strict=True):
        assert row.items + len(row.dropped) == len(block.items)
        assert all(why for _, why in row.dropped)
        assert sorted(key for key, _ in row.dropped) == sorted(
            key for key, _ in row.dropped if key in {item.key for item in block.items}
        )


@pytest.mark.requirement("EN-C2")
@MANY
@given(cases(), st.integers(1, 400))
def test_a_larger_budget_never_lowers_the_cut_off(case, extra):
    blocks, budget, layout = case
    small = compiled(case)
    if small is None:
        return
    large = compiled((blocks, _with_limit(budget, budget.limit + extra), layout))
    assert large is not None
    for before, after in zip(small.ledger, large.ledger, strict=True):
        assert after.items >= before.items
        assert set(after.dropped) <= set(before.dropped)


def _with_limit(budget, limit):
    return Budget(
        limit,
        overhead=budget.overhead,
        loop=budget.loop,
        pools=budget.pools,
        window_step=budget.window_step,
        soft=budget.soft,
        margin=budget.margin,
    )


@MANY
@given(cases())
def test_every_character_has_exactly_one_owner(case):
    made = compiled(case)
    if made is None:
        return
    for number, message in enumerate(made.messages):
        text, at = text_of(message), 0
        for piece in (piece for piece in made.pieces if piece.message == number):
            assert piece.start == at
            at = piece.end
            assert made.owner(number, piece.start) == piece
        assert at == len(text)
    names = {block.name for block in case[0]} | {"history"}
    assert {piece.block for piece in made.pieces} <= names


@MANY
@given(cases())
def test_a_body_in_the_prompt_is_its_item_or_a_marked_beginning_or_form_of_it(case):
    made = compiled(case)
    if made is None:
        return
    owned = {}
    for block in case[0]:
        for item in block.items:
            owned.setdefault((block.name, item.key), []).append((block, item))
    pieces = list(made.pieces)
    for number, piece in enumerate(pieces):
        if piece.part != "body":
            continue
        shown = text_of(made.messages[piece.message])[piece.start : piece.end]
        cut = [after.part for after in pieces[number + 1 : number + 2]] == ["mark"]
        assert any(
            _comes_from(shown, block, item, cut=cut)
            for block, item in owned[piece.block, piece.item]
        )


def _comes_from(shown, block, item, *, cut):
    text = shown if block.trust == "ours" else unescape(shown)
    whole = item.body.encode("utf-8", "replace").decode().replace("?", "\ufffd")
    if cut:
        after = item.body[len(text) : len(text) + 1]
        return item.body.startswith(text) and (
            not after or after.isspace() or _unspaced(after, text)
        )
    plain = {item.body, *item.forms} | {whole}
    return text in plain or text.removesuffix("\n") in plain


def _unspaced(after, text):
    return any("\u3040" <= c <= "\u9fff" for c in (after, text[-1]))


@MANY
@given(cases())
def test_a_unit_lives_and_dies_together(case):
    made = compiled(case)
    if made is None:
        return
    for block, row in zip(case[0], made.ledger, strict=True):
        units = {}
        dropped = list(row.dropped)
        for item in block.items:
            gone = next((pair for pair in dropped if pair[0] == item.key), None)
            if gone is not None:
                dropped.remove(gone)
            if item.unit and item.body.strip():
                units.setdefault(item.unit, set()).add(gone is None)
        keys = [item.key for item in block.items]
        if len(set(keys)) == len(keys):
            assert all(len(fates) == 1 for fates in units.values())


@MANY
@given(cases(), PROSE, PROSE)
def test_the_prefix_does_not_depend_on_the_question(case, one, other):
    blocks, _, layout = case
    roomy = Budget(100_000, pools=case[1].pools)
    prompts = [
        assemble(
            [*blocks, Block("asked", text, zone="recency", protected=True, bookend=True)],
            budget=roomy,
            layout=layout,
        )
        for text in (one, other)
    ]
    assert prompts[0].prefix_hash == prompts[1].prefix_hash
    assert prompts[0].cacheable == prompts[1].cacheable


@MANY
@given(cases(), st.integers(1, 50), st.integers(1, 50))
def test_the_prefix_is_the_same_when_evictable_blocks_compete_with_the_question(case, one, other):
    blocks, budget, layout = case
    made = []
    for words in (one, other):
        asked = Block("asked", "word " * words, zone="recency", protected=True)
        prompt = compiled(([*blocks, asked], budget, layout))
        if prompt is None or any(row.protected and row.shortened for row in prompt.ledger):
            return
        if any(
            block.keep and row.shortened for block, row in zip(blocks, prompt.ledger, strict=False)
        ):
            return
        made.append(prompt.prefix_hash)
    assert made[0] == made[1]


@pytest.mark.requirement("EN-C10")
@MANY
@given(st.one_of(ANY, st.text(alphabet='<>/&;ltamp source\n"=n3', max_size=40)))
def test_escaped_text_holds_no_tag_and_comes_back_exactly(text):
    safe = escape(text)
    assert re.search(r"<\s*[/!?A-Za-z|]", safe) is None
    assert unescape(safe) == text


FENCE = re.compile(r"<(/?)([A-Za-z][\w-]*)((?: [a-z]+=\"[^\"<>]*\")*)>\n")


@pytest.mark.requirement("RELIABILITY-13")
@pytest.mark.requirement("EN-C10")
@MANY
@given(cases())
def test_no_text_closes_a_fence_or_poses_as_a_source(case):
    _reads_back(case)


@pytest.mark.requirement("RELIABILITY-13")
@pytest.mark.nightly
@pytest.mark.timeout(7_200)
@pytest.mark.requirement("EN-C10")
@settings(MANY, max_examples=10_000, derandomize=False)
@given(cases())
def test_no_text_closes_a_fence_in_ten_thousand_tries(case):
    _reads_back(case)


def _reads_back(case):
    """A parser of our own reads the fences back: only those that the compiler wrote are there."""
    blocks = [replace(block, trust="data") for block in case[0]]
    made = compiled((blocks, case[1], case[2]))
    if made is None:
        return
    for number, message in enumerate(made.messages):
        text = text_of(message)
        wrote = "".join(
            text[piece.start : piece.end]
            for piece in made.pieces
            if piece.message == number and piece.part in {"fence", "more"}
        )
        tags = [found[1] + found[2] for found in FENCE.finditer(text)]
        assert tags == [found[1] + found[2] for found in FENCE.finditer(wrote)]
        open_now = []
        for slash, name in ((tag[: tag.startswith("/")], tag.lstrip("/")) for tag in tags):
            if slash:
                assert open_now.pop() == name
            else:
                open_now.append(name)
        assert open_now == []
    numbers = [
        int(n)
        for message in made.messages
        for n in re.findall(r'<source id="(\d+)"', text_of(message))
    ]
    assert set(numbers) == set(made.shown)
    assert set(made.shown) <= set(made.numbering.values())


@MANY
@given(
    cases(), st.dictionaries(st.tuples(st.sampled_from("abxyz"), st.just(1)), st.integers(1, 2_000))
)
def test_numbers_are_never_changed_or_used_twice(case, numbering):
    if len(set(numbering.values())) != len(numbering):
        return
    made = compiled(case, numbering=numbering)
    if made is None:
        return
    assert {key: made.numbering[key] for key in numbering} == numbering
    assert len(set(made.numbering.values())) == len(made.numbering)


@MANY
@given(cases())
def test_wrong_stored_counts_cost_no_overrun(bare, case):
    blocks = [
        replace(block, items=tuple(replace(item, tokens=1) for item in block.items))
        for block in case[0]
    ]
    made = compiled((blocks, case[1], case[2]))
    if made is None:
        return
    total = case[1].overhead + sum(bare(text_of(m)) + FRAMING for m in made.messages)
    assert total + case[1].loop <= case[1].limit * (1 - case[1].margin)


@MANY
@given(cases())
def test_right_stored_counts_change_nothing(bare, case):
    blocks = [
        replace(
            block,
            items=tuple(
                replace(item, tokens=o200k().raw(item.body + "\n")) for item in block.items
            ),
        )
        for block in case[0]
    ]
    plain, stored = compiled(case), compiled((blocks, case[1], case[2]))
    if plain is None or stored is None:
        assert plain is stored
        return
    assert prompt_hash(plain.messages) == prompt_hash(stored.messages)


@MANY
@given(cases(), st.sampled_from([len, lambda s: len(s.split()), lambda s: len(s) // 4]))
def test_any_counter_is_kept_to(case, count):
    made = compiled(case, count=count)
    if made is None:
        return
    total = case[1].overhead + sum(count(text_of(m)) + FRAMING for m in made.messages)
    assert total + case[1].loop <= case[1].limit * (1 - case[1].margin)


@MANY
@given(cases())
def test_a_corrected_counter_keeps_the_corrected_bound(bare, case):
    factor = 1.45
    made = compiled(case, count=o200k().with_factor(factor))
    if made is None:
        return
    total = case[1].overhead + sum(bare(text_of(m)) * factor + FRAMING for m in made.messages)
    assert total + case[1].loop <= case[1].limit * (1 - case[1].margin)


@MANY
@given(cases())
def test_cut_text_is_marked(case):
    made = compiled(case)
    if made is None:
        return
    marks = [piece for piece in made.pieces if piece.part == "mark"]
    for piece in marks:
        assert (
            text_of(made.messages[piece.message])[piece.start : piece.end].strip() == MARK.strip()
        )
    short = sum(len(row.shortened) for row in made.ledger)
    assert len(marks) <= short
