"""Documents in: idempotent, in visible states, resumable, and never half there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import func, select

from bedside.core.errors import Unavailable
from bedside.knowledge.document import Labels, Upload
from bedside.knowledge.ingest import Progress, embed_pending, ingest
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.store import Store
from bedside.storage.tables import metadata
from bedside.storage.tables.knowledge import chunk_vector, chunk_words
from bedside.storage.tables.source import chunk, source
from bedside.testing.embedder import HashedEmbedder

ASTHMA = "# Asthma\n\n## Treatment\n\nGive salbutamol 100 micrograms by inhaler.\n\n## Review\n\nReview in four weeks.\n"
GOUT = "---\ntitle: Gout\nspecialty: rheumatology\nconditions: [gout]\ndrugs: colchicine, allopurinol\npublished: 2024-03-01\n---\n# Gout\n\nStart colchicine 500 micrograms twice a day.\n"


def text(name: str, body: str) -> Upload:
    return Upload(name=name, data=body.encode())


def counts(store: Store) -> dict[str, int]:
    def read(connection):
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar()
            for table in (source, chunk, chunk_words, chunk_vector)
        }

    return store.read_now(read)


def rows(store: Store):
    return store.read_now(
        lambda c: c.execute(select(source).order_by(source.c.id, source.c.revision)).all()
    )


def test_a_document_has_words_at_once_and_becomes_ready_with_its_vectors(store, clock) -> None:
    report = ingest(store, [text("asthma.md", ASTHMA)], tenant="clinic", clock=clock)
    assert (report.documents, report.chunks, report.skipped, report.ids) == (1, 2, 0, ("asthma",))
    assert [row.state for row in rows(store)] == ["words"]
    assert embed_pending(store, HashedEmbedder()) == 1
    assert [row.state for row in rows(store)] == ["ready"]
    assert counts(store) == {"source": 1, "chunk": 2, "chunk_words": 2, "chunk_vector": 2}


@pytest.mark.requirement("EN-K1")
def test_stored_chunks_slice_back_to_the_stored_text(store, clock) -> None:
    ingest(store, [text("asthma.md", ASTHMA)], tenant="clinic", clock=clock)
    (document,) = rows(store)
    pieces = store.read_now(lambda c: c.execute(select(chunk).order_by(chunk.c.ordinal)).all())
    assert document.text == ASTHMA
    assert [(p.prefix, document.text[p.start : p.end], p.total) for p in pieces] == [
        ("[Asthma > Treatment] ", "Give salbutamol 100 micrograms by inhaler.", 2),
        ("[Asthma > Review] ", "Review in four weeks.", 2),
    ]


@pytest.mark.requirement("EN-K3")
def test_front_matter_becomes_metadata_and_flags_go_before_it(store, clock) -> None:
    ingest(
        store,
        [text("gout.md", GOUT)],
        tenant="clinic",
        clock=clock,
        labels=Labels(specialty="primary care"),
    )
    (document,) = rows(store)
    assert document.title == "Gout"
    assert document.dated.isoformat() == "2024-03-01"
    assert '"specialty": "primary care"' in document.meta
    assert '"drugs": ["colchicine", "allopurinol"]' in document.meta


def test_ten_times_the_same_gives_the_same_ids_and_counts(store, clock) -> None:
    files = [text("asthma.md", ASTHMA), text("gout.md", GOUT)]
    first = ingest(store, files, tenant="clinic", clock=clock, embedder=HashedEmbedder())
    before = counts(store)
    for _ in range(9):
        again = ingest(store, files, tenant="clinic", clock=clock, embedder=HashedEmbedder())
        assert (again.documents, again.skipped, again.ids) == (0, 2, first.ids)
    assert counts(store) == before


def test_eight_at_once_give_the_same_ids_and_counts(store, clock) -> None:
    files = [text(f"doc {n}.md", f"# D{n}\n\nText number {n} about asthma.") for n in range(6)]
    found, barrier = [], threading.Barrier(8)

    def run() -> None:
        barrier.wait(timeout=20)
        found.append(ingest(store, files, tenant="clinic", clock=clock, embedder=HashedEmbedder()))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=50)
    assert len({report.ids for report in found}) == 1
    assert sum(report.documents for report in found) == 6
    assert counts(store) == {"source": 6, "chunk": 6, "chunk_words": 6, "chunk_vector": 6}


def test_a_changed_file_becomes_the_next_revision_and_the_old_text_stays_citable(
    store, clock
) -> None:
    ingest(
        store, [text("asthma.md", ASTHMA)], tenant="clinic", clock=clock, embedder=HashedEmbedder()
    )
    changed = ASTHMA.replace("100 micrograms", "200 micrograms")
    report = ingest(store, [text("asthma.md", changed)], tenant="clinic", clock=clock)
    assert report.ids == ("asthma",)
    assert [(r.revision, r.superseded, r.text) for r in rows(store)] == [
        (1, True, ASTHMA),
        (2, False, changed),
    ]
    left = store.read_now(lambda c: c.execute(select(chunk.c.revision).distinct()).scalars().all())
    assert left == [2]


def test_superseding_marks_the_older_edition_in_either_order(store, clock) -> None:
    old, new = (
        text("old.md", "# Old\n\nText one."),
        text("new.md", "---\nsupersedes: old\n---\n# New\n\nText two."),
    )
    ingest(store, [old, new], tenant="a", clock=clock)
    ingest(store, [new, old], tenant="b", clock=clock)
    assert {(r.tenant, r.id): r.superseded for r in rows(store)} == {
        ("a", "old"): True,
        ("a", "new"): False,
        ("b", "old"): True,
        ("b", "new"): False,
    }


def test_superseding_what_is_not_here_is_said_unless_it_comes_with_the_same_ingest(
    store, clock
) -> None:
    new = text("new.md", "---\nsupersedes: old\n---\n# New\n\nText two.")
    old = text("old.md", "# Old\n\nText one.")
    assert ingest(store, [new, old], tenant="a", clock=clock).warnings == ()
    (said,) = ingest(store, [new], tenant="b", clock=clock).warnings
    assert "'old' is not here" in said
    ingest(store, [old], tenant="b", clock=clock)
    assert [(r.id, r.superseded) for r in rows(store) if r.tenant == "b"] == [
        ("new", False), ("old", True),
    ]  # fmt: skip


def test_every_rejected_file_is_named_with_its_reason_and_the_others_come_in(
    store, clock, tmp_path
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "good.md").write_text(ASTHMA, encoding="utf-8")
    (tmp_path / "docs" / "latin.txt").write_bytes("Ménière".encode("latin-1"))
    (tmp_path / "docs" / "empty.md").write_bytes(b"")
    (tmp_path / "docs" / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    with (tmp_path / "docs" / "huge.md").open("wb") as file:
        file.truncate(200_000_001)
    report = ingest(store, [tmp_path / "docs"], tenant="clinic", clock=clock)
    assert report.ids == ("good",)
    assert [item.path for item in report.rejected] == [
        "broken.pdf",
        "empty.md",
        "huge.md",
        "latin.txt",
    ]
    reasons = {item.path: item.reason for item in report.rejected}
    assert "UTF-8" in reasons["latin.txt"]
    assert "200000001 bytes" in reasons["huge.md"]
    assert "not a readable PDF" in reasons["broken.pdf"]
    assert counts(store)["source"] == 1


def test_files_of_another_format_in_a_folder_are_named_and_hidden_ones_are_not(
    store, clock, tmp_path
) -> None:
    folder = tmp_path / "guidelines"
    (folder / ".git").mkdir(parents=True)
    for name in ("a.md", "b.doc", "slides.pptx", ".hidden", ".git/config.md"):
        (folder / name).write_text("# Gout\n\nGive colchicine.\n", encoding="utf-8")
    report = ingest(store, [folder], tenant="clinic", clock=clock)
    assert (report.documents, report.rejected) == (1, ())
    (said,) = report.warnings
    assert said == "of another format in guidelines, and not read: b.doc, slides.pptx"
    assert ingest(store, [folder / "a.md"], tenant="clinic", clock=clock).warnings == ()


def test_files_of_one_name_in_two_folders_are_two_documents(store, clock, tmp_path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "intro.md").write_text(
            f"# Intro\n\nOf folder {folder}.", encoding="utf-8"
        )
    whole = ingest(store, [tmp_path], tenant="one", clock=clock)
    apart = ingest(store, [tmp_path / "a", tmp_path / "b"], tenant="two", clock=clock)
    assert len(set(whole.ids)) == len(set(apart.ids)) == 2


def test_a_patients_file_name_never_stands_in_the_id(store, clock) -> None:
    report = ingest(
        store,
        [text("Ann_Smith_labs.txt", "Potassium 5.9")],
        tenant="clinic",
        patient="ann",
        clock=clock,
    )
    assert "smith" not in report.ids[0].lower()
    assert rows(store)[0].kind == "document"


def test_a_file_that_changes_while_it_is_embedded_is_not_shown_with_old_vectors(
    store, clock
) -> None:
    ingest(store, [text("asthma.md", ASTHMA)], tenant="clinic", clock=clock)
    changed = ASTHMA.replace("four", "six")

    class Slow(HashedEmbedder):
        def embed(self, texts, *, kind):
            if self.calls == 0:
                ingest(store, [text("asthma.md", changed)], tenant="clinic", clock=clock)
            return super().embed(texts, kind=kind)

    embed_pending(store, Slow())
    assert embed_pending(store, HashedEmbedder()) in {0, 1}
    assert [(r.revision, r.state) for r in rows(store)] == [(1, "ready"), (2, "ready")]
    assert counts(store)["chunk_vector"] == 2


def test_stopping_keeps_what_was_embedded_and_shows_nothing_yet(store, clock) -> None:
    long = "# Long\n\n" + "\n\n".join(f"## S{n}\n\nParagraph {n} about asthma." for n in range(80))
    ingest(store, [text("long.md", long)], tenant="clinic", clock=clock)
    seen: list[Progress] = []
    embed_pending(store, HashedEmbedder(), progress=seen.append, stop=lambda: len(seen) >= 1)
    assert [(p.stage, p.done, p.total) for p in seen] == [("vectors", 32, 80)]
    assert [r.state for r in rows(store)] == ["words"]
    embedder = HashedEmbedder()
    assert embed_pending(store, embedder) == 1
    assert embedder.calls == 2  # 48 of 80 were left
    assert [r.state for r in rows(store)] == ["ready"]


@pytest.mark.requirement("BR-04")
def test_an_embedder_of_another_size_is_refused_and_nothing_is_written(store, clock) -> None:
    ingest(store, [text("asthma.md", ASTHMA)], tenant="clinic", clock=clock)

    class Lying(HashedEmbedder):
        @property
        def dim(self) -> int:
            return 65

    with pytest.raises(Unavailable, match="shape"):
        embed_pending(store, Lying())
    assert counts(store)["chunk_vector"] == 0


_KILLED = textwrap.dedent(
    """
    import os, signal, sys, time
    from datetime import UTC, datetime
    from pathlib import Path
    from bedside.knowledge.ingest import ingest
    from bedside.storage.engine import open_engine, sqlite_url
    from bedside.storage.store import Store
    from bedside.testing.embedder import HashedEmbedder

    class Clock:
        def now(self): return datetime(2025, 5, 1, tzinfo=UTC)
        def monotonic(self): return 0.0

    home, files, steps = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    left = [steps]
    def tell(event):
        if event.stage in ("words", "ready"):
            print(event.stage, event.name, flush=True)
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    if steps < 0:  # at a random moment, from outside the work
        import threading
        threading.Thread(target=lambda: (time.sleep(-steps / 1000), os.kill(os.getpid(), signal.SIGKILL)), daemon=True).start()
    ingest(Store(open_engine(sqlite_url(home))), [files], tenant="clinic", clock=Clock(), embedder=HashedEmbedder(), progress=tell)
    print("finished", flush=True)
    """
)


@pytest.mark.timing
@pytest.mark.timeout(180)
@pytest.mark.requirement("EN-K7")
def test_25_kills_lose_nothing_confirmed_and_leave_nothing_half_done(tmp_path: Path) -> None:
    home, files = tmp_path / "home", tmp_path / "files"
    home.mkdir()
    files.mkdir()
    first = Store(open_engine(sqlite_url(home)))
    first.write_now(metadata.create_all)
    first.close()
    random = Random(11)
    confirmed: set[str] = set()
    want: dict[str, str] = {}
    for round_number in range(25):
        for _ in range(2):
            name = f"doc-{len(want):03d}"
            body = f"# {name}\n\n" + "\n\n".join(
                f"## S{n}\n\nAbout {name} and drug {n}." for n in range(random.randint(1, 40))
            )
            (files / f"{name}.md").write_text(body, encoding="utf-8")
            want[name] = body
        steps = random.randint(1, 9) if round_number % 2 else -random.randint(300, 900)
        done = subprocess.run(
            [sys.executable, "-c", _KILLED, str(home), str(files), str(steps)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, "PYTHONWARNINGS": ""},
        )
        assert done.returncode in {0, -signal.SIGKILL}, done.stderr[-500:]
        for line in done.stdout.splitlines():
            stage, _, name = line.partition(" ")
            if stage == "words":
                confirmed.add(name.removesuffix(".md"))
        store = Store(open_engine(sqlite_url(home)))
        _check_whole(store, want, confirmed)
        store.close()
    store = Store(open_engine(sqlite_url(home)))

    class Clock:
        def now(self):
            from datetime import UTC, datetime

            return datetime(2025, 5, 1, tzinfo=UTC)

        def monotonic(self) -> float:
            return 0.0

    ingest(store, [files], tenant="clinic", clock=Clock(), embedder=HashedEmbedder())
    assert {r.id for r in rows(store)} == set(want)
    assert {r.state for r in rows(store)} == {"ready"}
    _check_whole(store, want, set(want))
    store.close()


def _check_whole(store: Store, want: dict[str, str], confirmed: set[str]) -> None:
    """Every stored document is whole, every confirmed one is there, and none is a phantom."""
    found = {r.id: r for r in rows(store)}
    assert confirmed <= set(found) <= set(want)
    per = store.read_now(
        lambda c: c.execute(
            select(chunk.c.source, func.count(), func.max(chunk.c.total)).group_by(chunk.c.source)
        ).all()
    )
    words = store.read_now(
        lambda c: c.execute(select(func.count()).select_from(chunk_words)).scalar()
    )
    vectors = dict(
        store.read_now(
            lambda c: c.execute(
                select(chunk.c.source, func.count(chunk_vector.c.window))
                .select_from(chunk.outerjoin(chunk_vector, (chunk_vector.c.chunk == chunk.c.id)))
                .group_by(chunk.c.source)
            ).all()
        )
    )
    assert sum(n for _, n, _ in per) == words
    for name, count, total in per:
        assert count == total
        assert found[name].text == want[name]
        if found[name].state == "ready":
            assert vectors[name] == count
