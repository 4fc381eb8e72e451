"""A large library's file: equal to the rows, of their very state, whole or not there."""

from __future__ import annotations

import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import numpy as np
import pytest
from sqlalchemy import select, update

from bedside.knowledge.document import Upload
from bedside.knowledge.index import snapshot
from bedside.knowledge.index.kept import path_of
from bedside.knowledge.index.rows import load_knowledge
from bedside.knowledge.index.segment import Segment
from bedside.knowledge.index.snapshot import Snapshots
from bedside.knowledge.ingest import embed_pending, ingest
from bedside.knowledge.needs import Filters, SearchNeed
from bedside.knowledge.search import Knowledge
from bedside.knowledge.writing import remove
from bedside.storage.store import Store
from bedside.storage.tables.knowledge import chunk_vector
from bedside.storage.tables.source import source
from bedside.testing.embedder import HashedEmbedder

EMBEDDER = HashedEmbedder()
WORDS = [f"word{number}" for number in range(60)]


@pytest.fixture(autouse=True)
def _small(monkeypatch) -> None:
    """Every library is large enough."""
    monkeypatch.setattr(snapshot, "LEAST_KEPT", 1)


@pytest.fixture
def library(store, clock) -> Store:
    random = Random(5)
    uploads = []
    for number in range(12):
        parts = "\n\n".join(
            f"## Part {part}\n\n" + " ".join(random.choices(WORDS, k=40)) for part in range(4)
        )
        front = f"specialty: s{number % 3}\nconditions: [c{number}]\npublished: 2024-0{number % 9 + 1}-03"
        text = f"---\n{front}\n---\n# Guideline {number}\n\n{parts}\n\n## References\n\n1. word1.\n"
        uploads.append(Upload(name=f"g{number}.md", data=text.encode()))
    ingest(store, uploads, tenant="clinic", clock=clock, embedder=EMBEDDER)
    embed_pending(store, EMBEDDER)
    return store


def snapshots(folder: Path | None, model: str | None = EMBEDDER.id) -> Snapshots:
    return Snapshots(model=model, dim=EMBEDDER.dim, folder=folder)


def loaded(store: Store, held: Snapshots) -> Segment:
    found = store.read_now(lambda c: held.at(c, "clinic"))
    (segment,) = found.segments
    return segment


def file_of(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


@pytest.fixture
def folder(tmp_path: Path, library) -> Path:
    """With the file of the library in it."""
    made = tmp_path / "kept"
    held = snapshots(made)
    loaded(library, held)
    assert held.keep("clinic")
    return made


@pytest.fixture
def rows_read(monkeypatch) -> list[str]:
    """Which tenants were read from rows."""
    read: list[str] = []

    def watched(connection, tenant, **how):
        read.append(tenant)
        return load_knowledge(connection, tenant, **how)

    monkeypatch.setattr(snapshot, "load_knowledge", watched)
    return read


def everything(segment: Segment) -> dict[str, object]:
    """All that a segment tells, by its public parts."""
    return {
        "ids": segment.ids,
        "documents": segment.documents,
        "labels": segment.labels,
        "dim": segment.dim,
        "whole": segment.whole,
        **{
            name: (own.dtype.str, own.shape, own.tobytes())
            for name, own in vars(segment).items()
            if isinstance(own, np.ndarray)
        },
        "terms": segment.terms,
        "frequencies": segment.frequencies.tolist(),
    }


def test_what_the_file_gives_equals_what_the_rows_give(library, folder, rows_read) -> None:
    from_file = loaded(library, snapshots(folder))
    assert rows_read == []
    from_rows = loaded(library, snapshots(None))
    assert rows_read == ["clinic"]
    assert everything(from_file) == everything(from_rows)


def test_a_search_answers_alike_from_file_and_from_rows(
    library, folder, clock, doctor, rows_read
) -> None:
    for text in ("word1 word7 word30", "word3 word9?", "guideline 4 word8"):
        own = SearchNeed(name="q", query=text, corpus="knowledge", filters=Filters(specialty="s1"))
        rooms = [
            Knowledge(library, embedder=EMBEDDER, clock=clock, folder=place)
            for place in (folder, None)
        ]
        one, other = (room.search_now(doctor, own) for room in rooms)
        assert one.hits
        assert one == other
    assert rows_read.count("clinic") == 3  # the room without a folder, each time


def test_a_room_that_was_warmed_spares_the_next_one_the_rows(
    library, tmp_path, clock, rows_read
) -> None:
    for _ in range(2):
        Knowledge(library, embedder=EMBEDDER, clock=clock, folder=tmp_path / "own").warm("clinic")
    assert rows_read.count("clinic") == 1


def _changed(store: Store, clock) -> None:
    upload = Upload(name="new.md", data=b"# New\n\nword1 and more.\n")
    ingest(store, [upload], tenant="clinic", clock=clock)  # words alone yet


def _removed(store: Store, clock) -> None:
    name = loaded(store, snapshots(None)).documents[0].id
    store.write_now(lambda c: remove(c, "clinic", name))


def _without_log(store: Store, clock) -> None:
    """As a database put back from a copy: the same number of the log, other sources."""
    from bedside.storage.tables.source import source

    store.write_now(lambda c: c.execute(update(source).values(title="Renamed")))


@pytest.mark.parametrize("change", [_changed, _removed, _without_log])
def test_a_file_of_another_state_of_the_rows_is_not_used_and_does_not_stay(
    library, folder, clock, rows_read, change: Callable
) -> None:
    change(library, clock)
    rows_read.clear()
    found = loaded(library, snapshots(folder))
    assert rows_read == ["clinic"]
    assert everything(found) == everything(loaded(library, snapshots(None)))
    assert list(folder.iterdir()) == []


def test_a_change_under_a_running_process_removes_the_file(library, folder, clock) -> None:
    held = snapshots(folder)
    loaded(library, held)
    assert list(folder.iterdir())
    _removed(library, clock)
    library.read_now(lambda c: held.at(c, "clinic"))
    assert list(folder.iterdir()) == []


def test_another_model_has_its_own_file(library, folder, rows_read) -> None:
    loaded(library, snapshots(folder, model=None))
    assert rows_read == ["clinic"]
    loaded(library, snapshots(folder))
    assert rows_read == ["clinic"]


@pytest.mark.parametrize("at", [3, 30, 60, 200, -200, -1])
def test_a_file_with_one_bit_turned_is_no_file(library, folder, rows_read, at: int) -> None:
    path = file_of(folder)
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    loaded(library, snapshots(folder))
    assert rows_read == ["clinic"]


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.999])
def test_a_torn_file_is_no_file(library, folder, rows_read, share: float) -> None:
    path = file_of(folder)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    loaded(library, snapshots(folder))
    assert rows_read == ["clinic"]


def test_the_file_is_its_owners_alone_and_nothing_half_written_lies_beside_it(folder) -> None:
    assert stat.S_IMODE(file_of(folder).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_where_nothing_can_be_written_a_search_goes_on(library, tmp_path, clock, doctor) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("in the way")
    room = Knowledge(library, embedder=EMBEDDER, clock=clock, folder=blocked)
    room.warm("clinic")
    own = SearchNeed(name="q", query="word1 word2", corpus="knowledge")
    assert room.search_now(doctor, own).hits


def test_a_small_library_is_not_kept(library, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(snapshot, "LEAST_KEPT", 10_000)
    held = snapshots(tmp_path / "kept")
    loaded(library, held)
    assert not held.keep("clinic")
    assert not (tmp_path / "kept").exists()


def test_no_word_of_a_patients_document_is_in_the_file(
    library, tmp_path, clock, doctor, of_ann
) -> None:
    own = Upload(name="letter.md", data=b"# Letter\n\nZyzzyva saw the xylograph.\n")
    ingest(library, [own], tenant="clinic", patient="ann", clock=clock, embedder=EMBEDDER)
    room = Knowledge(library, embedder=EMBEDDER, clock=clock, folder=tmp_path / "kept")
    asked = SearchNeed(name="q", query="zyzzyva xylograph", corpus="documents")
    assert room.search_now(of_ann, asked).hits
    room.warm("clinic")
    data = file_of(tmp_path / "kept").read_bytes().lower()
    assert b"word1" in data
    assert not any(word in data for word in (b"zyzzyva", b"xylograph", b"letter", b'ann"'))


def test_vectors_that_came_later_are_in_the_next_file(library, folder, clock, rows_read) -> None:
    """A document in work has words alone; when its vectors come the log moves on."""
    _changed(library, clock)
    held = snapshots(folder)
    before = len(loaded(library, held).vectors)
    held.keep("clinic")
    embed_pending(library, EMBEDDER)
    count = library.read_now(lambda c: len(c.execute(chunk_vector.select()).all()))
    assert len(loaded(library, snapshots(folder)).vectors) == count > before


OTHER_PROCESS = """
import sys
from pathlib import Path
from bedside.wiring.clock import SystemClock
from bedside.knowledge.index import snapshot
from bedside.knowledge.search import Knowledge
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.store import Store
from bedside.testing.embedder import HashedEmbedder

snapshot.LEAST_KEPT = 1
home, folder = map(Path, sys.argv[1:])
store = Store(open_engine(sqlite_url(home)))
room = Knowledge(store, embedder=HashedEmbedder(), clock=SystemClock(), folder=folder)
print(room.warm("clinic"), flush=True)
sys.stdin.readline()
print(room.warm("clinic"), flush=True)
store.close()
"""


@contextmanager
def other_process(home: Path, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has loaded the library and kept its file, and loads it anew at a line."""
    asked = [sys.executable, "-c", OTHER_PROCESS, str(home), str(folder)]
    with subprocess.Popen(
        asked, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.stdin.close()


def names_in(folder: Path) -> set[str]:
    """Every stem that some file of the folder holds."""
    found = b"".join(path.read_bytes() for path in folder.iterdir())
    return {word for word in ("unicornfish", "word1") if word.encode() in found}


def test_a_removed_guideline_leaves_no_stem_in_a_file_that_another_process_wrote(
    library, tmp_path, clock
) -> None:
    text = "# Rare\n\nUnicornfish spines, and word1."
    upload = Upload(name="rare.md", data=text.encode())
    ingest(library, [upload], tenant="clinic", clock=clock, embedder=EMBEDDER)
    folder = tmp_path / "kept"
    with other_process(tmp_path, folder) as other:
        before = int(other.stdout.readline())
        assert names_in(folder) == {"unicornfish", "word1"}
        room = Knowledge(library, embedder=EMBEDDER, clock=clock, folder=folder)
        assert room.remove_now("clinic", "rare") == 1
        assert list(folder.iterdir()) == []
        other.stdin.write("\n")
        other.stdin.flush()
        assert other.stdout.readline()  # it has followed the change, and written nothing old
    assert names_in(folder) <= {"word1"}
    assert room.warm("clinic") == before - 1
    assert room.remove_now("clinic", "rare") == 0


def test_a_file_put_in_place_after_a_removal_does_not_stay(library, tmp_path, clock) -> None:
    folder = tmp_path / "kept"
    slow, room = (
        snapshots(folder),
        Knowledge(library, embedder=EMBEDDER, clock=clock, folder=folder),
    )
    loaded(library, slow)
    assert room.remove_now("clinic", "g3") == 1
    assert slow.keep("clinic")
    assert len(list(folder.iterdir())) == 1
    library.read_now(lambda c: slow.settle(c, "clinic"))
    assert list(folder.iterdir()) == []


def test_a_removal_reaches_files_of_every_model_and_of_no_other_tenant(folder) -> None:
    for tenant, model in (("clinic", "another"), ("elsewhere", EMBEDDER.id)):
        path_of(folder, tenant=tenant, model=model).write_bytes(b"kept")
    (folder / f"{'a' * 24}.segment").write_bytes(b"named as before")
    (folder / "half.writing").write_bytes(b"half")
    snapshots(folder).discard("clinic")
    assert list(folder.iterdir()) == [path_of(folder, tenant="elsewhere", model=EMBEDDER.id)]


def test_a_patients_document_is_not_removed_as_knowledge(library, clock) -> None:
    upload = Upload(name="letter.md", data=b"# Letter\n\nword1 word2.")
    ingest(library, [upload], tenant="clinic", clock=clock, patient="p1")
    room = Knowledge(library, embedder=EMBEDDER, clock=clock)
    assert room.remove_now("clinic", "letter") == 0
    rows = library.read_now(
        lambda c: c.execute(select(source.c.id).where(source.c.patient == "p1")).all()
    )
    assert len(rows) == 1
