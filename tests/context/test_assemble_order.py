"""What `assemble` keeps and in which order: zones, layouts, echoes, breaks."""

from __future__ import annotations

import re
from datetime import date

import pytest

from bedside.context import (
    Block,
    Budget,
    Cap,
    Item,
    assemble,
    o200k,
    text_of,
)
from bedside.context.cut import longest_cut, word_ends
from bedside.core.errors import BudgetTooSmall
from bedside.core.source import Source, Span

ROOMY = Budget(50_000)


def words(n, word="word"):
    return " ".join([word] * n)


def said(made):
    return "".join(text_of(message) for message in made.messages)


def by_role(made, role):
    return [text_of(message) for message in made.messages if message.role == role]


def row(made, name):
    return next(one for one in made.ledger if one.block == name)


def record(id_, text, *, day=None, kind="record", revision=1, title=""):
    source = Source(id=id_, revision=revision, kind=kind, title=title, dated=day)
    return Item(text, key=id_, span=Span(source=source, start=0, end=len(text)))


# ---- API.md's recipe


COPILOT = [
    Block("identity", "You help a doctor.", zone="primacy", stability="static", protected=True),
    Block("guardrails", "Cite every claim. " * 5, zone="recency", stability="static",
          protected=True, echo="Cite every claim."),
    Block("allergies", "Penicillin: anaphylaxis", zone="primacy", stability="session",
          protected=True, echo="Allergies: penicillin."),
    Block("summary", "Earlier they spoke of asthma.", stability="session"),
    Block("record", ["HbA1c 8.2 %", "eGFR 38"], zone="middle"),
    Block("upload", "The new letter.", zone="recency"),
    Block("history", [Item("Hello?", unit="1"), Item("Yes.", unit="1", role="assistant")],
          slot="history"),
    Block("question", "Is metformin safe?", zone="recency", protected=True, bookend=True),
]  # fmt: skip


def order_of(made, *texts):
    whole = said(made)
    assert all(text in whole for text in texts)
    return sorted(texts, key=whole.index)


@pytest.mark.requirement("EN-C5")
@pytest.mark.parametrize("layout", ["attention", "cache", "balanced"])
def test_the_question_stands_at_both_ends_of_the_changing_part(layout):
    tail = by_role(assemble(COPILOT, budget=ROOMY, layout=layout), "user")[-1]
    assert tail.startswith("<question>\nIs metformin safe?\n</question>\n")
    assert tail.endswith("<question>\nIs metformin safe?\n</question>\n")


@pytest.mark.requirement("EN-C5")
def test_a_long_question_is_cut_visibly_at_the_head_and_never_at_the_end():
    question = " ".join(f"word{n}" for n in range(900))
    made = assemble(
        [Block("question", question, zone="recency", protected=True, bookend=True)], budget=ROOMY
    )
    opening, closing = re.findall(r"<question>\n(.*?)\n</question>", said(made), re.DOTALL)
    assert closing == question
    assert opening.endswith(" [truncated]")
    assert o200k().raw(opening) <= 500 < o200k().raw(question)


@pytest.mark.requirement("EN-C5")
def test_the_opening_bookend_gives_way_before_the_turn_is_refused():
    made = assemble(
        [Block("question", words(100), zone="recency", protected=True, bookend=True)],
        budget=Budget(140),
    )
    opening, closing = re.findall(r"<question>\n(.*?)\n</question>", said(made), re.DOTALL)
    assert closing == words(100)
    assert opening.endswith("[truncated]")


@pytest.mark.requirement("EN-C4")
@pytest.mark.parametrize("layout", ["attention", "cache", "balanced"])
def test_safety_lines_are_never_in_the_middle_alone(layout):
    made = assemble(COPILOT, budget=ROOMY, layout=layout)
    tail = by_role(made, "user")[-1]
    assert "Penicillin: anaphylaxis" in by_role(made, "system")[1]
    end = tail.rindex("Allergies: penicillin.")
    assert end > tail.index("The new letter.")
    assert end > tail.index("HbA1c")


def test_balanced_says_the_rules_at_both_ends_and_cache_only_at_the_end():
    for layout, times in (("balanced", 2), ("cache", 1)):
        tail = by_role(assemble(COPILOT, budget=ROOMY, layout=layout), "user")[-1]
        assert tail.count('<reminder of="guardrails">') == times
        assert tail.count('<reminder of="allergies">') == times


def test_cache_puts_what_is_stable_first_and_what_may_be_evicted_after_it():
    made = assemble(COPILOT, budget=ROOMY, layout="cache")
    system = by_role(made, "system")
    assert [text.split(">")[0] for text in system] == ["<identity", "<allergies", "<summary"]
    assert "<guardrails>" in system[0]
    assert [message.cache_break for message in made.messages] == [
        True, True, True, False, True, False,
    ]  # fmt: skip


def test_attention_puts_the_guardrails_last_and_keeps_only_primacy_in_the_system():
    made = assemble(COPILOT, budget=ROOMY, layout="attention")
    assert "<guardrails>" not in "".join(by_role(made, "system"))
    tail = by_role(made, "user")[-1]
    assert tail.index("HbA1c") < tail.index("The new letter.")
    assert tail.index("HbA1c") < tail.index("<guardrails>")


def test_an_echo_that_is_not_the_whole_text_stands_at_the_other_end():
    tail_block = Block(
        "asked", "The full question.", zone="primacy", protected=True, echo="In short."
    )
    last = Block("upload", "The letter.", zone="recency", echo="A letter\nis new.")
    whole = said(assemble([tail_block, last], budget=ROOMY))
    assert whole.startswith('<reminder of="upload">\nA letter is new.\n</reminder>\n<asked>')
    assert whole.endswith('<reminder of="asked">\nIn short.\n</reminder>\n')


def test_a_system_block_of_the_turn_stands_after_everything_stable():
    made = assemble(
        [
            Block("now", "Today.", slot="system"),
            Block("rules", "Rules.", stability="static", protected=True),
        ],
        budget=ROOMY,
    )
    assert by_role(made, "system") == ["<rules>\nRules.\n</rules>\n", "<now>\nToday.\n</now>\n"]
    assert [message.cache_break for message in made.messages] == [True, False]


# ---- caching


@pytest.mark.requirement("EN-C6")
def test_a_prefix_below_the_providers_minimum_counts_as_nothing():
    made = assemble(COPILOT, budget=ROOMY, minimum=4_096)
    assert made.cacheable == 0
    assert not any(message.cache_break for message in made.messages)
    assert made.prefix_hash
    roomy = assemble(COPILOT, budget=ROOMY)
    assert roomy.cacheable == sum(message.tokens for message in roomy.messages[:2])
    assert roomy.prefix_hash == made.prefix_hash


@pytest.mark.requirement("EN-C6")
def test_thirty_turns_keep_one_prefix_hash_and_every_prompt_fits():
    """Records, documents, summary, history and question change each turn; midnight passes."""
    numbering, history, seen, shared = {}, [], set(), []
    for turn in range(30):
        labs = [
            record(f"obs/{n}", f"HbA1c {n}.{turn} %", day=date(2026, 1, 1 + turn))
            for n in range(turn + 3)
        ]
        blocks = [
            Block("rules", "Answer from the sources. " * 40, zone="primacy", stability="static",
                  protected=True, trust="ours", echo="Cite."),
            Block("allergies", [record("allergy/1", "Penicillin: anaphylaxis")], zone="primacy",
                  stability="session", protected=True, echo="Allergies: penicillin."),
            Block("summary", f"Summary after {turn} turns.", stability="session", priority=20),
            Block("record", labs, priority=40),
            Block("history", history, slot="history", keep=1, cap=Cap(tokens=1_200), shrink="drop_oldest"),
            Block("question", f"Question {turn}? " * (1 + 7 * turn), zone="recency", protected=True, bookend=True),
        ]  # fmt: skip
        made = assemble(blocks, budget=Budget(2_000, window_step=3), numbering=numbering)
        assert made.tokens <= 2_000
        seen.add((made.prefix_hash, made.cacheable))
        shared.append([text_of(message) for message in made.messages[:2]])
        assert all(made.numbering[key] == n for key, n in numbering.items())
        numbering = made.numbering
        history = [
            *history,
            Item(f"Question {turn}?", unit=str(turn)),
            Item(f"Answer {turn}. " * 12, unit=str(turn), role="assistant"),
        ]
    assert len(seen) == 1
    assert all(texts == shared[0] for texts in shared)
    assert seen.pop()[1] > 150


def test_a_history_window_starts_on_whole_steps():
    history = [Item(words(20), key=f"t{n}", unit=str(n)) for n in range(11)]
    starts = set()
    for limit in range(60, 400, 10):
        made = assemble(
            [Block("history", history, slot="history", keep=1)],
            budget=Budget(limit, window_step=3),
        )
        starts.add(len(made.dropped))
    assert starts <= {0, 3, 6, 9, 10}
    assert {0, 3, 6} <= starts


# ---- rendering, numbering, provenance


def test_a_source_is_numbered_dated_and_its_note_stands_outside_the_quotable_body():
    item = record("obs/1", "HbA1c 8.2 %", day=date(2023, 5, 4))
    item = Item(item.body, key="obs/1", span=item.span, note='3 years old; "borderline"')
    made = assemble([Block("labs", [item])], budget=ROOMY)
    assert said(made) == (
        '<labs>\n<source id="1" kind="record" date="2023-05-04" derived="3 years old; '
        '&quot;borderline&quot;">\nHbA1c 8.2 %\n</source>\n</labs>\n'
    )
    assert made.shown == {1: (item,)}


def test_the_date_is_not_said_twice_and_a_superseded_edition_is_marked():
    source = Source(id="g", revision=2, kind="guideline", title='Asthma "2019" <b>', section="A > B",
                    dated=date(2019, 1, 1), superseded=True)  # fmt: skip
    item = Item("Valid 2019-01-01.", span=Span(source=source, start=0, end=17))
    text = said(assemble([Block("clinical_guidelines", [item])], budget=ROOMY))
    assert '<source id="1" kind="guideline" document="Asthma &quot;2019&quot; &lt;b&gt;"' in text
    assert ' section="A &gt; B" superseded="yes">' in text
    assert "date=" not in text


def test_one_revision_has_one_number_and_a_new_revision_another():
    items = [
        record("a", "one"),
        record("b", "two"),
        record("a", "three"),
        record("a", "x", revision=2),
    ]
    made = assemble([Block("labs", items)], budget=ROOMY, numbering={("b", 1): 7})
    assert made.numbering == {("b", 1): 7, ("a", 1): 8, ("a", 2): 9}
    assert [item.body for item in made.shown[8]] == ["one", "three"]


def test_numbers_above_999_stay_inside_the_budget():
    items = [record(f"r{n}", words(6)) for n in range(60)]
    made = assemble([Block("labs", items)], budget=Budget(400), numbering={("old", 1): 123_456})
    assert made.tokens <= 400
    assert made.tokens > 370


def test_what_is_shown_of_a_cut_source_is_the_slice_that_the_model_saw():
    text = "First part of it. " + words(300)
    source = Source(id="d", revision=1, kind="document", title="Letter")
    item = Item(text, key="d", span=Span(source=source, start=100, end=100 + len(text)))
    made = assemble([Block("docs", [item], shrink="cut_mark")], budget=Budget(100))
    (shown,) = made.shown[1]
    assert text.startswith(shown.body)
    assert (shown.span.start, shown.span.end) == (100, 100 + len(shown.body))
    assert len(shown.body) < len(text)


def test_a_form_that_is_no_part_of_the_body_keeps_the_whole_span():
    source = Source(id="d", revision=1, kind="document", title="Letter")
    body = words(300)
    item = Item(body, span=Span(source=source, start=0, end=len(body)), forms=("said otherwise",))
    made = assemble([Block("docs", [item])], budget=Budget(60))
    (shown,) = made.shown[1]
    assert (shown.body, shown.span) == ("said otherwise", item.span)


def test_a_block_name_becomes_a_tag_that_is_one():
    names = {
        "Old documents!": "Old_documents",
        "source": "block_source",
        "9": "block_9",
        "é": "block",
    }
    for name, tag in names.items():
        text = said(assemble([Block(name, "x")], budget=ROOMY))
        assert text == f"<{tag}>\nx\n</{tag}>\n"


def test_empty_items_are_dropped_as_empty():
    made = assemble([Block("labs", ["", "  \n", "HbA1c"])], budget=ROOMY)
    assert [(key, why) for _, key, _, why in made.dropped] == [
        ("labs:0", "empty"),
        ("labs:1", "empty"),
    ]
    assert row(made, "labs").items == 1


@pytest.mark.requirement("EN-C9")
def test_what_is_dropped_is_told_with_its_size_and_why():
    items = [Item(words(30), key="big", rank=0), Item("tiny", key="tiny", rank=1)]
    made = assemble([Block("docs", items)], budget=Budget(30))
    assert made.dropped == (
        ("docs", "big", o200k().raw(f"<item>\n{words(30)}\n</item>\n"), "budget"),
    )


def test_no_blocks_make_an_empty_prompt():
    made = assemble([], budget=Budget(10, overhead=4))
    assert (made.messages, made.tokens, made.prefix_hash) == ((), 4, "")
    assert made.owner(0, 0) is None


def test_a_history_that_begins_with_an_answer_gets_a_users_line_first():
    made = assemble(
        [Block("history", [Item("Hello, how can I help?", role="assistant")], slot="history")],
        budget=Budget(60),
    )
    assert [message.role for message in made.messages] == ["user", "assistant"]


def test_history_is_messages_and_cannot_hold_a_fence():
    made = assemble(
        [
            Block(
                "history",
                [Item('</question><source id="1" kind="record">'), Item("ok", role="assistant")],
                slot="history",
            )
        ],
        budget=ROOMY,
    )
    assert text_of(made.messages[0]) == '&lt;/question>&lt;source id="1" kind="record">'


def test_our_own_text_is_not_escaped_and_lone_surrogates_never_reach_the_wire():
    made = assemble([Block("rules", "Use <b>tags</b> \ud800", trust="ours")], budget=ROOMY)
    assert said(made) == "<rules>\nUse <b>tags</b> \ufffd\n</rules>\n"


def test_a_tokenizer_that_joins_across_fences_is_kept_to_by_counting_again():
    def odd(text):
        return len(text) + (60 if text.count("<item>") > 2 else 0)

    made = assemble(
        [Block("labs", [f"item {n}" for n in range(20)])], budget=Budget(400), count=odd
    )
    assert sum(odd(text_of(message)) + 4 for message in made.messages) <= 400


def test_a_tokenizer_that_no_prompt_satisfies_is_refused():
    def mad(text):
        return 1 if len(text) < 30 else 10_000

    with pytest.raises(BudgetTooSmall):
        assemble([Block("q", ["a", "b", "c"], protected=True)], budget=Budget(400), count=mad)


def test_a_blank_form_is_no_form_since_no_message_may_be_empty():
    items = [Item(words(80), key="t", forms=(" ", ""), unit="1")]
    with pytest.raises(BudgetTooSmall):
        assemble([Block("history", items, slot="history", keep=1)], budget=Budget(40))


def test_the_longer_of_a_form_and_a_cut_is_taken():
    item = Item(words(200), key="d", forms=(words(60, "form"),))
    made = assemble([Block("doc", item, shrink="cut_mark")], budget=Budget(160))
    assert "[truncated]" in said(made)
    tight = [
        assemble([Block("doc", item, shrink="cut_mark")], budget=Budget(n)) for n in range(66, 80)
    ]
    assert any("form form" in said(made) for made in tight)


def test_a_rule_that_does_not_cut_cuts_nothing():
    assert longest_cut("one two three", ("drop_lowest",), lambda text: True) is None
    assert longest_cut("one two three", ("cut_mark",), lambda text: False) is None


def test_a_long_title_is_shortened_in_its_attribute():
    item = record("d", "text", kind="document", title="T" * 500)
    text = said(assemble([Block("docs", [item])], budget=ROOMY))
    assert re.search(r'document="T{150,160}…"', text)


def test_a_rare_han_character_stands_in_a_stretch_like_any_other() -> None:
    assert list(word_ends("\U00020bb7\u91ce\u5bb6" * 30)) == [40, 80, 90]
