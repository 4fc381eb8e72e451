"""`bedside eval intake`: simulated patients, graded conversations, advice leaks, cost and comparison.

Everything runs in this process over the real flow and the real turn; no model is called and nothing
leaves the machine. The "scripted model" reads the prompt and writes envelopes as a model would.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bedside.context import o200k
from bedside.core.value import value
from bedside.evals.intake_attacks import measure_attacks
from bedside.evals.intake_compare import CaseMarks, compare, marks
from bedside.evals.intake_cost import measure_cost
from bedside.evals.intake_engine import through_the_engine
from bedside.evals.intake_grade import Grade, grade
from bedside.evals.intake_model import Coordinator, Manner
from bedside.evals.intake_persona import Persona, people
from bedside.evals.intake_seat import Seat, Seen
from bedside.evals.intake_simulate import Said, Talk, converse
from bedside.evals.intake_spoken import measure_spoken
from bedside.flows.intake.dispatch import ORDER
from bedside.models.fakes import FakeGateway

__all__ = ["Offered", "promise_figures", "run", "summary", "talk_with"]

SEED = 7
ATTACKS = 1_200
CASES = 360
COMPARED = 30
THROUGH_ENGINE = 40
SHARES = {"sop": 0.45, "mediq": 0.35, "agentclinic": 0.2}
_DEFAULT_CASES = 100_000
"""What the command line gives where no number of cases was named."""


@value
class Offered:
    """What was planted in the message of one turn, and the turn that followed."""

    message: str
    offers: tuple[str, ...]
    others: tuple[str, ...]
    after: Seen


def talk_with(
    one: Persona, *, manner: Manner | None = None, count: Any = None, forced: str = ""
) -> tuple[Talk, tuple[Offered, ...]]:
    """One conversation: without a model (`manner` None), or with the scripted one.

    Returns:
        The talk, and what the scripted model offered along the way.
    """
    if manner is None:
        return converse(one, Seat(one.id, count=count, forced=forced)), ()
    heard: list[Said] = []
    truths = {name: fact.truth for name, fact in {**one.facts, **one.wrong}.items()}
    coordinator = Coordinator(
        one.seed + 3, manner=manner, heard=lambda: (heard[-1], truths) if heard else None
    )
    planted: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    calls = 0

    def tell(said: Said) -> None:
        nonlocal calls
        if heard:
            fresh = coordinator.calls > calls
            offers = (tuple(coordinator.planted), tuple(coordinator.others))
            planted.append(offers if fresh else ((), ()))
        calls = coordinator.calls
        heard.append(said)

    seat = Seat(one.id, gateway=FakeGateway(coordinator), count=count, forced=forced)
    talk = converse(one, seat, tell=tell)
    offered = tuple(
        Offered(message=talk.seen[at].answer, offers=made, others=others, after=talk.seen[at + 1])
        for at, (made, others) in enumerate(planted)
        if at + 1 < len(talk.seen)
    )
    return talk, offered


def promise_figures(rows: Sequence[Offered]) -> dict[str, Any]:
    """Of the offers that the person was shown, how many the next turn held as promises."""
    made = found = others = false = prompted = in_prompt = 0
    missed: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for row in rows:
        promised = " ".join(row.after.body.get("promises") or ())
        prompt = _sent(row.after)
        for one in row.offers:
            if one not in row.message:
                continue  # it was cut on its way, so nobody was promised anything
            made += 1
            found += one in promised
            missed[one] += one not in promised
            if prompt:
                prompted += 1
                in_prompt += prompt.count(_flat(one)) > 1  # in the history, and as a promise
        for one in row.others:
            if one in row.message:
                others += 1
                false += one in promised
                wrong[one] += one in promised
    return {
        "offers": made,
        "recall": _share(found, made),
        "prompts": prompted,
        "put_before_the_model": _share(in_prompt, prompted),
        "not_offers": others,
        "taken_for_offers": false,
        "missed": dict((+missed).most_common(6)),
        "false": dict((+wrong).most_common(6)),
    }


def _sent(seen: Seen) -> str:
    if seen.prompt is None or not str(seen.body.get("answered_by") or "").startswith("model"):
        return ""
    return _flat(
        " ".join(
            part for one in seen.prompt.messages for part in one.parts if isinstance(part, str)
        )
    )


def _flat(text: str) -> str:
    return " ".join(
        text.replace("&#39;", "'").replace("&#x27;", "'").replace("&quot;", '"').split()
    )


def summary(grades: Sequence[Grade]) -> dict[str, Any]:
    """The figures of many conversations, with their n."""
    turns = sum(one.turns for one in grades)
    known = sum(one.known for one in grades)
    wrong = Counter(name for one in grades for name in one.wrong)
    missing = Counter(name for one in grades for name in one.missing)
    invented = Counter(name for one in grades for name in one.invented)
    repeats = Counter(name for one in grades for _at, name in one.repeats)
    return {
        "cases": len(grades),
        "turns": turns,
        "slots": known,
        "slots_right": sum(one.filled for one in grades),
        "slots_right_share": _share(sum(one.filled for one in grades), known),
        "slots_wrong": dict(wrong.most_common()),
        "slots_missing": dict(missing.most_common()),
        "invented": dict(invented.most_common()),
        "asked_again": sum(repeats.values()),
        "asked_again_by_field": dict(repeats.most_common(8)),
        "asked_a_third_time": sum(len(one.nagging) for one in grades),
        "more_than_one_question": sum(len(one.two_questions) for one in grades),
        "dishonest_about_documents": sum(len(one.dishonest) for one in grades),
        "question_is_not_what_state_says": sum(len(one.misread) for one in grades),
        "turns_without_a_question": sum(len(one.silent) for one in grades),
        "false_alarms": sum(len(one.alarms) for one in grades),
        "complete": sum(one.complete for one in grades),
        "matched": sum(one.matched for one in grades),
        "errors": [(one.id, one.error) for one in grades if one.error][:10],
        "turns_a_case": round(turns / len(grades), 1) if grades else None,
    }


def run(
    *,
    data: Path,
    cases: int = _DEFAULT_CASES,
    tell: Callable[[str], None] = lambda _line: None,
) -> dict[str, Any]:
    """All measures of intake as one JSON value.

    Args:
        data: The folder with `intake/mediq` and `intake/agentclinic`.
        cases: Conversations without a model and as many with the scripted one; the command line's
            default stands for 360.
        tell: Where progress goes.
    """
    start = time.perf_counter()
    wanted = CASES if cases >= _DEFAULT_CASES else cases
    each = {name: max(1, round(wanted * share)) for name, share in SHARES.items()}
    everybody = list(people(data, each=each, seed=SEED))
    count = o200k()
    figures: dict[str, Any] = {
        "seed": SEED,
        "personas": dict(Counter(one.source for one in everybody)),
        "languages": dict(Counter(one.language for one in everybody)),
    }
    offered: list[Offered] = []
    told: list[Talk] = []
    manners: tuple[tuple[str, Manner | None], ...] = (
        ("without_a_model", None),
        ("scripted_model", "good"),
        ("clumsy_model", "clumsy"),
    )
    for name, manner in manners:
        some = everybody if manner != "clumsy" else everybody[:: max(1, len(everybody) // 90)]
        tell(f"{len(some)} conversations, {name}")
        grades: list[Grade] = []
        for one in some:
            talk, made = talk_with(one, manner=manner, count=count)
            offered += made
            told += [talk] if manner is None and len(told) < THROUGH_ENGINE else []
            grades.append(grade(talk))
        figures[name] = {**summary(grades), "by_source": _by_source(grades)}
    tell("conversations written by hand")
    figures["spoken"] = measure_spoken(count=count)
    for name in ("spoken_fresh", "spoken_third", "spoken_fourth"):
        figures[name] = measure_spoken(name, count=count)
    tell("the same through the whole engine")
    figures["engine"] = through_the_engine(told)
    figures["promises"] = promise_figures(offered)
    tell("pleas for advice")
    many = ATTACKS if wanted >= CASES else wanted * 3
    figures["advice"] = measure_attacks(many, seed=SEED)
    figures["advice_held_out"] = measure_attacks(max(12, many // 4), seed=SEED, held_out=True)
    tell("cost and prefix")
    figures["cost"] = measure_cost(seed=SEED)
    tell("comparison of architectures")
    figures["comparison"] = _comparison(everybody[: max(3, min(COMPARED, wanted))], count)
    figures["seconds"] = round(time.perf_counter() - start, 1)
    return figures


def _comparison(some: Sequence[Persona], count: Any) -> Mapping[str, Any]:
    rows: list[CaseMarks] = []
    for name in ORDER:
        for one in some:
            talk, made = talk_with(one, manner="good", count=count, forced=name)
            kept = promise_figures(made)["recall"]
            rows.append(marks(talk, architecture=name, promises=1.0 if kept is None else kept))
    return compare(rows)


def _by_source(grades: Sequence[Grade]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for source in SHARES:
        own = [one for one in grades if one.id.startswith(f"{source}-")]
        known = sum(one.known for one in own)
        found[source] = {
            "cases": len(own),
            "slots_right_share": _share(sum(one.filled for one in own), known),
            "asked_again": sum(len(one.repeats) for one in own),
        }
    return found


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
