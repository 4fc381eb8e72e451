"""A small record by hand, and turns over it: what a flow sees, with no store behind it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from bedside.context import o200k
from bedside.core.access import Grant
from bedside.core.context import Item
from bedside.core.ids import ActorId, PatientId, SessionId, SourceId, TenantId, TurnId
from bedside.core.source import Source, Span
from bedside.core.turn import Got, TurnRequest
from bedside.flows.copilot import COPILOT
from bedside.flows.flow import Opened, View
from bedside.knowledge.needs import Hit, Hits, SearchNeed
from bedside.record.needs import Fact, Person, RecordFacts, RecordNeed

TODAY = date(2026, 11, 22)


def source(number: int, line: str, day: date | None) -> Source:
    return Source(
        id=SourceId(f"rec-{number}"), revision=1, kind="record", title=line[:30], dated=day
    )


class Record:
    """Builds facts; every line is written out in full, as an import would."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.none_known = False

    def add(self, category, line: str, name: str, *, day: str | None = None, **fields) -> Fact:
        when = datetime.fromisoformat(day).replace(tzinfo=UTC) if day else None
        fact = Fact(
            source=source(len(self.facts), line, when.date() if when else None),
            category=category,
            line=line,
            name=name,
            when=when,
            **fields,
        )
        self.facts.append(fact)
        return fact

    def lab(self, name: str, loinc: str, figure: str, unit: str, day: str, **fields) -> Fact:
        shown = f"{int(day[8:])} {datetime.fromisoformat(day):%b %Y}"
        return self.add(
            "observations",
            f"{name}: {figure} {unit} ({shown}, final)",
            name,
            day=day,
            code=f"http://loinc.org|{loinc}",
            value=Decimal(figure),
            figure=figure,
            unit=unit,
            group="laboratory",
            status="final",
            **fields,
        )

    def build(self) -> RecordFacts:
        newest = sorted(
            self.facts,
            key=lambda fact: fact.when or datetime(1, 1, 2, tzinfo=UTC),
            reverse=True,
        )
        return RecordFacts(
            person=Person(
                id="p1", name="Asha Rao", birth_date=date(1960, 3, 4), sex="female", deceased=None
            ),
            facts=tuple(newest),
            no_known_allergies=self.none_known,
        )


@pytest.fixture
def record() -> Record:
    made = Record()
    made.add("demographics", "Asha Rao: female; born 4 Mar 1960", "Identity", group="identity")
    return made


@pytest.fixture
def full(record: Record) -> Record:
    for day, figure in (("2024-02-12", "7.1"), ("2025-02-18", "7.8"), ("2026-11-05", "8.6")):
        record.lab("Hemoglobin A1c/Hemoglobin.total in Blood", "4548-4", figure, "%", day)
    for day, figure in (("2024-02-12", "57"), ("2026-11-05", "37")):
        record.lab("Estimated glomerular filtration rate", "33914-3", figure, "mL/min", day)
    record.add(
        "conditions",
        "Type 2 diabetes mellitus: active, confirmed; since 2 Jun 2011",
        "Type 2 diabetes mellitus",
        day="2011-06-02",
        status="active",
    )
    record.add(
        "conditions",
        "Pneumonia: resolved, confirmed; since 1 Jan 2015; ended 20 Jan 2015",
        "Pneumonia",
        day="2015-01-01",
        end=datetime(2015, 1, 20, tzinfo=UTC),
        status="resolved",
    )
    record.add(
        "medications",
        "Metformin 1000 mg oral tablet: active, ordered 12 Mar 2019; 1000 mg twice daily",
        "Metformin 1000 mg oral tablet",
        day="2019-03-12",
        status="active",
        dosage="1000 mg twice daily",
    )
    record.add(
        "medications",
        "Ibuprofen 200 mg oral tablet: stopped, ordered 1 Feb 2018",
        "Ibuprofen 200 mg oral tablet",
        day="2018-02-01",
        status="stopped",
    )
    record.add(
        "allergies",
        "Penicillin: allergy, active, confirmed; criticality high; reaction: Anaphylaxis",
        "Penicillin",
        day="1996-08-11",
        status="active",
        severity="high",
        reactions=("Anaphylaxis",),
    )
    record.add("alerts", "Alert: falls risk (1 May 2026)", "Falls risk", day="2026-05-01")
    return record


def passage(document: str, number: int, text: str, *, kind="document", prefix="[Letter]") -> Hit:
    origin = Source(
        id=SourceId(document), revision=1, kind=kind, title=document, dated=date(2026, 11, 1)
    )
    return Hit(
        chunk_id=f"{document}#{number}",
        span=Span(source=origin, start=number * 10_000, end=number * 10_000 + len(text)),
        text=text,
        prefix=prefix,
        rank=number + 1,
        score=1.0 / (number + 1),
    )


def turn(
    text: str,
    facts: RecordFacts | None = None,
    *,
    documents: tuple[Hit, ...] = (),
    knowledge: tuple[Hit, ...] = (),
    uploaded: tuple[str, ...] = (),
    history: tuple[Item, ...] = (),
    options: tuple[tuple[str, str], ...] = (),
) -> View:
    """A gathered view: plan, then every need met from what is given, then the second round."""
    patient = PatientId("p1") if facts is not None else None
    request = TurnRequest(
        flow="copilot",
        text=text,
        patient=patient,
        documents=tuple(SourceId(one) for one in uploaded),
        options=options,
    )
    opened = Opened(
        turn=TurnId("t1"),
        session=SessionId("s1"),
        grant=Grant(tenant=TenantId("t"), actor=ActorId("a"), audit_seq=1, patient=patient),
        state=COPILOT.initial(),
        revision=0,
        history=history,
        numbering={},
        now=datetime(2026, 11, 22, tzinfo=UTC),
        as_of=TODAY,
        count=o200k(),
        pinned={},
    )

    def met(needs) -> dict:
        found = {}
        for need in needs:
            if isinstance(need, RecordNeed):
                found[need] = Got(value=facts)
            elif isinstance(need, SearchNeed):
                found[need] = Got(
                    value=Hits(hits=documents if need.corpus == "documents" else knowledge)
                )
        return found

    plan = COPILOT.plan(request, opened)
    gathered = met(plan.needs)
    view = View(request=request, opened=opened, plan=plan, gathered=gathered)
    more = met(COPILOT.more(view))
    return View(request=request, opened=opened, plan=plan, gathered={**gathered, **more})
