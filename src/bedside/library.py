"""`Bedside` and `AsyncBedside`: the whole engine as a library."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from bedside.core.value import value
from bedside.settings import load_settings
from bedside.wiring import Ask, Engine, Who, build_engine

__all__ = ["AsyncBedside", "Bedside", "Turn", "TurnCitation", "TurnClaim"]

T = TypeVar("T")


@value
class TurnCitation:
    """A resolved citation: `quote` equals the stored text of `source_id` from `start` to `end`."""

    n: int
    source_id: str
    kind: str
    title: str
    section: str
    date: str | None
    start: int
    end: int
    quote: str
    answer_start: int
    answer_end: int


@value
class TurnClaim:
    """One checked sentence of the answer."""

    text: str
    basis: Literal["record", "guideline", "inference", "said"]
    support: Literal["full", "partial", "none"]
    severity: Literal["critical", "warning", "info"]
    citations: tuple[int, ...]


@value
class Turn:
    """A finished turn. `body` is all of it, as the contract has it.

    `cost_usd` is `None` when any call's cost is unknown, and 0 when no model was called.
    """

    id: str
    session: str
    status: Literal["complete", "incomplete", "refused"]
    answer: str
    answered_by: str | None
    citations: tuple[TurnCitation, ...]
    claims: tuple[TurnClaim, ...]
    missing: tuple[str, ...]
    removed: tuple[tuple[str, str], ...]
    degraded: tuple[str, ...]
    egress: str
    cost_usd: float | None
    body: dict[str, Any]

    @classmethod
    def of(cls, body: dict[str, Any]) -> Turn:
        """Read a turn from its JSON."""
        return cls(
            id=body["turn_id"],
            session=body["session_id"],
            status=body["status"],
            answer=body["answer"],
            answered_by=body["answered_by"],
            citations=tuple(
                TurnCitation(
                    n=item["n"],
                    source_id=item["source"]["id"],
                    kind=item["source"]["kind"],
                    title=item["source"]["title"],
                    section=item["source"]["section"],
                    date=item["source"]["date"],
                    start=item["start"],
                    end=item["end"],
                    quote=item["quote"],
                    answer_start=item["answer_start"],
                    answer_end=item["answer_end"],
                )
                for item in body["citations"]
            ),
            claims=tuple(
                TurnClaim(
                    text=item["text"],
                    basis=item["basis"],
                    support=item["support"],
                    severity=item["severity"],
                    citations=tuple(item["citations"]),
                )
                for item in body["claims"]
            ),
            missing=tuple(body["missing"]),
            removed=tuple((item["claim"], item["why"]) for item in body["removed"]),
            degraded=tuple(body["degraded"]),
            egress=body["egress"],
            cost_usd=body["cost_usd"],
            body=body,
        )


class AsyncBedside:
    """The engine over one home folder. Use it as an async context manager."""

    def __init__(self, engine: Engine, *, who: Who) -> None:
        self.engine, self._who = engine, who

    @classmethod
    def open(cls, home: str | Path | None = None, *, tenant: str | None = None) -> AsyncBedside:
        """Open a home folder; settings come from the environment, `bedside.toml`, defaults.

        Raises:
            BadInput: `bedside.toml` cannot be read.
        """
        overrides = {"tenant": tenant} if tenant else {}
        settings = load_settings(home=Path(home) if home else None, overrides=overrides)
        engine = build_engine(settings)
        return cls(engine, who=engine.local())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Wait for running turns and close the stores."""
        await self.engine.close()

    async def import_fhir(self, *paths: str | Path) -> dict[str, Any]:
        """Import FHIR R4 bundles, NDJSON or simple patient JSON; the report as the contract has it."""
        return await self.engine.import_paths([Path(path) for path in paths], self._who)

    async def patients(self) -> list[dict[str, Any]]:
        """The patients of the tenant."""
        return await self.engine.patients(self._who)

    async def opening(self, patient: str) -> dict[str, Any]:
        """Banner, at most three priorities, and what changed since the last encounter."""
        return await self.engine.opening(patient, self._who)

    async def attach(self, patient: str, *files: str | Path) -> list[dict[str, Any]]:
        """Add documents to a patient."""
        return await self.engine.attach_paths(patient, [Path(file) for file in files], self._who)

    async def ingest(self, *paths: str | Path, **meta: str) -> dict[str, Any]:
        """Add knowledge; `meta` as the options of `bedside ingest`."""
        return await self.engine.ingest_paths([Path(path) for path in paths], self._who, meta=meta)

    async def search(self, query: str, *, limit: int = 5) -> dict[str, Any]:
        """Search the knowledge."""
        return await self.engine.search(who=self._who, query=query, limit=limit)

    async def ask(
        self,
        question: str,
        *,
        patient: str | None = None,
        documents: Sequence[str | Path] = (),
        select: Sequence[str] = (),
        mode: str | None = None,
        session: str | None = None,
        audience: Literal["clinician", "patient"] = "clinician",
        model: str | None = None,
        key: str | None = None,
        call: bool = True,
    ) -> Turn:
        """Ask the copilot. `documents` are files to attach first; `call` False calls no model.

        Raises:
            NotFound: no such patient, session or document in this scope.
            BudgetTooSmall: the protected blocks do not fit the context limit.
        """
        self.engine.may_ask(self._who, audience)
        attached: list[str] = []
        if documents:
            if patient is None:
                from bedside.core.errors import InvalidArgument

                raise InvalidArgument("documents", found="no patient", want="given with a patient")
            added = await self.attach(patient, *documents)
            attached = [item["document_id"] for item in added]
        body = await self.engine.asker.ask(
            Ask(
                question=question,
                patient=patient,
                documents=tuple(attached),
                selected=tuple(select),
                mode=mode,
                session=session,
                audience=audience,
                model=model,
                key=key,
                call=call,
            ),
            self._who,
        )
        return Turn.of(body)

    async def source(self, source: str, *, start: int | None = None, end: int | None = None) -> str:
        """Stored text, whole or a span of it (code points, half-open)."""
        found = await self.engine.source(source, self._who, start=start, end=end)
        return found["text"]

    async def audit(self, *, patient: str | None = None) -> list[dict[str, Any]]:
        """The audit trail."""
        return await self.engine.audit(self._who, patient=patient)


class Bedside:
    """`AsyncBedside` for code that does not await: the same methods, on a loop of its own."""

    def __init__(self, inner: AsyncBedside) -> None:
        self._inner = inner
        self._runner = asyncio.Runner()

    @classmethod
    def open(cls, home: str | Path | None = None, *, tenant: str | None = None) -> Bedside:
        """Open a home folder."""
        return cls(AsyncBedside.open(home, tenant=tenant))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def close(self) -> None:
        """Wait for running turns and close the stores."""
        self._run(self._inner.close())
        self._runner.close()

    def import_fhir(self, *paths: str | Path) -> dict[str, Any]:
        """Import FHIR R4 bundles, NDJSON or simple patient JSON."""
        return self._run(self._inner.import_fhir(*paths))

    def patients(self) -> list[dict[str, Any]]:
        """The patients of the tenant."""
        return self._run(self._inner.patients())

    def opening(self, patient: str) -> dict[str, Any]:
        """Banner, at most three priorities, and what changed since the last encounter."""
        return self._run(self._inner.opening(patient))

    def attach(self, patient: str, *files: str | Path) -> list[dict[str, Any]]:
        """Add documents to a patient."""
        return self._run(self._inner.attach(patient, *files))

    def ingest(self, *paths: str | Path, **meta: str) -> dict[str, Any]:
        """Add knowledge."""
        return self._run(self._inner.ingest(*paths, **meta))

    def search(self, query: str, *, limit: int = 5) -> dict[str, Any]:
        """Search the knowledge."""
        return self._run(self._inner.search(query, limit=limit))

    def ask(
        self,
        question: str,
        *,
        patient: str | None = None,
        documents: Sequence[str | Path] = (),
        select: Sequence[str] = (),
        mode: str | None = None,
        session: str | None = None,
        audience: Literal["clinician", "patient"] = "clinician",
        model: str | None = None,
        key: str | None = None,
        call: bool = True,
    ) -> Turn:
        """Ask the copilot; see `AsyncBedside.ask`."""
        return self._run(
            self._inner.ask(
                question,
                patient=patient,
                documents=documents,
                select=select,
                mode=mode,
                session=session,
                audience=audience,
                model=model,
                key=key,
                call=call,
            )
        )

    def source(self, source: str, *, start: int | None = None, end: int | None = None) -> str:
        """Stored text, whole or a span of it."""
        return self._run(self._inner.source(source, start=start, end=end))

    def audit(self, *, patient: str | None = None) -> list[dict[str, Any]]:
        """The audit trail."""
        return self._run(self._inner.audit(patient=patient))
