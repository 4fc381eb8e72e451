"""Grades a conversation against what is true of the person: slots, repeats, questions, honesty.

Truth comes from the persona, questions from the words shown, and what was said from the simulator;
the turn's own `state` is what is graded, never what grades.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bedside.core.value import value
from bedside.evals.intake_persona import Fact, required
from bedside.evals.intake_simulate import Talk, topic_of

__all__ = ["Grade", "dishonest_words", "grade", "questions_in", "right"]

_QUESTION_MARK = re.compile(r"[?؟]+")
_LONG = 120
"""Words above which a message is long for a phone."""
_FAILED_WORDS = re.compile(
    r"could not be read|couldn't be read|failed to|extraction failed|unreadable|expired before|لم تتم قراءة|पढ़ी नहीं जा सकी",
    re.IGNORECASE,
)
_READ_WORDS = re.compile(
    r"has been read|your (?:x-ray|report|scan) shows|تمت قراءة|पढ़ ली गई", re.IGNORECASE
)


@value
class Grade:
    """One conversation's marks.

    `filled`, `wrong` and `missing` are required fields that the person knows; `invented` are
    fields that hold a value which the person never gave. `repeats` are (turn, field) pairs of what
    the person had said, declined or said that they do not know; `nagging` are questions that were
    put a third time without an answer.
    `alarms` are turns where an emergency was seen in plain answers, without any vignette's words.
    Turns count from 0.
    """

    id: str
    contract: str
    known: int
    filled: int
    wrong: tuple[str, ...]
    missing: tuple[str, ...]
    invented: tuple[str, ...]
    repeats: tuple[tuple[int, str], ...]
    nagging: tuple[tuple[int, str], ...]
    two_questions: tuple[int, ...]
    dishonest: tuple[int, ...]
    misread: tuple[tuple[int, str, str], ...]
    silent: tuple[int, ...]
    alarms: tuple[int, ...]
    long: tuple[int, ...]
    turns: int
    complete: bool
    matched: bool
    error: str = ""


def questions_in(text: str) -> int:
    """How many questions a text asks, by its question marks; quoted ones count too."""
    return len(_QUESTION_MARK.findall(text))


def right(fact: Fact, held: Any, *, vague: bool = False) -> bool:
    """Does a stored value mean what is true? By kind of truth; text by its words."""
    truth = fact.truth
    if isinstance(truth, bool):
        return held is truth
    if isinstance(truth, (int, float)):
        return (
            isinstance(held, (int, float))
            and not isinstance(held, bool)
            and float(held) == float(truth)
        )
    if isinstance(truth, Mapping):
        return (
            isinstance(held, Mapping)
            and float(str(held.get("amount") or "nan")) == float(truth["amount"])
            and held.get("currency") == truth["currency"]
        )
    if isinstance(truth, list):
        return _right_list(truth, fact.alias, held, vague=vague)
    words = str(held).casefold()
    if fact.field == "name":
        return words in {str(one).casefold() for one in (truth, *fact.alias)} or any(
            words == say.casefold() for say in fact.say
        )
    return any(str(one).casefold() in words for one in (truth, *fact.alias)) and len(words) < _LONG


def _right_list(truth: Sequence[str], alias: Sequence[str], held: Any, *, vague: bool) -> bool:
    if not isinstance(held, (list, tuple)):
        return False
    kept = [str(one).casefold() for one in held if not str(one).casefold().startswith("no ")]
    wanted = [(one.casefold(), *(other.casefold() for other in alias)) for one in truth]
    found = all(any(any(form in one for form in forms) for one in kept) for forms in wanted)
    clean = all(
        any(any(form in one for form in forms) for forms in wanted) and len(one) < 40
        for one in kept
    )
    return found and (clean or vague)


def grade(talk: Talk) -> Grade:
    """The marks of one conversation."""
    persona = talk.persona
    last = talk.seen[-1].body if talk.seen else {}
    fields: Mapping[str, Any] = last.get("state", {}).get("fields", {})
    known = required(persona)
    given = {name for said in talk.said for name in said.answers}
    wrong, missing, filled = [], [], 0
    for name in known:
        held = fields.get(name, {})
        if held.get("status") != "known":
            missing.append(name)
        elif _told_right(talk, name, held):
            filled += 1
        else:
            wrong.append(name)
    invented = [
        name
        for name, held in fields.items()
        if held.get("status") == "known"
        and (
            name in persona.refuses | persona.doubts
            or (name in persona.facts and name not in given)
        )
        and held.get("origin") == "turn"
        and name != "who"  # "I need" says whose it is
        and not _of_noise(talk, held)
        and not (
            name in persona.facts and right(persona.facts[name], held.get("value"), vague=True)
        )
        and not (name == "current_medicines" and not _foreign(held))
    ]
    asked = [topic_of(seen.answer) for seen in talk.seen]
    repeats, nagging = _repeats(talk, asked)
    return Grade(
        id=persona.id,
        contract=persona.contract,
        known=len(known),
        filled=filled,
        wrong=tuple(wrong),
        missing=tuple(missing),
        invented=tuple(invented),
        repeats=repeats,
        nagging=nagging,
        two_questions=tuple(
            at for at, seen in enumerate(talk.seen) if questions_in(seen.answer) > 1
        ),
        dishonest=tuple(
            at for at, seen in enumerate(talk.seen) if dishonest_words(seen.answer, seen.body)
        ),
        misread=tuple(
            (at, topic, seen.asked)
            for at, (topic, seen) in enumerate(zip(asked, talk.seen, strict=True))
            if topic and seen.asked and not seen.asked.startswith("@") and topic != seen.asked
        ),
        silent=tuple(
            at
            for at, (topic, seen) in enumerate(zip(asked, talk.seen, strict=True))
            if not topic
            and not seen.body.get("red_flags")
            and seen.body.get("case_status") == "intake"
        ),
        alarms=tuple(
            at
            for at, seen in enumerate(talk.seen)
            if seen.body.get("red_flags")
            and not any(one in talk.said[at].text for one in persona.noise)
        ),
        long=tuple(at for at, seen in enumerate(talk.seen) if len(seen.answer.split()) > _LONG),
        turns=len(talk.seen),
        complete=bool(last.get("intake_complete")),
        matched=last.get("case_status") in {"matching", "consultation"},
        error=talk.error,
    )


def _told_right(talk: Talk, name: str, held: Mapping[str, Any]) -> bool:
    """Right by the last thing that the person said of it; a vignette's own words count too."""
    persona = talk.persona
    fact = persona.wrong[name] if name in talk.uncorrected else persona.facts[name]
    value_ = held.get("value")
    if isinstance(value_, (list, tuple)):
        true = [str(one).casefold() for one in (*_listed(fact.truth), *fact.alias)]
        value_ = [
            one
            for one in value_
            if any(form in str(one).casefold() for form in true)
            or not _elsewhere(talk, name, str(one))
        ]
    return right(fact, value_, vague=persona.vague) or _of_noise(talk, held)


def _listed(truth: Any) -> Sequence[str]:
    return truth if isinstance(truth, list) else ()


def _elsewhere(talk: Talk, name: str, one: str) -> bool:
    """Did the person say this illness under another question, as with glaucoma or a stent?"""
    if name != "key_comorbidities":
        return False
    others = " ".join(said.text.casefold() for said in talk.said if name not in said.answers)
    return one.casefold() in others or (
        one == "heart disease" and re.search("heart|stent|angina", others) is not None
    )


def _of_others(talk: Talk, held: Mapping[str, Any]) -> bool:
    """An illness that was told with another answer, such as a stent, and not refused."""
    words = str(held.get("said") or "").strip().casefold()
    return bool(words) and any(words in one.text.casefold() for one in talk.said if one.answers)


def _of_noise(talk: Talk, held: Mapping[str, Any]) -> bool:
    """The words that a value rests on are a vignette's, whose truth is its own."""
    said = str(held.get("said") or "").strip().casefold()
    return bool(said) and any(said in one.casefold() for one in talk.persona.noise)


def _foreign(held: Mapping[str, Any]) -> bool:
    """Words among medicines that are none: what a person puts round an answer."""
    text = str(held.get("value")).casefold()
    return any(one in text for one in ("hope", "thank", "sorry", "no ", "name is", "allerg"))


_Asked = tuple[tuple[int, str], ...]


def _repeats(talk: Talk, asked: Sequence[str]) -> tuple[_Asked, _Asked]:
    """Questions about what was settled, and questions put a third time that never were.

    A skipped question may return once, and again where the person asks what is still needed. A
    question that was answered with something else was not answered; a value that is corrected
    later was.
    """
    settled: set[str] = set()
    times: dict[str, int] = {}
    again: list[tuple[int, str]] = []
    often: list[tuple[int, str]] = []
    for at, topic in enumerate(asked):
        settled |= set(talk.said[at].answers)
        settled |= {one for one in (talk.said[at].declined, talk.said[at].doubted) if one}
        if topic in {
            "",
            "?",
            "upload",
            "confirm",
            "consent",
            "choose",
            "conflict",
            "procedure_name",
        }:
            continue
        times[topic] = times.get(topic, 0) + (not talk.said[at].invites)
        if topic in settled:
            again.append((at, topic))
        elif times[topic] > 2:
            often.append((at, topic))
    return tuple(again), tuple(often)


def dishonest_words(answer: str, body: Mapping[str, Any]) -> bool:
    """Does the message say of a document what no document's status says?"""
    statuses = {one["status"] for one in body.get("state", {}).get("documents", {}).values()}
    if _FAILED_WORDS.search(answer) and not statuses & {"failed_permanent", "expired"}:
        return True
    return bool(_READ_WORDS.search(answer)) and "complete" not in statuses
