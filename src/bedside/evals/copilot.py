"""Measures the copilot on its question set: what rules answer, how well, and what the context holds.

Synthea is imported into a temporary store; every question runs plan, fetch, more and answer as a
turn does, and its context is compiled. Nothing leaves the machine and no model is called.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, median
from typing import Any

from bedside.context import assemble, o200k
from bedside.core.access import Grant
from bedside.core.clock import Clock
from bedside.core.context import Assembly
from bedside.core.ids import ActorId, PatientId, SessionId, TenantId, TurnId
from bedside.core.turn import Draft, Got, Need, TurnRequest
from bedside.core.value import value
from bedside.evals.copilot_chart import Chart, read_chart
from bedside.evals.copilot_gold import Gold, compute
from bedside.evals.copilot_questions import Question, Split, questions
from bedside.evals.copilot_score import fetch_all_tokens, recall, score
from bedside.flows.copilot import COPILOT
from bedside.flows.flow import Opened, View
from bedside.flows.numbers import number_draft
from bedside.grounding.gate import gate_for
from bedside.knowledge.needs import Hits
from bedside.record.fetch import fetch, list_patients
from bedside.record.importing import import_paths
from bedside.record.needs import RecordNeed
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.store import Store
from bedside.storage.tables import metadata

__all__ = ["Asked", "Bench", "run"]

TODAY = datetime(2026, 11, 22, tzinfo=UTC)
"""The fixed "now" of the measure, so that ages and relative windows are the same every time."""
_TENANT = TenantId("default")
_RECORD_BLOCKS = frozenset(
    {"record", "patient", "allergies and alerts", "contact", "contradictions", "insights"}
)


class _Fixed:
    """A clock that stands still at `TODAY`; its monotonic side runs."""

    def now(self) -> datetime:
        return TODAY

    def monotonic(self) -> float:
        return time.perf_counter()


@value
class Asked:
    """One question as it went: the rule's draft as released, or `None`; and the context."""

    question: Question
    gold: Gold
    draft: Draft | None
    answer: str
    removed: tuple[tuple[str, str], ...]
    prompt: Assembly
    ms: float


class Bench:
    """A store with the Synthea patients, and turns over it."""

    def __init__(self, records: Path, home: Path, *, clock: Clock | None = None) -> None:
        self._records, self._clock = records, clock or _Fixed()
        self._store = Store(open_engine(sqlite_url(home)))
        self._store.write_now(metadata.create_all)
        self.report = import_paths(self._store, [records], tenant=_TENANT, clock=self._clock)
        self._count = o200k()
        self._charts: dict[str, Chart] = {}
        self._patients: dict[str, str] = {}
        for one in self._store.read_now(lambda c: list_patients(c, _TENANT)):
            facts = self._fetch(
                self._grant(one.id), RecordNeed(name="who", categories=("demographics",))
            )
            for identifier in facts.person.identifiers:
                self._patients[identifier] = one.id

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def chart(self, name: str) -> Chart:
        """The raw side of a patient, by bundle file name."""
        if name not in self._charts:
            self._charts[name] = read_chart(self._records / name)
        return self._charts[name]

    def _grant(self, patient: str) -> Grant:
        return Grant(tenant=_TENANT, actor=ActorId("eval"), audit_seq=1, patient=PatientId(patient))

    def _fetch(self, grant: Grant, need: RecordNeed) -> Any:
        return self._store.read_now(lambda c: fetch(c, grant, need, as_of=TODAY.date()))

    def _gather(self, needs: Sequence[Need[Any]], grant: Grant) -> dict[Need[Any], Got[Any]]:
        """Records from the store; no documents and no guidelines are loaded for this measure."""
        return {
            need: Got(value=self._fetch(grant, need) if isinstance(need, RecordNeed) else Hits())
            for need in needs
        }

    def ask(self, question: Question) -> Asked:
        """Run one question through plan, gather, more, answer, gate and assemble."""
        patient = self._patients[question.patient.rsplit("_", 1)[1].removesuffix(".json")]
        view = self.view(question.question, patient)
        start = time.perf_counter()
        draft = COPILOT.answer(view)
        step = COPILOT.next(view)
        assert step is not None
        prompt = assemble(
            step.blocks, budget=step.budget, layout=step.layout, numbering={}, count=self._count
        )
        answer, removed = "", ()
        if draft is not None:
            numbered, shown = number_draft(draft, prompt.numbering, prompt)
            gate = gate_for(release="whole", checks=step.checks, assembly=shown)
            verdict, _ = gate.close(numbered, last=True)
            answer, removed = verdict.text, verdict.removed
        ms = (time.perf_counter() - start) * 1000
        gold = compute(
            question.gold, chart=self.chart(question.patient), today=TODAY.date().isoformat()
        )
        return Asked(
            question=question,
            gold=gold,
            draft=draft,
            answer=answer,
            removed=removed,
            prompt=prompt,
            ms=ms,
        )

    def view(self, text: str, patient: str) -> View[Any]:
        """A turn's view, gathered, without its answer."""
        request = TurnRequest(flow="copilot", text=text, patient=PatientId(patient))
        opened: Opened[Any] = Opened(
            turn=TurnId("t"),
            session=SessionId("s"),
            grant=self._grant(patient),
            state=COPILOT.initial(),
            revision=0,
            history=(),
            numbering={},
            now=TODAY,
            as_of=TODAY.date(),
            count=self._count,
            pinned={},
        )
        plan = COPILOT.plan(request, opened)
        gathered = self._gather(plan.needs, opened.grant)
        view: View[Any] = View(request=request, opened=opened, plan=plan, gathered=gathered)
        more = self._gather(COPILOT.more(view), opened.grant)
        return View(request=request, opened=opened, plan=plan, gathered={**gathered, **more})


def run(data: Path, *, split: Split | None = None, misses: int = 0) -> dict[str, Any]:
    """Measure.

    Args:
        data: The folder of measuring data (with `records/synthea_r4`).
        split: Only these questions; `None` is all, reported by split.
        misses: So many wrong answers are listed by question id, for reading; 0 lists none.

    Returns:
        Shares in [0, 1] with their n, in all, by split and by kind. `accuracy` is of the questions
        that rules answered; in `accuracy_wrong_twice` a wrong answer counts as two. `abstention`
        is the share of answered questions with nothing recorded that say so. `recall` is the mean
        share of gold facts in the compiled context; `context_share` the record's tokens in it over
        those of the whole record.
    """
    with tempfile.TemporaryDirectory() as home:
        bench = Bench(data / "records" / "synthea_r4", Path(home))
        try:
            asked = [bench.ask(question) for question in questions(split=split)]
            whole = {
                name: fetch_all_tokens(bench.chart(name))
                for name in {a.question.patient for a in asked}
            }
        finally:
            bench.close()
    found: dict[str, Any] = {"n": len(asked), "patients": len(whole), "all": _figures(asked, whole)}
    found["by_split"] = {
        name: _figures(group, whole) for name, group in _grouped(asked, lambda a: a.question.split)
    }
    found["by_kind"] = {
        name: _figures(group, whole) for name, group in _grouped(asked, lambda a: a.question.kind)
    }
    if misses:
        found["misses"] = [a.question.id for a in asked if _outcome(a) == "wrong"][:misses]
    return found


def _grouped(asked: Iterable[Asked], key: Any) -> list[tuple[str, list[Asked]]]:
    groups: dict[str, list[Asked]] = defaultdict(list)
    for one in asked:
        groups[key(one)].append(one)
    return sorted(groups.items())


def _outcome(one: Asked) -> str:
    """Give "none" where rules did not answer; an open question answered by rule is wrong."""
    if one.draft is None:
        return "none"
    if one.question.kind == "open":
        return "wrong"
    return score(one.answer, one.gold)


def _figures(asked: Sequence[Asked], whole: Mapping[str, int]) -> dict[str, Any]:
    outcomes = Counter(_outcome(one) for one in asked)
    answered = len(asked) - outcomes["none"]
    closed = [one for one in asked if one.question.kind != "open"]
    nothing = [one for one in closed if one.gold.absent and one.draft is not None]
    recalls = [
        share for one in asked if (share := recall(one.gold, _context(one.prompt))) is not None
    ]
    shares = [_record_tokens(one.prompt) / whole[one.question.patient] for one in asked]
    wrong = outcomes["wrong"]
    return {
        "n": len(asked),
        "answered_by_rules": answered,
        "share_answered": _share(answered, len(asked)),
        "correct": outcomes["correct"],
        "wrong": wrong,
        "abstained": outcomes["abstained"],
        "accuracy": _share(outcomes["correct"], answered),
        "accuracy_wrong_twice": _share(outcomes["correct"], answered + wrong),
        "open_taken_by_rules": sum(
            1 for one in asked if one.question.kind == "open" and one.draft is not None
        ),
        "abstention_n": len(nothing),
        "abstention": _share(sum(_outcome(one) == "correct" for one in nothing), len(nothing)),
        "recall_n": len(recalls),
        "recall": round(mean(recalls), 4) if recalls else None,
        "context_share": round(mean(shares), 4) if shares else None,
        "context_share_of_sums": _share(
            sum(_record_tokens(one.prompt) for one in asked),
            sum(whole[one.question.patient] for one in asked),
        ),
        "tokens_max": max((one.prompt.tokens for one in asked), default=None),
        "sentences_removed_by_gate": sum(len(one.removed) for one in asked),
        "ms_median": round(median(one.ms for one in asked), 2) if asked else None,
    }


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None


def _context(prompt: Assembly) -> str:
    return "\n".join(
        part for message in prompt.messages for part in message.parts if isinstance(part, str)
    )


def _record_tokens(prompt: Assembly) -> int:
    return sum(row.given for row in prompt.ledger if row.block in _RECORD_BLOCKS)
