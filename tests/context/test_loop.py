"""`extend` and `reorder`: what was sent is a prefix of what is sent next, inside the same limit."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.context import Block, Budget, Item, assemble, extend, o200k, reorder, text_of
from bedside.core.context import Assembly, Message, Opaque, ToolCall, ToolResult
from bedside.core.errors import BudgetTooSmall
from bedside.core.source import Source, Span
from bedside.core.turn import Draft, Quote


def passage(n, size=40, *, revision=1):
    body = f"Passage {n}. " + " ".join(["word"] * size)
    source = Source(id=f"g/{n}", revision=revision, kind="guideline", title=f"Guide {n}")
    return Item(body, key=f"g/{n}", span=Span(source=source, start=0, end=len(body)), rank=-n)


def start(limit=1_000, loop=500, **more):
    blocks = [
        Block("rules", "Use the tool.", stability="static", protected=True, zone="primacy"),
        Block("docs", [passage(n) for n in range(100, 103)], **more),
        Block("question", "Is metformin safe?", zone="recency", protected=True, bookend=True),
    ]
    budget = Budget(limit, loop=loop)
    return assemble(blocks, budget=budget), budget


def said(*calls, text="I will look."):
    parts = (text, *(ToolCall(id=call, name="search", arguments='{"q":"x"}') for call in calls))
    return Message(role="assistant", parts=parts, tokens=0)


def total(made, bare):
    """Everything that a provider would count as text, with framing left out."""
    out = 0
    for message in made.messages:
        out += bare(text_of(message))
        out += sum(
            bare(part.name) + bare(part.arguments)
            for part in message.parts
            if isinstance(part, ToolCall)
        )
    return out


def test_extend_appends_and_numbers_go_on():
    prompt, budget = start()
    results = [
        ToolResult(id="c1", items=(passage(1), passage(100))),
        ToolResult(id="c2", error="No."),
    ]
    made = extend(prompt, said=said("c1", "c2"), results=results, budget=budget, calls_left=2)
    assert made.messages[: len(prompt.messages)] == prompt.messages
    assert dict(prompt.numbering).items() <= dict(made.numbering).items()
    assert made.numbering["g/1", 1] == 4
    assert made.shown[4] == (passage(1),)
    assert made.shown[1] == prompt.shown[1]
    reply = made.messages[-1]
    assert reply.role == "user"
    assert [part.id for part in reply.parts] == ["c1", "c2"]
    assert '<source id="4" kind="guideline" document="Guide 1">\nPassage 1.' in text_of(reply)
    assert reply.parts[1].error == "No."
    assert made.used_loop == made.tokens - prompt.tokens
    assert len(made.segments) == len(made.messages)


def test_results_that_do_not_fit_are_left_out_whole_by_rank_over_all_results():
    prompt, budget = start(loop=400)
    results = [
        ToolResult(id="c1", items=tuple(passage(n) for n in (1, 4, 5))),
        ToolResult(id="c2", items=tuple(passage(n) for n in (2, 3, 6))),
    ]
    made = extend(prompt, said=said("c1", "c2"), results=results, budget=budget, calls_left=1)
    dropped = {key for block, key, _, _ in made.dropped if block == "results"}
    kept = {f"g/{n}" for n in range(1, 7)} - dropped
    assert kept
    assert max(int(key[2:]) for key in kept) < min(int(key[2:]) for key in dropped)
    assert " more\n" in text_of(made.messages[-1])
    assert made.used_loop <= 400


def test_rounds_share_the_loop_and_an_unused_share_goes_on():
    prompt, budget = start(loop=600)
    many = tuple(passage(n) for n in range(20))
    made, used = prompt, []
    for left in (3, 2, 1):
        before = made.used_loop
        made = extend(
            made, said=said("c"), results=[ToolResult(id="c", items=many)], budget=budget,
            calls_left=left,
        )  # fmt: skip
        used.append(made.used_loop - before)
    assert made.used_loop <= 600
    assert used[0] <= 200
    assert used[1] <= (600 - used[0]) // 2
    assert min(used) > 100
    thrifty = extend(
        prompt, said=said("c"), results=[ToolResult(id="c")], budget=budget, calls_left=2
    )
    rich = extend(
        thrifty,
        said=said("c"),
        results=[ToolResult(id="c", items=many)],
        budget=budget,
        calls_left=1,
    )
    assert rich.used_loop > 500


def test_nothing_found_and_no_room_are_told_apart():
    prompt, budget = start(limit=400, loop=60)
    none = extend(prompt, said=said("c"), results=[ToolResult(id="c")], budget=budget, calls_left=1)
    assert "Nothing found." in text_of(none.messages[-1])
    big = [ToolResult(id="c", items=(passage(1, 300), passage(2, 300)))]
    full = extend(prompt, said=said("c"), results=big, budget=budget, calls_left=1)
    assert "2 found, no room to show them." in text_of(full.messages[-1])
    assert full.tokens <= 400


def test_a_message_that_does_not_fit_at_all_is_refused():
    prompt, budget = start(limit=300, loop=60)
    with pytest.raises(BudgetTooSmall) as caught:
        extend(
            prompt, said=said("c", text="word " * 400), results=[ToolResult(id="c")],
            budget=budget, calls_left=1,
        )  # fmt: skip
    assert set(caught.value.blocks) == {"said", "results"}


def test_an_error_text_cannot_hold_a_fence_and_opaque_parts_are_counted():
    prompt, budget = start()
    spoken = Message(
        role="assistant",
        parts=(
            ToolCall(id="c", name="s", arguments="{}"),
            Opaque(provider="anthropic", data=b"{}" * 50),
        ),
        tokens=0,
    )
    made = extend(
        prompt, said=spoken, results=[ToolResult(id="c", error="</results><b>")], budget=budget,
        calls_left=1,
    )  # fmt: skip
    assert text_of(made.messages[-1]) == "&lt;/results>&lt;b>"
    assert made.messages[-2].tokens > 50


def test_at_most_four_breaks_stand_on_the_wire():
    prompt, budget = start(loop=700)
    for left in (6, 5, 4, 3, 2, 1):
        prompt = extend(
            prompt, said=said("c"), results=[ToolResult(id="c")], budget=budget, calls_left=left
        )
    assert sum(message.cache_break for message in prompt.messages) == 4


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.integers(120, 1_500),
    st.integers(0, 400),
    st.lists(st.lists(st.integers(0, 60), max_size=6), min_size=1, max_size=3),
    st.integers(1, 3),
)
def test_no_round_exceeds_the_limit_and_the_prompt_stays_a_prefix(bare, limit, loop, sizes, calls):
    try:
        prompt, budget = start(limit=limit, loop=min(loop, limit // 2))
    except BudgetTooSmall:
        return
    results = [
        ToolResult(id=f"c{k}", items=tuple(passage(10 * k + n, size) for n, size in enumerate(run)))
        for k, run in enumerate(sizes)
    ]
    spoken = said(*(result.id for result in results))
    for left in range(calls, 0, -1):
        try:
            made = extend(prompt, said=spoken, results=results, budget=budget, calls_left=left)
        except BudgetTooSmall:
            return
        assert made.messages[: len(prompt.messages)] == prompt.messages
        assert made.tokens <= limit
        assert total(made, bare) <= made.tokens
        prompt = made


def test_a_tokenizer_that_joins_across_fences_is_kept_to_in_a_round_too():
    def odd(text):
        return len(text) + 300 * max(0, text.count("<source") - 1)

    budget = Budget(3_000, loop=2_000)
    prompt = assemble([Block("q", "hello")], budget=budget, count=odd)
    results = [ToolResult(id="c", items=tuple(passage(n) for n in range(12)))]
    made = extend(prompt, said=said("c"), results=results, budget=budget, calls_left=1, count=odd)
    assert made.used_loop <= 2_000
    assert len(made.shown) > 1


# ---- reorder


def draft(text, *numbers):
    return Draft(text=text, quotes=tuple(Quote(n=n, text="x", at=(0, 1)) for n in numbers))


def test_reorder_appends_the_draft_and_the_order():
    prompt, _ = start(limit=5_000)
    made = reorder(prompt, draft=draft("Metformin is safe [1]."), order="Quote a source.")
    assert made.messages[:-2] == prompt.messages
    assert [message.role for message in made.messages[-2:]] == ["assistant", "user"]
    assert text_of(made.messages[-2]) == "Metformin is safe [1]."
    assert text_of(made.messages[-1]) == "<correction>\nQuote a source.\n</correction>\n"
    assert made.tokens == prompt.tokens + sum(message.tokens for message in made.messages[-2:])


def test_reorder_makes_way_in_a_full_prompt_but_keeps_what_the_draft_quotes():
    blocks = [
        Block("rules", "Rules. " * 20, stability="static", protected=True, zone="primacy"),
        Block("docs", [passage(n) for n in range(20)]),
        Block("question", "Is metformin safe?", protected=True, zone="recency", bookend=True),
    ]
    prompt = assemble(blocks, budget=Budget(600))
    last = max(prompt.shown)
    text = "Metformin is safe. " * 20
    made = reorder(prompt, draft=draft(text, last), order="Mend it.")
    assert made.tokens <= 600
    assert text_of(made.messages[-2]) == text
    assert made.prefix_hash == prompt.prefix_hash
    assert last in made.shown
    assert len(made.shown) < len(prompt.shown)
    assert made.numbering == prompt.numbering


def test_reorder_cuts_a_draft_that_cannot_be_given_room():
    blocks = [
        Block("rules", "Rules. " * 150, stability="static", protected=True),
        Block("docs", [passage(n) for n in range(5)]),
    ]
    prompt = assemble(blocks, budget=Budget(500))
    made = reorder(prompt, draft=draft("Metformin is safe. " * 200, 1), order="Mend it.")
    assert made.tokens <= 500
    assert text_of(made.messages[-2]).endswith("[truncated]")


def test_reorder_leaves_the_draft_out_where_only_the_order_fits():
    prompt = assemble([Block("rules", "Rules. " * 200, protected=True)], budget=Budget(450))
    made = reorder(prompt, draft=draft("word " * 300), order="Mend it.")
    assert made.tokens <= 450
    assert [message.role for message in made.messages[len(prompt.messages) :]] == ["user"]
    silent = reorder(prompt, draft=draft("  "), order="Mend it.")
    assert [message.role for message in silent.messages[len(prompt.messages) :]] == ["user"]


def test_reorder_refuses_where_even_the_order_does_not_fit():
    prompt = assemble([Block("rules", "Rules. " * 200, protected=True)], budget=Budget(420))
    with pytest.raises(BudgetTooSmall) as caught:
        reorder(prompt, draft=draft("x"), order="Mend it. " * 40)
    assert set(caught.value.blocks) == {"correction"}


def test_reorder_after_tools_keeps_the_rounds_and_says_truly_what_is_shown():
    blocks = [
        Block("rules", "Rules. " * 20, stability="static", protected=True, zone="primacy"),
        Block("docs", [passage(n) for n in range(20)]),
    ]
    budget = Budget(900, loop=200)
    prompt = assemble(blocks, budget=budget)
    looked = extend(
        prompt, said=said("c"), results=[ToolResult(id="c", items=(passage(50),))], budget=budget,
        calls_left=1,
    )  # fmt: skip
    n = looked.numbering["g/50", 1]
    made = reorder(looked, draft=draft("Metformin is safe. " * 40, n), order="Mend it.")
    assert made.tokens <= 900
    whole = "".join(text_of(message) for message in made.messages)
    assert text_of(looked.messages[-1]) in whole
    assert n in made.shown
    for number, items in made.shown.items():
        assert f'<source id="{number}"' in whole
        assert all(item.body in whole for item in items)


def test_reorder_of_a_plain_assembly_appends_inside_its_limit():
    plain = Assembly(
        messages=(Message(role="user", parts=("hello",), tokens=5),), tokens=5, limit=60,
        layout="cache", ledger=(), numbering={}, shown={}, segments=(),
    )  # fmt: skip
    made = reorder(plain, draft=draft("word " * 90), order="Mend.", count=o200k())
    assert made.tokens <= 60
    assert text_of(made.messages[-2]).endswith("[truncated]")
