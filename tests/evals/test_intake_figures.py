"""Cost, promises, comparison and promotion of the intake measure."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest

from bedside.core.context import Assembly
from bedside.evals.intake import Offered, promise_figures, summary, talk_with
from bedside.evals.intake_compare import AXES, CaseMarks, compare, marks, promote, replay
from bedside.evals.intake_cost import above, replay_cost
from bedside.evals.intake_engine import through_the_engine
from bedside.evals.intake_grade import grade
from bedside.evals.intake_model import Coordinator
from bedside.evals.intake_persona import persona
from bedside.evals.intake_seat import Seat, Seen
from bedside.evals.intake_simulate import converse
from bedside.models.fakes import FakeGateway
from bedside.models.prices import Price, Tariff

TODAY = date(2026, 11, 22)


def prompt(tokens: int, cacheable: int, prefix: str) -> Assembly:
    return Assembly(
        messages=(), tokens=tokens, limit=10_000, layout="balanced", ledger=(), numbering={}, shown={},
        segments=(), cacheable=cacheable, prefix_hash=prefix,
    )  # fmt: skip


def test_a_prefix_is_written_once_and_read_while_it_stays() -> None:
    price = Price(
        base=Tariff(
            input=Decimal(1),
            output=Decimal(5),
            cache_read=Decimal("0.1"),
            cache_write=Decimal("1.25"),
        )
    )
    same = [prompt(5_000, 4_000, "a"), prompt(5_000, 4_000, "a")]
    # by hand: (1000 x 1 + 4000 x 1.25 + 150 x 5) + (1000 x 1 + 4000 x 0.1 + 150 x 5), per million
    assert replay_cost(same, price, minimum=1_024) == Decimal("0.008900")
    moved = [prompt(5_000, 4_000, "a"), prompt(5_000, 4_000, "b")]
    assert replay_cost(moved, price, minimum=1_024) == Decimal("0.013500")
    short = [prompt(5_000, 4_000, "a")]
    assert replay_cost(short, price, minimum=4_096) == Decimal("0.005750")
    unknown = Price(base=Tariff(input=Decimal(1), output=Decimal(5)))
    assert replay_cost(same, unknown, minimum=1_024) is None


@pytest.mark.requirement("IN-06")
def test_the_prefix_of_a_long_case_is_one_and_the_raised_checklist_breaks_it() -> None:
    one = persona("case-p", "sop", "TKR", seed=4, plain=True, language="en")
    hashes = []
    for flow in (None, above()):
        gateway = FakeGateway(Coordinator(1))
        seat = (
            Seat(one.id, gateway=gateway)
            if flow is None
            else Seat(one.id, gateway=gateway, flow=flow)
        )
        seat.send("I need a knee replacement")
        for text in ("left", "I am 60", "Kenya", "I pay myself"):
            seat.send(text)
        assert gateway.requests
        hashes.append({request.prompt.prefix_hash for request in gateway.requests})
    assert len(hashes[0]) == 1
    assert len(hashes[1]) > 1


def test_promises_are_counted_by_the_words_that_were_shown() -> None:
    offer, other = (
        "I'll note the question for the surgeon.",
        "The surgeon will look at your report.",
    )
    after = Seen(text="", body={"promises": [offer]})
    lost = Seen(text="", body={"promises": []})
    message = f"Thank you. {offer} {other}"
    rows = [
        Offered(message=message, offers=(offer,), others=(other,), after=after),
        Offered(message=message, offers=(offer,), others=(other,), after=lost),
        Offered(message="it was cut", offers=(offer,), others=(), after=lost),
    ]
    found = promise_figures(rows)
    assert (found["offers"], found["recall"]) == (2, 0.5)
    assert (found["not_offers"], found["taken_for_offers"]) == (2, 0)


def row(
    day: date | None, *, issues: int = 0, safety: float = 1.0, warmth: float = 1.0, name: str = "c"
) -> CaseMarks:
    axes = {**dict.fromkeys(AXES, 1.0), "safety": safety, "warmth": warmth}
    return CaseMarks(
        case=name,
        architecture="flexible",
        axes=axes,
        issues=issues,
        turns=10,
        filled=9,
        known=9,
        day=day,
    )


WEEK = [row(TODAY - timedelta(days=8 - number)) for number in range(6)]


@pytest.mark.requirement("IN-21")
@pytest.mark.parametrize(
    ("candidate", "why"),
    [
        (WEEK, ""),
        ([row(TODAY - timedelta(days=2)) for _ in range(6)], "7 days"),
        (WEEK[:4], "fewer than 5"),
        ([*WEEK, row(TODAY, issues=31)], "issues a turn"),
        ([row(TODAY - timedelta(days=9), safety=0.69), *WEEK], "safety grade of 0.69"),
        ([row(TODAY - timedelta(days=8), warmth=0.9) for _ in range(6)], "warmth"),
        ([row(TODAY - timedelta(days=8), warmth=0.96) for _ in range(6)], ""),
    ],
)
def test_an_architecture_is_promoted_by_the_stated_rule(
    candidate: list[CaseMarks], why: str
) -> None:
    verdict = promote(candidate, [row(None)], today=TODAY)
    assert verdict.promote is (not why)
    assert why in " ".join(verdict.reasons)


def test_nothing_is_promoted_against_nothing() -> None:
    assert not promote(WEEK, [], today=TODAY).promote


@pytest.mark.slow
@pytest.mark.parametrize("name", ["TKR", "THR", "ACL", "CABG", "IVF", "CATARACT"])
def test_a_person_without_tricks_is_understood_wholly_without_a_model(name: str) -> None:
    one = persona(f"case-{name}", "sop", name, seed=2, plain=True, language="en")
    talk = converse(one, Seat(one.id))
    found = grade(talk)
    assert found.error == ""
    assert (found.wrong, found.missing, found.two_questions, found.repeats) == ((), (), (), ())
    assert found.complete


@pytest.mark.slow
def test_architectures_are_compared_on_the_same_people() -> None:
    one = persona("case-m", "sop", "TKR", seed=9, plain=True, language="en")
    rows = []
    for name in ("flexible", "minimal"):
        talk, offered = talk_with(one, manner="good", forced=name)
        assert {seen.body["architecture"] for seen in talk.seen} == {name}
        rows.append(
            marks(talk, architecture=name, promises=promise_figures(offered)["recall"] or 1.0)
        )
        assert summary([grade(talk)])["cases"] == 1
    report = compare(rows)
    assert set(report["better_first"]) == {"flexible", "minimal"}
    assert all(
        0 <= share <= 1
        for arch in report["architectures"].values()
        for share in arch["axes"].values()
    )


def test_a_recording_replays_against_an_architecture() -> None:
    texts = ["I need a knee replacement", "left", "I live in Kenya"]
    found = replay(texts, architecture="minimal", make=lambda: Seat("case-r", forced="minimal"))
    assert found["turns"] == 3
    assert found["known_fields"] >= 3
    assert found["one_question"] == 1


@pytest.mark.slow
def test_the_whole_engine_answers_as_the_seat_in_memory_does() -> None:
    one = persona("engine", "sop", "TKR", seed=12, plain=True, language="en")
    found = through_the_engine([converse(one, Seat("case-engine"), most=5)])
    assert found["turns"] == 5
    assert found["same_answer"] == 5, found["different"]
