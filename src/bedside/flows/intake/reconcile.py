"""The model's extracted data and the rules' readings made one (IN-10). Pure.

Over the same message the model wins a contradiction if it quotes the message, the extractors win
additions. A fact of the model's without words in the message is no fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from bedside.core.turn import Change
from bedside.flows.intake.case import By, Case, change
from bedside.flows.intake.envelope import Envelope
from bedside.flows.intake.fields import Context, read_asked
from bedside.flows.intake.lexicon import conditions
from bedside.language.negation import scopes
from bedside.sop.contract import Contract, Field
from bedside.sop.state import Known

__all__ = ["model_facts", "reconcile"]


def model_facts(
    envelope: Envelope, text: str, contract: Contract, case: Case, *, turn_id: str, by: By = "model"
) -> dict[str, Known]:
    """The facts of an envelope that stand in the message, by field."""
    found: dict[str, Known] = {}
    for name, given in _flat(envelope.extracted_data).items():
        field = contract.field(name)
        if field is None:
            continue
        value, quote = _parts(given)
        read = _checked(field, value, quote, text, contract, case)
        if read is not None:
            value, start, end = read
            found[name] = _known(value, text, start, end, case, turn_id, by)
    illnesses = contract.field("key_comorbidities")
    if illnesses is not None and envelope.detected_comorbidities and illnesses.id not in found:
        named = _illnesses(envelope.detected_comorbidities, text, case, illnesses.id)
        if named is not None:
            value, start, end = named
            found[illnesses.id] = _known(value, text, start, end, case, turn_id, by)
    return found


def _known(
    value: object, text: str, start: int, end: int, case: Case, turn_id: str, by: str
) -> Known:
    return Known(
        status="known",
        value=value,
        said=text[start:end],
        source=turn_id,
        start=start,
        end=end,
        turn=case.facts.turn,
        by=by,
    )


def _flat(given: Mapping[str, Any]) -> dict[str, Any]:
    """Fields, also where a model grouped them by section."""
    found: dict[str, Any] = {}
    for name, one in given.items():
        if isinstance(one, Mapping) and "value" not in one:
            found |= {str(inner): deep for inner, deep in one.items()}
        else:
            found[str(name)] = one
    return found


def _parts(given: Any) -> tuple[Any, str]:
    if isinstance(given, Mapping):
        return given.get("value"), str(given.get("quote") or "")
    return given, ""


def _checked(
    field: Field, value: Any, quote: str, text: str, contract: Contract, case: Case
) -> tuple[object, int, int] | None:
    """The value as the field's kind has it, and its words in the message; `None` where it has none."""
    if value in (None, "", [], {}):
        return None
    at = text.casefold().find(quote.casefold()) if quote.strip() else -1
    words = text[at : at + len(quote)] if at >= 0 else text
    if field.kind == "text" and isinstance(value, str):
        placed = _placed(field, value, words, contract, case)
        if placed is not None:
            found, start, end = placed
            return found, start + max(at, 0), end + max(at, 0)
    read = read_asked(field, Context(text=words, state=case.facts, contract=contract))
    if read is None:
        return None
    agreed = _same(read.value, value)
    if not agreed and field.kind in {"number", "choice", "boolean", "money", "date", "list"}:
        return None
    if not agreed and str(value).casefold() not in words.casefold():
        return None
    offset = max(at, 0)
    return read.value, read.start + offset, read.end + offset


def _placed(
    field: Field, value: str, words: str, contract: Contract, case: Case
) -> tuple[object, int, int] | None:
    """A text's value where it stands in the quote, as whole words; `None` where it does not."""
    form = r"\s+".join(re.escape(one) for one in value.split())
    match = re.search(rf"(?<!\w){form}(?!\w)", words, re.IGNORECASE)
    if match is None:
        return None
    own = read_asked(field, Context(text=match.group(), state=case.facts, contract=contract))
    return (own.value if own is not None else match.group()), match.start(), match.end()


def _same(read: object, given: Any) -> bool:
    if isinstance(read, bool) or isinstance(given, bool):
        return str(read).casefold() == str(given).casefold()
    if isinstance(read, (int, float)):
        try:
            return float(read) == float(str(given).split()[0])
        except (ValueError, IndexError):
            return False
    if isinstance(read, (list, tuple)):
        mine = {str(one).casefold() for one in read}
        theirs = given if isinstance(given, (list, tuple)) else [given]
        return bool(mine) and {str(one).casefold() for one in theirs} <= mine | {""}
    if isinstance(read, Mapping):
        return True  # the words are the sum; how a model writes it does not matter
    return str(read).casefold() == str(given).casefold()


def _illnesses(
    named: Iterable[str], text: str, case: Case, field: str
) -> tuple[tuple[str, ...], int, int] | None:
    wanted = {one.value for name in named for one in conditions(name)}
    denied = [one for one in scopes(text) if one.kind in {"negated", "family"}]
    here = [
        one
        for one in conditions(text)
        if one.value in wanted and not any(s.start <= one.start < s.end for s in denied)
    ]
    before = case.facts.value(field)
    known = [str(one) for one in before] if isinstance(before, (list, tuple)) else []
    merged = tuple(dict.fromkeys([*known, *(one.value for one in here)]))
    if not here or list(merged) == known:
        return None
    return merged, min(one.start for one in here), max(one.end for one in here)


def reconcile(
    case: Case, model: Mapping[str, Known], *, rules: Mapping[str, Known]
) -> tuple[Change, ...]:
    """The changes that the model's facts make beside those of the rules.

    A model's fact that a rule reads otherwise takes its place, since it stands on a quote; one that
    nobody else read is added; what a document or a form says is guarded by the reducer.
    """
    changes = []
    for name, known in model.items():
        rule = rules.get(name)
        if rule is not None and _same(rule.value, known.value):
            continue
        before = case.facts.get(name)
        if rule is None and before.status == "known" and _same(before.value, known.value):
            continue
        changes.append(change(f"field:{name}", known, by="model"))
    return tuple(changes)
