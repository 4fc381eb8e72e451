"""What `assemble` does with caps, forms, pools, echoes, layouts, windows and numbers."""

from __future__ import annotations

import re
from datetime import date

import pytest

from bedside.context import (
    Block,
    Budget,
    Cap,
    Item,
    Pool,
    assemble,
    o200k,
    text_of,
)
from bedside.core.errors import BudgetTooSmall, InvalidArgument
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


def test_the_recipe_of_the_readme_fits_and_says_what_it_dropped():
    tools = [{"name": "search", "description": "Search guidelines", "parameters": {}}]
    labs = [
        Item(f"eGFR {90 - n}, reading {n}", source=f"obs/{n}", date=f"2026-0{1 + n % 9}-02")
        for n in range(90)
    ]
    blocks = [
        Block(
            "rules", "Answer from the sources.", zone="primacy", stability="static", protected=True
        ),
        Block("allergies", "Penicillin", zone="primacy", stability="session", protected=True),
        Block("labs", labs, zone="middle", priority=40, cap=1_200, shrink="drop_oldest"),
        Block("question", "Is metformin safe?", zone="recency", protected=True, bookend=True),
    ]
    made = assemble(blocks, budget=Budget(6_000, count=o200k(), tools=tools, margin=0.05))
    assert made.tokens <= 5_700
    assert row(made, "labs").given <= 1_200
    assert {(block, why) for block, _, _, why in made.dropped} == {("labs", "cap of 1200 tokens")}
    newest = {item.key for item in labs if item.dated and item.dated.month == 9}
    assert newest.isdisjoint(key for _, key, _, _ in made.dropped)
    assert made.to_anthropic()["messages"][0]["role"] == "user"
    assert [m["role"] for m in made.to_openai()["messages"]] == ["system", "system", "user"]


# ---- protection and refusal


@pytest.mark.requirement("EN-C2")
def test_protected_blocks_that_cannot_fit_are_refused_with_their_names_and_sizes():
    with pytest.raises(BudgetTooSmall) as caught:
        assemble(
            [
                Block("allergies", words(50), protected=True),
                Block("question", words(60), protected=True),
                Block("bulk", words(500)),
            ],
            budget=Budget(80),
        )
    assert set(caught.value.blocks) == {"allergies", "question"}
    assert caught.value.blocks["allergies"] >= 50
    assert caught.value.available == 80
    assert caught.value.needed > 80
    assert "word word" not in str(caught.value)


@pytest.mark.requirement("EN-C2")
def test_overhead_and_loop_that_fill_the_limit_are_named_in_the_refusal():
    with pytest.raises(BudgetTooSmall) as caught:
        assemble([Block("q", "hello")], budget=Budget(100, overhead=60, loop=50))
    assert caught.value.blocks == {"overhead": 60, "loop": 50}


@pytest.mark.requirement("EN-C2")
def test_a_protected_item_falls_to_its_short_form_before_the_turn_is_refused():
    item = Item("Penicillin: anaphylaxis in 2011, " + words(60), forms=("Penicillin: anaphylaxis",))
    made = assemble([Block("allergies", item, protected=True)], budget=Budget(40))
    assert "Penicillin: anaphylaxis\n" in said(made)
    assert row(made, "allergies").shortened == (item.key,)


def test_the_prefix_is_shortened_only_after_the_tail():
    forms = ("short",)
    blocks = [
        Block("safety", Item(words(40), forms=forms), stability="session", protected=True),
        Block("upload", Item(words(40), forms=forms), stability="turn", protected=True),
    ]
    made = assemble(blocks, budget=Budget(80))
    assert row(made, "upload").shortened
    assert not row(made, "safety").shortened


def test_nothing_evictable_enters_while_a_protected_item_is_shortened():
    blocks = [
        Block("safety", Item(words(60), forms=("short",)), protected=True),
        Block("bulk", ["tiny"], priority=99),
    ]
    made = assemble(blocks, budget=Budget(60))
    assert row(made, "safety").shortened
    assert row(made, "bulk").items == 0


def test_keep_protects_the_best_units_of_an_evictable_block():
    items = [Item(f"passage {n} " + words(30), key=f"p{n}", rank=n) for n in range(4)]
    made = assemble([Block("docs", items, keep=1)], budget=Budget(60))
    assert [key for _, key, _, _ in made.dropped] == ["p0", "p1", "p2"]


def test_protected_text_is_cut_only_where_its_block_says_so():
    cuttable = Block("upload", words(200), protected=True, shrink="cut_mark")
    made = assemble([cuttable], budget=Budget(60))
    assert said(made).count("word") >= 35
    assert "[truncated]" in said(made)
    with pytest.raises(BudgetTooSmall):
        assemble([Block("upload", words(200), protected=True)], budget=Budget(60))


# ---- eviction


@pytest.mark.requirement("EN-C2")
def test_eviction_goes_by_priority_then_rank_then_age():
    def dated(key, day, rank=0.0):
        return Item(words(20), key=key, rank=rank, dated=day)

    low = Block("low", [dated("low", date(2026, 1, 1), 9.0)], priority=10)
    high = Block(
        "high",
        [
            dated("old", date(2001, 1, 1)),
            dated("undated", None),
            dated("new", date(2026, 1, 1)),
            dated("best", None, 1.0),
        ],
        priority=60,
    )
    survivors = []
    for limit in range(20, 260, 4):
        made = assemble([low, high], budget=Budget(limit))
        gone = {key for _, key, _, _ in made.dropped}
        for key in ("best", "new", "old", "undated", "low"):
            if key not in gone and key not in survivors:
                survivors.append(key)
    assert survivors == ["best", "new", "old", "undated", "low"]


def test_the_unit_at_the_cut_off_is_shortened_and_nothing_below_it_is_kept():
    items = [
        Item(words(60), key="a", rank=3),
        Item(words(200), key="b", rank=2),
        Item("x", key="c"),
    ]
    made = assemble([Block("docs", items, shrink="cut_mark")], budget=Budget(160))
    assert row(made, "docs").shortened == ("b",)
    assert [key for _, key, _, _ in made.dropped] == ["c"]
    assert made.tokens >= 0.98 * 160


def test_a_question_and_its_answer_live_and_die_together():
    items = [
        Item(words(10), key="q", unit="1"),
        Item(words(40), key="a", unit="1", role="assistant"),
        Item(words(10), key="q2", unit="2"),
        Item(words(10), key="a2", unit="2", role="assistant"),
    ]
    made = assemble([Block("history", items, slot="history")], budget=Budget(70))
    assert [key for _, key, _, _ in made.dropped] == ["q", "a"]


def test_a_unit_is_shortened_in_its_longest_item_first():
    unit = [
        Item(words(30), key="q", unit="1", forms=("short question",)),
        Item(words(60), key="a", unit="1", forms=("short answer",), role="assistant"),
    ]
    made = assemble([Block("history", unit, slot="history", keep=0)], budget=Budget(60))
    assert row(made, "history").shortened == ("a",)


@pytest.mark.requirement("EN-C3")
def test_cuts_never_fall_within_a_word_and_are_marked():
    text = " ".join(f"word{n}" for n in range(200))
    for limit in range(60, 200, 7):
        made = assemble([Block("doc", text, shrink="cut_mark")], budget=Budget(limit))
        body = said(made).removeprefix("<doc>\n").removesuffix(" [truncated]\n</doc>\n")
        assert text.startswith(body + " ")


def test_text_without_spaces_is_cut_between_characters_and_a_long_word_is_not_cut():
    chinese = "患者血糖控制不佳需要调整治疗方案" * 20
    made = assemble([Block("doc", chinese, shrink="cut_mark")], budget=Budget(100))
    assert row(made, "doc").shortened
    word = "x" * 2_000
    made = assemble([Block("doc", word, shrink="cut_mark")], budget=Budget(100))
    assert row(made, "doc").items == 0


@pytest.mark.requirement("EN-C3")
@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("المريض يعاني من ارتفاع ضغط الدم والسكري. تم وصف الميتفورمين مرتين يوميا. ", " "),
        ("मरीज़ को उच्च रक्तचाप और मधुमेह है। उन्हें मेटफॉर्मिन दी जाती है। ", " "),
        ("患者患有高血压和二型糖尿病，医生开了二甲双胍，每日两次。肾功能轻度下降。", "，。"),
        ("高血圧と糖尿病があります。メトホルミンを一日二回、服用しています。", "、。"),
        ("환자는 고혈압과 당뇨병이 있습니다. 메트포르민을 하루 두 번 복용합니다. ", " "),
        ("👨‍👩‍👧‍👦👍🏽🇮🇳🏳️‍🌈 résumé ❤️‍🔥 ", " "),
        ("Creatinine 1,234.56 umol/L on 2026-11-05, eGFR 38.5 mL/min/1.73m2. ", " "),
    ],
)
def test_no_cut_falls_within_a_word_of_any_script(text, ends):
    whole = text * 12
    kept = set()
    for limit in range(30, 320, 3):
        made = assemble([Block("doc", whole, shrink="cut_mark")], budget=Budget(limit))
        body = said(made).removeprefix("<doc>\n").removesuffix(" [truncated]\n</doc>\n")
        if row(made, "doc").shortened:
            assert whole.startswith(body)
            kept.add(len(body))
            assert body[-1] in ends or whole[len(body)] in ends
    assert len(kept) > 3


@pytest.mark.requirement("EN-C3")
def test_cut_at_a_sentence_ends_with_one_and_at_a_section_with_one():
    prose = " ".join(f"Sentence number {n} is here." for n in range(60))
    made = assemble([Block("doc", prose, shrink="cut_sentence")], budget=Budget(120))
    assert re.search(r"is here\. \[truncated\]\n</doc>", said(made))
    note = "\n\n".join(f"## Part {n}\n\n{words(30)}" for n in range(9))
    made = assemble([Block("doc", note, shrink="cut_section")], budget=Budget(120))
    assert re.search(r"word \[truncated\]\n</doc>", said(made))
    assert said(made).count("##") in {2, 3}


def test_a_cut_leaves_a_few_words_or_nothing():
    made = assemble([Block("doc", words(300), shrink="cut_mark")], budget=Budget(16))
    assert row(made, "doc").items == 0


# ---- caps


@pytest.mark.requirement("EN-C3")
def test_a_cap_of_items_says_how_many_more_there_are():
    made = assemble(
        [
            Block(
                "promises",
                [f"promise {n}" for n in range(11)],
                cap=Cap(items=3),
                shrink="plus_n_more",
            )
        ],
        budget=ROOMY,
    )
    assert "+8 more" in said(made)
    assert row(made, "promises").items == 3


def test_a_cap_of_characters_takes_whole_chunks_only():
    chunks = [Item(words(100, "abcd"), key=f"c{n}", rank=-n) for n in range(5)]
    made = assemble([Block("guidelines", chunks, cap=Cap(chars=1_200))], budget=ROOMY)
    assert row(made, "guidelines").items == 2
    assert not row(made, "guidelines").shortened


def test_a_cap_of_characters_each_cuts_every_long_item_visibly():
    block = Block("docs", [words(200), "short", Item(words(90), forms=("its form",))],
                  cap=Cap(chars_each=100))  # fmt: skip
    made = assemble([block], budget=ROOMY)
    bodies = re.findall(r"<item>\n(.*?)\n</item>", said(made), re.DOTALL)
    assert [len(body) <= 100 for body in bodies] == [True] * 3
    assert bodies[0].endswith("word [truncated]")
    assert bodies[1:] == ["short", "its form"]


def test_one_word_longer_than_the_cap_is_kept_rather_than_torn():
    made = assemble([Block("docs", ["x" * 300], cap=Cap(chars_each=100))], budget=ROOMY)
    assert "x" * 300 in said(made)


def test_a_cap_shortens_the_unit_that_stands_at_it():
    block = Block("docs", [words(50), words(50)], cap=Cap(tokens=90), shrink="cut_mark")
    made = assemble([block], budget=ROOMY)
    assert 80 <= row(made, "docs").given <= 90
    by_chars = Block("docs", [words(50), words(50)], cap=Cap(chars=400), shrink="cut_mark")
    made = assemble([by_chars], budget=ROOMY)
    assert row(made, "docs").items == 2
    assert said(made).count("word") * 5 <= 400


def test_a_cap_shortens_a_protected_block_and_drops_nothing_from_it():
    items = [Item(words(30), key=f"a{n}", forms=("short",)) for n in range(6)]
    made = assemble([Block("allergies", items, protected=True, cap=80)], budget=ROOMY)
    assert row(made, "allergies").items == 6
    assert set(row(made, "allergies").shortened) >= {"a1", "a2", "a3", "a4", "a5"}
    assert row(made, "allergies").given <= 80
    assert row(made, "allergies").given < row(made, "allergies").wanted


def test_a_protected_block_may_say_how_many_more_there_are_where_it_asks_to():
    block = Block("documents", [f"document {n}" for n in range(12)], protected=True,
                  cap=Cap(items=8), shrink="plus_n_more")  # fmt: skip
    made = assemble([block], budget=ROOMY)
    assert "+4 more" in said(made)


def test_a_cap_loses_no_kept_unit():
    items = [Item(words(30), key=f"p{n}", rank=-n) for n in range(4)]
    made = assemble([Block("docs", items, keep=2, cap=20)], budget=ROOMY)
    assert [key for _, key, _, _ in made.dropped] == ["p2", "p3"]


@pytest.mark.requirement("EN-C11")
def test_history_over_its_cap_falls_to_headlines_before_a_turn_is_lost():
    history = []
    for n in range(4):
        history.append(Item(f"question {n}", key=f"q{n}", unit=str(n)))
        history.append(
            Item(words(100), key=f"a{n}", unit=str(n), role="assistant", forms=("Headline.",))
        )
    made = assemble(
        [Block("history", history, slot="history", cap=Cap(tokens=260), shrink="drop_oldest")],
        budget=ROOMY,
    )
    assert made.dropped == ()
    assert row(made, "history").shortened == ("a0", "a1")
    assert row(made, "history").given <= 260


# ---- soft limit and pools


def test_above_the_soft_limit_the_named_block_goes_down_to_what_it_keeps():
    history = [Item(words(50), key=f"t{n}", unit=str(n)) for n in range(10)]
    blocks = [
        Block("history", history, slot="history", keep=3, shrink="drop_oldest"),
        Block("bulk", [words(300)], priority=1),
    ]
    made = assemble(blocks, budget=Budget(10_000, soft=(400, "history")))
    assert row(made, "history").items == 3
    assert row(made, "bulk").items == 1
    below = assemble(blocks, budget=Budget(10_000, soft=(9_000, "history")))
    assert row(below, "history").items == 10


def test_the_soft_limit_shortens_long_turns_before_it_loses_them():
    history = [Item(words(100), key=f"t{n}", unit=str(n), forms=("Headline.",)) for n in range(4)]
    made = assemble(
        [Block("history", history, slot="history", shrink="drop_oldest")],
        budget=Budget(10_000, soft=(250, "history")),
    )
    assert made.dropped == ()
    assert row(made, "history").shortened == ("t0", "t1")


def test_pools_split_what_protection_leaves_and_pass_on_what_they_cannot_use():
    def block(name, pool, n):
        items = [Item(words(10), key=f"{name}{k}", rank=-k) for k in range(n)]
        return Block(name, items, pool=pool)

    pools = [Pool(name="older", share=0.6), Pool(name="retrieved", share=0.4)]
    budget = Budget(1_000, pools=pools)
    both = assemble([block("h", "older", 200), block("r", "retrieved", 200)], budget=budget)
    share = row(both, "h").given / (row(both, "h").given + row(both, "r").given)
    assert share == pytest.approx(0.6, abs=0.02)
    assert {why for _, _, _, why in both.dropped} == {"pool older", "pool retrieved"}
    little = assemble([block("h", "older", 3), block("r", "retrieved", 200)], budget=budget)
    assert row(little, "h").items == 3
    assert row(little, "h").given + row(little, "r").given > 940


def test_a_pool_of_tokens_is_a_cap_and_blocks_without_a_pool_have_the_rest():
    items = [Item(words(10), key=f"k{n}") for n in range(40)]
    blocks = [Block("capped", items, pool="c"), Block("free", items)]
    made = assemble(blocks, budget=Budget(600, pools=[Pool(name="c", tokens=100)]))
    assert 80 <= row(made, "capped").given <= 100
    assert row(made, "free").given > 440


@pytest.mark.parametrize(
    ("pools", "word"),
    [
        ([Pool(name="a", share=0.6), Pool(name="a", share=0.1)], "different names"),
        ([Pool(name="a")], "not both"),
        ([Pool(name="a", share=0.1, tokens=4)], "not both"),
        ([Pool(name="a", share=1.5)], "in [0, 1]"),
        ([Pool(name="a", tokens=-1)], "0 or more"),
        ([Pool(name="a", share=0.6), Pool(name="b", share=0.6)], "at most 1"),
        ([Pool(name="b", share=0.6)], "a pool of the budget"),
        ([], "a pool of the budget"),
    ],
)
def test_pools_that_are_not_well_formed_are_refused(pools, word):
    with pytest.raises(InvalidArgument, match=re.escape(word)):
        assemble([Block("x", "text", pool="a")], budget=Budget(100, pools=pools))


def test_a_layout_that_is_none_is_refused():
    with pytest.raises(InvalidArgument, match="layout"):
        assemble([Block("x", "text")], budget=ROOMY, layout="fancy")


# ---- zones, echoes, layouts
