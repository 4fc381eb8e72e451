"""A slip of the pen in a query is mended by the library's own words, and nothing else is touched."""

from __future__ import annotations

from functools import partial
from itertools import product

import pytest

from bedside.knowledge.document import Upload
from bedside.knowledge.ingest import ingest
from bedside.knowledge.needs import SearchNeed
from bedside.knowledge.respell import as_written, respelt, slips, unknown
from bedside.knowledge.search import Knowledge
from bedside.knowledge.writing import remove
from bedside.language.slips import edits, one_slip
from bedside.storage.store import Store
from bedside.testing.embedder import HashedEmbedder

EMBEDDER = HashedEmbedder()
PAGES = {
    "chest": "# Chest\n\nPneumonia in children: count the breaths, give amoxicillin.",
    "bones": "# Bones\n\nFractures in children: splint the limb and look for other injuries.",
    "salts": "# Salts\n\nHypercalcaemia wants fluids. Prednisolone lowers it.",
}


@pytest.fixture
def room(store: Store, clock) -> Knowledge:
    uploads = [Upload(name=f"{name}.md", data=text.encode()) for name, text in PAGES.items()]
    ingest(store, uploads, tenant="clinic", clock=clock, embedder=EMBEDDER)
    return Knowledge(store, embedder=EMBEDDER, clock=clock)


def first(room: Knowledge, doctor, query: str) -> str:
    """The document of the best hit by words and vectors; empty where there is none."""
    hits = room.search_now(doctor, SearchNeed(name="q", query=query, corpus="knowledge")).hits
    return str(hits[0].span.source.id) if hits else ""


@pytest.mark.parametrize(
    "typed", ["pnuemonia", "pneumona", "pneumoniia", "pnemonia", "Pneumonja", "PNUEMONIA"]
)
def test_one_slip_finds_what_was_meant_at_the_first_search_and_the_next(room, doctor, typed):
    assert [first(room, doctor, typed) for _ in range(2)] == ["chest", "chest"]


@pytest.mark.parametrize("typed", ["hypocalcaemia", "prednisone", "zzzzzzzz", "kneumonia"])
def test_a_word_of_its_own_is_not_read_as_another(room, doctor, typed):
    first(room, doctor, "children")
    assert slips(typed, room.snapshots.held("clinic"), lambda _, name: (name,)) == ()


@pytest.mark.parametrize("typed", ["retention", "feeding"])
def test_a_word_is_not_read_as_one_that_is_like_it_without_its_ending(
    room, store, clock, doctor, typed
):
    """Their stems are one letter from "recent" and "feet"."""
    said = Upload(name="said.md", data=b"# Said\n\nA recent test of both feet.")
    ingest(store, [said], tenant="clinic", clock=clock, embedder=EMBEDDER)
    assert first(room, doctor, typed) != "said"


@pytest.mark.parametrize("typed", ["fracturs", "fractrue", "fractrues"])
def test_a_plurals_end_is_no_slip(room, doctor, typed):
    assert first(room, doctor, typed) == "bones"


def test_a_word_is_found_by_any_of_its_forms(room, store, clock, doctor):
    page = b"# Crisis\n\nA hypertensive crisis.\n\n# Clinic\n\nTwo readings make hypertension."
    ingest(store, [Upload(name="a.md", data=page)], tenant="clinic", clock=clock, embedder=EMBEDDER)
    first(room, doctor, "children")
    held = room.snapshots.held("clinic")
    meant = store.read_now(lambda c: slips("Hypertention", held, partial(as_written, c)))
    assert meant == (("hypertention", "hypertension"),)
    assert respelt("Hypertention now", meant) == "hypertension now"


def test_a_search_says_what_it_read_and_which_words_no_passage_holds(room, doctor):
    asked = "pnuemonia in wombats: amoxil"
    found = room.search_now(doctor, SearchNeed(name="q", query=asked, corpus="knowledge"))
    assert found.hits[0].span.source.id == "chest"
    assert found.read_as == (("pnuemonia", "pneumonia"),)
    assert found.in_no_passage == ("wombats",)  # a brand of amoxicillin is held by its other name
    plain = room.search_now(doctor, SearchNeed(name="q", query="pneumonia", corpus="knowledge"))
    assert (plain.read_as, plain.in_no_passage) == ((), ())


def test_words_that_are_here_and_medicines_and_known_terms_are_no_slips(room, doctor):
    first(room, doctor, "children")
    held = room.snapshots.held("clinic")
    assert unknown("Fractures in childen, warfarin, hypertension, gout", held) == ("childen",)


def test_a_word_that_went_with_its_document_is_no_target(room, store, doctor):
    assert first(room, doctor, "fracturs") == "bones"
    store.write_now(lambda c: remove(c, "clinic", "bones"))
    assert first(room, doctor, "fracturs") == ""


def test_a_word_that_came_since_the_last_search_is_no_slip(room, store, clock, doctor):
    assert first(room, doctor, "pneumonia") == "chest"
    more = Upload(name="rare.md", data=b"# Rare\n\nPneumonja is the name of a village.")
    ingest(store, [more], tenant="clinic", clock=clock, embedder=EMBEDDER)
    assert first(room, doctor, "pneumonja") == "rare"


def test_one_slip_is_one_edit_at_most():
    texts = ["".join(letters) for size in range(5) for letters in product("abc", repeat=size)]
    for one in texts[::3]:
        for other in texts:
            assert one_slip(one, other) == (edits(one, other) <= 1), (one, other)


def test_a_names_misspelling_is_read_as_no_other_word(room, store, clock, doctor):
    def add(name: str, body: str) -> None:
        uploads = [Upload(name=name, data=body.encode())]
        ingest(store, uploads, tenant="clinic", clock=clock, embedder=EMBEDDER)

    add("work.md", "# Work\n\nA migrant worker. Stones migrate.")
    assert first(room, doctor, "migrane") != "work"
    add("head.md", "# Head\n\nTriptans relieve migraine.")
    assert first(room, doctor, "migranes") == "head"
