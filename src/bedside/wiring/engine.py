"""The engine: real rooms behind one set of operations, the same for every door."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Connection

from bedside.core.access import Grant
from bedside.core.clock import Clock
from bedside.core.errors import AccessDenied, Unavailable
from bedside.core.ids import ActorId, PatientId, TenantId
from bedside.settings import Settings
from bedside.storage import access, jobs, turns
from bedside.storage.store import Store
from bedside.wiring import doctor as doctoring
from bedside.wiring import editing, reading, records
from bedside.wiring.ask import Asker, Who
from bedside.wiring.listing import Listing
from bedside.wiring.texts import Texts, documents_in
from bedside.wiring.turning import Turning

__all__ = ["Engine"]


class Engine:
    """Every operation of every door. Made by `build_engine`; close it when done."""

    def __init__(self, *, settings: Settings, store: Store, clock: Clock, texts: Texts) -> None:
        self.settings, self.store, self.clock, self.texts = settings, store, clock, texts
        self.turning = Turning(settings=settings, store=store, clock=clock, texts=texts)
        self.asker = Asker(run=self.turning.run, deadline_ms=settings.deadline_ms)
        self.models = self.turning.models
        self._listing = Listing()
        self._background: list[asyncio.Task[None]] = []

    def local(self) -> Who:
        """The one user of a local command."""
        return Who(tenant=TenantId(self.settings.tenant), actor=ActorId("local"))

    # ---- asking

    def may_ask(self, who: Who, audience: Literal["clinician", "patient"]) -> None:
        """Check role and audience.

        Raises:
            AccessDenied: the role may not ask, or answers for patients are switched off.
        """
        if audience == "patient" and not self.settings.patient_audience:
            raise AccessDenied(
                "answers written for the patient",
                need="BEDSIDE_PATIENT_AUDIENCE=true, set by the deployer",
            )
        if audience == "clinician" or "patient" not in who.roles:
            self.needs_role(who, "clinician")

    def needs_role(self, who: Who, role: str) -> None:
        """Check a role.

        Raises:
            AccessDenied: the caller does not have it.
        """
        if role not in who.roles:
            raise AccessDenied("this operation", need=f"the role {role!r}")

    def may_see(self, who: Who, patient: str | None) -> None:
        """Check that the caller may see this patient. Every operation on a patient passes here.

        Raises:
            AccessDenied: the caller's token does not name the patient, or no role that sees any.
        """
        if patient is not None and not who.sees(patient):
            raise AccessDenied("this patient's record", need="a token that names the patient")

    # ---- records

    async def patients(self, who: Who) -> list[dict[str, Any]]:
        """The patients that the caller may see."""
        found = await self.store.write(lambda c: records.listed(c, who=who, clock=self.clock))
        return [item for item in found if who.sees(item["id"])]

    async def patient_id(self, text: str, who: Who) -> str:
        """The id of the one patient with this id, record number or name.

        Raises:
            NotFound: none fits, or more than one does.
        """
        return await self.store.read(lambda c: records.resolve_patient(c, who.tenant, text))

    async def opening(self, patient: str, who: Who) -> dict[str, Any]:
        """What opening a patient shows (CO-16): no question, no model."""
        grant = await self._grant(who, patient, purpose="opening", action="read")
        today = self.clock.now().date()
        return await self.store.read(
            lambda c: records.opening(c, grant, today=today, interactions=self.turning.interactions)
        )

    async def import_paths(
        self, paths: Sequence[Path], who: Who, *, progress: Any = None, bundled: bool = False
    ) -> dict[str, Any]:
        """Import records; texts that came inside them become searchable documents.

        `bundled` is for what ships with Bedside: its patients keep their exemption from egress.
        """
        report = await asyncio.to_thread(
            records.import_paths,
            self.store,
            paths,
            who=who,
            clock=self.clock,
            progress=progress,
            bundled=bundled,
        )
        await self.texts.index_waiting(report["documents"], who)
        return report

    async def import_bytes(self, files: Sequence[tuple[str, bytes]], who: Who) -> dict[str, Any]:
        """Import records from uploads."""
        report = await asyncio.to_thread(
            records.import_bytes, self.store, files, who=who, clock=self.clock
        )
        await self.texts.index_waiting(report["documents"], who)
        return report

    async def documents(self, patient: str, who: Who) -> list[dict[str, Any]]:
        """The patient's documents with their states."""
        self.may_see(who, patient)

        def read(connection: Connection) -> list[dict[str, Any]]:
            made = self._granted(connection, who, patient, purpose="documents", action="list")
            return documents_in(connection, made)

        return await self.store.write(read)

    async def attach(
        self,
        patient: str,
        files: Sequence[tuple[str, bytes]],
        who: Who,
        *,
        bundled: bool = False,
    ) -> list[dict[str, Any]]:
        """Add documents to a patient; `bundled` as in `import_paths`.

        Raises:
            BadInput: a file cannot be read; nothing is changed.
            NotFound: no such patient.
        """
        grant = await self._grant(who, patient, purpose="attach", action="write")
        read = await self.texts.read_files(files)
        if not bundled:
            await self.store.write(lambda c: records.no_longer_synthetic(c, who.tenant, [patient]))
        return await self.texts.attach(grant, read)

    async def attach_paths(
        self, patient: str, paths: Sequence[Path], who: Who, *, bundled: bool = False
    ) -> list[dict[str, Any]]:
        """`attach` from files."""
        files = [(path.name, _read(path, self.settings.upload_bytes)) for path in paths]
        return await self.attach(patient, files, who, bundled=bundled)

    async def _grant(self, who: Who, patient: str, *, purpose: str, action: access.Action) -> Grant:
        self.may_see(who, patient)
        return await self.store.write(
            lambda c: self._granted(c, who, patient, purpose=purpose, action=action)
        )

    def _granted(
        self,
        connection: Connection,
        who: Who,
        patient: str,
        *,
        purpose: str,
        action: access.Action,
    ) -> Grant:
        records.check_patient(connection, who.tenant, PatientId(patient))
        return access.grant(
            connection,
            tenant=who.tenant,
            actor=who.actor,
            action=action,
            at=self.clock.now(),
            patient=PatientId(patient),
            purpose=purpose,
        )

    # ---- knowledge

    async def ingest_paths(
        self,
        paths: Sequence[Path],
        who: Who,
        *,
        meta: Mapping[str, Any] | None = None,
        progress: Any = None,
    ) -> dict[str, Any]:
        """Add knowledge from files and folders."""
        return await self.texts.ingest_paths(paths, who, meta=meta or {}, progress=progress)

    async def ingest_bytes(
        self,
        files: Sequence[tuple[str, bytes]],
        who: Who,
        *,
        meta: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Add knowledge from uploads."""
        return await self.texts.ingest_bytes(files, who, meta=meta or {})

    async def remove_document(self, document: str, who: Who) -> dict[str, Any]:
        """Remove a document of the knowledge, for good: no search finds it, no citation opens it."""
        self.needs_role(who, "admin")
        return await self.texts.remove(document, who)

    async def knowledge(self, who: Who) -> list[dict[str, Any]]:
        """The knowledge that is here."""
        return await self.store.read(lambda c: reading.read_knowledge(c, who=who))

    async def knowledge_json(self, who: Who) -> bytes:
        """`knowledge` as JSON, for a door that hands it on."""
        return await self.store.read(lambda c: self._listing.of(c, who))

    async def search(
        self,
        *,
        who: Who,
        query: str,
        limit: int = 5,
        specialty: str | None = None,
        type: str | None = None,  # noqa: A002 - the contract's name
        condition: str | None = None,
        drug: str | None = None,
        document: str | None = None,
        since: date | None = None,
        retriever: Literal["hybrid", "lexical", "dense"] = "hybrid",
    ) -> dict[str, Any]:
        """Search the knowledge; the contract's JSON."""
        return await self.texts.search(
            who,
            query=query,
            limit=limit,
            retriever=retriever,
            filters={
                "specialty": specialty,
                "type": type,
                "condition": condition,
                "drug": drug,
                "document": document,
                "since": since,
            },
        )

    # ---- reading back

    async def source(
        self,
        source: str,
        who: Who,
        *,
        start: int | None = None,
        end: int | None = None,
        revision: int | None = None,
    ) -> dict[str, Any]:
        """Stored text; see `reading.read_source`."""
        return await self.store.write(
            lambda c: reading.read_source(
                c,
                who=who,
                source_id=source,
                start=start,
                end=end,
                revision=revision,
                clock=self.clock,
            )
        )

    async def turn(self, turn_id: str, who: Who) -> dict[str, Any]:
        """A turn as it was answered."""
        return await self.store.write(
            lambda c: reading.read_turn(c, who=who, turn_id=turn_id, clock=self.clock)
        )

    async def stop_turn(self, key: str, who: Who) -> None:
        """Stop the caller's turn that runs under this idempotency key: it is kept as incomplete.

        Raises:
            NotFound: none runs under it in this process.
        """
        stopped = await self.asker.stop(key, who)
        await self.store.write(
            lambda c: access.note(
                c,
                tenant=who.tenant,
                actor=who.actor,
                action="write",
                at=self.clock.now(),
                patient=stopped.patient,
                session=stopped.session,
                purpose="stop",
            )
        )

    async def turns_of(self, patient: str, who: Who) -> list[dict[str, Any]]:
        """The patient's turns."""
        self.may_see(who, patient)
        return await self.store.write(
            lambda c: reading.read_turns_of(c, who=who, patient=patient, clock=self.clock)
        )

    async def prompt(self, turn_id: str, who: Who) -> list[dict[str, Any]]:
        """A turn's prompt, byte for byte."""
        return await self.store.write(
            lambda c: reading.read_prompt(c, who=who, turn_id=turn_id, clock=self.clock)
        )

    async def trace(self, turn_id: str, who: Who) -> dict[str, Any]:
        """A turn's trace."""
        return await self.store.write(
            lambda c: reading.read_trace(c, who=who, turn_id=turn_id, clock=self.clock)
        )

    async def review(self, turn_id: str, state: str, who: Who) -> dict[str, Any]:
        """Accept, edit or reject a draft."""
        return await self.store.write(
            lambda c: reading.put_review(c, who=who, turn_id=turn_id, state=state, clock=self.clock)
        )

    async def report(
        self, turn_id: str, *, target: str, kind: str, note: str, who: Who
    ) -> dict[str, Any]:
        """Report something as wrong."""
        return await self.store.write(
            lambda c: reading.put_report(
                c,
                who=who,
                turn_id=turn_id,
                report_id=_new_id("report"),
                target=target,
                kind=kind,
                note=note,
                clock=self.clock,
            )
        )

    async def reports(self, who: Who) -> list[dict[str, Any]]:
        """The safety inbox."""
        return await self.store.write(lambda c: reading.read_reports(c, who=who, clock=self.clock))

    async def audit(self, who: Who, *, patient: str | None) -> list[dict[str, Any]]:
        """The audit trail."""
        self.may_see(who, patient)
        return await self.store.read(lambda c: reading.audit_entries(c, who=who, patient=patient))

    async def verify_audit(self, who: Who) -> dict[str, Any]:
        """Whether the chain is whole."""
        found = await self.store.read(lambda c: access.verify(c, tenant=who.tenant))
        return {"ok": found.ok, "entries": found.entries, "first_bad": found.first_bad}

    # ---- hot data

    async def edit(
        self, kind: str, key: str, body: Any, who: Who, *, expected: int | None = None
    ) -> dict[str, Any]:
        """Save hot data; live at the next turn in every process."""
        self.needs_role(who, "admin")
        return await self.store.write(
            lambda c: editing.edit(
                c, who=who, kind=kind, key=key, body=body, expected=expected, clock=self.clock
            )
        )

    async def hot(self, kind: str, who: Who) -> list[dict[str, Any]]:
        """The live entries of a kind."""
        self.needs_role(who, "admin")
        return await self.store.read(lambda c: editing.entries(c, who=who, kind=kind))

    async def versions(self, kind: str, key: str, who: Who) -> list[dict[str, Any]]:
        """Every version of one entry."""
        self.needs_role(who, "admin")
        return await self.store.read(lambda c: editing.versions(c, who=who, kind=kind, key=key))

    # ---- the house

    async def doctor(self, *, repair: bool = False) -> dict[str, Any]:
        """The state of the installation and the stores."""
        return await doctoring.examine(self, repair=repair)

    def schema(self, name: Literal["patient", "turn"]) -> dict[str, Any]:
        """A JSON Schema of the contract."""
        from bedside.wiring.schemas import schema

        return schema(name)

    def packs(self) -> list[dict[str, Any]]:
        """The clinical content that is here, with its review state."""
        return doctoring.packs()

    def egress_notice(self) -> str:
        """One line for the banner: where text may go."""
        if not self.models.writer and not self.models.mechanic:
            return "nothing leaves this machine"
        allowed = ", ".join(sorted(self.models.egress.allow)) or "loopback only"
        return f"{allowed}; identifiers " + ("removed" if self.models.egress.deidentify else "kept")

    async def ready(self) -> None:
        """Check that the stores answer.

        Raises:
            Unavailable: they do not.
        """
        from sqlalchemy import text
        from sqlalchemy.exc import SQLAlchemyError

        try:
            await self.store.read(lambda c: c.execute(text("SELECT 1")).scalar())
        except SQLAlchemyError as error:
            raise Unavailable("the store", why=type(error).__name__) from None

    async def start_background(self) -> None:
        """Close cut turns; begin to load knowledge, to embed what waits, to do the jobs that are due."""
        await self.store.write(lambda c: turns.recover(c, now=self.clock.now()))
        self._background = [
            asyncio.create_task(self.texts.load_ahead()),
            asyncio.create_task(self.texts.keep_embedding()),
            asyncio.create_task(self.turning.prepare()),
            asyncio.create_task(self.turning.jobs.forever()),
        ]

    async def loaded(self) -> None:
        """Wait until what `start_background` loads is there."""
        await asyncio.shield(self._background[0])

    async def work(self, *, once: bool = False, progress: Any = None) -> dict[str, int]:
        """Do the jobs that are due and embed what waits: once, or until cancelled."""
        await self.store.write(lambda c: turns.recover(c, now=self.clock.now()))
        ended = await self.turning.jobs.run_waiting()
        await self.texts.embed_waiting(progress=progress)
        if once:
            return {"ended": ended, **await self.store.read(jobs.counts)}
        await asyncio.gather(self.texts.keep_embedding(), self.turning.jobs.forever())
        raise AssertionError("a worker ends only when it is cancelled")

    async def close(self) -> None:
        """Wait for running turns, stop the background work, close the stores."""
        await self.asker.close(seconds=5)
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        self.texts.close()
        await self.turning.close()
        self.store.close()


def _new_id(kind: str) -> str:
    return f"{kind}-{uuid.uuid4().hex[:20]}"


def _read(path: Path, limit: int) -> bytes:
    from bedside.core.errors import BadInput

    if not path.is_file():
        raise BadInput(str(path), why="there is no such file")
    size = path.stat().st_size
    if size > limit:
        raise BadInput(
            str(path),
            why=f"it has {size:,} bytes, more than {limit:,}",
            do="Split it, or raise BEDSIDE_UPLOAD_BYTES.",
        )
    return path.read_bytes()
