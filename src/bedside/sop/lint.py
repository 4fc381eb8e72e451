"""What is wrong with a contract, beyond its form (IN-13). Pure.

The texts of safety rules reach a prompt as they stand. One that speaks to the person, recommends,
or states a diagnosis would come out of the model as advice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from bedside.core.context import Count
from bedside.core.errors import BadInput
from bedside.core.value import value
from bedside.sop.blocks import BASE_TOKENS, SOP_TOKENS, base_prompt
from bedside.sop.checklist import definition
from bedside.sop.contract import Contract
from bedside.sop.reading import read_contract

__all__ = ["SMALLEST_PREFIX", "Problem", "lint", "lint_all", "lint_base", "lint_file", "lint_text"]

SMALLEST_PREFIX = 4_096
"""Tokens below which some models cache nothing."""
Severity = Literal["error", "warning"]
_FENCES = "<sop>\n<item>\n{}\n</item>\n</sop>\n"
_BASE_FENCES = "<base>\n<item>\n{}\n</item>\n</base>\n"
_LANGUAGES = ("ar", "hi")


@value
class Problem:
    """One finding. `where` names the place ("rules.anticoagulation"); errors fail the lint."""

    rule: str
    severity: Severity
    sop: str
    where: str
    message: str


_SECOND = re.compile(
    r"\b(?:you|your|yours|yourself)\b|\bplease (?:ensure|make sure|note|do|take|stop|see|ask|contact)\b"
    r"|(?:^|[.;:]\s+)(?:do not|don't|never|always|stop|take|start|avoid|ensure|make sure|consult|see a|"
    r"contact|ask|tell|call|go to|seek|get|have|bring|check with)\b",
    re.IGNORECASE,
)
_FIRST = re.compile(
    r"\b(?:i|we|i'd|we'd) (?:strongly )?(?:recommend|advise|suggest|propose|urge|believe|think|would)\b"
    r"|\b(?:my|our) (?:advice|recommendation|opinion)\b|\bit is (?:recommended|advised|advisable) (?:that|to)\b",
    re.IGNORECASE,
)
_DIAGNOSIS = re.compile(
    r"\b(?:the|this) (?:patient|person|case) (?:has|have|had|suffers|is suffering|is (?:diabetic|septic|hypertensive|obese|infertile))\b"
    r"|\b(?:he|she|they) (?:has|have|suffers?)\b|\b(?:diagnosed with|is diagnosed|confirms? the diagnosis|is a sign that)\b"
    r"|\b(?:definitely|certainly|clearly|probably|likely) (?:has|have|is|means)\b|\bmeans that (?:the|there)\b",
    re.IGNORECASE,
)


def lint_text(text: str) -> tuple[str, ...]:
    """What a rule's text does that it must not: "second_person", "first_person", "diagnosis"."""
    forms = (("second_person", _SECOND), ("first_person", _FIRST), ("diagnosis", _DIAGNOSIS))
    plain = text.replace("’", "'")
    return tuple(name for name, form in forms if form.search(plain))


_SAYS = {
    "second_person": "speaks to the person or orders; state the rule of the procedure instead",
    "first_person": "recommends in the first person; state what is done and by whom",
    "diagnosis": "states a diagnosis of this patient; name the condition that sets the rule off",
}


def lint(contract: Contract, *, count: Count, base: str = "") -> tuple[Problem, ...]:
    """The problems of one contract, in the order of its parts.

    Args:
        contract: The contract, read and well formed.
        count: A token counter, as the compiler uses it.
        base: The base prompt that it will stand under; ours where it is empty.
    """
    return (
        *_texts(contract),
        *_questions(contract),
        *_references(contract),
        *_sizes(contract, count=count, base=base or base_prompt()),
    )


def lint_all(contracts: Sequence[Contract], *, count: Count) -> tuple[Problem, ...]:
    """The problems of each, and of all together: a name or code that two contracts claim."""
    found = [problem for contract in contracts for problem in lint(contract, count=count)]
    owner: dict[str, Contract] = {}
    for contract in contracts:
        for name in dict.fromkeys(one.casefold() for one in (*contract.codes, *contract.names)):
            other = owner.setdefault(name, contract)
            if other is not contract:
                found.append(
                    _problem(
                        contract, "duplicate_name", f"names.{name}",
                        f"{name!r} stands in {other.id} too; a person's words would choose neither",
                    )
                )  # fmt: skip
    return tuple(found)


def lint_base(base: str, *, count: Count) -> tuple[Problem, ...]:
    """The problems of a base prompt: its size. It is never cut, so too long a one fails here."""
    tokens = count(_BASE_FENCES.format(base))
    if tokens <= BASE_TOKENS:
        return ()
    return (
        Problem(
            rule="base_too_long",
            severity="error",
            sop="",
            where="base",
            message=f"the base has {tokens} tokens; its cap is {BASE_TOKENS}",
        ),
    )


def lint_file(text: str, *, what: str, count: Count) -> tuple[Problem, ...]:
    """The problems of a contract's YAML text; one that cannot be read is a problem itself."""
    try:
        return lint(read_contract(text, what=what), count=count)
    except BadInput as error:
        return (
            Problem(rule="unreadable", severity="error", sop="", where=what, message=error.args[0]),
        )


def _problem(
    contract: Contract, rule: str, where: str, message: str, *, severity: Severity = "error"
) -> Problem:
    return Problem(rule=rule, severity=severity, sop=contract.id, where=where, message=message)


def _texts(contract: Contract) -> Iterable[Problem]:
    for rule in contract.rules:
        where = f"rules.{rule.id}"
        for name in lint_text(rule.description):
            yield _problem(contract, name, where, _SAYS[name])
        if not rule.source.strip():
            yield _problem(contract, "no_source", where, "a safety rule needs a source")
        if not rule.values and rule.over is None and rule.under is None:
            yield _problem(contract, "no_condition", where, "nothing sets this rule off")
    for field in contract.fields:
        for language, text in field.ask.items():
            if text.count("?") + text.count("؟") > 1:
                yield _problem(
                    contract, "two_questions", f"fields.{field.id}.ask.{language}",
                    "asks more than one thing",
                )  # fmt: skip
    if not any(source.strip() for source in contract.sources):
        yield _problem(contract, "no_source", "sources", "a contract needs its sources")


def _questions(contract: Contract) -> Iterable[Problem]:
    for field in contract.fields:
        where = f"fields.{field.id}"
        if not field.ask.get("en", "").strip() and field.when != "optional":
            yield _problem(contract, "no_question", where, "a mandatory field needs a question")
        missing = [code for code in _LANGUAGES if not field.ask.get(code)]
        if missing and field.when != "optional":
            yield _problem(
                contract, "no_translation", where, f"no question in {', '.join(missing)}",
                severity="warning",
            )  # fmt: skip
        if not field.cues and field.kind != "choice":
            yield _problem(
                contract, "no_cues", where, "no cue announces this field", severity="warning"
            )


def _references(contract: Contract) -> Iterable[Problem]:
    known = {field.id: field for field in contract.fields}
    for rule in contract.rules:
        where = f"rules.{rule.id}"
        field = known.get(rule.field)
        if field is None:
            yield _problem(contract, "unknown_field", where, f"rests on {rule.field!r}, no field")
        elif field.kind == "choice" and set(rule.values) - set(field.choices):
            wrong = ", ".join(sorted(set(rule.values) - set(field.choices)))
            yield _problem(
                contract, "unknown_value", where, f"{wrong}: no choice of {rule.field!r}"
            )
    for field in contract.fields:
        if field.only_if is not None and field.only_if[0] not in known:
            yield _problem(
                contract, "unknown_field", f"fields.{field.id}",
                f"hangs on {field.only_if[0]!r}, no field",
            )  # fmt: skip
    read = {one.type for one in contract.interpretation}
    for need in contract.documents:
        if need.severity == "required" and need.type not in read:
            yield _problem(
                contract, "no_interpretation", f"documents.{need.type}",
                "a required document without anything to read in it", severity="warning",
            )  # fmt: skip


def _sizes(contract: Contract, *, count: Count, base: str) -> Iterable[Problem]:
    tokens = count(_FENCES.format(definition(contract)))
    if tokens > SOP_TOKENS:
        yield _problem(
            contract, "too_long", "definition",
            f"the definition has {tokens} tokens; its cap is {SOP_TOKENS}: shorten rules or split",
        )  # fmt: skip
    both = tokens + count(_BASE_FENCES.format(base))
    if both <= SMALLEST_PREFIX:
        yield _problem(
            contract, "short_prefix", "definition",
            f"base and definition have {both} tokens; some models cache nothing up to {SMALLEST_PREFIX}",
            severity="warning",
        )  # fmt: skip
