"""Stages 2 to 4 by rule: a text is drafted, approved and given, and the other's is received. Pure.

One thing at a time: while a text of the other's comes with an answer, no draft is offered in it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bedside.flows.companion.deeds import acknowledge, do, new_draft
from bedside.flows.companion.gates import KIND_OF
from bedside.flows.companion.talk import asks

if TYPE_CHECKING:
    from bedside.flows.companion.moves import Making
    from bedside.flows.companion.state import Kind, Share, Written

__all__ = ["give", "theirs"]

LAST = 4
"""The stage behind which there is none."""
_LEAD = (
    r"(?:(?:yes|yeah|yep|ok|okay|sure|right|good|fine|great|perfect|alright|all right|thanks|thank you|please|"
    r"now|so|and|then|well|go ahead|go on|do|that is (?:right|good|fine|it)|it is (?:right|good|fine|ready)|"
    r"i am ready|you (?:can|may)) )*"
)
_WHAT = r"(?:it|that|this|(?:it|that|this|my) (?:text|statement|draft|sentence|need|proposal|invitation|one))"
_DRAFT = r"(?:draft (?P<id>[ab]\d+))"
_TAIL = r"(?: (?:now|please|then|as it is|as it stands|like that|like this|thanks|thank you))*"
_SHARES = re.compile(
    rf"{_LEAD}(?:(?:i )?approve (?:{_WHAT} )?and )?"
    rf"(?:(?:share|send|give) (?:{_WHAT}|{_DRAFT})|share|send)"
    rf"(?: (?:out|on|over|off))?(?: (?:to|with) (?P<to>\w+))?{_TAIL}"
)
"""A whole message that gives the draft out: a plain order, and no question, wish, fear or account."""
_APPROVES = re.compile(rf"{_LEAD}(?:i )?approve(?: (?:{_WHAT}|{_DRAFT}))?{_TAIL}")
_SPEAKS_OF = re.compile(r"\b(?:share|send|give) (?:it|that|this)\b")


def give(turn: Making) -> tuple[str, str, str]:
    """One turn of stages 2 to 4, as (reply, kind, offer): given, received, asked about, or drafted."""
    said, voice, stage = turn.said, turn.voice, turn.before
    kind: Kind = KIND_OF[stage.id]
    if said.skip:
        return voice.pick(f"{stage.name}.gate", ask=voice.pick(f"{stage.name}.ask")), "gate", ""
    if said.keep_private:
        return voice.pick("stays"), "told", ""
    if said.missed:
        return voice.pick("missed_later", reflection=voice.reflection(said)), "stage", ""
    if said.judge or said.advice:
        return (
            f"{voice.pick('judge' if said.judge else 'advice')} {voice.pick(f'{stage.name}.ask')}",
            "stage",
            "",
        )
    if (given := _given(turn, kind)) is not None:
        return given, "told", ""
    if received := _answered(turn):
        return received, "told", _offer(turn, kind)
    if any(one.id not in turn.opened.state.mine.seen for one in theirs(turn)):
        # The other's text comes with this answer: one thing at a time.
        return "" if asks(said.text) else voice.reflection(said), "stage", ""
    if _about_theirs(turn) and not theirs(turn):
        return voice.pick("nothing_new"), "told", _waiting_draft(turn, kind)
    if stage.id == LAST and (agreed := _agreed(turn)):
        return agreed, "stage", ""
    return _own(turn, kind)


def _answered(turn: Making) -> str:
    """What is said where this message answers a text of the other's; "" where it does not."""
    mine = turn.opened.state.mine
    if mine.asked.startswith("ack:"):
        return _received(turn, mine.asked[4:])
    seen = [one for one in theirs(turn) if one.id in mine.seen]
    return _received(turn, seen[0].id) if seen and turn.said.received else ""


def _agreed(turn: Making) -> str:
    """After an agreement: told once, then the talk goes on about it; "" where there is none."""
    done = [one for one in turn.state.shared.live("agreement") if one.state == "acknowledged"]
    if not done:
        return ""
    if "done" not in turn.opened.state.mine.seen:
        turn.put("mine", "seen", "add", "done")
        return turn.voice.pick("repair.done", text=done[-1].text)
    return f"{turn.voice.reflection(turn.said)} {turn.voice.pick('repair.ask')}"


def _own(turn: Making, kind: Kind) -> tuple[str, str, str]:
    """The person's own text: out already, offered now, waiting for them, or still to be found."""
    said, voice, name = turn.said, turn.voice, turn.before.name
    out = [one for one in turn.state.shared.live(kind) if one.author == turn.person]
    if out:
        form = "accepted" if out[-1].state == "acknowledged" else "waiting"
        return f"{voice.reflection(said)} {voice.pick(f'{name}.{form}')}", "stage", ""
    if offer := _offer(turn, kind):
        return voice.reflection(said), "stage", offer
    if (said.brief or asks(said.text)) and (waiting := _waiting_draft(turn, kind)):
        return waiting, "told", ""
    ask = voice.pick(f"{name}.probe" if said.brief else f"{name}.ask")
    return f"{voice.reflection(said)} {ask}", "stage", ""


def _offer(turn: Making, kind: Kind) -> str:
    """A first draft made of what was said, offered once; "" where there is one, or nothing to make it of."""
    own = any(one.author == turn.person for one in turn.state.shared.live(kind))
    if own or _standing(turn, kind) is not None:
        return ""
    text = turn.voice.drafted(kind, turn.state, turn.said)
    if not text:
        return ""
    made = new_draft(turn.state, turn.person, kind, text)
    turn.put("mine", "drafts", "add", made)
    turn.put("mine", "asked", "set", f"draft:{made.id}")
    return turn.voice.pick(f"{turn.before.name}.offer", draft=text, id=made.id)


def _standing(turn: Making, kind: Kind) -> Written | None:
    """The newest draft of that kind that is not out."""
    found = [
        one
        for one in turn.state.mine.drafts
        if one.kind == kind and one.state in {"drafted", "approved"}
    ]
    return found[-1] if found else None


def _waiting_draft(turn: Making, kind: Kind) -> str:
    """A word of the draft that waits for its author; "" where there is none, or nobody to give it to."""
    draft = _standing(turn, kind)
    if draft is None or turn.state.shared.other(turn.person) is None:
        return ""
    return turn.voice.pick("draft_waits", draft=draft.text, id=draft.id)


_TOLD = re.compile(
    r"\b(?:say|said|says|answer(?:ed|s)?|repl(?:y|ied|ies)|respond(?:ed|s)?|write|wrote|written|share[ds]?|"
    r"name[ds]?|sent?|anything|something|news|heard from|agree[ds]?)\b"
)


def _about_theirs(turn: Making) -> bool:
    """Does the person ask whether there is something of the other's?"""
    plain = turn.said.text.lower()
    named = re.search(
        rf"\b(?:he|she|they|him|her|them|{re.escape(turn.voice.other.lower())})\b", plain
    )
    return asks(turn.said.text) and bool(named and _TOLD.search(plain))


def _received(turn: Making, ident: str) -> str:
    """The answer to a text of the other's that was shown; "" where this message is none."""
    said, voice, name = turn.said, turn.voice, turn.before.name
    share = next((one for one in turn.state.shared.live() if one.id == ident), None)
    if share is None or share.state != "delivered":
        turn.put("mine", "asked", "set", "")
        return ""
    if said.no:
        return (
            voice.pick("perspective.missed")
            if share.kind == "statement"
            else voice.reflection(said)
        )
    if not (said.received or said.yes):
        return ""
    turn.add(acknowledge(ident))
    turn.put("mine", "asked", "set", "")
    text = voice.pick(f"{name}.thanks")
    own = [one for one in turn.state.shared.live("statement") if one.author == turn.person]
    if share.kind == "statement" and not own:
        text = f"{text} {voice.pick('perspective.own')}"
    return text


def _given(turn: Making, kind: Kind) -> str | None:
    """What is said where the message approves or gives out the draft that stands, or asks whether to.

    Only a whole message that orders it does it ("Yes, share it."). A question, a wish or a fear that
    names the giving leaves the text where it is.
    """
    said, asked_for = turn.said, turn.opened.state.mine.asked
    draft = _standing(turn, kind)
    if asked_for.startswith("draft:"):
        named = turn.state.mine.drafted(asked_for[6:])
        draft = named if named and named.state in {"drafted", "approved"} else draft
    plain = " ".join(re.findall(r"[^\W_]+", said.text.lower().replace("’", "'")))
    order = None if "?" in said.text else _ordered(turn, plain, asked=bool(asked_for))
    if order is not None and order[1]:
        draft = turn.state.mine.drafted(order[1])
    if draft is None or draft.state not in {"drafted", "approved"}:
        return None
    if order is None:
        asking = asks(said.text) and _SPEAKS_OF.search(plain) and re.search(r"\b(?:i|we)\b", plain)
        return (_waiting_draft(turn, kind) or None) if asking else None
    done = do(order[0], draft.id, turn.state, person=turn.person, stage=turn.before,
              turn=str(turn.opened.turn), voice=turn.voice)  # fmt: skip
    turn.add(*done.changes)
    return done.text


def _ordered(turn: Making, plain: str, *, asked: bool) -> tuple[str, str] | None:
    """("share" or "approve", the draft's id where it is named) of a whole message that orders it."""
    if found := _SHARES.fullmatch(plain):
        other = re.findall(r"[^\W_]+", turn.voice.other.lower())
        if found["to"] not in {None, "him", "her", "them", *other}:
            return None
        return "share", f"draft-{found['id']}" if found["id"] else ""
    if asked and (found := _APPROVES.fullmatch(plain)):
        return "approve", f"draft-{found['id']}" if found["id"] else ""
    return None


def theirs(turn: Making) -> list[Share]:
    """Texts of the other's that were given and have no answer yet, oldest first."""
    return [
        one
        for one in turn.state.shared.live()
        if one.author != turn.person and one.state == "delivered"
    ]
