"""What a person does without words: invite, approve, share, acknowledge, withdraw, consent. Pure.

Every deed answers with a fixed text and leaves changes; one that cannot be done says why and changes
nothing. Nothing but a share puts private text into the shared part.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

from bedside.core.turn import Change
from bedside.core.value import value
from bedside.flows.companion.gates import KIND_OF
from bedside.flows.companion.inner import DEEDS_HERE
from bedside.flows.companion.safety import attacking
from bedside.flows.companion.state import Kind, Pair, Share, Written
from bedside.flows.companion.tables import Stage
from bedside.flows.companion.talk import Voice

__all__ = ["DEEDS", "Deed", "do", "new_draft", "parse_act"]

DEEDS = (
    "invite", "draft", "edit", "approve", "share", "acknowledge", "withdraw", "consent", "prefer",
    "forget", "link", "unlink", "resume",
)  # fmt: skip
_LEAST_STAGE: Mapping[Kind, int] = {"invitation": 0, "statement": 2, "need": 3, "agreement": 4}
_CONSENTS = {
    "profile": "a few facts across your conversations",
    "recall": "your earlier conversations",
}
_LONGEST = 2_000
_REFUSALS = frozenset({"no", "off", "false", "withdraw", "0", "revoke"})


@value
class Deed:
    """What came of an act. `withdrawn` is the share to purge; `note` names the outcome in the trace."""

    text: str
    changes: tuple[Change, ...] = ()
    note: str = "done"
    withdrawn: str = ""
    shared: str = ""
    consent: tuple[str, bool] | None = None
    forgotten: str = ""


def parse_act(body: str) -> Mapping[str, Any]:
    """An act's value: an id, or a JSON object with an id and more."""
    if body.lstrip().startswith("{"):
        try:
            tree = json.loads(body)
        except ValueError:
            return {"id": body}
        if isinstance(tree, dict):
            return {str(key): one for key, one in tree.items()}
    return {"id": body.strip()}


def do(
    name: str, body: str, state: Pair, *, person: str, stage: Stage, turn: str, voice: Voice
) -> Deed:
    """Do one act for `person`, in whose turn this is."""
    given = parse_act(body)
    ident, text = str(given.get("id", "")).strip(), str(given.get("text", ""))
    acting = _Acting(state, person, stage, turn, voice)
    if state.mine.space and name not in DEEDS_HERE:
        return Deed(text=voice.pick("acts.alone_here"), note="inner_space")
    if name in {"approve", "acknowledge"} and acting.theirs(ident):
        return acting.acknowledge(ident)
    acts: Mapping[str, Callable[[], Deed]] = {
        "invite": lambda: acting.invite(str(given.get("person") or ident)),
        "approve": lambda: acting.approve(ident, text),
        "share": lambda: acting.share(ident),
        "acknowledge": acting.unknown,
        "withdraw": lambda: acting.withdraw(ident),
        "consent": lambda: acting.consent(ident, given),
        "edit": lambda: acting.edit(ident, text),
        "draft": lambda: acting.draft(text or ident, str(given.get("kind", ""))),
        "forget": lambda: acting.forget(ident),
        "link": lambda: acting.link(ident),
        "unlink": lambda: acting.link(""),
        "resume": lambda: Deed(text=voice.pick("acts.not_halted"), note="not_halted"),
    }
    if name not in acts:
        return Deed(text=voice.pick("acts.no_act"), note="unknown_act")
    return acts[name]()


def new_draft(
    state: Pair,
    person: str,
    kind: Kind,
    text: str,
    *,
    by: Literal["person", "rules", "model"] = "person",
) -> Written:
    """A draft under the next id of its author ("draft-a2": the second of the first who joined)."""
    people = state.shared.people
    letter = "ab"[people.index(person)] if person in people[:2] else "a" if not people else "b"
    ident = f"draft-{letter}{len(state.mine.drafts) + 1}"
    return Written(id=ident, kind=kind, text=text, by=by)


class _Acting:
    def __init__(self, state: Pair, person: str, stage: Stage, turn: str, voice: Voice) -> None:
        self._state, self._person, self._stage = state, person, stage
        self._turn, self._voice = turn, voice

    def invite(self, who: str) -> Deed:
        shared = self._state.shared
        if not who or who == self._person or len(who) > 100:  # noqa: PLR2004
            return self.unknown()
        if who in shared.people or who in shared.invited:
            return Deed(text=self._voice.pick("acts.already", who=who), note="already")
        if shared.other(self._person) is not None:
            return Deed(text=self._voice.pick("acts.full"), note="full")
        add = Change(part="shared", path="invite", op="add", value=who, by="person")
        return Deed(text=self._voice.pick("acts.invited", who=who), changes=(add,))

    def approve(self, ident: str, text: str) -> Deed:
        draft = self._state.mine.drafted(ident)
        if draft is not None and draft.state == "shared":
            return Deed(text=self._voice.pick("acts.out", id=ident), note="out_already")
        if draft is None or draft.state == "withdrawn":
            return self.unknown()
        if refused := self._refused(text or draft.text):
            return refused
        change = _draft_change(draft.id, state="approved", text=text[:_LONGEST])
        return Deed(text=self._voice.pick("acts.approved", id=draft.id), changes=(change,))

    def share(self, ident: str) -> Deed:
        draft = self._state.mine.drafted(ident)
        if draft is not None and draft.state == "shared":
            return Deed(text=self._voice.pick("acts.out", id=ident), note="out_already")
        if draft is None or draft.state == "withdrawn":
            return self.unknown()
        if refused := self._refused(draft.text):
            return refused
        if self._state.shared.other(self._person) is None:
            return Deed(text=self._voice.pick("acts.alone"), note="alone")
        if self._stage.id < _LEAST_STAGE[draft.kind]:
            return Deed(text=self._voice.pick("acts.early"), note="early")
        share = Share(
            id=draft.id, author=self._person, kind=draft.kind, text=draft.text, turn=self._turn
        )
        changes = (
            Change(part="shared", path="shares", op="add", value=share, by="person"),
            _draft_change(draft.id, state="shared"),
        )
        text = self._voice.pick("acts.shared", id=draft.id)
        return Deed(text=text, changes=changes, shared=draft.id)

    def theirs(self, ident: str) -> bool:
        return self._standing(ident) is not None

    def _standing(self, ident: str) -> Share | None:
        found = [one for one in self._state.shared.live() if one.author != self._person]
        if ident in {"", "latest", "true", "True"}:
            if self._state.mine.drafted(ident) is not None:
                return None
            waiting = [one for one in found if one.state == "delivered"]
            return waiting[-1] if waiting else None
        return next((one for one in found if one.id == ident), None)

    def acknowledge(self, ident: str) -> Deed:
        share = self._standing(ident)
        if share is None:
            return self.unknown()
        change = acknowledge(share.id)
        return Deed(text=self._voice.pick("acts.acknowledged"), changes=(change,))

    def withdraw(self, ident: str) -> Deed:
        own = [one for one in self._state.shared.live() if one.author == self._person]
        if ident in {"", "latest"}:
            share = own[-1] if own else None
        else:
            share = next((one for one in own if one.id == ident), None)
        if share is None:
            draft = self._state.mine.drafted(ident) if ident else None
            if draft is not None:
                return Deed(text=self._voice.pick("acts.nothing_out"), note="not_out")
            return self.unknown()
        changes = (
            Change(
                part="shared",
                path="shares.state",
                op="set",
                value=(share.id, "withdrawn"),
                by="person",
            ),
            _draft_change(share.id, state="withdrawn"),
        )
        text = self._voice.pick("acts.withdrawn")
        return Deed(text=text, changes=changes, withdrawn=share.id)

    def consent(self, ident: str, given: Mapping[str, Any]) -> Deed:
        name, _, rest = ident.partition(":")
        name = str(given.get("to", name)).strip().lower() or "recall"
        if name in {"true", "yes"}:
            name = "recall"
        if name not in _CONSENTS:
            return Deed(text=self._voice.pick("acts.consent_unknown"), note="unknown_consent")
        wanted = str(given.get("given", rest or "yes")).lower()
        off = wanted in _REFUSALS
        change = Change(
            part="mine", path="consents", op="remove" if off else "add", value=name, by="person"
        )
        form = "acts.consent_off" if off else "acts.consent_on"
        text = self._voice.pick(form, what=_CONSENTS[name])
        return Deed(text=text, changes=(change,), consent=(name, not off))

    def forget(self, ident: str) -> Deed:
        mine = self._state.mine
        known = {one.id for part in (mine.facts, mine.people, mine.kept) for one in part}
        if ident not in known:
            return Deed(text=self._voice.pick("acts.forget_unknown"), note="unknown_id")
        change = Change(part="mine", path="forget", op="remove", value=ident, by="person")
        text = self._voice.pick("acts.forgotten")
        return Deed(text=text, changes=(change,), forgotten=ident)

    def link(self, to: str) -> Deed:
        """Link this inner space to a conversation of the person's, or to none; the door checked whose."""
        if not self._state.mine.space:
            return Deed(text=self._voice.pick("acts.link_where"), note="no_inner_space")
        change = Change(part="mine", path="link", op="set", value=to, by="person")
        return Deed(
            text=self._voice.pick("acts.linked" if to else "acts.unlinked"), changes=(change,)
        )

    def edit(self, ident: str, text: str) -> Deed:
        draft = self._state.mine.drafted(ident)
        if draft is None or draft.state in {"shared", "withdrawn"} or not text.strip():
            return self.unknown()
        change = _draft_change(draft.id, state="drafted", text=text[:_LONGEST])
        shown = self._voice.pick("acts.edited", draft=text[:_LONGEST], id=draft.id)
        return Deed(text=shown, changes=(change,))

    def draft(self, text: str, kind: str) -> Deed:
        wanted: Kind = kind if kind in _LEAST_STAGE else KIND_OF.get(self._stage.id, "statement")  # type: ignore[assignment]
        body = text.strip()[:_LONGEST] or self._voice.tables.texts["drafts"].get(wanted, "")
        if not body or "{" in body:
            return self.unknown()
        made = new_draft(self._state, self._person, wanted, body)
        change = Change(part="mine", path="drafts", op="add", value=made, by="person")
        return Deed(
            text=self._voice.pick("acts.drafted", draft=body, id=made.id), changes=(change,)
        )

    def _refused(self, text: str) -> Deed | None:
        words = attacking(text, self._voice.tables.safety)
        if not words:
            return None
        form = self._voice.tables.safety["texts"]["attack"]
        return Deed(text=self._voice.say(form, words=words), note="attacking_language")

    def unknown(self) -> Deed:
        ids = [one.id for one in self._state.mine.drafts if one.state != "withdrawn"]
        texts = self._voice.tables.texts["acts"]
        known = self._voice.say(texts["known"], ids=", ".join(ids)) if ids else texts["none"]
        return Deed(text=self._voice.pick("acts.unknown", known=known), note="unknown_id")


def acknowledge(share: str) -> Change:
    """The change by which a share counts as received."""
    value_ = (share, "acknowledged")
    return Change(part="shared", path="shares.state", op="set", value=value_, by="person")


def _draft_change(ident: str, *, state: str, text: str = "") -> Change:
    return Change(
        part="mine", path="drafts.state", op="set", value=(ident, state, text), by="person"
    )
