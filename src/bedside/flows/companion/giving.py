"""Stages 2 to 4 by rule: a text is drafted, approved and given, and the other's is received. Pure.

One thing at a time: while a text of the other's comes with an answer, no draft is offered in it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from bedside.flows.companion.deeds import acknowledge, do, new_draft
from bedside.flows.companion.gates import KIND_OF
from bedside.flows.companion.hearing import has_read
from bedside.flows.companion.mirror import asks
from bedside.flows.companion.reading import is_act, read, sentences_of
from bedside.flows.companion.safety import attacking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bedside.flows.companion.moves import Making
    from bedside.flows.companion.state import Kind, Share, Written

__all__ = ["asked_early", "give", "joined", "orders_giving", "theirs"]

LAST = 4
"""The stage behind which there is none."""
_LEAD = (
    r"(?:(?:yes|yeah|yep|ok|okay|sure|right|good|fine|great|perfect|alright|all right|thanks|thank you|please|"
    r"now|so|and|then|well|go ahead|go on|do|that is (?:right|good|fine|it)|it is (?:right|good|fine|ok|okay|perfect|ready)(?: like that| like this| as it is| now)?|"
    r"(?:looks|sounds) (?:right|good|fine)(?: to me)?|"
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
_HOLDS_BACK = re.compile(
    r"\b(?:not|never|no|nobody|n t|don t|but|if|unless|before|after|later|until|when|would|could|should|might|maybe|perhaps|"
    r"afraid|fear|want|wants|told|tells|said|says|keeps?|asked|asks|ask|he|she|they)\b"
)
_SPEAKS_OF = re.compile(r"\b(?:share|send|give) (?:it|that|this)\b")


def give(turn: Making) -> tuple[str, str, str]:
    """One turn of stages 2 to 4, as (reply, kind, offer): given, received, asked about, or drafted.

    What was done with a text is kind "done": it is said as it is, whether there is a model or not.
    """
    said, voice, stage = turn.said, turn.voice, turn.before
    kind: Kind = KIND_OF[stage.id]
    if (aside := _aside(turn)) is not None:
        return aside
    if (given := _given(turn, kind)) is not None:
        return given
    if changed := _changed(turn, kind):
        return changed, "done", ""
    if received := _answered(turn):
        return received, _noted(turn), _offer(turn, kind)
    unseen = [one for one in theirs(turn) if one.id not in turn.opened.state.mine.seen]
    if unseen and unseen[0].kind == "statement" and has_read(said.text):
        turn.put("mine", "seen", "add", unseen[0].id)  # on their page, where it stood before
        text = voice.pick("perspective.read", text=unseen[0].text)
        turn.shown.append(unseen[0].id)
        text = f"{text}\n\n{_received(turn, unseen[0].id)}"
        return text, _noted(turn), _offer(turn, kind)
    if unseen:
        # The other's text comes with this answer: one thing at a time.
        plain = asks(said.text) or not (said.feelings or voice.clause(said.text))
        return "" if plain else voice.reflection(said), "stage", ""
    if _about_theirs(turn):
        return _news(turn, kind)
    if stage.id == LAST and (agreed := _agreed(turn)):
        offer = "" if said.yes or said.agrees else _offer(turn, kind)
        return ("" if offer else agreed), "stage", offer
    return _own(turn, kind)


def _aside(turn: Making) -> tuple[str, str, str] | None:
    """What is said to a push, a wish to keep the text, or a wish for advice; `None` where there is none."""
    said, voice, name = turn.said, turn.voice, turn.before.name
    if said.skip:
        return voice.pick(f"{name}.gate", ask=voice.pick(f"{name}.ask")), "gate", ""
    if said.keep_private:
        return voice.pick("stays"), "told", ""
    if said.missed:
        return voice.pick("missed_later", reflection=voice.reflection(said)), "stage", ""
    if said.judge or said.advice:
        text = voice.pick("judge" if said.judge else "advice")
        return f"{text} {voice.pick(f'{name}.ask')}", "stage", ""
    return None


def _answered(turn: Making) -> str:
    """What is said where this message answers a text of the other's; "" where it does not."""
    mine = turn.opened.state.mine
    if mine.asked.startswith("ack:"):
        return _received(turn, mine.asked[4:])
    seen = [one for one in theirs(turn) if one.id in mine.seen]
    answers = turn.said.received or turn.said.agrees
    return _received(turn, seen[0].id) if seen and answers else ""


def _noted(turn: Making) -> str:
    """Whether this message answered a text of the other's ("done"), which is then said as it is."""
    return "done" if any(one.path == "shares.state" for one in turn.changes) else "told"


def _agreed(turn: Making) -> str:
    """After an agreement: told once, then the talk goes on about it; "" where there is none."""
    done = [one for one in turn.state.shared.live("agreement") if one.state == "acknowledged"]
    if not done:
        return ""
    if "done" not in turn.opened.state.mine.seen:
        turn.put("mine", "seen", "add", "done")
        return turn.voice.pick("repair.done", text=done[-1].text)
    return f"{turn.voice.reflection(turn.said)} {turn.voice.pick('repair.after')}"


def _own(turn: Making, kind: Kind) -> tuple[str, str, str]:
    """The person's own text: out already, offered now, waiting for them, or still to be found."""
    said, voice, name = turn.said, turn.voice, turn.before.name
    out = [one for one in turn.state.shared.live(kind) if one.author == turn.person]
    if theirs(turn) and not _standing(turn, kind):
        kinds = {"statement": "perspective", "need": "needs", "agreement": "repair"}
        open_ = kinds.get(theirs(turn)[0].kind, name)
        if not (offer := _offer(turn, kind)):
            turn.put("mine", "asked", "set", f"ack:{theirs(turn)[0].id}")
            return f"{voice.reflection(said)} {voice.pick(f'{open_}.open')}", "stage", ""
        return _before_offer(turn), "stage", offer
    if out:
        form = "accepted" if out[-1].state == "acknowledged" else "waiting"
        return f"{voice.reflection(said)} {voice.pick(f'{name}.{form}')}", "stage", ""
    if offer := _offer(turn, kind):
        return _before_offer(turn), "stage", offer
    if (said.brief or asks(said.text)) and (waiting := _waiting_draft(turn, kind)):
        return waiting, "told", ""
    ask = voice.pick(f"{name}.probe" if said.brief else f"{name}.ask")
    return f"{voice.reflection(said)} {ask}", "stage", ""


def _offer(turn: Making, kind: Kind) -> str:
    """A first draft made of what was said, or that draft with what came since; "" where there is neither.

    A draft that its author changed or approved stays as it is.
    """
    standing = _standing(turn, kind)
    own = any(one.author == turn.person for one in turn.state.shared.live(kind))
    kept = standing and (standing.by, standing.state) != ("rules", "drafted")
    if own or (standing and kept and not attacking(standing.text, turn.tables.safety)):
        return ""  # a text that attacks goes nowhere: another beside it is
    text = turn.voice.drafted(kind, turn.state, turn.said)
    if not text and turn.said.agrees | turn.said.yes and not _any(turn, kind):
        text = next((one for one in _told_in_stage(turn, kind) if one), "")
    if not text or (standing and standing.text == text):
        return ""
    if standing and not kept:
        turn.put("mine", "drafts.state", "set", (standing.id, "drafted", text, "rules"))
        turn.put("mine", "asked", "set", f"draft:{standing.id}")
        return turn.voice.pick("redrafted", draft=text, id=standing.id)
    made = new_draft(turn.state, turn.person, kind, text, by="rules")
    turn.put("mine", "drafts", "add", made)
    turn.put("mine", "asked", "set", f"draft:{made.id}")
    return turn.voice.pick(f"{turn.before.name}.offer", draft=text, id=made.id)


def _any(turn: Making, kind: Kind) -> bool:
    return any(one.kind == kind for one in turn.state.mine.drafts)


def _told_in_stage(turn: Making, kind: Kind) -> Iterator[str]:
    """Drafts of what the person told earlier in this stage, when a text of the other's came first; newest first."""
    told = [one.body for one in turn.opened.history if one.role == "user" and not is_act(one.body)]
    for text in reversed(
        told[-turn.opened.state.mine.since :] if turn.opened.state.mine.since else []
    ):
        yield turn.voice.drafted(kind, turn.state, read(text, turn.tables.words))


def _before_offer(turn: Making) -> str:
    """What is said before a draft: their feelings are heard, and what the draft says is not said twice."""
    return turn.voice.reflection(turn.said) if turn.before.id not in {3, LAST} else ""


_TEXT = (
    r"(?:it|that|this|something|(?:a|an|the|my|one|some)(?: (?:first|last|second))? "
    r"(?:text|draft|statement|need|proposal|words?|sentences?|line|wording|end|ending|beginning))"
)
"""What of a draft may be changed; all else that a person wants to change is their life."""
_CHANGES_TO = re.compile(
    r"(?:\A|[.!?,;] |\b(?:please|you|i'd|i would|to|let's|let us|and|no|yes|ok|okay) )"
    r"(?:change|make|put|write|phrase|reword|rephrase|edit)"
    rf"(?: (?:{_TEXT}|draft-\w+))?(?: (?:to|as|like this|so|instead|say|read))*\s*(?::|,?\s*(?=[\"“'‘]))\s*(?P<text>.+)\Z",
    re.IGNORECASE | re.DOTALL,
)
_CHANGES = re.compile(
    r"(?:\b(?:can|could|would) (?:you|we|i)(?: please| also| just)?|\bi(?:'d| would)? (?:want|like|need) to|\A(?:please)?) ?"
    rf"(?:(?:add|change|remove|reword|rewrite|rephrase|take out|leave out|put in) (?:{_TEXT}\b|[\"“'‘])|make it\b|(?:reword|rewrite|rephrase)\W*\Z)|"
    rf"\b{_TEXT}(?:'s| is| sounds?| seems| reads)(?: \w+)? too (?:long|short|harsh|hard on|strong|weak|soft|formal|stiff|cold|"
    r"vague|polite|direct|general)\b|\b(?:sounds?|reads) (?:too \w+|wrong|odd|weird|strange|stiff|false)\b|"
    r"\bnot (?:what i (?:mean|meant|want|said)|how i (?:talk|speak|would say|'d say))\b|\bnot in my words\b"
)


def _changed(turn: Making, kind: Kind) -> str:
    """The draft that stands as the message changes it, or how to; "" where it speaks of no change."""
    draft = _standing(turn, kind)
    if draft is None:
        return ""
    text = turn.said.text.strip()
    if found := _CHANGES_TO.search(text):
        body = json.dumps({"id": draft.id, "text": found["text"].strip(" \"“”‘’'")})
        done = do("edit", body, turn.state, person=turn.person, stage=turn.before,
                  turn=str(turn.opened.turn), voice=turn.voice)  # fmt: skip
        turn.add(*done.changes)
        turn.put("mine", "asked", "set", f"draft:{draft.id}")
        return done.text
    if _CHANGES.search(text.lower().replace("’", "'")):
        turn.put("mine", "asked", "set", f"draft:{draft.id}")
        return turn.voice.pick("change", draft=draft.text, id=draft.id)
    return ""


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


_ANYTHING = re.compile(
    r"(?:is|was|are|has|have) (?:there|anything|something)\b[^?]*\b(?:for me|from|new|come|arrived|waiting)\b[^?]*|"
    r"(?:is there )?(?:anything|something|any (?:news|word|answer))(?: new)?(?: (?:for me|from \w+|yet|today))*|"
    r"(?:and )?(?:where(?:'s| is|s) )?(?:hers|his|theirs|\w+'s (?:text|statement|answer|need|proposal))|(?:and )?what (?:does|did) \w+ (?:need|propose|want|suggest)|"
    r"(?:can|could|may|let) (?:i|me) (?:please )?(?:see|read|have)(?: it| what \w+ (?:wrote|said|sent|gave))?(?: (?:hers|his|theirs|\w+'s))?(?: \w+)?(?: again| now| please)*|"
    r"(?:show|read) (?:it to )?me(?: (?:hers|his|theirs|it|that|again|now|please))*"
)
"""A whole message that asks for what has come from the other."""
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
    if _ANYTHING.fullmatch(plain.strip(" .?!").replace("’", "'")):
        return True
    return asks(turn.said.text) and bool(named and _TOLD.search(plain))


def joined(turn: Making) -> str:
    """The answer to whether the other takes part; "" where that is not asked."""
    plain = turn.said.text.lower().strip(" .?!")
    if re.fullmatch(
        r"(?:and )?(?:does|can|will|could) \w+ (?:know|see|tell|find out) (?:that |if |whether )?i(?:'m| am) (?:here|writing|on here)",
        plain,
    ):
        return turn.voice.pick("news.known")
    if not re.fullmatch(rf"(?:and )?(?:has|have|did|is|are) (?:he|she|they|{re.escape(turn.voice.other.lower())}) (?:already |even )?"
                        r"(?:join|joined|in|here|come|came|start|started|begun|accept|accepted|answer the invitation)"
                        r"(?: (?:in|already|yet|now|the invitation))*", plain):  # fmt: skip
        return ""
    people = turn.state.shared.people
    return turn.voice.pick("news.joined" if len(people) > 1 else "news.not_joined")


def asked_early(turn: Making) -> str:
    """What is said to somebody who asks for the other's text before that stage; "" where it is not asked."""
    if not _about_theirs(turn):
        return ""
    return turn.voice.pick("news.early" if theirs(turn) else "nothing_new")


def _news(turn: Making, kind: Kind) -> tuple[str, str, str]:
    """What has come from the other: their answer to the person's text, and a text of theirs."""
    out = [one for one in turn.state.shared.live(kind) if one.author == turn.person]
    text = turn.voice.pick(f"news.{out[-1].state}") if out else ""
    if not theirs(turn):
        text = f"{turn.voice.pick('nothing_new')} {text}".strip()
    return text, "told", "" if theirs(turn) else _waiting_draft(turn, kind)


_MISSES = re.compile(
    r"\b(?:it|that|this|something|you)(?:'s| is| has)? (?:misses|missed|missing|leaves out|left out)\b"
)


def _received(turn: Making, ident: str) -> str:
    """The answer to a text of the other's that was shown; "" where this message is none."""
    said, voice, name = turn.said, turn.voice, turn.before.name
    share = next((one for one in turn.state.shared.live() if one.id == ident), None)
    if share is None or share.state != "delivered":
        turn.put("mine", "asked", "set", "")
        return ""
    if asks(said.text):
        return ""
    if said.no or (share.kind == "statement" and _MISSES.search(said.text.lower())):
        return (
            voice.pick("perspective.missed")
            if share.kind == "statement"
            else voice.reflection(said)
        )
    if not (said.yes or said.agrees or (share.kind == "statement" and said.received)):
        return ""
    turn.add(acknowledge(ident))
    turn.put("mine", "asked", "set", "")
    text = voice.pick(f"{name}.thanks")
    own = [one for one in turn.state.shared.live("statement") if one.author == turn.person]
    if share.kind == "statement" and not own:
        text = f"{text} {voice.pick('perspective.own')}"
    need = [one for one in turn.state.shared.live("need") if one.author == turn.person]
    if share.kind == "need" and not need and _standing(turn, "need") is None:
        text = f"{text} {voice.pick('needs.own')}"
    return text


def _given(turn: Making, kind: Kind) -> tuple[str, str, str] | None:
    """What is said where the message approves or gives out the draft that stands, or asks whether to.

    Only a whole message that orders it does it ("Yes, share it."). A question, a wish or a fear that
    names the giving leaves the text where it is.
    """
    said, asked_for, voice = turn.said, turn.opened.state.mine.asked, turn.voice
    draft = _standing(turn, kind)
    if asked_for.startswith("draft:"):
        named = turn.state.mine.drafted(asked_for[6:])
        draft = named if named and named.state in {"drafted", "approved"} else draft
    plain = plainly(said.text)
    orders = () if "?" in said.text else _orders_in(said.text)
    found = (_ordered(turn, one, asked=bool(asked_for)) for one in orders)
    order = next((one for one in found if one is not None), None)
    if order is not None and order[1]:
        draft = turn.state.mine.drafted(order[1])
    if draft is None or draft.state not in {"drafted", "approved"}:
        if order is None or any(one.author == turn.person for one in turn.state.shared.live(kind)):
            return None
        text = f"{voice.pick('nothing_to_give')} {voice.pick(f'{turn.before.name}.ask')}"
        return text, "done", ""
    if order is None:
        asking = asks(said.text) and _SPEAKS_OF.search(plain) and re.search(r"\b(?:i|we)\b", plain)
        waiting = _waiting_draft(turn, kind) if asking else ""
        return (waiting, "done", "") if waiting else None
    done = do(order[0], draft.id, turn.state, person=turn.person, stage=turn.before,
              turn=str(turn.opened.turn), voice=turn.voice)  # fmt: skip
    turn.add(*done.changes)
    return done.text, "done", ""


def plainly(text: str) -> str:
    """The words of a message in lower case, with "it's" and "I'm" written out."""
    plain = text.lower().replace("’", "'").replace("it's", "it is").replace("that's", "that is")
    return " ".join(re.findall(r"[^\W_]+", plain.replace("i'm", "i am")))


def orders_giving(text: str) -> bool:
    """Is a whole message the order to give a text out?"""
    return "?" not in text and any(_SHARES.fullmatch(one) for one in _orders_in(text))


def _orders_in(text: str) -> tuple[str, ...]:
    """What of a message may be an order: the whole, or its last sentence where no other holds it back."""
    parts = sentences_of(text)
    held = any(_HOLDS_BACK.search(plainly(one)) for one in parts[:-1])
    return (plainly(text),) if held or not parts else (plainly(text), plainly(parts[-1]))


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
