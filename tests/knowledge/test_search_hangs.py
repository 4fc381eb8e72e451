"""A search that hangs: bulk text in its place at the deadline, named in `degraded`."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from datetime import date

import pytest

from bedside.core.errors import OutsideError
from bedside.core.turn import Got
from bedside.flows.sources import Sources
from bedside.knowledge.document import Upload
from bedside.knowledge.ingest import ingest
from bedside.knowledge.needs import Filters, SearchNeed
from bedside.knowledge.search import Knowledge
from bedside.wiring.clock import SystemClock

GUIDELINES = {
    "gout.md": "---\nconditions: [gout]\ndrugs: [colchicine]\npublished: 2022-01-01\n---\n"
    "# Gout\n\nColchicine relieves the attack.\n",
    "asthma.md": "---\nconditions: [asthma]\ndrugs: [salbutamol]\npublished: 2024-01-01\n---\n"
    "# Asthma\n\nGive salbutamol by inhaler.\n",
    "gout-old.md": "---\nid: gout-old\nconditions: [gout]\npublished: 2001-01-01\n---\n"
    "# Gout, 2001\n\nAn older text.\n",
    "gout-new.md": "---\nsupersedes: gout-old\nconditions: [gout flare]\n---\n"
    "# Flares\n\nRest the joint.\n",
}


class Hung(Knowledge):
    """A search that waits for a gate."""

    gate: threading.Event

    def _searched(self, grant, need, embedder):
        self.gate.wait(timeout=30)
        return super()._searched(grant, need, embedder)


@pytest.fixture
def room(store, clock) -> Iterator[Hung]:
    for name, body in GUIDELINES.items():
        ingest(store, [Upload(name=name, data=body.encode())], tenant="clinic", clock=clock)
    letter = Upload(name="a.txt", data=b"Asthma letter about salbutamol.")
    ingest(store, [letter], tenant="clinic", patient="ann", clock=clock)
    made = Hung(store, embedder=None, clock=SystemClock())
    made.gate = threading.Event()
    yield made
    made.gate.set()


def need(query: str, corpus: str, **more: object) -> SearchNeed:
    return SearchNeed(name="test", query=query, corpus=corpus, **more)


def through_a_turn(room: Knowledge, asked: SearchNeed, grant):
    """Gathered as a turn gathers it: the flows' deadline around the room's own."""

    async def search(wanted, own):
        return await room.search(own, wanted)

    async def bulk(wanted, own):
        return await asyncio.to_thread(room.bulk_now, own, wanted)

    sources = Sources(
        readers={SearchNeed: search},
        fallbacks={SearchNeed: ("bulk text", bulk)},
        clock=SystemClock(),
    )

    async def go():
        begun = time.monotonic()
        got = (await sources.gather([asked], grant))[asked]
        return got, time.monotonic() - begun

    return asyncio.run(go())


@pytest.mark.requirement("RELIABILITY-9")
@pytest.mark.timing
@pytest.mark.parametrize("corpus", ["documents", "knowledge"])
def test_a_turn_whose_search_hangs_has_bulk_text_at_its_deadline(room, of_ann, corpus) -> None:
    got, took = through_a_turn(room, need("salbutamol", corpus, deadline_ms=2_500), of_ann)
    assert 2.4 <= took <= 2.6
    assert isinstance(got, Got)
    assert [hit.via for hit in got.value.hits] == ["bulk"]
    assert "salbutamol" in got.value.hits[0].text
    assert got.value.degraded == ("search timed out",)


@pytest.mark.requirement("RELIABILITY-9")
def test_guidelines_in_bulk_are_those_that_the_query_names(room, of_ann) -> None:
    found = room.search_now(of_ann, need("dose of colchicine", "knowledge", deadline_ms=50))
    named = [str(hit.span.source.id) for hit in found.hits]
    assert named[0] == "gout"
    assert "asthma" not in named
    assert found.why_empty == ""


@pytest.mark.requirement("RELIABILITY-9")
def test_superseded_and_filtered_guidelines_stay_out_of_bulk_text(room, of_ann) -> None:
    both = room.search_now(of_ann, need("gout", "knowledge", deadline_ms=50))
    assert [str(hit.span.source.id) for hit in both.hits] == ["gout", "gout-new"]
    late = need("gout", "knowledge", deadline_ms=50, filters=Filters(since=date(2023, 1, 1)))
    assert room.search_now(of_ann, late).hits == ()


@pytest.mark.requirement("RELIABILITY-9")
def test_no_guideline_named_is_a_loss_and_not_an_empty_answer(room, of_ann) -> None:
    found = room.search_now(of_ann, need("psoriasis", "knowledge", deadline_ms=50))
    assert (found.hits, found.why_empty) == ((), "search timed out")
    assert found.degraded == ("search timed out",)


@pytest.mark.requirement("RELIABILITY-9")
def test_a_room_that_never_answers_is_left_for_bulk_text(room, of_ann) -> None:
    class Silent(Hung):
        async def search(self, grant, need):
            await asyncio.get_running_loop().create_future()

    room.__class__ = Silent
    got, _ = through_a_turn(room, need("salbutamol", "knowledge", deadline_ms=50), of_ann)
    assert got.via == "bulk text (timeout)"
    assert [str(hit.span.source.id) for hit in got.value.hits] == ["asthma"]
    assert got.value.degraded == ("search did not answer",)


@pytest.mark.requirement("RELIABILITY-9")
def test_bulk_text_of_a_guideline_is_the_stored_text_cut_at_a_sentence(
    store, clock, of_ann
) -> None:
    body = "# Gout\n\n" + "The joint is hot and red. " * 400
    ingest(store, [Upload(name="gout.md", data=body.encode())], tenant="clinic", clock=clock)
    hit = (
        Knowledge(store, embedder=None, clock=clock)
        .bulk_now(of_ann, need("gout", "knowledge"))
        .hits[0]
    )
    assert (hit.span.start, hit.text) == (0, body[: hit.span.end])
    assert 3_900 < len(hit.text) <= 4_000
    assert hit.text.rstrip().endswith("red.")


@pytest.mark.requirement("RELIABILITY-9")
def test_what_a_process_must_load_first_does_not_use_up_the_deadline(room, of_ann) -> None:
    """A model and 10,000 chunks take longer to read into memory than a search may take."""
    loaded = threading.Event()
    asked = need("salbutamol", "knowledge", deadline_ms=50)

    async def load(wanted, own):
        assert (wanted, own) == (asked, of_ann)
        await asyncio.to_thread(room.gate.wait, 0.3)  # six deadlines long
        room.gate.set()
        loaded.set()

    async def search(wanted, own):
        assert loaded.is_set()
        return await room.search(own, wanted)

    sources = Sources(
        readers={SearchNeed: search},
        fallbacks={},
        clock=SystemClock(),
        loads={SearchNeed: load},
    )
    got = asyncio.run(sources.gather([asked], of_ann))[asked]
    assert isinstance(got, Got)
    assert got.value.degraded != ("search timed out",)


@pytest.mark.requirement("RELIABILITY-9")
def test_a_room_that_cannot_load_is_still_asked(room, of_ann) -> None:
    room.gate.set()

    async def load(wanted, own):
        del wanted, own
        raise OutsideError("the model: its file is gone")

    async def search(wanted, own):
        return await room.search(own, wanted)

    asked = need("salbutamol", "knowledge")
    sources = Sources(
        readers={SearchNeed: search},
        fallbacks={},
        clock=SystemClock(),
        loads={SearchNeed: load},
    )
    got = asyncio.run(sources.gather([asked], of_ann))[asked]
    assert isinstance(got, Got)
    assert [str(hit.span.source.id) for hit in got.value.hits] == ["asthma"]
