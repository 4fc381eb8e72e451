"""Insights of the patient's documents by rule: at most three in all, each with its words (CO-03, CO-13).

Three rules: a value outside the range that stands beside it, a medicine against a recorded allergy,
and a statement that the record contradicts. They read the passages that were gathered for the turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import Literal

from bedside.clinical.analytes import analyte, analyte_of, find_analytes
from bedside.clinical.drugs import find_drugs
from bedside.clinical.units import compare
from bedside.core.context import Item
from bedside.core.value import value
from bedside.flows.copilot.excerpts import excerpt_of, readable_spans
from bedside.knowledge.needs import Hit
from bedside.record.abnormal import readings_of
from bedside.record.contradictions import allergy_conflict
from bedside.record.needs import Fact, RecordFacts
from bedside.record.rows import says_none_known

__all__ = ["MOST_FINDINGS", "DocumentFinding", "document_findings"]

MOST_FINDINGS = 3
"""Document insights shown in all."""
_SEVERITY = {"critical": 0, "warning": 1, "info": 2}
_NUMBER = r"\d+(?:\.\d+)?"
_UNIT = r"%|[A-Za-zµ][\w/.^*²µ]*"
_BETWEEN = re.compile(rf"(?P<low>{_NUMBER})\s*(?:-|–|to)\s*(?P<high>{_NUMBER})")
_UPPER = re.compile(rf"(?:<|≤|<=|up to|below|less than)\s*(?P<high>{_NUMBER})", re.IGNORECASE)
_LOWER = re.compile(rf"(?:>|≥|>=|above|more than|at least)\s*(?P<low>{_NUMBER})", re.IGNORECASE)
_AFTER_NAME = re.compile(
    rf"\s*(?:\(\w+\)\s*)?(?:was|is|of|at|:|=)?\s*(?P<figure>{_NUMBER})\s*(?P<unit>{_UNIT})?"
    rf"(?:\s*[(\[](?:reference|ref|normal|range|rr|nr)\b[^\d<>≤≥]*(?P<range>[^)\]]+)[)\]])?",
    re.IGNORECASE,
)
_NAME = re.compile(r"\b(?:test|analyte|investigation|parameter|name)\b", re.IGNORECASE)
_RESULT = re.compile(r"\b(?:result|value|reading)\b", re.IGNORECASE)
_UNITS = re.compile(r"\bunits?\b", re.IGNORECASE)
_RANGE = re.compile(r"\b(?:reference|range|normal)\b", re.IGNORECASE)
_NOT_GIVEN = re.compile(
    r"\b(?:allerg\w*|intoleran\w*|avoid\w*|stop\w*|discontinu\w*|contraindicat\w*|not|never|no|instead)\b",
    re.IGNORECASE,
)
_NO_ALLERGY = re.compile(
    r"\b(?:no known (?:drug |medication |food )?allerg\w+|nkda|no allergies)\b", re.IGNORECASE
)


@value
class DocumentFinding:
    """What a rule found in a document: the words it rests on, and the record's side if it has one.

    `rule` is "document-range", "document-allergy", "document-none-known" or "document-value".
    """

    rule: str
    severity: Literal["critical", "warning", "info"]
    text: str
    item: Item
    facts: tuple[Fact, ...] = ()


@value
class _Measured:
    """A figure in a document: its analyte, value, unit ("" for none) and stated range."""

    key: str
    name: str
    figure: str
    unit: str
    range: str
    item: Item
    dated: date | None


def document_findings(
    hits: Sequence[Hit], record: RecordFacts, *, first: Sequence[str] = ()
) -> tuple[DocumentFinding, ...]:
    """The gravest findings of the passages, at most three.

    Args:
        hits: Passages of the patient's documents; superseded editions are passed over.
        record: What was fetched; contradictions are found against what is in it.
        first: Document ids that come before all others among equals (an upload, a selection).
    """
    found: dict[tuple[str, str], tuple[tuple[int, int, Decimal], DocumentFinding]] = {}
    for hit in hits:
        if hit.span.source.superseded:
            continue
        late = 0 if str(hit.span.source.id) in first else 1
        for beyond, finding in _in_passage(hit, record):
            key = (finding.rule, finding.text)
            found.setdefault(key, ((_SEVERITY[finding.severity], late, -beyond), finding))
    ranked = sorted(found.values(), key=lambda row: row[0])
    return tuple(finding for _, finding in ranked[:MOST_FINDINGS])


def _in_passage(hit: Hit, record: RecordFacts) -> Iterator[tuple[Decimal, DocumentFinding]]:
    for start, end, columns in readable_spans(hit):
        text = hit.text[start:end]
        item = excerpt_of(hit, start, end, 1.0).item
        yield from ((Decimal(0), one) for one in _against_allergies(text, item, record))
        dated = hit.span.source.dated
        for measured in _measured(text, columns.names if columns else (), item, dated):
            yield from _outside(measured)
            yield from ((Decimal(0), one) for one in _against_record(measured, record))


# ---- a medicine, or "no known allergies", against the recorded allergies


def _against_allergies(text: str, item: Item, record: RecordFacts) -> Iterator[DocumentFinding]:
    real = [
        fact
        for fact in record.of("allergies")
        if not says_none_known(fact) and fact.status not in {"resolved", "inactive"}
    ]
    said = _NO_ALLERGY.search(text)
    if said and real:
        names = ", ".join(fact.name for fact in real)
        yield DocumentFinding(
            rule="document-none-known",
            severity="warning",
            text=f'The document says "{said[0]}", and the record holds: {names}',
            item=item,
            facts=tuple(real),
        )
    for mention in find_drugs(text):
        clause = re.split(r"[.;,]|\band\b", text[: mention.start])[-1]
        if _NOT_GIVEN.search(clause) or _NOT_GIVEN.search(text[mention.end : mention.end + 25]):
            continue
        for allergy in real:
            conflict = allergy_conflict(mention.generic, allergy.name)
            if conflict is not None and conflict.severity != "info":
                yield DocumentFinding(
                    rule="document-allergy",
                    severity=conflict.severity,
                    text=f"The document names {mention.generic}, and an allergy is recorded: "
                    f"{allergy.name}",
                    item=item,
                    facts=(allergy,),
                )


# ---- values


def _measured(
    text: str, columns: Sequence[str], item: Item, dated: date | None
) -> Iterator[_Measured]:
    if text.count("|") > 1:
        found = _row(text, columns, item, dated)
        if found is not None:
            yield found
        return
    for mention in find_analytes(text):
        after = _AFTER_NAME.match(text, mention.end)
        key = mention.keys[0] if mention.keys and not mention.panel else ""
        if (
            after is None
            or not key
            or mention.weak
            or re.match(r"\s*[-/]\s*\d", text[after.end("figure") :])
        ):
            continue
        yield _Measured(
            key=key,
            name=text[mention.start : mention.end],
            figure=after["figure"],
            unit=(after["unit"] or "").rstrip(".,"),
            range=after["range"] or "",
            item=item,
            dated=dated,
        )


def _row(text: str, columns: Sequence[str], item: Item, dated: date | None) -> _Measured | None:
    """One row of a table of results; `None` for any other table."""
    cells = [
        " ".join(cell.replace("**", "").split()) for cell in text.strip().strip("|").split("|")
    ]

    def cell(kind: re.Pattern[str]) -> str:
        at = next((at for at, name in enumerate(columns) if kind.search(name)), None)
        return cells[at] if at is not None and at < len(cells) else ""

    name, result = (
        cell(_NAME),
        re.match(rf"(?P<f>{_NUMBER})\s*(?P<u>{_UNIT})?\s*[HL*]*\Z", cell(_RESULT)),
    )
    known = analyte_of(name=name) if name else None
    if result is None or not name:
        return None
    return _Measured(
        key=known.key if known else "",
        name=name,
        figure=result["f"],
        unit=cell(_UNITS) or result["u"] or "",
        range=cell(_RANGE),
        item=item,
        dated=dated,
    )


def _outside(one: _Measured) -> Iterator[tuple[Decimal, DocumentFinding]]:
    """The value against the range that the document itself states."""
    low, high = _limits(one.range)
    figure = Decimal(one.figure)
    side = "above" if high is not None and figure > high else ""
    side = "below" if low is not None and figure < low else side
    limit = high if side == "above" else low
    if not side or limit is None:
        return
    beyond = abs(figure - limit) / limit if limit else Decimal(1)
    yield (
        beyond,
        DocumentFinding(
            rule="document-range",
            severity="warning",
            text=f"{one.name} {one.figure} {one.unit}".rstrip()
            + f" is {side} the range stated beside it ({one.range.strip()})",
            item=one.item,
        ),
    )


def _limits(text: str) -> tuple[Decimal | None, Decimal | None]:
    if (both := _BETWEEN.search(text)) is not None:
        return Decimal(both["low"]), Decimal(both["high"])
    if (upper := _UPPER.search(text)) is not None:
        return None, Decimal(upper["high"])
    if (lower := _LOWER.search(text)) is not None:
        return Decimal(lower["low"]), None
    return None, None


def _against_record(one: _Measured, record: RecordFacts) -> Iterator[DocumentFinding]:
    """The same analyte on the same day with another value: one of the two is wrong."""
    if not one.key or one.dated is None or not one.unit:
        return
    readings = readings_of(record.of("observations"), as_of=one.dated).get(one.key, ())
    same = [fact for fact in readings if fact.when is not None and fact.when.date() == one.dated]
    for fact in same[:1]:
        if fact.value is None or fact.comparator:
            continue
        order = compare((Decimal(one.figure), one.unit), (fact.value, fact.unit), fact.name)
        if order in {1, -1}:
            yield DocumentFinding(
                rule="document-value",
                severity="warning",
                text=f"{analyte(one.key).name} is {one.figure} {one.unit} in the document, and the "
                f"record has {fact.figure} {fact.unit} for the same day",
                item=one.item,
                facts=(fact,),
            )
