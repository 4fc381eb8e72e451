"""Conversations as people have them, written by hand: rambling, dictated, misspelt, taken back.

The other personas put true values into a few set phrases. These 126 speak as people do. They
answer what is asked by the measure's own cues, and say other things when they feel like it. Each
file was written before the readers were held against it, so its first figures are the honest ones:
178 of 240 slots for `spoken`, 181 of 237 for `spoken_fresh`, measured after the mends for the first,
287 of 350 for `spoken_third`, measured after the mends for both, and for `spoken_fourth` 405 of 466
with its first forty people and 153 of 185 with the other sixteen, after the mends for the forty.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import yaml

from bedside.evals.intake_grade import Grade, grade, right
from bedside.evals.intake_persona import Fact, Persona
from bedside.evals.intake_seat import Seat, Seen
from bedside.evals.intake_simulate import Said, Talk, topic_of
from bedside.sop.find import find

__all__ = ["Speaker", "measure_spoken", "speak", "speakers"]

MOST_TURNS = 40
PATIENCE = 3
"""Whoever was asked nothing so often leaves."""
_YES = {"en": "yes please", "ar": "نعم", "hi": "हाँ"}
_LATER = {"en": "later", "ar": "لاحقًا", "hi": "बाद में"}
_NO = {"en": "I don't know", "ar": "لا أعرف", "hi": "पता नहीं"}
_NONE = {"en": "no", "ar": "لا", "hi": "नहीं"}
_SCRIPTS = {False: {"en"}, True: {"ar", "hi"}}
_GO_ON = {"en": "ok, please go on", "ar": "حسنًا", "hi": "ठीक है"}


@functools.cache
def speakers(name: str = "spoken") -> Sequence[Mapping[str, Any]]:
    """The people of a file, as they are written there: "spoken", "spoken_fresh", and so on."""
    path = resources.files("bedside.evals") / "intake_personas" / f"{name}.yaml"
    found: Sequence[Mapping[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))["people"]
    return found


def _fact(name: str, truth: Any, alias: Sequence[str]) -> Fact:
    return Fact(field=name, truth=truth, say=(str(truth),), alias=tuple(alias))


def _plainly(truth: Any, language: str) -> str:
    """A fact that had been told, said again by whoever is asked for it again."""
    if isinstance(truth, bool):
        return {True: _YES, False: _NONE}[truth][language]
    if isinstance(truth, list):
        return " and ".join(truth) if truth else _NONE[language]
    if isinstance(truth, Mapping):
        return f"{truth['amount']} {truth['currency']}"
    return {"carer": "for someone else", "patient": "for me"}.get(str(truth), str(truth))


class Speaker:
    """One of them, in the seat of a patient."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._body = body
        self._language = str(body.get("language", "en"))
        self._later = {one["at"]: one for one in body.get("later", ())}
        self._turn = 0
        alias = body.get("alias", {})
        self.persona = Persona(
            id=f"spoken-{body['id']}",
            source="spoken",
            seed=0,
            contract=str(body["contract"]),
            words="",
            language=self._language,
            opening=str(body["opening"]["say"]),
            facts={
                name: _fact(name, truth, alias.get(name, ()))
                for name, truth in body["truth"].items()
            },
            wrong={name: _fact(name, truth, ()) for name, truth in body.get("wrong", {}).items()},
            refuses=frozenset(body.get("refuses", ())),
            doubts=frozenset(),
        )

    def opening(self) -> Said:
        """The first message."""
        return self._said(self._body["opening"], topic="")

    def reply(self, seen: Seen) -> Said:
        """What they say to a turn's message."""
        self._turn += 1
        topic = topic_of(seen.answer)
        if self._turn in self._later:
            return self._said(self._later[self._turn], topic="")
        if topic in {"confirm", "consent"}:
            return Said(text=_YES[self._language], topic=topic)
        if topic == "choose":
            return Said(text="1", topic=topic)
        if topic == "upload":
            return Said(text=_LATER[self._language], topic=topic)
        if topic in {"", "?"}:
            return Said(text=_GO_ON[self._language], topic=topic, invites=True)
        if topic == "procedure_name":
            own = self._body["answers"].get(topic)
            return self._said(self._procedure() if own is None else own, topic=topic)
        answer = self._body["answers"].get(topic)
        if answer is None and topic in self.persona.facts:
            answer = _plainly(self.persona.facts[topic].truth, self._language)
        if topic in self.persona.refuses:
            return Said(text="I would rather not say", topic=topic, declined=topic)
        if answer is None:
            return Said(text=_NO[self._language], topic=topic, doubted=topic)
        return self._said(answer, topic=topic)

    def _procedure(self) -> str:
        """The procedure by one of its names, for those whose first words had not named it."""
        names = find(self.persona.contract).names
        if not names:
            return str(self.persona.facts["procedure_name"].truth)
        return next((one for one in names if self._language in _SCRIPTS[one[0] > "~"]), names[0])

    def _said(self, body: Any, *, topic: str) -> Said:
        """A message of theirs; a plain text answers the topic, a mapping may tell of others alone."""
        told = body if isinstance(body, dict) else {"say": body}
        text, others = str(told["say"]), tuple(told.get("tells", ()))
        tells = others if "say" in told and "corrects" in told else (*others, topic)
        dodges = isinstance(body, dict) and not others and not told.get("first") and bool(topic)
        return Said(
            text=text,
            topic=topic,
            answers=tuple(dict.fromkeys(one for one in tells if one and not dodges)),
            corrected=str(told.get("corrects", "")),
            evaded=dodges,
        )


def speak(speaker: Speaker, seat: Seat) -> Talk:
    """The whole conversation, until a hospital is chosen or nothing is asked any more."""
    said: list[Said] = []
    idle = 0
    move = speaker.opening()
    for _ in range(MOST_TURNS):
        seen = seat.send(move.text)
        said.append(move)
        if seen.body.get("case_status") == "consultation":
            break
        move = speaker.reply(seen)
        idle += move.invites
        if idle > PATIENCE:
            break
    return Talk(persona=speaker.persona, said=tuple(said), seen=tuple(seat.turns))


def measure_spoken(name: str = "spoken", *, count: Any = None) -> dict[str, Any]:
    """Slots and questions asked again over the people of one file, without a model."""
    grades: list[Grade] = []
    optional = held = 0
    for body in speakers(name):
        talk = speak(Speaker(body), Seat(f"spoken-{body['id']}", count=count))
        grades.append(grade(talk))
        fields = talk.seen[-1].body.get("state", {}).get("fields", {})
        for field, fact in talk.persona.facts.items():
            optional += 1
            held += right(fact, fields.get(field, {}).get("value"))
    known = sum(one.known for one in grades)
    return {
        "cases": len(grades),
        "turns": sum(one.turns for one in grades),
        "slots": known,
        "slots_right": sum(one.filled for one in grades),
        "facts_with_optional_ones": optional,
        "facts_right": held,
        "wrong": {one.id: one.wrong for one in grades if one.wrong},
        "missing": {one.id: one.missing for one in grades if one.missing},
        "invented": {one.id: one.invented for one in grades if one.invented},
        "asked_again": {one.id: one.repeats for one in grades if one.repeats},
        "more_than_one_question": sum(len(one.two_questions) for one in grades),
        "false_alarms": sum(len(one.alarms) for one in grades),
        "matched": sum(one.matched for one in grades),
    }
