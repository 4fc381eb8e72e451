"""Notes: a clinical note becomes a summary and a plan, every item traced to exact characters.

Read this file for the whole behaviour. Without a model the answer is by rule: the note's own words,
sorted. With one: sections first where the note has no headings, then the summary in as few passes as
fit the window, then the plan from the summary's assessment. What a model writes is held to the note.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from bedside.context.render import DATA_RULE
from bedside.core.context import Assembly, Budget, Item
from bedside.core.errors import BudgetTooSmall, NotFound
from bedside.core.source import Span
from bedside.core.turn import Change, Check, Draft, Finding, Got, Job, Plan, Route, TurnRequest, got
from bedside.core.value import value
from bedside.flows.flow import Done, Flow, Opened, Step, View
from bedside.flows.notes.check import Checked, check_plan, check_sections, check_summary
from bedside.flows.notes.composed import Summarised, compose, summarised
from bedside.flows.notes.note import Note, NoteNeed
from bedside.flows.notes.passes import Pass, blocks_of, chunk_item, passes
from bedside.flows.notes.prompts import PROMPTS, Prompt, prompt_of
from bedside.flows.notes.reply import (
    PLAN_SCHEMA,
    SECTIONS_SCHEMA,
    SUMMARY_SCHEMA,
    JsonReply,
    Reply,
)
from bedside.flows.notes.summary import PARTS, TITLES, Statement
from bedside.flows.ready import beside
from bedside.grounding.cite import parse_chunk
from bedside.grounding.guardrails.policy import Guardrails, Policy

__all__ = ["NOTES", "need_of"]

OUTPUT_TOKENS = 4_096
WINDOW_TOKENS = 32_768
"""The window where the model's own is not known."""
_SHORT = 400
"""Characters; a shorter note without headings is one section, and no model is asked."""
_OPEN = Guardrails(flow="notes", policy=Policy(ids=(), cite="off"))
"""A JSON answer is judged item by item by this flow, not sentence by sentence by the gate."""


@value
class Nothing:
    """The flow keeps no state."""


def need_of(request: TurnRequest) -> NoteNeed:
    """The note that a request is about."""
    return NoteNeed(name="note", note=request.option("note"), deadline_ms=60_000)


def _plan(request: TurnRequest, opened: Opened[Nothing]) -> Plan:
    for name in PROMPTS:
        prompt_of(name, opened.data)  # a template that lacks a variable fails before anything else
    return Plan(intent="note_summary", needs=(need_of(request),), categories=("note",))


def _note(view: View[Nothing]) -> Note:
    """The note as this turn reads it: with the sections that a model found, where it did."""
    found = got(view.gathered, need_of(view.request))
    if not isinstance(found, Got):
        raise NotFound("note", view.request.option("note"), hint="It is not in this scope.")
    note = found.value
    for done in view.done:
        if _stage(done) == "sections" and isinstance(done.draft.payload, Reply):
            sections = check_sections(done.draft.payload, note)
            return note if sections is None else Note(note, sections)
    return note


def _stage(done: Done[Nothing]) -> str:
    return done.step.name.split(" ", 1)[0] if done.step is not None else "rules"


def _answer(view: View[Nothing]) -> Draft | None:
    """By rule where no model is configured, or its window cannot hold one chunk of the note."""
    if "model" in view.opened.can and _fits(view, _note(view)):
        return None
    return _unaided(_note(view))


def _fits(view: View[Nothing], note: Note) -> bool:
    try:
        _passes(view, note, prompt_of("text_summary", view.opened.data))
    except BudgetTooSmall:
        return False
    return True


def _unaided(note: Note) -> Draft:
    source = note.source
    whole = Item(
        note.text, key=str(source.id), span=Span(source=source, start=0, end=len(note.text))
    )
    return Draft(text="", by="extractive", items=(whole,), payload=Reply(tree=None, why="no model"))


def _next(view: View[Nothing]) -> Step[Nothing] | None:
    if "model" not in view.opened.can and view.request.option("call", "yes") != "no":
        return None
    note = _note(view)
    if "model" in view.opened.can and not _fits(view, note):
        return None
    stages = [_stage(done) for done in view.done]
    if not stages and _headless(note):
        prompt = prompt_of("section_inference", view.opened.data)
        try:
            parts = _passes(view, note, prompt)
        except BudgetTooSmall:
            parts = ()
        if len(parts) == 1:
            return _step(view, note, "sections", prompt, parts[0], SECTIONS_SCHEMA, checks=())
    prompt = prompt_of("text_summary", view.opened.data)
    parts = _passes(view, note, prompt)
    done = stages.count("summary")
    if done < len(parts):
        name = "summary" if len(parts) == 1 else f"summary {done + 1}/{len(parts)}"
        judge = partial(check_summary, note=note)
        return _step(view, note, name, prompt, parts[done], SUMMARY_SCHEMA, checks=(_check(judge),))
    if "plan" in stages:
        return None
    found = summarised(view, note, parts)
    if not found.by_model or not found.of("assessment"):
        return None
    return _plan_step(view, note, found)


def _headless(note: Note) -> bool:
    return len(note.text) > _SHORT and all(one.found_by == "start" for one in note.sections)


def _room(view: View[Nothing], prompt: Prompt) -> int:
    """Tokens for what fills a template: the window, less the answer, a repair and our own words."""
    count = view.opened.count
    own = count("".join(prompt.pieces[::2])) + count(DATA_RULE)
    return _budget(view).limit - beside(count, schema=SUMMARY_SCHEMA) - own - _FRAME


def _budget(view: View[Nothing]) -> Budget:
    """All of the model's window; in a small one half of it is kept for the answer."""
    window = view.opened.windows.get("writer", WINDOW_TOKENS)
    output = min(OUTPUT_TOKENS, window // 2)
    return Budget(max(window - output, 1), output=output)


_TOO_SMALL = "its window is too small for one chunk of this note, so the summary is extracted"
_FRAME = 900
"""Tokens for fences, roles and the order of a repair."""


def _passes(view: View[Nothing], note: Note, prompt: Prompt) -> tuple[Pass, ...]:
    return passes(note, room=_room(view, prompt), count=view.opened.count)


def _step(
    view: View[Nothing],
    note: Note,
    name: str,
    prompt: Prompt,
    chunks: Pass,
    schema: object,
    *,
    checks: tuple[Check, ...],
) -> Step[Nothing]:
    items = tuple(chunk_item(note, chunk) for chunk in chunks)
    return _asking(view, note, name, prompt, {"chunks_with_headers": items}, schema, checks)


def _plan_step(view: View[Nothing], note: Note, found: Summarised) -> Step[Nothing]:
    prompt = prompt_of("plan_generation", view.opened.data)
    titles = dict.fromkeys(parse_chunk(one.source).section for one in found.statements)
    data = {
        "section_titles_list": (Item("\n".join(f"- {title}" for title in titles), key="titles"),),
        "summary_sections": tuple(_summary_items(found.statements)),
    }
    judge = partial(check_plan, note=note, summary=found.statements)
    return _asking(view, note, "plan", prompt, data, PLAN_SCHEMA, (_check(judge),))


def _summary_items(statements: Sequence[Statement]) -> list[Item]:
    return [
        Item(
            f"## {TITLES[part]}\n"
            + "\n".join(
                f"- {one.text} (source: {one.source})" for one in statements if one.part == part
            ),
            key=part,
        )
        for part in PARTS
        if any(one.part == part for one in statements)
    ]


def _asking(
    view: View[Nothing],
    note: Note,
    name: str,
    prompt: Prompt,
    data: dict[str, tuple[Item, ...]],
    schema: object,
    checks: tuple[Check, ...],
) -> Step[Nothing]:
    return Step(
        name=f"{name} ({prompt.name}@{prompt.version})",
        blocks=blocks_of(prompt, data),
        budget=_budget(view),
        layout="balanced",
        route=Route(role="writer"),
        decoder=JsonReply,
        checks=(_OPEN, *checks),
        unaided=lambda _view: _unaided(note),
        release="never",
        schema=schema,
        repairs=1 if checks else 0,
    )


def _check(judge: Callable[[Reply], Checked]) -> Check:
    """Asks for one repair where an item does not hold; after it the item is left out."""

    def check(draft: Draft, assembly: Assembly) -> Sequence[Finding]:
        del assembly
        if not isinstance(draft.payload, Reply) or not draft.by.startswith("model"):
            return ()
        return [
            Finding(id="G1", want="repair", otherwise="flag", detail=want)
            for want in judge(draft.payload).wants()
        ]

    return check


def _compose(view: View[Nothing]) -> Done[Nothing]:
    if view.request.option("call", "yes") == "no":
        return view.done[-1]
    note = _note(view)
    summary = prompt_of("text_summary", view.opened.data)
    by_rule = _stage(view.done[-1]) == "rules"
    parts = (tuple(note.chunks),) if by_rule else _passes(view, note, summary)
    used: dict[str, str] = (
        {} if by_rule else {name: prompt_of(name, view.opened.data).version for name in PROMPTS}
    )
    done = compose(view, note, parts, prompts=used)
    if by_rule and "model" in view.opened.can:
        return replace(done, why_unaided=_TOO_SMALL)
    return done


def _changes(view: View[Nothing]) -> tuple[Change, ...]:
    del view
    return ()


def _reduce(state: Nothing, change: Change) -> Nothing:
    del change
    return state


def _jobs(view: View[Nothing]) -> tuple[Job, ...]:
    del view
    return ()


def _no_more(view: View[Nothing]) -> tuple[Any, ...]:
    del view
    return ()


NOTES: Flow[Nothing] = Flow(
    name="notes",
    version="1",
    initial=Nothing,
    plan=_plan,
    more=_no_more,
    answer=_answer,
    next=_next,
    compose=_compose,
    changes=_changes,
    reduce=_reduce,
    jobs=_jobs,
    checks=(_OPEN,),
    dump=lambda _state: {},
    load=lambda _tree: Nothing(),
)
