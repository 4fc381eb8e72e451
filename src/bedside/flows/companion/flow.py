"""The companion: two people, one guide, private spaces, and a process in five stages.

Read this file for the whole behaviour. Rules come first (`moves`): danger, deeds, gates. What is left
to say is said by the model of the router's choice in tags of which only the plain text goes out, or
by template. Facts and summaries are made after the answer; nothing of them delays it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from bedside.core.context import Assembly, Item
from bedside.core.errors import InvalidArgument
from bedside.core.turn import (
    Change,
    Check,
    Draft,
    Finding,
    Got,
    Job,
    Plan,
    Route,
    TurnRequest,
    Verdict,
)
from bedside.core.value import value
from bedside.flows.companion.asides import memory_step, route_of, settled
from bedside.flows.companion.asking import asked, hint_in, listens
from bedside.flows.companion.blocks import budget_of, reply_blocks, sizes
from bedside.flows.companion.deeds import new_draft
from bedside.flows.companion.gates import KIND_OF
from bedside.flows.companion.kept import Kept
from bedside.flows.companion.moves import Move, answered, move
from bedside.flows.companion.observers import OBSERVERS, due
from bedside.flows.companion.reading import is_act
from bedside.flows.companion.recall import Memory, intent_of, routed
from bedside.flows.companion.reconcile import pair_of
from bedside.flows.companion.reduce import reduce
from bedside.flows.companion.safety import attacking
from bedside.flows.companion.state import Pair, dump, load, start
from bedside.flows.companion.tables import Tables, tables_of
from bedside.flows.companion.tags import TagDecoder, Tagged
from bedside.flows.companion.talk import Voice, unlike
from bedside.flows.companion.wishes import Wish
from bedside.flows.flow import Done, Flow, Opened, Step, View
from bedside.grounding.guardrails.policy import guardrails
from bedside.memory.needs import Recalled, RecallNeed

__all__ = ["COMPANION", "recalled"]

_CIVIL = guardrails("companion", patient=False)


@value
class Turn:
    """A turn as its plan has it: what rules made of it, and what may be remembered."""

    move: Move
    memory: Memory
    tables: Tables


def _plan(request: TurnRequest, opened: Opened[Pair]) -> Plan:
    if request.patient is not None:
        raise InvalidArgument("patient", found="one", want="left out: a companion reads no record")
    if not (request.person or opened.grant.actor):
        raise InvalidArgument("person", found="", want="the one who writes")
    tables = tables_of(opened.data)
    begun = opened.state.shared.people or opened.state.mine.turns
    if request.option("space") and begun and not opened.state.mine.space:
        raise InvalidArgument(
            "space", found="a conversation that has begun", want="given with a first message"
        )
    made = move(request, opened, tables)
    memory = intent_of(
        made.said,
        opened.state.mine,
        made.before,
        tables,
        consent=True,  # sought; the memory room serves it only where consent is on record
    )
    return Plan(
        intent=f"companion_{made.kind}",
        needs=(
            *(_needs(request, opened, memory) if not made.fixed else ()),
            *(listens(request, opened.pinned) if made.silent else ()),
        ),
        categories=(made.stage.name,),
        read=(("turn", Turn(move=made, memory=memory, tables=tables)),),
        mode=memory.intent,
        clinical=False,
    )


def _needs(request: TurnRequest, opened: Opened[Pair], memory: Memory) -> tuple[RecallNeed, ...]:
    """What to remember: of this person alone; other sessions only where consent is on record."""
    if not memory.hits:
        return ()
    limits, mine = tables_of(opened.data).rules, opened.state.mine
    budget = limits["budget"]
    shown = tuple(item.key for item in opened.history[-2 * memory.turns :]) if memory.turns else ()
    return (
        RecallNeed(
            name="recall",
            query=request.text[:2_000],
            depth="full" if memory.depth == "full" else "light",
            threshold=memory.threshold,
            across=memory.cross_session,
            linked=mine.linked,
            boost=1.0 + limits["linked_boost"],
            messages=budget["cross_session"] + budget["retrieved"],
            facts=limits["context"]["facts"],
            shown=shown,
            deadline_ms=500,
        ),
    )


def recalled(view: View[Pair], memory: Memory, tables: Tables) -> tuple[Item, ...]:
    """What the memory room found of this person's from before; never learned again.

    Of other sessions as many heads as the depth says and at most ten messages, of this one at most five,
    and the profile's facts; the best first in each kind.
    """
    budget = tables.rules["budget"]
    room = {
        "head": memory.hits,
        "other": budget["cross_session"],
        "here": min(memory.hits, budget["retrieved"]),
        "profile": tables.rules["context"]["facts"],
    }
    kept: list[Item] = []
    for found in view.gathered.values():
        if not isinstance(found, Got) or not isinstance(found.value, Recalled):
            continue
        for one in found.value.items:
            here = one.session == view.opened.session
            kind = {"profile": "profile", "message": "here" if here else "other"}.get(
                one.kind, "" if here or one.kind == "fact" else "head"
            )
            if kind and room[kind] > 0 and not is_act(one.text):  # deeds stand in what is known
                room[kind] -= 1
                own = " (from your inner thoughts)" if one.session in _linked(view) else ""
                kept.append(Item(f"{one.line}{own}", key=one.key))
    return tuple(kept)


def _linked(view: View[Pair]) -> tuple[str, ...]:
    return view.opened.state.mine.linked


def _turn(view: View[Pair]) -> Turn:
    found = dict(view.plan.read)["turn"]
    assert isinstance(found, Turn)
    return found


def _no_more(view: View[Pair]) -> tuple[Any, ...]:
    del view
    return ()


_AS_IT_STANDS = frozenset({"danger", "halted", "resumed", "deed", "done", "wish", "told"})
"""Kinds of answers that come in the same words each time: where help is, and what was done."""
_OWN_WORDS = frozenset({"inner", "first"})
"""Kinds whose rules write the reply themselves, whichever side flow a model would be asked for."""


def _wish(view: View[Pair]) -> tuple[Wish, Kept | None] | None:
    """What came of a request to keep something; `None` where there was none, or rules refused it."""
    turn = _turn(view)
    if turn.move.wish is None or turn.move.wish.why:
        return None
    return settled(view, turn.tables, turn.move.wish)


def _noted(view: View[Pair]) -> str:
    """What is said of it."""
    found, turn = _wish(view), _turn(view)
    if found is None:
        return ""
    return answered(Voice(turn.tables, turn.move.state, _person(view)), found[0])


def _templated(view: View[Pair]) -> Draft:
    made = _turn(view).move
    text = made.fixed
    if not text:
        tables = _turn(view).tables
        side = tables.texts["side"].get(made.side, "") if made.side else ""
        side = "" if made.kind in _OWN_WORDS else side
        other = made.state.shared.other(_person(view)) or "the other person"
        text = side.replace("{other}", other) or made.reply
        text = "\n\n".join(one for one in (text, _noted(view), made.after) if one)
    text = "\n\n".join(one for one in (text, _asked(view)) if one)
    if made.kind not in _AS_IT_STANDS:
        said = [item.body for item in view.opened.history if item.role == "assistant"]
        text = unlike(text or "I am here.", said, _turn(view).tables.texts["again"])
    return Draft(text=text, by="rules")


def _asked(view: View[Pair]) -> str:
    """What is asked where the message hints at danger."""
    return asked(
        hint_in(view.gathered),
        view.opened.history,
        _turn(view).tables.safety,
        country=view.opened.pinned.get("country", ""),
    )


def _unwritten(view: View[Pair]) -> Draft:
    del view
    return Draft(text="", by="rules")


def _person(view: View[Pair]) -> str:
    return str(view.request.person or view.opened.grant.actor)


def _answer(view: View[Pair]) -> Draft | None:
    """By rule: what has a fixed text, and everything where no model is configured."""
    made = _turn(view).move
    if made.fixed or "model" not in view.opened.can:
        return _templated(view)
    return None


def _next(view: View[Pair]) -> Step[Pair] | None:
    turn = _turn(view)
    if turn.move.fixed and view.request.option("call", "yes") != "no":
        return None
    wished = turn.move.wish is not None and not turn.move.reply and not turn.move.fixed
    if not view.done and not wished:
        return _reply(view, turn)
    if "model" not in view.opened.can or turn.move.fixed:
        return None
    names = [done.step.name for done in view.done if done.step]
    by_model = wished or view.done[0].draft.by.startswith("model")  # a template says all at once
    tags = view.done[0].draft.payload if view.done else None
    asked = isinstance(tags, Tagged) and tags.dispatch and not turn.move.side
    if asked and "dispatch" not in names:
        return _reply(view, turn, side="dispatch", lead=_lead(view))
    step = memory_step(view, turn.tables, turn.move.wish) if by_model else None
    if step is not None:
        return step
    if turn.move.reply and not _said(view) and "template" not in names:
        return _by_rule("template", lambda v: Draft(text=_turn(v).move.reply, by="rules"))
    if _after(view) and "after" not in names and by_model:
        return _by_rule("after", lambda v: Draft(text=_lead(v) + _after(v), by="rules"))
    return None


def _said(view: View[Pair]) -> str:
    return "".join(done.verdict.text for done in _shown(view)).strip()


def _shown(view: View[Pair]) -> list[Done[Pair]]:
    """The steps whose words a person sees."""
    return [one for one in view.done if one.step is None or one.step.release != "never"]


def _lead(view: View[Pair]) -> str:
    return "\n\n" if _said(view) else ""


def _after(view: View[Pair]) -> str:
    """What rules add to a model's reply: the other's text, a gap, and the draft to approve."""
    turn = _turn(view)
    drafted = _model_draft(view)
    after = turn.move.after
    if drafted is not None and not turn.move.offered:
        name = turn.move.stage.name
        form = turn.tables.texts.get(name, {}).get("offer", [turn.tables.texts["acts"]["drafted"]])[
            0
        ]
        offer = form.replace("{draft}", drafted.text).replace("{id}", drafted.id)
        offer = offer.replace(
            "{other}", turn.move.state.shared.other(_person(view)) or "the other person"
        )
        after = "\n\n".join(one for one in (after, offer) if one)
    return "\n\n".join(one for one in (_noted(view), after, _asked(view)) if one)


def _model_draft(view: View[Pair]) -> Any:
    """A draft that the model wrote, where the stage has one to make and it attacks nobody."""
    turn = _turn(view)
    tags = view.done[0].draft.payload if view.done else None
    kind = KIND_OF.get(turn.move.stage.id)
    if not isinstance(tags, Tagged) or not tags.draft or kind is None:
        return None
    if attacking(tags.draft, turn.tables.safety):
        return None
    state = turn.move.state
    if any(one.author == _person(view) for one in state.shared.live(kind)):
        return None
    return new_draft(state, _person(view), kind, tags.draft[:2_000], by="model")


def _by_rule(name: str, unaided: Any) -> Step[Pair]:
    from bedside.core.context import Block, Budget

    return Step(
        name=name,
        blocks=(Block("fixed", "A fixed text.", trust="ours"),),
        budget=Budget(1_000),
        layout="balanced",
        route=Route(role="mechanic"),
        decoder=TagDecoder,
        checks=(_CIVIL,),
        unaided=unaided,
        release="whole",
        calls=0,
    )


def _reply(view: View[Pair], turn: Turn, *, side: str = "", lead: str = "") -> Step[Pair]:
    tables, made = turn.tables, turn.move
    name = side or made.side
    declared = tables.side.get(name) if name else None
    blocks = reply_blocks(
        tables=tables,
        move=made,
        memory=turn.memory,
        history=view.opened.history,
        message=view.request.text,
        person=_person(view),
        count=view.opened.count,
        retrieved=recalled(view, turn.memory, tables),
        prompt=declared["prompt"] if declared else "",
    )
    route = routed(
        made.said,
        tables,
        drafting=made.kind == "draft",
        mediating=len(made.state.shared.people) > 1,
    )
    route = route_of(declared, route) if declared else route
    thinking = int(view.opened.pinned.get("thinking_tokens") or 0)
    output = declared["output"] if declared else None
    return Step(
        name=name or "reply",
        blocks=tuple(blocks),
        budget=budget_of(tables, blocks, count=view.opened.count, output=output),
        layout="balanced",
        route=replace(route, thinking=thinking if route.role == "writer" else 0),
        decoder=partial(TagDecoder, lead=lead),
        checks=(_CIVIL, _civil(tables), _no_go_between(made.state.shared.other(_person(view)))),
        unaided=_unwritten if lead else _templated,
        release=declared["release"] if declared else "sentence",
        repairs=0,
    )


def _civil(tables: Tables) -> Check:
    """Attacking language never reaches a person, whoever wrote it."""

    def check(draft: Draft, assembly: Assembly) -> Sequence[Finding]:
        del assembly
        if not draft.by.startswith("model") or not attacking(draft.text, tables.safety):
            return ()
        return (
            Finding(id="CM-14", want="remove", otherwise="remove", detail="attacking_language"),
        )

    return check


def _no_go_between(other: str | None) -> Check:
    """No sentence says what the other told the guide, or tells the person to leave: neither is ever known or ours."""
    who = "|".join(("he", "she", "they", *((re.escape(other),) if other else ())))
    form = re.compile(
        rf"\b(?:{who})(?: has| have| also|'s|'ve)*(?: already)? (?:told|said to|wrote to|written to|confided in|shared with|"
        rf"mentioned to|admitted to) me\b|\bwhat (?:{who}) (?:told|said to|wrote to) me\b|"
        r"\byou (?:should|must|ought to|need to|have to|had better) (?:leave|divorce|forgive|stay with|break up|separate)\b",
        re.IGNORECASE,
    )

    def check(draft: Draft, assembly: Assembly) -> Sequence[Finding]:
        del assembly
        if not draft.by.startswith("model") or not form.search(draft.text):
            return ()
        return (Finding(id="CM-11", want="remove", otherwise="remove", detail="go_between"),)

    return check


def _compose(view: View[Pair]) -> Done[Pair]:
    if not view.done:
        return Done(step=None, draft=Draft(text=""), verdict=Verdict(text=""), prompt=None)
    shown = _shown(view)
    if not shown:
        return Done(step=None, draft=Draft(text=""), verdict=Verdict(text=""), prompt=None)
    first = shown[0]
    verdict = Verdict(
        text="".join(done.verdict.text for done in shown),
        claims=first.verdict.claims if len(shown) == 1 else (),
        removed=tuple(one for done in shown for one in done.verdict.removed),
        findings=first.verdict.findings,
    )
    draft = Draft(
        text=verdict.text,
        payload=_fields(view),
        by=first.draft.by if first.verdict.text.strip() else shown[-1].draft.by,
        cut=first.draft.cut and bool(first.verdict.text.strip()),
    )
    return Done(
        step=first.step, draft=draft, verdict=verdict, prompt=first.prompt,
        calls=tuple(one for done in view.done for one in done.calls),
    )  # fmt: skip


def _fields(view: View[Pair]) -> dict[str, Any]:
    """The companion's own fields of a turn."""
    turn = _turn(view)
    made, memory = turn.move, turn.memory
    first = view.done[0]
    tags = first.draft.payload if isinstance(first.draft.payload, Tagged) else Tagged()
    state = made.state
    drafts = list(state.mine.drafts)
    written = _model_draft(view)
    if written is not None and not made.offered:
        drafts.append(written)
    standing = [one for one in drafts if one.state in {"drafted", "approved"}]
    latest = standing[-1] if standing else None
    step = first.step
    return {
        "person": _person(view),
        "stage": made.stage.id,
        "stage_name": made.stage.name,
        "draft": asdict(latest) if latest else None,
        "dispatch": tags.dispatch
        or made.dispatch
        or (made.side if made.kind not in _OWN_WORDS else None)
        or None,
        "intensity": tags.intensity or made.said.intensity,
        "templated": not _by_model(view),
        "space": state.mine.space or "conversation",
        "kept": _kept_field(view),
        "deed": {"name": made.deed, "outcome": _outcome(view)} if made.deed else None,
        "shares": [
            {"id": one.id, "author": one.author, "kind": one.kind, "state": one.state}
            for one in state.shared.shares
        ],
        "delivered": list(made.shown),
        "halted": state.mine.halted or None,
        "hint": asdict(hint) if (hint := hint_in(view.gathered)) else None,
        "memory": {
            "intent": memory.intent,
            "depth": memory.depth,
            "buffer": memory.buffer,
            "threshold": memory.threshold,
            "cross_session": memory.cross_session,
            "why": memory.why,
            "facts": len(state.mine.facts),
            "people": len(state.mine.people),
            "linked": len(state.mine.linked),
            "summary": state.mine.summary is not None,
        },
        "router": {
            "score": step.route.score,
            "factors": dict(step.route.factors),
            "role": step.route.role,
            "threshold": turn.tables.rules["router"]["threshold"],
        }
        if step is not None
        else None,
        "sizes": sizes(step.blocks, view.opened.count) if step is not None else None,
        "activities": [
            {
                "operation": done.step.name if done.step else "rules",
                "state": "completed" if call.outcome == "ok" else "failed",
                "model": call.model,
                "tokens": dict(call.usage),
                "ms": round(call.ms, 1),
                "cost_usd": call.cost_usd,
            }
            for done in view.done
            for call in done.calls
        ],
    }


def _by_model(view: View[Pair]) -> bool:
    """Did a model write any of what is shown?"""
    return any(
        done.draft.by.startswith("model") and done.verdict.text.strip() for done in _shown(view)
    )


_HEARD_ASKED = re.compile(
    r"\b(?:heard|understood|understand you|(?:got|have) (?:it|that|this|you) right|is that right|missing|missed|left out)\b"
    r"[^.!?]*\?",
    re.IGNORECASE,
)


def _asks_heard(view: View[Pair]) -> bool:
    """Does what a model wrote ask whether the person feels heard? Only that question can be said yes to."""
    return bool(_HEARD_ASKED.search(_said(view)))


def _outcome(view: View[Pair]) -> str:
    found = _wish(view)
    return "refused" if found is not None and found[1] is None else _turn(view).move.note


def _kept_field(view: View[Pair]) -> dict[str, Any] | None:
    """What this turn was asked to keep: the line and its words, or why not."""
    made = _turn(view).move
    if made.wish is None:
        return None
    wish, kept = _wish(view) or (made.wish, None)
    return {
        "id": kept.id if kept else None, "kind": wish.kind, "line": wish.line or None,
        "quote": wish.quote, "refused": wish.why or None,
    }  # fmt: skip


def _changes(view: View[Pair]) -> tuple[Change, ...]:
    """Those of the rules, and what the model read: its draft, its intensity. Never a stage."""
    made = _turn(view).move
    changes = list(made.changes)
    found = _wish(view)
    if found is not None and found[1] is not None:
        changes.append(Change(part="mine", path="kept", op="add", value=found[1], by="person"))
    written = _model_draft(view)
    if written is not None and not made.offered:
        changes.append(Change(part="mine", path="drafts", op="add", value=written, by="model"))
        asked = f"draft:{written.id}"
        changes.append(Change(part="mine", path="asked", op="set", value=asked, by="model"))
    tags = view.done[0].draft.payload if view.done else None
    if isinstance(tags, Tagged):
        levels = made.state.mine.intensities
        if tags.intensity is not None and levels:
            seen = (*levels[:-1], tags.intensity)
            changes.append(
                Change(part="mine", path="intensities", op="set", value=seen, by="model")
            )
    if made.stage.id == 1 and not made.fixed and _by_model(view):
        # What the person will answer is what was asked: never the template's question.
        ripe = made.state.mine.since >= made.stage.least_turns and _asks_heard(view)
        value = "heard" if ripe else ""
        changes.append(Change(part="mine", path="asked", op="set", value=value, by="model"))
    return tuple(changes)


def _jobs(view: View[Pair]) -> tuple[Job, ...]:
    turn = _turn(view)
    jobs: list[Job] = []
    if turn.move.withdrawn:
        payload = (("share", turn.move.withdrawn), ("author", _person(view)))
        jobs.append(Job(kind="companion.withdrawn", payload=payload))
    before, now = pair_of(view.opened.state.shared), pair_of(turn.move.state.shared)
    if now and now != before and "model" in view.opened.can:
        jobs.append(Job(kind="companion.reconcile"))
    if turn.move.consent is not None:
        name, on = turn.move.consent
        payload = (("consent", name), ("given", "on" if on else "off"))
        jobs.append(Job(kind="companion.kept", payload=payload))
    if turn.move.forgotten:
        jobs.append(Job(kind="companion.kept", payload=(("forget", turn.move.forgotten),)))
    was, link = view.opened.state.mine.link, turn.move.state.mine.link
    if was != link:
        payload = (("from", was), ("to", link))
        jobs.append(Job(kind="companion.linked", payload=payload))
    if view.request.act is None and turn.move.kind not in {"danger", "halted"}:
        jobs += due(view, turn.tables, turn.move)
    return tuple(jobs)


def _admits(state: Pair, actor: str) -> bool:
    shared = state.shared
    return actor in (*shared.people, *shared.invited)


COMPANION: Flow[Pair] = Flow(
    name="companion",
    version="1",
    initial=start,
    plan=_plan,
    more=_no_more,
    answer=_answer,
    next=_next,
    compose=_compose,
    changes=_changes,
    reduce=reduce,
    jobs=_jobs,
    checks=(_CIVIL,),
    dump=dump,
    load=load,
    private=True,
    admits=_admits,
    observers=OBSERVERS,
)
