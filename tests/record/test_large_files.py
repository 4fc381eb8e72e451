"""A file about one patient may be of any size: memory does not grow with it, and half is nothing."""

from __future__ import annotations

import json
import random
import tracemalloc

import pytest
from sqlalchemy import func, select

from bedside.core.errors import Unavailable
from bedside.core.ids import TenantId
from bedside.record import desk
from bedside.record.importing import import_paths
from bedside.storage.tables.record import entry, patient, resource

TENANT = TenantId("default")


def export(path, ident, many, *, words=80):
    """An NDJSON export about one patient, with a note of random words in every observation."""
    chance = random.Random(many)
    with path.open("w", encoding="utf-8") as file:
        person = {"resourceType": "Patient", "id": ident, "name": [{"text": f"Person {ident}"}]}
        file.write(json.dumps(person) + "\n")
        for n in range(many):
            observation = {
                "resourceType": "Observation",
                "id": f"o{n}",
                "status": "final",
                "code": {"text": "Sodium"},
                "subject": {"reference": f"Patient/{ident}"},
                "effectiveDateTime": "2026-11-02",
                "valueQuantity": {"value": 140, "unit": "mmol/L"},
                "extension": [{"url": "x", "valueString": chance.randbytes(words * 8).hex()}],
            }
            file.write(json.dumps(observation) + "\n")
    return path


def test_memory_does_not_grow_with_the_file(store, clock, tmp_path):
    peaks = []
    import_paths(store, [export(tmp_path / "warm.ndjson", "w", 20)], tenant=TENANT, clock=clock)
    for ident, many in (("small", 450), ("large", 1_350)):
        path = export(tmp_path / f"{ident}.ndjson", ident, many)
        tracemalloc.start()
        report = import_paths(store, [path], tenant=TENANT, clock=clock)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert report.patients[0].changed == many + 1

    assert peaks[1] - peaks[0] < 500_000  # bytes; what the larger file has more is twice that


def test_a_file_that_breaks_off_late_leaves_nothing_and_the_next_file_is_whole(
    store, clock, tmp_path
):
    broken = export(tmp_path / "a.ndjson", "p1", 900, words=1)
    broken.write_text(broken.read_text() + "{", encoding="utf-8")
    good = export(tmp_path / "b.ndjson", "p2", 5, words=1)

    report = import_paths(store, [broken, good], tenant=TENANT, clock=clock)

    assert [item.path for item in report.rejected] == [str(broken)]
    assert dict(report.resources) == {"Patient": 1, "Observation": 5}
    for table, whole in ((patient, 1), (resource, 6), (entry, 6)):
        query = select(func.count()).select_from(table)
        assert store.read_now(lambda c, q=query: c.execute(q).scalar()) == whole


@pytest.mark.requirement("RELIABILITY-7")
def test_without_room_for_temporary_files_the_import_says_so_and_keeps_nothing(
    store, clock, tmp_path, monkeypatch
):
    small = desk._TABLES + "PRAGMA max_page_count=60;"
    path = export(tmp_path / "a.ndjson", "p1", 500)
    monkeypatch.setattr(desk, "_TABLES", small)

    with pytest.raises(Unavailable, match="SQLITE_FULL"):
        import_paths(store, [path], tenant=TENANT, clock=clock)

    people = select(func.count()).select_from(patient)
    assert store.read_now(lambda c: c.execute(people).scalar()) == 0
    monkeypatch.undo()
    assert import_paths(store, [path], tenant=TENANT, clock=clock).patients[0].changed == 501
