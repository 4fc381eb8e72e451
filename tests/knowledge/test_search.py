"""Search: scopes, filters before ranking, thresholds, caps, fallbacks, and snapshots that follow rows."""

from __future__ import annotations

import threading
from datetime import date, datetime
from pathlib import Path
from random import Random

import numpy as np
import pytest
from sqlalchemy import delete, select

from bedside.core.access import Grant
from bedside.core.errors import AccessDenied, InvalidArgument, Unavailable
from bedside.core.ids import ActorId, PatientId, TenantId
from bedside.knowledge.concept import Concept
from bedside.knowledge.document import Labels, Upload
from bedside.knowledge.index.rows import load_knowledge
from bedside.knowledge.index.scoring import Statistics, lexical
from bedside.knowledge.index.segment import Segment
from bedside.knowledge.index.snapshot import Snapshots
from bedside.knowledge.ingest import embed_pending, ingest
from bedside.knowledge.needs import Filters, SearchNeed
from bedside.knowledge.question import prepare
from bedside.knowledge.search import SHARED_TENANT, Knowledge
from bedside.knowledge.writing import lacking, remove
from bedside.language.stems import stems
from bedside.storage.tables.source import chunk, source
from bedside.testing.embedder import HashedEmbedder


def text(name: str, body: str) -> Upload:
    return Upload(name=name, data=body.encode())


def need(query: str, corpus: str = "knowledge", **more: object) -> SearchNeed:
    return SearchNeed(name="test", query=query, corpus=corpus, **more)


LIBRARY = {
    "asthma.md": "---\nspecialty: pulmonology\nconditions: [asthma]\ndrugs: [salbutamol]\npublished: 2023-01-01\n---\n# Asthma\n\n## Treatment\n\nGive salbutamol by inhaler for acute wheeze.\n\n## Review\n\nReview inhaler technique after four weeks.\n",
    "gout.md": "---\nspecialty: rheumatology\nconditions: [gout]\ndrugs: [colchicine]\npublished: 2019-06-01\n---\n# Gout\n\nColchicine relieves the acute attack. Check uric acid.\n",
    "bp.md": "---\nspecialty: cardiology\nconditions: [hypertension]\ndrugs: [amlodipine]\npublished: 2024-02-01\n---\n# Blood pressure\n\nAmlodipine is a first choice in hypertension.\n",
}


@pytest.fixture
def library(store, clock):
    ingest(
        store,
        [text(n, b) for n, b in LIBRARY.items()],
        tenant="clinic",
        clock=clock,
        embedder=HashedEmbedder(),
    )
    return store


@pytest.fixture
def room(library, clock):
    return Knowledge(library, embedder=HashedEmbedder(), clock=clock)


def ids(hits) -> list[str]:
    return [str(hit.span.source.id) for hit in hits.hits]


def test_the_right_passage_comes_first_with_its_exact_text(room, doctor, library) -> None:
    found = room.search_now(doctor, need("salbutamol for acute wheeze"))
    best = found.hits[0]
    stored = library.read_now(
        lambda c: c.execute(select(source.c.text).where(source.c.id == "asthma")).scalar()
    )
    assert (
        best.text
        == stored[best.span.start : best.span.end]
        == "Give salbutamol by inhaler for acute wheeze."
    )
    assert (best.rank, best.prefix, best.span.source.section, best.via) == (
        1,
        "[Asthma > Treatment] ",
        "Asthma > Treatment",
        "search",
    )
    assert [hit.rank for hit in found.hits] == list(range(1, len(found.hits) + 1))


@pytest.mark.parametrize("retriever", ["lexical", "dense", "hybrid"])
def test_each_retriever_finds_alone(room, doctor, retriever) -> None:
    assert (
        ids(room.search_now(doctor, need("colchicine acute attack", retriever=retriever)))[0]
        == "gout"
    )


@pytest.mark.parametrize(
    ("query", "want"),
    [
        ("HTN first choice", "bp"),
        ("high blood pressure", "bp"),
        ("Norvasc", "bp"),
        ("Ventolin inhaler", "asthma"),
    ],
)
def test_abbreviations_lay_terms_and_brands_find_the_clinical_words(
    room, doctor, query, want
) -> None:
    assert ids(room.search_now(doctor, need(query, retriever="lexical")))[0] == want


@pytest.mark.requirement("BR-05")
@pytest.mark.requirement("BR-04")
@pytest.mark.parametrize(
    ("filters", "want"),
    [
        (Filters(specialty="Cardiology"), {"bp"}),
        (Filters(condition="HTN"), {"bp"}),
        (Filters(drug="colchicine"), {"gout"}),
        (Filters(since=date(2023, 1, 1)), {"asthma", "bp"}),
        (Filters(document="gout"), {"gout"}),
    ],
)
def test_filters_apply_before_ranking_and_say_what_they_removed(
    room, doctor, filters, want
) -> None:
    found = room.search_now(doctor, need("salbutamol colchicine amlodipine", filters=filters))
    assert set(ids(found)) == want
    ((_, removed),) = found.removed_by_filter
    assert removed == 4 - sum({"asthma": 2, "gout": 1, "bp": 1}[name] for name in want)


def test_what_a_sign_suggests_counts_only_where_a_passage_bears_it(
    room, doctor, library, clock
) -> None:
    """A word of what the curtain suggests ("retinal") is not what it suggests."""

    def add(name: str, body: str) -> None:
        uploads = [text(name, body)]
        ingest(library, uploads, tenant="clinic", clock=clock, embedder=HashedEmbedder())

    add("eyes.md", "# Retinal photographs\n\nRetinal photographs yearly.")
    asked = need("curtain over the vision")
    assert ids(room.search_now(doctor, asked)) == []
    add("loose.md", "# Urgent\n\nRetinal detachment: refer today.")
    assert ids(room.search_now(doctor, asked))[0] == "loose"


def test_the_vocabulary_is_loaded_before_the_deadline_begins(library, doctor, clock) -> None:
    loaded: list[int] = []

    class Watching:
        def now(self) -> datetime:
            return clock.now()

        def monotonic(self) -> float:
            loaded.append(prepare.cache_info().currsize)
            return clock.monotonic()

    room = Knowledge(library, embedder=HashedEmbedder(), clock=Watching())
    prepare.cache_clear()
    room.search_now(doctor, need("gout"))
    assert loaded[0] == 1


def test_filters_that_leave_nothing_say_so(room, doctor) -> None:
    found = room.search_now(doctor, need("gout", filters=Filters(specialty="dermatology")))
    assert (found.hits, found.why_empty) == ((), "the filters leave nothing to search")
    assert found.removed_by_filter == (("specialty", 4),)


def test_an_unrelated_query_finds_nothing_and_says_why(room, doctor) -> None:
    found = room.search_now(doctor, need("pizza restaurants near Rome"))
    assert found.hits == ()
    assert (
        found.why_empty == "none of its words is in any of 4 passages, and none is close in meaning"
    )


NO_WORD = "the query holds no word to search by, only signs or words too common"
UNKNOWN = "none of its words is in any of 4 passages"


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("?! ... --- ;;", NO_WORD),
        ("\N{GRINNING FACE}", NO_WORD),
        ("मधुमेह की दवा", UNKNOWN),
        ("جرعة الميتفورمين", UNKNOWN),
        ("糖尿病", UNKNOWN),
        (" ".join(f"xq{number}" for number in range(800)), UNKNOWN),
        (
            "inhaler restaurants of Rome and of Naples and of Palermo by the sea in winter",
            "nothing is close enough among 4 passages",
        ),
    ],
)
@pytest.mark.parametrize("retriever", ["hybrid", "lexical"])
def test_a_query_that_can_find_nothing_says_which_it_is(
    room, doctor, query, why, retriever
) -> None:
    found = room.search_now(doctor, need(query, retriever=retriever))
    assert found.hits == ()
    if why == UNKNOWN and retriever == "hybrid":
        why += ", and none is close in meaning"
    assert found.why_empty == why


def test_words_too_common_to_search_by_are_said_to_be(room, doctor) -> None:
    found = room.search_now(doctor, need("what is the", retriever="lexical"))
    assert (found.hits, found.why_empty) == ((), NO_WORD)


@pytest.mark.parametrize(
    "query",
    [
        "COLCHICINE ATTACK",
        "ｃｏｌｃｈｉｃｉｎｅ ａｔｔａｃｋ",
        "colchi\N{ZERO WIDTH SPACE}cine \N{RIGHT-TO-LEFT OVERRIDE}attack",
        "cólchicine áttack",
        "colchicine\n\n\nattack",
        "colchicine \x00\x07 attack",
        "痛風 colchicine attack",
        ("colchicine attack " * 300)[:5_000],
    ],
)
def test_however_it_is_written_a_query_finds_the_same_first(room, doctor, query) -> None:
    for retriever in ("hybrid", "lexical"):
        assert ids(room.search_now(doctor, need(query, retriever=retriever)))[0] == "gout"


def test_what_cannot_be_seen_is_not_embedded() -> None:
    from bedside.knowledge.question import read_question

    plain = read_question("metformin dose")
    for text in ("ｍｅｔｆｏｒｍｉｎ dose", "met\N{ZERO WIDTH SPACE}formin dose"):
        assert read_question(text).spoken == plain.spoken
        assert read_question(text).terms == plain.terms


def test_an_empty_library_says_so(store, clock, doctor) -> None:
    assert (
        Knowledge(store, embedder=None, clock=clock).search_now(doctor, need("gout")).why_empty
        == "no guidelines"
    )


def test_words_serve_before_vectors_and_what_is_not_ready_is_named(store, clock, doctor) -> None:
    ingest(store, [text(n, b) for n, b in LIBRARY.items()], tenant="clinic", clock=clock)
    room = Knowledge(store, embedder=HashedEmbedder(), clock=clock)
    found = room.search_now(doctor, need("colchicine attack"))
    assert ids(found)[0] == "gout"
    assert found.degraded == ("vectors not ready: 3 documents",)
    assert found.hits[0].similarity is None
    embed_pending(store, HashedEmbedder())
    found = room.search_now(doctor, need("colchicine attack"))
    assert found.degraded == ()
    assert found.hits[0].similarity is not None


def test_a_library_of_a_replaced_model_says_so_serves_by_words_and_is_embedded_anew(
    store, clock, doctor
) -> None:
    class Newer(HashedEmbedder):
        @property
        def id(self) -> str:
            return f"{super().id}:newer"

    files = [text(n, b) for n, b in LIBRARY.items()]
    ingest(store, files, tenant="clinic", clock=clock, embedder=HashedEmbedder())
    room = Knowledge(store, embedder=Newer(), clock=clock)
    assert store.read_now(lambda c: lacking(c, Newer().id)) == 3
    found = room.search_now(doctor, need("colchicine attack"))
    assert (ids(found)[0], found.degraded) == ("gout", ("vectors not ready: 3 documents",))
    assert embed_pending(store, Newer()) == 3
    assert room.search_now(doctor, need("colchicine attack")).degraded == ()
    assert store.read_now(lambda c: lacking(c, Newer().id)) == 0
    assert store.read_now(lambda c: lacking(c, HashedEmbedder().id)) == 0  # nobody took them away


@pytest.mark.requirement("EN-K3")
def test_a_superseded_edition_ranks_below_the_current_one_and_is_marked(
    store, clock, doctor
) -> None:
    old = text("old.md", "# Gout\n\nColchicine colchicine colchicine for the acute attack of gout.")
    new = text(
        "new.md", "---\nsupersedes: old\n---\n# Gout\n\nColchicine at a low dose, or naproxen."
    )
    ingest(store, [old, new], tenant="clinic", clock=clock, embedder=HashedEmbedder())
    found = Knowledge(store, embedder=HashedEmbedder(), clock=clock).search_now(
        doctor, need("colchicine for gout")
    )
    assert [(str(h.span.source.id), h.span.source.superseded) for h in found.hits] == [
        ("new", False),
        ("old", True),
    ]


@pytest.mark.requirement("EN-R6")
def test_another_tenants_knowledge_is_never_found_and_shared_knowledge_always(
    store, clock, doctor
) -> None:
    for tenant, word in (("clinic", "alpha"), ("other", "beta"), (SHARED_TENANT, "gamma")):
        ingest(
            store,
            [text(f"{word}.md", f"# Protocol\n\nThe {word} protocol for sepsis.")],
            tenant=tenant,
            clock=clock,
            embedder=HashedEmbedder(),
        )
    room = Knowledge(store, embedder=HashedEmbedder(), clock=clock)
    assert set(ids(room.search_now(doctor, need("protocol for sepsis", limit=10)))) == {
        "alpha",
        "gamma",
    }


@pytest.mark.requirement("EN-R6")
def test_a_patients_documents_are_found_in_that_patients_scope_alone(
    library, clock, doctor, of_ann
) -> None:
    for patient in ("ann", "bob"):
        ingest(
            library,
            [text("letter.txt", f"Letter of {patient}. The canary{patient} sings of asthma.")],
            tenant="clinic",
            patient=patient,
            clock=clock,
            embedder=HashedEmbedder(),
        )
    room = Knowledge(library, embedder=HashedEmbedder(), clock=clock)
    everything = [
        room.search_now(of_ann, need(q, corpus, limit=10, retriever=r))
        for q in ("canarybob", "canaryann sings", "letter asthma")
        for corpus in ("documents", "knowledge")
        for r in ("hybrid", "lexical", "dense")
    ]
    texts = " ".join(hit.text for found in everything for hit in found.hits)
    assert "canaryann" in texts
    assert "canarybob" not in texts
    with pytest.raises(AccessDenied):
        room.search_now(doctor, need("canarybob", "documents"))


def test_limits_outside_1_to_10_and_blank_queries_are_refused(room, doctor) -> None:
    for wrong in (need("x", limit=0), need("x", limit=11), need("   ")):
        with pytest.raises(InvalidArgument):
            room.search_now(doctor, wrong)


class Hanging(HashedEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    def embed(self, texts, *, kind):
        self.gate.wait(timeout=30)
        return super().embed(texts, kind=kind)


@pytest.mark.timing
def test_an_embedder_that_hangs_leaves_words_to_answer(library, clock, doctor) -> None:
    hanging = Hanging()
    found = Knowledge(library, embedder=hanging, clock=clock).search_now(
        doctor, need("colchicine attack", deadline_ms=600)
    )
    hanging.gate.set()
    assert ids(found)[0] == "gout"
    assert found.degraded == ("dense timed out",)


def test_an_embedder_that_fails_is_named(library, clock, doctor) -> None:
    class Broken(HashedEmbedder):
        def embed(self, texts, *, kind):
            raise Unavailable("embedder", why="no answer")

    found = Knowledge(library, embedder=Broken(), clock=clock).search_now(
        doctor, need("colchicine attack")
    )
    assert ids(found)[0] == "gout"
    assert found.degraded == ("dense failed: the embedder did not answer",)


def test_a_chunk_whose_row_has_gone_is_no_hit(room, doctor, library) -> None:
    assert "gout" in ids(room.search_now(doctor, need("colchicine attack")))
    library.write_now(
        lambda c: c.execute(delete(chunk).where(chunk.c.source == "gout"))
    )  # no log row
    assert "gout" not in ids(room.search_now(doctor, need("colchicine attack")))


def test_a_snapshot_that_followed_the_log_equals_one_made_from_rows(store, clock) -> None:
    random, embedder = Random(3), HashedEmbedder()
    held = Snapshots(model=embedder.id, dim=embedder.dim)
    vocabulary = [f"word{n}" for n in range(40)]
    for step in range(30):
        name = f"doc{random.randint(0, 9)}"
        if random.random() < 0.25:
            store.write_now(lambda c, name=name: remove(c, "clinic", name))
        else:
            body = (
                f"# {name}\n\n" + " ".join(random.choices(vocabulary, k=30)) + f"\n\n## B\n\n{step}"
            )
            ingest(
                store,
                [text(f"{name}.md", body)],
                tenant="clinic",
                clock=clock,
                embedder=embedder if random.random() < 0.7 else None,
            )
        followed = store.read_now(lambda c: held.at(c, "clinic"))
        rebuilt = store.read_now(lambda c: held.rebuilt(c, "clinic"))
        assert _content(followed.segments) == _content(rebuilt.segments)
        for term in random.sample(vocabulary, 5):
            assert _scores(followed.segments, term) == _scores(rebuilt.segments, term)


def _words(segment, chunk: int) -> str:
    numbers, counts = segment.stems_of(chunk)
    return repr(sorted(zip(segment.names_of(numbers), counts.tolist(), strict=True)))


def _content(segments) -> dict[str, tuple[str, float, str, bytes]]:
    return {
        s.ids[i]: (
            _words(s, int(i)),
            float(s.lengths[i]),
            repr(s.documents[s.owner[i]]),
            s.vectors_of(i).tobytes(),
        )
        for s in segments
        for i in np.flatnonzero(s.alive)
    }


def _scores(segments, word: str) -> dict[str, float]:
    found = lexical(
        segments, [Concept(written={stems(word)[0]: 1.0})], statistics=Statistics.of(segments)
    )
    return {
        s.ids[i]: float(score[i])
        for s, score in zip(segments, found.scores, strict=True)
        for i in np.flatnonzero(s.alive)
    }


def test_another_process_writes_and_the_next_search_sees_it(library, clock, doctor) -> None:
    room = Knowledge(library, embedder=HashedEmbedder(), clock=clock)
    assert ids(room.search_now(doctor, need("ferritin", retriever="lexical"))) == []
    ingest(
        library,
        [text("iron.md", "# Iron\n\nFerritin shows iron stores.")],
        tenant="clinic",
        clock=clock,
    )
    assert ids(room.search_now(doctor, need("ferritin", retriever="lexical"))) == ["iron"]
    library.write_now(lambda c: remove(c, "clinic", "iron"))
    assert ids(room.search_now(doctor, need("ferritin", retriever="lexical"))) == []


def test_scores_equal_a_plain_bm25(library) -> None:
    """An independent BM25, written from the formula over the raw chunks."""
    import math

    entries = library.read_now(lambda c: load_knowledge(c, "clinic", model=None))
    segment = Segment(entries, dim=1)
    bags = []
    for entry in entries:
        names, _, tail = entry.words.decode().partition("\n")
        bags.append(dict(zip(names.split(), map(int, tail.split(",")), strict=True)))
    mean = sum(e.length for e in entries) / len(entries)
    for word in ("salbutamol", "acute", "review"):
        stem = stems(word)[0]
        holding = sum(1 for bag in bags if stem in bag)
        idf = math.log(1 + (len(bags) - holding + 0.5) / (holding + 0.5))
        want = [
            idf
            * bag.get(stem, 0)
            * 2.2
            / (bag.get(stem, 0) + 1.2 * (0.25 + 0.75 * e.length / mean))
            for bag, e in zip(bags, entries, strict=True)
        ]
        got = lexical(
            [segment], [Concept(written={stem: 1.0})], statistics=Statistics.of([segment])
        )
        assert got.scores[0].tolist() == pytest.approx(want, rel=1e-5)


def test_grants_of_other_patients_share_no_state(store, clock) -> None:
    room = Knowledge(store, embedder=HashedEmbedder(), clock=clock)
    for patient in ("p1", "p2"):
        ingest(
            store,
            [text("note.txt", f"Secret{patient} of potassium.")],
            tenant="clinic",
            patient=patient,
            clock=clock,
            labels=Labels(title="Note"),
        )
    for patient, other in (("p1", "p2"), ("p2", "p1")):
        grant = Grant(
            tenant=TenantId("clinic"), actor=ActorId("dr"), audit_seq=1, patient=PatientId(patient)
        )
        found = room.search_now(grant, need("potassium", "documents"))
        assert f"Secret{patient}" in found.hits[0].text
        assert all(f"Secret{other}" not in hit.text for hit in found.hits)
    assert room.snapshots._held == {}


def test_search_is_the_same_every_time(room, doctor) -> None:
    first = room.search_now(doctor, need("acute attack inhaler", limit=10))
    assert all(
        room.search_now(doctor, need("acute attack inhaler", limit=10)) == first for _ in range(3)
    )


def test_real_guidelines_answer_real_questions(store, clock, doctor, shared_data: Path) -> None:
    folder = shared_data / "guidelines/nigeria_stg_2022"
    files = [
        p
        for p in sorted(folder.glob("*.md"))
        if p.stem.split("_")[0]
        in {"Malaria", "CHOLERA", "EPISTAXIS", "SCABIES", "DIZZINESS", "CELLULITIS"}
    ]
    ingest(store, files, tenant="clinic", clock=clock)
    room = Knowledge(store, embedder=None, clock=clock)
    for query, want in (
        ("drug treatment of malaria", "Malaria"),
        ("nose bleed", "Epistaxis"),
        ("oral rehydration in cholera", "Cholera"),
    ):
        found = room.search_now(doctor, need(query, retriever="lexical"))
        assert found.hits[0].span.source.title == want
