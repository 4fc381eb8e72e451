"""The demonstration: bundled synthetic patients and guidelines, and a first question."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from sqlalchemy import insert, select

from bedside.storage.tables.jobs import meta
from bedside.wiring.ask import Who
from bedside.wiring.engine import Engine
from bedside.wiring.records import mark_synthetic

__all__ = ["PATIENT", "QUESTION", "first_patient", "load_demo"]

PATIENT = "demo-adeyemi"
QUESTION = "Is metformin still safe for her?"


async def load_demo(engine: Engine, who: Who) -> dict[str, Any]:
    """Load what is bundled; loading again changes nothing. Returns the counts."""
    folder = Path(str(files("bedside.demo")))
    report = await engine.import_paths([folder / "patients"], who, bundled=True)
    patients = [item["id"] for item in report["patients"]]

    def mark(connection: Any) -> None:
        mark_synthetic(connection, who.tenant, patients)
        key = f"home:{who.tenant}"
        if connection.execute(select(meta.c.key).where(meta.c.key == key)).first() is None:
            connection.execute(insert(meta).values(key=key, value="demo"))

    await engine.store.write(mark)
    documents = 0
    for patient in patients:
        scans = sorted((folder / "documents" / patient).glob("*.*"))
        if scans:
            documents += len(await engine.attach_paths(patient, scans, who, bundled=True))
    await engine.texts.warm()
    knowledge = await engine.ingest_paths([folder / "guidelines"], who)
    return {
        "patients": len(patients),
        "attached": documents,
        "documents": knowledge["documents"] + knowledge["skipped"],
        "chunks": await engine.texts.chunks(who),
    }


async def first_patient(engine: Engine, who: Who) -> str:
    """The patient of the first question."""
    return await engine.patient_id(PATIENT, who)
