"""The tools: their definitions, and what each does through the engine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bedside.core.errors import InvalidArgument, NotFound
from bedside.flows.briefing.tool import DESCRIPTION, NAME, SCHEMA, need_for
from bedside.knowledge.render import render
from bedside.mcp_server.access import Scope
from bedside.wiring import Ask, Engine, Who

__all__ = ["Answer", "Definition", "Tools"]

_PATIENT: dict[str, object] = {"type": "string", "description": "The patient's id."}
_MOST_NUMBERS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One tool as it is listed."""

    name: str
    title: str
    description: str
    schema: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a tool gives: text for a model, and the same as JSON."""

    text: str
    body: Mapping[str, Any]


def _object(**properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_SEARCH = Definition(
    name=NAME, title="Search clinical guidelines", description=DESCRIPTION, schema=SCHEMA
)
_RECORDS = (
    Definition(
        name="list_patients",
        title="List patients",
        description="The patients that this connection may see, with ids.",
        schema=_object(),
    ),
    Definition(
        name="open_patient",
        title="Open a patient",
        description="Demographics, allergies, open problems, medicines and findings by rule of one "
        "patient, with source ids. Every call is written to the audit trail.",
        schema=_object(patient=_PATIENT),
    ),
    Definition(
        name="brief_patient",
        title="Brief on a patient",
        description="A cited briefing: flags by rule, options to consider, what was checked.",
        schema=_object(patient=_PATIENT),
    ),
    Definition(
        name="read_source",
        title="Read a source",
        description="The stored text of one source id, whole.",
        schema=_object(id={"type": "string", "description": "A source id."}),
    ),
)


class Tools:
    """Every tool of one server. Source numbers of passages stay the same from search to search."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        self._engine, self._scope = engine, scope
        self._numbers: dict[tuple[str, str], int] = {}
        self._run: dict[str, Callable[[Mapping[str, Any], Who], Awaitable[Answer]]] = {
            NAME: self._search
        }
        if scope.records:
            self._run |= {
                "list_patients": self._list,
                "open_patient": self._open,
                "brief_patient": self._brief,
                "read_source": self._source,
            }

    def listed(self) -> tuple[Definition, ...]:
        """The tools that are switched on."""
        return (_SEARCH, *_RECORDS) if self._scope.records else (_SEARCH,)

    async def call(self, name: str, arguments: Mapping[str, Any], who: Who) -> Answer:
        """Run one tool for a caller.

        Raises:
            NotFound: no such tool is switched on, or no such patient is in scope.
            InvalidArgument: wrong arguments.
            AccessDenied: outside the caller's scope.
        """
        run = self._run.get(name)
        if run is None:
            raise NotFound("tool", name, hint=f"There are: {', '.join(self._run)}.")
        return await run(arguments, self._scope.narrowed(who))

    async def _search(self, arguments: Mapping[str, Any], who: Who) -> Answer:
        need = need_for(arguments)
        found = await self._engine.search(
            who=who, query=need.query, limit=need.limit, specialty=need.filters.specialty
        )
        hits = found["hits"]
        for hit in hits:
            hit["n"] = self._number(str(who.tenant), hit["chunk_id"])
        return Answer(text=render(hits), body=found)

    def _number(self, tenant: str, chunk: str) -> int:
        if len(self._numbers) >= _MOST_NUMBERS:
            self._numbers.clear()
        key = (tenant, chunk)
        return self._numbers.setdefault(key, len(self._numbers) + 1)

    async def _list(self, arguments: Mapping[str, Any], who: Who) -> Answer:
        del arguments
        found = await self._engine.patients(who)
        lines = [f"{one['id']}: {one['name']}, {one['birth_date']}, {one['sex']}" for one in found]
        return Answer(text="\n".join(lines) or "No patient is in scope.", body={"patients": found})

    async def _open(self, arguments: Mapping[str, Any], who: Who) -> Answer:
        patient = _text(arguments, "patient")
        found = await self._engine.opening(patient, who)
        return Answer(text=_plain(found), body=found)

    async def _brief(self, arguments: Mapping[str, Any], who: Who) -> Answer:
        patient = _text(arguments, "patient")
        self._engine.may_see(who, patient)
        self._engine.may_ask(who, "clinician")
        turn = await self._engine.asker.ask(
            Ask(question="Brief me on this patient.", patient=patient, flow="briefing"), who
        )
        body = {
            name: turn.get(name)
            for name in ("turn_id", "status", "answered_by", "briefing", "citations", "degraded")
        }
        return Answer(text=str(turn["answer"]), body=body)

    async def _source(self, arguments: Mapping[str, Any], who: Who) -> Answer:
        found = await self._engine.source(_text(arguments, "id"), who)
        return Answer(text=str(found["text"]), body=found)


def _text(arguments: Mapping[str, Any], name: str) -> str:
    found = arguments.get(name)
    if not isinstance(found, str) or not found.strip():
        raise InvalidArgument(name, found=type(found).__name__, want="a text")
    return found.strip()


def _plain(node: Any, depth: int = 0) -> str:
    """A JSON value as indented lines."""
    pad = "  " * depth
    if isinstance(node, Mapping):
        return "\n".join(
            f"{pad}{name}:\n{_plain(item, depth + 1)}"
            if isinstance(item, Mapping | list)
            else f"{pad}{name}: {item}"
            for name, item in node.items()
            if item not in (None, "", [], {})
        )
    if isinstance(node, list):
        return "\n".join(
            f"{pad}-\n{_plain(item, depth + 1)}"
            if isinstance(item, Mapping | list)
            else f"{pad}- {item}"
            for item in node
        )
    return f"{pad}{node}"
