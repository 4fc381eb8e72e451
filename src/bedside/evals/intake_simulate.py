"""The person at the other end: reads the question, answers as people do, and corrects themselves.

What is asked is recognised from the words alone, by cues of the measure's own, never from the
turn's `asked`. Everything is drawn from the persona's seed, so a case replays exactly.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import field as default
from typing import Any

from bedside.core.value import value
from bedside.evals.intake_persona import Persona, facts_file, manner_file
from bedside.evals.intake_seat import Seat, Seen
from bedside.flows.intake.needs import Upload
from bedside.sop.find import find

__all__ = ["MOST_TURNS", "Said", "Talk", "converse", "question_of", "topic_of"]

MOST_TURNS = 30
PATIENCE = 2
"""After so many turns without a question a person leaves."""
_ENDS = re.compile(r"(?<=[.!?؟।])\s+")


@value
class Said:
    """What the person did in one turn.

    `answers` are fields that the message states; `first` is True where one of them is a value that
    is corrected later; `topic` is what they took the last question to be about; `invites` is True
    where they ask to be told what is still needed.
    """

    text: str
    topic: str = ""
    answers: tuple[str, ...] = ()
    declined: str = ""
    doubted: str = ""
    corrected: str = ""
    evaded: bool = False
    invites: bool = False
    act: tuple[str, str] | None = None


@value
class Talk:
    """One whole conversation. `said[i]` is answered by `seen[i]`.

    `uploads` says how each upload went; `uncorrected` are fields whose first, wrong value the
    person had no turn left to correct.
    """

    persona: Persona
    said: tuple[Said, ...]
    seen: tuple[Seen, ...]
    error: str = ""
    uploads: Mapping[str, str] = default(default_factory=dict)
    uncorrected: tuple[str, ...] = ()


@functools.cache
def _topics() -> tuple[tuple[str, re.Pattern[str]], ...]:
    book = facts_file()
    rows = {**book["topics"], **{name: one["topic"] for name, one in book["fields"].items()}}
    return tuple(
        (name, re.compile("|".join(forms), re.IGNORECASE)) for name, forms in rows.items() if forms
    )


def question_of(answer: str) -> str:
    """The last question in the answer; "" where it asks nothing."""
    asked = [one.strip() for one in _ENDS.split(answer) if one.rstrip("\"' ").endswith(("?", "؟"))]
    return asked[-1] if asked else ""


def topic_of(answer: str) -> str:
    """What the answer asks about: a field, one of the topics, "" for nothing, "?" for unclear."""
    question = question_of(answer)
    if not question:
        return ""
    return next((name for name, form in _topics() if form.search(question)), "?")


class _Person:
    """One persona's state of mind."""

    def __init__(self, persona: Persona) -> None:
        self.persona, self.rng = persona, random.Random(persona.seed + 1)
        self.told: set[str] = set()
        self.owed: list[str] = []
        self.evasions = 2 if self.rng.random() < 0.3 else 0
        self.noise = list(persona.noise)
        self.uploads = list(persona.uploads)
        self.named = False

    def opening(self) -> Said:
        text = self.persona.opening
        about = find(self.persona.contract)
        low = text.casefold()
        self.named = (
            any(name.casefold() in low for name in about.names)
            or self.persona.words.casefold() in low
        )
        answers: list[str] = []
        if self.persona.language == "en" and self.rng.random() < 0.3:
            more, fields = self._volunteered(2)
            text, answers = f"{_stopped(text)} {more}", fields
        if self.persona.noise and self.rng.random() < 0.6:
            text = f"{_stopped(text)} {self._noisy()}"
        return Said(text=text, answers=tuple(answers))

    def _noisy(self) -> str:
        return self.noise.pop(0) if self.noise else ""

    def _volunteered(self, most: int, *, but: str = "") -> tuple[str, list[str]]:
        """Up to `most` other facts, said unasked."""
        ready = [
            one
            for one in self.persona.facts.values()
            if one.free and one.field not in self.told and one.field != but
        ]
        self.rng.shuffle(ready)
        picked = ready[: self.rng.randint(1, most)] if ready else []
        parts: list[str] = []
        for one in picked:
            first = self.persona.wrong.get(one.field)
            if first is not None and first.free:
                self.owed.append(one.field)
                parts.append(self.rng.choice(first.free))
            else:
                parts.append(self.rng.choice(one.free))
            self.told.add(one.field)
        text = (
            (", and ".join(parts))
            if self.rng.random() < 0.5
            else ". ".join(_upper(p) for p in parts)
        )
        return (f"{text}." if text else ""), [one.field for one in picked]

    def reply(self, seen: Seen) -> Said:
        topic = topic_of(seen.answer)
        if self.owed and self.rng.random() < 0.5:
            name = self.owed.pop(0)
            fact = self.persona.facts[name]
            text = self.rng.choice(manner_file()["corrections"]).format(
                free=self.rng.choice(fact.free)
            )
            return Said(text=text, topic=topic, corrected=name, answers=(name,), evaded=True)
        if topic in {"confirm", "consent"}:
            return Said(
                text={"en": "yes", "ar": "نعم", "hi": "हाँ"}[self.persona.language], topic=topic
            )
        if topic == "choose":
            return Said(text="the first one" if self.persona.language == "en" else "1", topic=topic)
        if topic == "conflict":
            side = self.persona.facts.get("procedure_side")
            text = side.say[0] if side is not None else "what I wrote"
            return Said(text=text, topic=topic)
        if topic == "upload":
            return self._upload(topic)
        if topic == "procedure_name":
            self.named = True
            text = self.rng.choice(manner_file()["named"])
            text = text.format(a_procedure=_an(self.persona.words))
            if self.persona.language != "en":
                text = self.persona.words
            elif self.persona.carer:
                text = self._need()
            return Said(text=text, topic=topic)
        if topic in {"", "?"}:
            return self._idle(topic, seen)
        return self._about(topic)

    def _idle(self, topic: str, seen: Seen) -> Said:
        if seen.body.get("red_flags"):
            return Said(text=manner_file()["after_red_flag"], topic=topic)
        if not self.named and self.persona.language == "en":
            self.named = True
            return Said(text=self._need(), topic=topic)
        tongue = "" if self.persona.language == "en" else f"_{self.persona.language}"
        text = self.rng.choice(manner_file()[f"nudges{tongue}"])
        return Said(text=text, topic=topic, invites="need" in text or "go on" in text)

    def _need(self) -> str:
        who = f"My {self.persona.carer} needs" if self.persona.carer else "I need"
        return f"{who} {_an(self.persona.words)}"

    def _upload(self, topic: str) -> Said:
        if not self.uploads:
            later = {"en": "later please", "ar": "لاحقًا", "hi": "बाद में"}
            return Said(text=later[self.persona.language], topic=topic)
        key = f"doc-{len(self.uploads)}"
        return Said(text=f"(added a file: {key}.pdf)", topic=topic, act=("upload", key))

    def _about(self, topic: str) -> Said:
        persona, rng = self.persona, self.rng
        tongue = "" if persona.language == "en" else f"_{persona.language}"
        if topic in persona.refuses:
            return Said(
                text=rng.choice(manner_file()[f"refusals{tongue}"]), topic=topic, declined=topic
            )
        fact = persona.facts.get(topic)
        if fact is None:
            text = rng.choice(manner_file()[f"doubts{tongue}"])
            return Said(text=text, topic=topic, doubted=topic)
        if self.evasions and rng.random() < 0.2:
            more, fields = self._volunteered(1, but=topic)
            if fields:
                self.evasions -= 1
                return Said(text=more, topic=topic, answers=tuple(fields), evaded=True)
        first = persona.wrong.get(topic)
        if first is not None and topic not in self.told:
            self.owed.append(topic)
            fact = first
        self.told.add(topic)
        text = rng.choice(fact.say)
        answers = [topic]
        if persona.language == "en":
            text, more = self._dressed(text, topic)
            answers += more
        return Said(text=text, topic=topic, answers=tuple(answers))

    def _dressed(self, text: str, topic: str) -> tuple[str, list[str]]:
        """The answer with what people put round it."""
        rng, manner = self.rng, manner_file()
        text = rng.choice(manner["leads"]) + text
        if rng.random() < 0.2:
            text = text.lower() if rng.random() < 0.7 else text.upper()
        more: list[str] = []
        if rng.random() < 0.25:
            others, more = self._volunteered(2, but=topic)
            if others:
                text = f"{text.rstrip('.')}. {_upper(others)}"
        if self.noise and rng.random() < 0.3:
            text = f"{text.rstrip('.')}. {self._noisy()}"
        if rng.random() < 0.08:
            text = f"{text.rstrip('.')}. {rng.choice(manner['feelings'])}"
        if rng.random() < 0.08:
            text = f"{text.rstrip('.')}. {rng.choice(manner['questions'])}"
        elif not text.rstrip().endswith((".", "?")):
            text += rng.choice(manner["tails"])
        return text, more


def _stopped(text: str) -> str:
    return text if text.rstrip().endswith((".", "?", "!")) else f"{text.rstrip()}."


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _an(words: str) -> str:
    return f"an {words}" if words[:1] in "aeiouAEIOU" else f"a {words}"


def converse(
    persona: Persona,
    seat: Seat,
    *,
    most: int = MOST_TURNS,
    stop_when_done: bool = True,
    tell: Callable[[Said], None] = lambda _said: None,
) -> Talk:
    """Let the person talk until the case is with a hospital, or so many turns are over.

    Args:
        persona: Who talks.
        seat: The case.
        most: Turns at most.
        stop_when_done: Stop once a hospital was chosen.
        tell: Told each message before it is sent, for a scripted model that quotes it.
    """
    person = _Person(persona)
    said: list[Said] = []
    ways: dict[str, str] = {}
    error = ""
    move = person.opening()
    idle = 0
    for _ in range(most):
        if move.act is not None:
            _begin_upload(person, seat, move.act[1], ways)
        tell(move)
        try:
            seen = seat.send(move.text, act=move.act)
        except Exception as failed:  # noqa: BLE001 - a measure counts crashes instead of dying of one
            error = f"{type(failed).__name__}: {failed}"
            said.append(move)
            break
        said.append(move)
        _advance_uploads(seat, ways)
        if stop_when_done and seen.body.get("case_status") == "consultation" and not person.owed:
            break
        move = person.reply(seen)
        idle = idle + 1 if move.topic == "" and not move.answers else 0
        if idle > PATIENCE:
            break  # nothing is asked any more: they leave
    return Talk(
        persona=persona,
        said=tuple(said),
        seen=tuple(seat.turns),
        error=error,
        uploads=ways,
        uncorrected=tuple(person.owed),
    )


def _begin_upload(person: _Person, seat: Seat, key: str, ways: dict[str, str]) -> None:
    way = person.uploads.pop(0)
    ways[key] = way
    types = [
        one.type for one in find(person.persona.contract).documents if one.severity == "required"
    ]
    kind = types[len(seat.uploads) % len(types)] if types else "unknown"
    seat.uploads.append(
        Upload(id=key, type=kind, status="queued", label=f"{kind}.pdf", findings={}, eta_seconds=40)
    )


def _advance_uploads(seat: Seat, ways: Mapping[str, str]) -> None:
    """A turn later, the worker is a step further."""
    steps = {
        "complete": ("queued", "processing", "complete"),
        "stored": ("queued", "stored"),
        "failed_permanent": ("queued", "processing", "failed_transient", "failed_permanent"),
        "failed_transient": ("queued", "failed_transient", "processing", "complete"),
        "expired": ("queued", "expired"),
        "slow": ("queued", "queued", "processing", "processing", "complete"),
    }
    moved: list[Upload] = []
    for one in seat.uploads:
        path = steps[ways[one.id]]
        at = _index(path, one.status)
        to = path[min(at + 1, len(path) - 1)]
        moved.append(
            Upload(
                id=one.id,
                type=one.type,
                status=to,
                label=one.label,
                findings=_findings(one.type) if to == "complete" else {},
                eta_seconds=20 if to in {"queued", "processing"} else None,
            )
        )
    seat.uploads = moved


def _index(path: tuple[str, ...], status: str) -> int:
    return max(number for number, one in enumerate(path) if one == status)


def _findings(kind: str) -> dict[str, Any]:
    if kind == "bloodwork_recent":
        return {
            "hemoglobin": {"value": 12.1, "unit": "g/dL"},
            "creatinine": {"value": 0.9, "unit": "mg/dL"},
        }
    return {"impression": {"value": "as reported", "unit": ""}}
