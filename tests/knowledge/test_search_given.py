"""What a search hands out: documents in bulk where nothing is found, the newest one, and the caps."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from bedside.knowledge.document import Upload
from bedside.knowledge.ingest import ingest
from bedside.knowledge.needs import SearchNeed
from bedside.knowledge.search import Knowledge
from bedside.storage.tables.source import chunk
from bedside.testing.embedder import HashedEmbedder


def text(name: str, body: str) -> Upload:
    return Upload(name=name, data=body.encode())


def need(query: str, corpus: str = "knowledge", **more: object) -> SearchNeed:
    return SearchNeed(name="test", query=query, corpus=corpus, **more)


@pytest.mark.requirement("EN-K6")
def test_nothing_found_gives_the_documents_in_bulk(store, clock, of_ann) -> None:
    body = "Discharge. " + "The patient slept well. " * 900
    ingest(
        store,
        [text("a.txt", body)],
        tenant="clinic",
        patient="ann",
        clock=clock,
        embedder=HashedEmbedder(),
    )
    found = Knowledge(store, embedder=HashedEmbedder(), clock=clock).search_now(
        of_ann, need("zebra xylophone", "documents")
    )
    (hit,) = found.hits
    assert hit.via == "bulk"
    assert 11_000 < len(hit.text) <= 12_000
    assert hit.text == body[hit.span.start : hit.span.end]
    assert hit.text.endswith(".")


def test_a_selected_document_that_search_missed_comes_in_bulk(store, clock, of_ann) -> None:
    files = [text("a.txt", "Asthma letter about salbutamol."), text("b.txt", "Dental plan only.")]
    report = ingest(
        store, files, tenant="clinic", patient="ann", clock=clock, embedder=HashedEmbedder()
    )
    room = Knowledge(store, embedder=HashedEmbedder(), clock=clock)
    found = room.search_now(
        of_ann, need("salbutamol asthma", "documents", selected=(report.ids[1],))
    )
    assert [(str(h.span.source.id), h.via) for h in found.hits] == [
        (report.ids[0], "search"),
        (report.ids[1], "bulk"),
    ]


def test_a_fresh_document_is_represented_by_its_most_relevant_passages(
    store, clock, of_ann
) -> None:
    noise = [text(f"n{n}.txt", f"Potassium potassium potassium result {n}.") for n in range(12)]
    fresh = text(
        "new.txt", "SOCIAL HISTORY:\nLives alone.\n\nLABS:\nThe potassium was 5.9 mmol/L.\n"
    )
    report = ingest(
        store,
        [*noise, fresh],
        tenant="clinic",
        patient="ann",
        clock=clock,
        embedder=HashedEmbedder(),
    )
    room = Knowledge(store, embedder=HashedEmbedder(), clock=clock)
    found = room.search_now(
        of_ann, need("potassium", "documents", fresh=(report.ids[-1],), limit=3)
    )
    assert any("5.9" in h.text for h in found.hits if str(h.span.source.id) == report.ids[-1])


@pytest.mark.requirement("EN-K6")
def test_caps_hold_and_a_guideline_passage_is_whole_or_absent(store, clock, doctor, of_ann) -> None:
    sentence = "Sepsis needs antibiotics within the hour. "
    ingest(
        store,
        [text(f"g{n}.md", f"# G{n}\n\n" + sentence * 60) for n in range(6)],
        tenant="clinic",
        clock=clock,
        embedder=HashedEmbedder(),
    )
    ingest(
        store,
        [text(f"d{n}.txt", sentence * 70) for n in range(6)],
        tenant="clinic",
        patient="ann",
        clock=clock,
        embedder=HashedEmbedder(),
    )
    room = Knowledge(store, embedder=HashedEmbedder(), clock=clock)
    guidelines = room.search_now(doctor, need("sepsis antibiotics", limit=10)).hits
    own = store.read_now(
        lambda c: {
            r.id: (r.start, r.end)
            for r in c.execute(select(chunk.c.id, chunk.c.start, chunk.c.end))
        }
    )
    assert sum(len(h.text) for h in guidelines) <= 8_000
    assert guidelines
    assert all(own[h.chunk_id] == (h.span.start, h.span.end) for h in guidelines)
    documents = room.search_now(of_ann, need("sepsis antibiotics", "documents", limit=10)).hits
    assert sum(len(h.text) for h in documents) <= 8_000
    assert max(len(h.text) for h in documents) <= 2_000
    assert all(h.text.endswith(".") for h in documents)
