"""The prompt of one intake turn under the real compiler: caps, ceiling, prefix, statuses."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bedside.context import Item, assemble, o200k
from bedside.sop import Contract, State
from bedside.sop.blocks import base_prompt, blocks, budget, document_line
from bedside.sop.checklist import checklist, definition
from bedside.sop.find import bundled
from bedside.sop.state import STATES, Document

CAPS = {
    "base": 3_900, "sop": 400, "checklist": 600, "patient": 200, "documents": 800,
    "promises": 200, "message": 500,
}  # fmt: skip
PHASES = (Phase.explicit, Phase.generate)
SIX = ("TKR", "THR", "ACL", "CABG", "IVF", "CATARACT", "_generic")
STATUSES = (
    "queued", "processing", "complete", "stored", "failed_transient", "failed_permanent",
    "expired", "not_applicable",
)  # fmt: skip

texts = st.one_of(
    st.text(max_size=300),
    st.sampled_from(["x" * 9_000, "घुटना " * 900, "🦵" * 3_000, "膝" * 4_000, "a b " * 3_000, "ok"]),
)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Contract, State, list[Item], str]:
    contract = bundled()[draw(st.sampled_from(SIX))]
    state = replace(State.new(contract), turn=draw(st.integers(0, 40)))
    for field in contract.fields:
        status = draw(st.sampled_from(STATES))
        if status == "known":
            found = draw(st.one_of(texts, st.integers(0, 99), st.lists(texts, max_size=4)))
            state = state.with_value(field.id, found, said="said", turn=draw(st.integers(1, 30)))
        elif status != "unasked":
            state = state.with_status(field.id, status)
    for number in range(draw(st.integers(0, 14))):
        document = Document(
            type=draw(texts),
            status=draw(st.sampled_from(STATUSES)),
            label=draw(texts),
            findings=draw(st.dictionaries(texts, texts, max_size=20)),
            eta_seconds=draw(st.none() | st.integers(0, 9_999)),
            since_turn=number,
        )
        state = state.with_document(f"d{number}", document)
    history = [
        Item(draw(texts) or "hm", key=str(n), role=("user", "assistant")[n % 2])
        for n in range(draw(st.integers(0, 70)))
    ]
    return contract, state, history, draw(texts)


def sizes(found: object) -> dict[str, int]:
    """Block -> tokens in the finished prompt, counted anew over its own pieces."""
    return {row.block: row.given for row in found.ledger}  # type: ignore[attr-defined]


@pytest.mark.requirement("IN-05")
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    phases=PHASES,
)
@given(cases())
def test_whatever_people_write_every_block_keeps_its_cap_and_the_prompt_its_ceiling(
    case: tuple[Contract, State, list[Item], str],
) -> None:
    contract, state, history, message = case
    made = assemble(blocks(contract, state, history, message=message), budget=budget())
    assert made.tokens <= 10_000
    for name, tokens in sizes(made).items():
        if name in CAPS:
            assert tokens <= CAPS[name], name
    text = "\n".join(part["text"] for one in made.to_anthropic()["system"] for part in [one])
    assert base_prompt()[-200:] in text


@pytest.mark.requirement("IN-05")
def test_a_counter_half_as_large_again_still_leaves_a_prompt_and_the_whole_base() -> None:
    """The factor of the models that the intake runs on is 1.45."""
    contract = bundled()["CABG"]
    history = [
        Item("word " * 300, key=str(n), role=("user", "assistant")[n % 2]) for n in range(60)
    ]
    count = o200k().with_factor(1.45)
    found = blocks(contract, State.new(contract), history, message="word " * 900)
    made = assemble(found, budget=budget(count=count))
    assert made.tokens <= 10_000
    assert sizes(made)["base"] >= 3_800


@pytest.mark.requirement("IN-05")
def test_history_keeps_ten_turns_before_another_block_loses_anything() -> None:
    contract = bundled()["TKR"]
    history = [
        Item("word " * 120, key=str(n), role=("user", "assistant")[n % 2]) for n in range(80)
    ]
    made = assemble(
        blocks(contract, State.new(contract), history, message="hello"), budget=budget()
    )
    kept = [row for row in made.dropped if row[0] != "history"]
    assert kept == []
    shown = [one for one in made.to_openai()["messages"] if one["role"] == "assistant"]
    assert len(shown) >= 10


@pytest.mark.requirement("IN-05")
@pytest.mark.parametrize("name", SIX)
def test_base_and_definition_together_pass_the_smallest_prefix_that_is_cached(name: str) -> None:
    contract = bundled()[name]
    made = assemble(blocks(contract, State.new(contract), message="hi"), budget=budget())
    base, sop = sizes(made)["base"], sizes(made)["sop"]
    assert base <= 3_900
    assert sop <= 400
    assert base + sop > 4_096


@pytest.mark.requirement("IN-06")
@pytest.mark.parametrize("name", SIX)
def test_the_prefix_is_one_hash_over_thirty_turns_and_over_cases_of_one_sop(name: str) -> None:
    contract, chance = bundled()[name], random.Random(7)
    hashes = set()
    for person in range(3):
        state, history = State.new(contract), []
        for turn in range(1, 31):
            field = chance.choice(contract.fields)
            state = replace(state, turn=turn).with_value(field.id, f"v{person}", said="so")
            made = assemble(
                blocks(contract, state, history, message=f"message {turn}"),
                budget=budget(),
                minimum=4_096,
            )
            hashes.add(made.prefix_hash)
            history += [
                Item(f"message {turn}", role="user"),
                Item(f"Shall I note that? {turn}", role="assistant"),
            ]
    assert len(hashes) == 1
    other = bundled()["THR" if name != "THR" else "TKR"]
    changed = assemble(blocks(other, State.new(other), message="x"), budget=budget(), minimum=4_096)
    assert changed.prefix_hash not in hashes


@pytest.mark.requirement("IN-05")
def test_a_long_message_is_cut_at_two_thousand_characters_and_says_so() -> None:
    contract = bundled()["TKR"]
    found = blocks(contract, State.new(contract), message="knee " * 1_000)
    block = next(one for one in found if one.name == "message")
    body = block.items[0].body
    assert len(body) <= 2_000
    assert body.endswith("[truncated]")


@pytest.mark.requirement("IN-05")
def test_the_ninth_document_and_what_follows_are_counted_and_the_newest_stand() -> None:
    contract, state = bundled()["TKR"], State.new(bundled()["TKR"])
    for number in range(11):
        state = state.with_document(
            f"d{number:02}",
            Document(type="knee_xray", status="queued", label=f"film {number}", since_turn=number),
        )
    block = next(one for one in blocks(contract, state) if one.name == "documents")
    bodies = [item.body for item in block.items]
    assert len(bodies) == 9
    assert bodies[-1] == "+3 more"
    assert bodies[0].startswith("film 10 ")


@pytest.mark.requirement("IN-07")
def test_each_status_of_a_document_has_words_of_its_own() -> None:
    said = {}
    for status in STATUSES:
        line = document_line(
            Document(
                type="ecg", status=status, label="ECG", findings={"rhythm": "sinus"}, eta_seconds=60
            )
        )
        said[status] = line.split("): ", 1)[1]
    assert len(set(said.values())) == len(STATUSES)
    assert "60 s" in said["queued"]
    assert "60 s" in said["processing"]
    assert "sinus" in said["complete"]
    assert all("sinus" not in words for name, words in said.items() if name != "complete")
    assert "ignore" in said["failed_transient"]
    assert "upload it again" in said["failed_permanent"]
    assert "upload it again" in said["expired"]
    assert all("fail" not in words for words in said.values())


@pytest.mark.requirement("IN-07")
def test_a_document_that_was_read_without_findings_does_not_read_as_normal() -> None:
    line = document_line(Document(type="ecg", status="complete", label="ECG"))
    assert "states none of the findings" in line
    assert "normal" not in line
    assert "nothing" not in line


@pytest.mark.requirement("IN-04")
def test_the_checklist_has_its_five_parts_in_order_and_drops_the_oldest_captured_first() -> None:
    contract = bundled()["TKR"]
    state = State.new(contract)
    for number in range(40):
        state = state.with_value(f"extra_{number:02}", number, said="so", turn=number + 1)
    text = checklist(contract, state)
    heads = [
        "Captured:",
        "Still needed:",
        "Optional:",
        "Documents still needed:",
        "Active safety rules:",
    ]
    places = [text.index(head) for head in heads]
    assert places == sorted(places)
    assert text.count("- extra_") == 30
    assert "extra_09:" not in text
    assert "extra_10: 10" in text
    assert "(10 earlier ones" in text


@pytest.mark.requirement("IN-04")
def test_the_upload_hint_stands_from_the_third_turn_and_goes_when_the_documents_are_here() -> None:
    contract = bundled()["TKR"]
    state = State.new(contract)
    assert "Upload hint" not in checklist(contract, replace(state, turn=2))
    assert "Upload hint" in checklist(contract, replace(state, turn=3))
    for name in ("knee_xray", "bloodwork_recent"):
        state = state.with_document(name, Document(type=name, status="queued", label=name))
    assert "Upload hint" not in checklist(contract, replace(state, turn=9))


@pytest.mark.requirement("IN-04")
def test_what_changes_in_a_turn_stands_below_the_boundary() -> None:
    contract = bundled()["TKR"]
    state = State.new(contract).with_value("age", 61, said="61", turn=1)
    history = [Item("hello", role="user"), Item("Would it help if I explained?", role="assistant")]
    made = {one.name: one for one in blocks(contract, state, history, message="yes")}
    assert {name for name, one in made.items() if one.stability == "static"} == {"base", "sop"}
    assert [item.body for item in made["promises"].items] == ["Would it help if I explained?"]
    assert definition(contract) == made["sop"].items[0].body
    assert all(
        made[name].trust == "data" for name in ("patient", "documents", "message", "checklist")
    )
