"""One turn by rule: what is answered by a fixed text, what changes, and what a reply is about. Pure.

Order: danger, a stop that holds, deeds, memory requests, then the stage. A gate is looked at before
any model is asked, so that no model's word can open it.
"""

from __future__ import annotations

import re
from dataclasses import field, replace
from typing import Any

from bedside.clinical.danger import heard
from bedside.core.turn import Change, TurnRequest
from bedside.core.value import value
from bedside.flows.companion import inner
from bedside.flows.companion.asking import confirmed
from bedside.flows.companion.beginning import SUBSTANTIAL, holds_off, tells, willing
from bedside.flows.companion.deeds import Deed, do, parse_act
from bedside.flows.companion.gates import KIND_OF, confirms_heard, goes_along, stage_of
from bedside.flows.companion.giving import give, orders_giving, theirs
from bedside.flows.companion.mirror import asks
from bedside.flows.companion.plainly import language_note, told_plainly
from bedside.flows.companion.reading import Said, read
from bedside.flows.companion.reconcile import gap_of
from bedside.flows.companion.reduce import reduce
from bedside.flows.companion.safety import danger_in, help_text, wants_to_resume
from bedside.flows.companion.state import Gap, Pair
from bedside.flows.companion.tables import Stage, Tables
from bedside.flows.companion.talk import Voice
from bedside.flows.companion.wall import overlaps
from bedside.flows.companion.wishes import Wish, asked, asks_to_drop, meant, wish_of
from bedside.flows.flow import Opened

__all__ = ["Making", "Move", "answered", "move"]


@value
class Move:
    """What rules make of a turn.

    `wish` is what the person asks to have kept, as the rules judge it; `opening` tells a model what kind
    of beginning a first message is. `consents` are what a deed gave or took back. `fixed` is the whole answer where a model is not to be asked. `reply` is what stands where no
    model can; `after` comes behind a model's reply too. `state` is the state as this turn's changes
    leave it. `silent` says that the rules heard no danger in what was said, not even a denied one.
    """

    said: Said
    stage: Stage
    before: Stage
    state: Pair
    kind: str
    fixed: str = ""
    reply: str = ""
    after: str = ""
    changes: tuple[Change, ...] = ()
    danger: str = ""
    silent: bool = False
    side: str = ""
    deed: str = ""
    note: str = ""
    offered: str = ""
    withdrawn: str = ""
    dispatch: str = ""
    opening: str = ""
    wish: Wish | None = None
    consent: tuple[str, bool] | None = None
    forgotten: str = ""
    shown: tuple[str, ...] = field(default=())


class Making:
    """Collects the changes of one turn, and has the state as they leave it."""

    def __init__(self, request: TurnRequest, opened: Opened[Pair], tables: Tables) -> None:
        self.request, self.opened, self.tables = request, opened, tables
        self.person = str(request.person or opened.grant.actor)
        self.state: Pair = opened.state
        self.changes: list[Change] = []
        self.before = stage_of(self.state, tables)
        about = self.before.name == "perspective"  # there the question is what the other feels
        text = request.text if request.act is None else ""
        self.said = read(text, tables.words, of_other=about)
        self.voice = Voice(tables, self.state, self.person)
        self.shown: list[str] = []

    def begin(self) -> None:
        """Who writes takes part; a new space of their own is marked as one."""
        fresh = not self.state.shared.people and not self.state.mine.turns
        self.put("shared", "join", "add", self.person)
        if self.request.option("space") == "inner" and fresh:
            self.put("mine", "space", "set", "inner")
            if link := self.request.option("link"):
                self.put("mine", "link", "set", link)
            self.before = stage_of(self.state, self.tables)

    def put(self, part: Any, path: str, op: Any, item: object, *, by: Any = "rule") -> None:
        """Change one thing."""
        self.add(Change(part=part, path=path, op=op, value=item, by=by))

    def add(self, *changes: Change) -> None:
        """Take changes, and have the state as they leave it."""
        for change in changes:
            self.changes.append(change)
            self.state = reduce(self.state, change)
        self.voice.other = self.state.shared.other(self.person) or "the other person"

    def made(self, kind: str, **more: Any) -> Move:
        """The move, with the state as it is now."""
        if self.voice.used != (self.opened.state.mine.lines or {}):
            self.put("mine", "lines", "set", self.voice.used)
        return Move(
            said=self.said,
            stage=stage_of(self.state, self.tables),
            before=self.before,
            state=self.state,
            kind=kind,
            changes=tuple(self.changes),
            shown=tuple(self.shown),
            **more,
        )


def move(request: TurnRequest, opened: Opened[Pair], tables: Tables) -> Move:
    """Work a turn out by rule."""
    turn = Making(request, opened, tables)
    safety, mine = tables.safety, turn.state.mine
    helped = help_text(safety, country=opened.pinned.get("country", ""))
    turn.begin()
    name, _, body = request.act[0].partition(":") if request.act else ("", "", "")
    body = request.act[1] if request.act else body
    danger = danger_in(request.text if not name else body, safety)
    if danger is None and not name:
        danger = confirmed(request.text, opened.history, safety)
    if danger is not None and danger.level == "stop":
        turn.put("mine", "halted", "set", danger.kind)
        text = turn.voice.say(safety["texts"][danger.kind], help=helped)
        return turn.made("danger", fixed=text, danger=danger.kind)
    resumed = name == "resume" or (not name and wants_to_resume(request.text, safety))
    if mine.halted and not resumed and name != "withdraw":
        text = turn.voice.say(safety["texts"]["still"], help=helped)
        return turn.made("halted", fixed=text, danger=mine.halted)
    if resumed and mine.halted:
        turn.put("mine", "halted", "set", "")
        return turn.made("resumed", fixed=turn.voice.say(safety["texts"]["back"]))
    if name:
        return _deed(turn, name, body)
    _count(turn)
    concern = turn.voice.say(safety["texts"]["concern"], help=helped) if danger is not None else ""
    note = language_note(turn)
    after = "\n\n".join(one for one in (concern, note) if one)
    return replace(_spoken(turn, concern=after), silent=not heard(request.text))


def _deed(turn: Making, name: str, body: str) -> Move:
    if name == "prefer":
        return _preferred(turn, body)
    done: Deed = do(
        name,
        body,
        turn.state,
        person=turn.person,
        stage=turn.before,
        turn=str(turn.opened.turn),
        voice=turn.voice,
    )
    turn.add(*done.changes)
    text = done.text
    if name == "invite" and done.note == "done" and turn.state.mine.turns == 0:
        text = f"{turn.voice.pick('onboarding.first')}\n\n{text}"
        turn.put("mine", "turns", "set", 1)
    _compare(turn)
    after = _entered(turn)
    return turn.made(
        "deed",
        fixed="\n\n".join(one for one in (text, after) if one),
        deed=name,
        note=done.note,
        withdrawn=done.withdrawn,
        consent=done.consent,
        forgotten=done.forgotten,
    )


def _preferred(turn: Making, body: str) -> Move:
    """A wish given as a deed: judged like one that is said."""
    given = parse_act(body)
    what = str(given.get("text") or given.get("id", ""))[:1_000]
    wish = wish_of(what, turn.tables, other=turn.state.shared.other(turn.person) or "")
    return turn.made(
        "deed", deed="prefer", wish=wish, note="refused" if wish.why else "done",
        fixed=answered(turn.voice, wish) if wish.why else "",
    )  # fmt: skip


def answered(voice: Voice, wish: Wish) -> str:
    """What is said to a request to keep something: the line that is kept, or why it cannot be."""
    if wish.why:
        return voice.say(voice.tables.texts["acts"]["memory_no"][wish.why])
    form = "acts.preference" if wish.kind == "preference" else "acts.kept_fact"
    return voice.pick(form, what=wish.line)


def _count(turn: Making) -> None:
    mine, said = turn.state.mine, turn.said
    turn.put("mine", "turns", "set", mine.turns + 1)
    turn.put("mine", "since", "set", mine.since + 1)
    turn.put("mine", "intensities", "set", (*mine.intensities, said.intensity)[-50:])
    if mine.told:
        turn.put("mine", "told", "set", "")
    for name, found in (("feelings", said.feelings), ("needs", said.needs)):
        for one in found:
            turn.put("mine", name, "add", one)
    if turn.before.id > 1:
        for one in said.theirs:
            turn.put("mine", "theirs", "add", one)


def _spoken(turn: Making, *, concern: str) -> Move:
    said, voice, stage = turn.said, turn.voice, turn.before
    other = turn.state.shared.other(turn.person) or ""
    wish = asked(said.text, turn.tables, other=other)
    if wish is not None and wish.whole and turn.opened.state.mine.turns:
        return _wished(turn, wish, concern)
    if said.who and turn.opened.state.mine.turns:
        return turn.made(
            "told", fixed="\n\n".join(one for one in (voice.pick("who"), concern) if one)
        )
    if turn.state.mine.space:
        return _inner(turn, concern, wish)
    if turn.opened.state.mine.turns and (plain := told_plainly(turn)):
        return turn.made("told", fixed="\n\n".join(one for one in (plain, concern) if one))
    if stage.id == 0:
        return _onboarding(turn, concern)
    if (aside := _of_the_talk(turn)) is not None:
        return aside
    if stage.id > max(2, turn.state.mine.announced) and not _ahead(
        turn
    ):  # the other's act led here
        plain = asks(said.text) or not (said.feelings or voice.clause(said.text))
        reply, kind, offered = "" if plain else voice.reflection(said), "advanced", ""
    else:
        reply, kind, offered = _witnessing(turn) if stage.id == 1 else give(turn)
    if (side := _side(turn)) and kind == "stage" and not offered:
        turn.put("mine", "asked", "set", "")  # the side flow stands where the question would
    _compare(turn)
    begun = _entered(turn)
    if begun:
        reply = " ".join(one for one in (reply, begun) if one)
        kind = kind if kind == "done" else "advanced"
        offered = ""
    refused = answered(voice, wish) if wish is not None and wish.why else ""
    parts = (concern, refused, _taken_back(turn), _delivered(turn), _gaps(turn), offered)
    after = "\n\n".join(one for one in parts if one)
    if kind == "done":
        text = "\n\n".join(one for one in (reply, after) if one)
        return turn.made("done", fixed=text, wish=wish)
    if said.intensity >= turn.tables.rules["router"]["intense"] and kind == "stage":
        reply = f"{reply} {voice.pick('intense')}"
    return turn.made(kind, reply=reply, after=after, offered=offered, side=side, wish=wish)


def _ahead(turn: Making) -> bool:
    """Does a person give at once what the stage that has just opened would ask for? Then it is not asked."""
    ahead = not theirs(turn) and bool(
        turn.voice.drafted(KIND_OF[turn.before.id], turn.state, turn.said)
    )
    if ahead:
        turn.put("mine", "announced", "set", turn.before.id)
    return ahead


def _of_the_talk(turn: Making) -> Move | None:
    """The answer to a message about the talk itself, in any stage after the first."""
    said, voice = turn.said, turn.voice
    if what := asks_to_drop(said.text):
        mine = turn.state.mine
        lines = [
            *((one.id, one.text) for one in mine.facts),
            *((one.id, one.line) for one in mine.kept),
        ]
        ident = meant(what, lines)
        return (
            _deed(turn, "forget", ident)
            if ident
            else turn.made("memory", fixed=voice.pick("memory"))
        )
    if said.foreign:
        return turn.made("memory", fixed=voice.pick("memory"))
    if said.process and not _waits(turn):
        return turn.made("process", fixed=_process(turn, turn.before))
    asked = turn.opened.state.mine.asked
    if _THANKS.fullmatch(said.text.strip().lower()) and (not asked or asked.startswith("draft:")):
        return turn.made("told", fixed=voice.pick("welcome")) if not theirs(turn) else None
    if (back := _takes_back(turn)) is not None:
        return back
    if said.bids == "go" and not asked and not theirs(turn):
        text = f"{voice.pick('bids.go')} {voice.pick(f'{turn.before.name}.ask')}"
        return turn.made("told", fixed=text)
    return turn.made("pause", fixed=voice.pick("pause")) if said.stop else None


_THANKS = re.compile(
    r"(?:(?:ok|okay|many|great|good|oh),? )?thank(?:s| you)(?: (?:so|very) much| a lot| for (?:this|that|listening|"
    r"your help|everything))?[ .!]*"
)
_TAKES_BACK = re.compile(
    r"(?:(?:please|now|no|yes|ok|i|i'd|want|would|like|wish|to|can|could|you|we|need|have)[, ]+)*"
    r"(?:withdraw|take back) (?:my |the |draft-)?(?P<what>it|that|statement|need|proposal|text|[ab]\d+)"
    r"(?: (?:again|now|please|back|that i shared|i shared))*[ .!?]*|"
    r"(?:(?:please|now|no|yes|ok|i|i'd|want|would|like|wish|to|can|could|you|we|need|have)[, ]+)*"
    r"take (?:my |the |draft-)?(?P<that>it|that|statement|need|proposal|text|[ab]\d+) back(?: (?:again|now|please))*[ .!?]*"
)
_KINDS = {"statement": "statement", "need": "need", "proposal": "agreement"}


def _takes_back(turn: Making) -> Move | None:
    """A whole message that takes back a text which the person gave out; done like the deed."""
    found = _TAKES_BACK.fullmatch(turn.said.text.strip().lower().replace("’", "'"))
    own = [one for one in turn.state.shared.live() if one.author == turn.person]
    if found is None or not own:
        return None
    if re.match(r"(?:can|could) (?:i|we)\b", found[0]):  # whether they may, and no order
        return turn.made("told", fixed=turn.voice.pick("may_take_back"))
    what = found["what"] or found["that"]
    kind = _KINDS.get(what)
    named = [one for one in own if one.kind == kind or one.id == f"draft-{what}"]
    if kind is None and what in {"it", "that", "text"}:
        named = own
    return _deed(turn, "withdraw", named[-1].id) if named else None


def _wished(turn: Making, wish: Wish, concern: str) -> Move:
    """A message that is a request to keep something, or one whose request is refused."""
    text = answered(turn.voice, wish)
    if not wish.why:
        return turn.made("wish", after=concern, wish=wish)
    return turn.made("wish", fixed="\n\n".join(one for one in (text, concern) if one), wish=wish)


def _inner(turn: Making, concern: str, wish: Wish | None) -> Move:
    """A turn in a space of the person's own."""
    said, voice, mine = turn.said, turn.voice, turn.opened.state.mine
    if said.stop and mine.turns:
        return turn.made("pause", fixed=voice.pick("pause"))
    if said.foreign:
        return turn.made("memory", fixed=voice.pick("memory"))
    if said.process:
        return turn.made("process", fixed=voice.pick("inner.process"))
    linked = bool(turn.state.mine.link)
    refused = answered(voice, wish) if wish is not None and wish.why else ""
    after = "\n\n".join(one for one in (concern, refused) if one)
    if not mine.turns:
        substance = len(said.text.split()) >= SUBSTANTIAL
        text = inner.greeting(voice, said, linked=linked, substance=substance)
        return turn.made("inner", reply=text, after=after, side="first_message", wish=wish,
                         opening="They begin inner work.")  # fmt: skip
    reply = inner.reply(voice, said)
    if said.intensity >= turn.tables.rules["router"]["intense"]:
        reply = f"{reply} {voice.pick('intense')}"
    side = _side(turn)
    if side in {"", "inner_work"}:
        side = "linked_thoughts" if linked else "inner_work"
        return turn.made("inner", reply=reply, after=after, side=side, wish=wish)
    return turn.made("stage", reply=reply, after=after, side=side, wish=wish)


def _not_mine_to_say(turn: Making) -> str:
    """The answer to a wish for advice or a verdict; "" where there is none."""
    said = turn.said
    return turn.voice.pick("judge" if said.judge else "advice") if said.judge or said.advice else ""


def _side(turn: Making) -> str:
    """The side flow that a message asks for, if any; it is answered and the stage stays."""
    wanted = turn.request.option("side")
    if turn.tables.side.get(wanted, {}).get("release", "never") != "never":
        return wanted
    return next((name for name in _wanted(turn) if name != "router"), "")


def _wanted(turn: Making) -> list[str]:
    """The side flows whose words stand in the message, in the order in which they are declared."""
    plain = " ".join(turn.said.text.lower().replace("’", "'").split())
    return [
        name
        for name, declared in turn.tables.side.items()
        if declared["release"] != "never"
        and any(form in plain for form in declared.get("words", ()))
    ]


_WAYS = {"inner_work": "INNER_WORK", "meditation": "MEDITATION", "gratitude": "GRATITUDE"}


def _router(turn: Making) -> Move | None:
    """Before a session: somebody who does not know where to begin is shown the ways, or sent one."""
    wanted = _wanted(turn)
    asked_for = turn.request.option("side") == "router" or "router" in wanted
    if turn.opened.state.mine.stage or not asked_for:
        return None
    turn.put("mine", "turns", "set", turn.opened.state.mine.turns)  # no turn of a session yet
    way = next((_WAYS[name] for name in wanted if name in _WAYS), "")
    return turn.made("side", reply=turn.voice.pick("side.router"), side="router", dispatch=way)


def _waits(turn: Making) -> bool:
    """Does something wait for this person that "what now?" is about: a text of the other's, or their own?"""
    now = "what now" in turn.said.text.lower() or "next" in turn.said.text.lower()
    return now and turn.before.id > 1 and bool(theirs(turn))


def _process(turn: Making, stage: Stage) -> str:
    return turn.voice.pick("process", stage=str(stage.id), name=stage.name)


def _onboarding(turn: Making, concern: str) -> Move:
    said, voice, mine = turn.said, turn.voice, turn.opened.state.mine
    routed = _router(turn)
    if routed is not None:
        return routed
    if (side := _side(turn)) and (mine.turns or turn.request.option("side")):
        turn.put("mine", "turns", "set", mine.turns)  # no turn of a session yet
        return turn.made("side", reply=voice.pick(f"side.{side}"), after=concern, side=side)
    if mine.turns == 0:
        return _first(turn, concern)
    if said.process:
        text = _process(turn, turn.before)
    elif (said.no or holds_off(said.text)) and not said.yes:
        text = voice.pick("onboarding.refused")
    elif said.yes or willing(said.text) or tells(said, voice.other):
        turn.put("mine", "stage", "set", 1)
        turn.put("mine", "since", "set", 0)
        turn.put("mine", "before", "set", len(turn.opened.history) + 1)
        text = voice.pick("begun")
        plain = willing(said.text) and len(said.text.split()) < 2 * SUBSTANTIAL
        told = said if tells(said, voice.other) and not plain else _told_before(turn)
        if told is not None:
            text = f"{voice.reflection(told)} {voice.pick('witnessing.ask')}"
        return turn.made("advanced", reply=text, after=concern)
    else:
        text = voice.pick("onboarding.again")
    return turn.made("onboarding", fixed="\n\n".join(one for one in (text, concern) if one))


def _told_before(turn: Making) -> Said | None:
    """What they told before they began, as it is read now; the beginning takes it up."""
    texts = [item.body for item in turn.opened.history if item.role == "user"]
    for text in reversed(texts):
        told = read(text, turn.tables.words)
        if tells(told, turn.voice.other) and not willing(text):
            for name, found in (("feelings", told.feelings), ("needs", told.needs)):
                for one in found:
                    turn.put("mine", name, "add", one)
            return told
    return None


def _first(turn: Making, concern: str) -> Move:
    """The first message of a conversation: by the model where there is one, else a fixed text."""
    said, voice = turn.said, turn.voice
    guest = turn.person in turn.opened.state.shared.invited
    other = turn.state.shared.other(turn.person)
    text = voice.pick("onboarding.invited" if guest else "onboarding.first")
    if (said.no or holds_off(said.text)) and not said.yes and guest:
        text = voice.pick("onboarding.declined")
    elif tells(said, voice.other):
        text = f"{text} {voice.pick('onboarding.told')}"
    alone = voice.pick("onboarding.uninvited") if other is None else ""
    opening = f"They were invited by {other}." if guest else "They open a new conversation."
    after = "\n\n".join(one for one in (alone, concern) if one)
    return turn.made("first", reply=text, after=after, side="first_message", opening=opening)


def _witnessing(turn: Making) -> tuple[str, str, str]:
    said, voice, stage, mine = turn.said, turn.voice, turn.before, turn.opened.state.mine
    if orders_giving(said.text):
        return f"{voice.pick('nothing_to_give')} {voice.pick('witnessing.ask')}", "done", ""
    if confirms_heard(turn.opened.state, said, stage):
        turn.put("mine", "stage", "set", 2)
        turn.put("mine", "asked", "set", "")
        return "", "advanced", ""
    if mine.asked == "heard" and (goes_along(said) or said.bids == "go"):
        return voice.pick("witnessing.sure"), "stage", ""
    if said.skip:
        turn.put("mine", "asked", "set", "")
        return voice.pick("witnessing.gate", ask=voice.pick("witnessing.ask")), "gate", ""
    if said.missed or (mine.asked == "heard" and said.no):
        turn.put("mine", "asked", "set", "")
        if voice.clause(said.text):
            return voice.pick("missed_later", reflection=voice.reflection(said)), "stage", ""
        return voice.pick("witnessing.not_heard"), "stage", ""
    if asked_for := _not_mine_to_say(turn):
        return f"{asked_for} {voice.pick('witnessing.ask')}", "stage", ""
    told = bool(said.feelings or said.yes or voice.clause(said.text))
    clause, parts = voice.clause(said.text), [voice.reflection(said)]
    if told and turn.state.mine.since >= stage.least_turns and mine.asked != "heard":
        summed = voice.summed(
            turn.state, said, [item.body for item in turn.opened.history if item.role == "user"]
        )
        if clause and not said.feelings and clause in summed:
            parts = []  # it is said back once
        parts.append(
            voice.pick("witnessing.check" if summed else "witnessing.check_plain", sum=summed)
        )
        turn.put("mine", "asked", "set", "heard")
    else:
        parts.append(voice.pick("witnessing.probe" if said.brief else "witnessing.ask"))
        turn.put("mine", "asked", "set", "")
    return " ".join(parts), "stage", ""


def _entered(turn: Making) -> str:
    """What is said when a stage has just begun."""
    now = stage_of(turn.state, turn.tables)
    if now.id < 2 or now.id <= turn.state.mine.announced:  # noqa: PLR2004 - these begin elsewhere
        return ""
    turn.put("mine", "announced", "set", now.id)
    turn.put("mine", "since", "set", 0)
    return turn.voice.pick(f"{now.name}.begin")


def _delivered(turn: Making) -> str:
    """The other's text that waits for this person, once they have come to that stage."""
    stage = stage_of(turn.state, turn.tables)
    waiting = [one for one in theirs(turn) if one.id not in turn.state.mine.seen]
    if stage.id < 2:  # noqa: PLR2004 - nobody is given a statement before being heard
        return ""
    if not waiting:
        return _reminded(turn)
    share = waiting[0]
    name = {"statement": "perspective", "need": "needs", "agreement": "repair"}.get(share.kind)
    turn.put("mine", "seen", "add", share.id)
    if name is None:
        return ""
    turn.put("mine", "asked", "set", f"ack:{share.id}")
    turn.shown.append(share.id)
    return turn.voice.pick(f"{name}.theirs", text=share.text)


def _taken_back(turn: Making) -> str:
    """A word that a text which this person had seen is gone; once, and without the text."""
    gone = [
        one.id
        for one in turn.state.shared.shares
        if one.state == "withdrawn" and one.author != turn.person and one.id in turn.state.mine.seen
    ]
    new = [one for one in gone if f"gone:{one}" not in turn.state.mine.seen]
    for one in new:
        turn.put("mine", "seen", "add", f"gone:{one}")
    return turn.voice.pick("taken_back") if new else ""


def _reminded(turn: Making) -> str:
    """A text that was shown and has no answer yet, where the person asks or is at a loss."""
    said, asked = turn.said, turn.state.mine.asked
    open_ = [one for one in theirs(turn) if one.id in turn.state.mine.seen]
    if not open_ or (asked.startswith(("ack:", "draft:")) and not said.question):
        return ""
    if not (said.question or said.brief):
        return ""
    turn.put("mine", "asked", "set", f"ack:{open_[0].id}")
    turn.shown.append(open_[0].id)
    close = turn.voice.pick(f"closing.{open_[0].kind}")
    return turn.voice.pick("reminder", text=open_[0].text, close=close)


def _compare(turn: Making) -> None:
    """Name what one statement has and the other has not; then hold each gap against my own words."""
    gap = gap_of(turn.state.shared, turn.tables)
    if gap is not None and "model" not in turn.opened.can:
        turn.put("shared", "gaps", "add", gap)
    private = [item.body for item in turn.opened.history if item.role == "user"]
    private.append(turn.request.text)
    given = [one.text for one in turn.state.shared.live() if one.author == turn.person]
    for one in turn.state.shared.gaps:
        if turn.person not in one.cleared:
            clean = not overlaps(one.text, private, given=given)
            turn.put("shared", "gaps.cleared", "set", (one.id, turn.person, clean))


def _gaps(turn: Making) -> str:
    shared = turn.state.shared
    ready: list[Gap] = [
        one
        for one in shared.gaps
        if set(one.cleared) >= set(shared.people) and one.id not in turn.state.mine.seen
    ]
    if not ready:
        return ""
    turn.put("mine", "seen", "add", ready[0].id)
    return turn.voice.pick("gap", what=ready[0].text)
