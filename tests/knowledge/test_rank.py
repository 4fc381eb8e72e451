"""Ranking: what a question's form asks for, and passages that lean on their documents."""

from __future__ import annotations

import itertools
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from bedside.knowledge.concept import Concept
from bedside.knowledge.headed import headed
from bedside.knowledge.index.entry import Document, Entry
from bedside.knowledge.index.scoring import Place, Statistics
from bedside.knowledge.index.segment import Segment
from bedside.knowledge.needs import Filters
from bedside.knowledge.places import Places
from bedside.knowledge.question import read_question
from bedside.knowledge.rank import rank
from bedside.knowledge.sought import Sort, sort_of, sought
from bedside.knowledge.whole import wholes
from bedside.knowledge.words import count_words, pack
from bedside.testing.embedder import HashedEmbedder

EMBEDDER = HashedEmbedder()


def entries(guidelines: dict[str, dict[str, str]]) -> list[Entry]:
    """Passages by title and heading, as ingest would make them."""
    found = []
    for title, parts in guidelines.items():
        document = Document(
            tenant="t", id=title, revision=1, kind="guideline", title=title, ready=True
        )
        for number, (heading, body) in enumerate(parts.items()):
            counts, length = count_words(body, head=f"{title} {heading}")
            found.append(
                Entry(
                    id=f"{title}:{number}",
                    document=document,
                    words=pack(counts),
                    length=length,
                    vectors=EMBEDDER.embed([f"{title} {heading} {body}"], kind="passage"),
                    sort=int(sort_of(f"{title} > {heading}")),
                    heading=heading.rpartition(" > ")[2],
                )
            )
    return found


def asked(text: str, segments: list[Segment], retriever: str = "hybrid") -> list[str]:
    question = read_question(text)
    vector = EMBEDDER.embed([question.spoken], kind="query")[0]
    ranking = rank(
        segments,
        question.with_vector(vector),
        filters=Filters(),
        retriever=retriever,
        threshold=EMBEDDER.threshold,
        limit=10,
    )
    return [hit.id for hit in ranking.ranked]


TWO = {
    "Quinsy": {
        "Clinical features": "Muffled voice, trismus, drooling, the uvula pushed to one side.",
        "Investigations": "Throat swab, full blood count and ultrasound of the neck swelling.",
        "Treatment > Drug": "Benzylpenicillin with metronidazole for seven days by vein first.",
    },
    "Gingivitis": {
        "Clinical features": "Gums that bleed on brushing, bad breath, plaque on every tooth.",
        "Investigations": "Probing of the pockets and a dental film of both jaws where deep.",
        "Treatment > Drug": "Metronidazole for three days with chlorhexidine mouthwash at night.",
    },
}


@pytest.mark.parametrize("retriever", ["lexical", "hybrid"])
def test_findings_under_one_heading_lead_to_the_medicines_under_another(retriever) -> None:
    order = asked(
        "muffled voice, trismus and drooling: metronidazole dose",
        [Segment(entries(TWO), dim=EMBEDDER.dim)],
        retriever,
    )
    assert next(name for name in order if name.endswith(":2")) == "Quinsy:2"


def test_of_two_alike_passages_the_one_under_the_sort_of_heading_asked_for_comes_first() -> None:
    body = "The neck is swollen and the jaw is stiff with pain on one side only."
    alike = {"Quinsy": dict.fromkeys(("Complications", "Investigations", "Prevention"), body)}
    segments = [Segment(entries(alike), dim=EMBEDDER.dim)]
    assert asked("swollen neck, stiff jaw: which bloods", segments)[0] == "Quinsy:1"
    assert asked("swollen neck, stiff jaw: vaccine", segments)[0] == "Quinsy:2"


def test_the_passage_whose_own_heading_is_asked_for_comes_before_one_that_only_names_it() -> None:
    """The title stands over both; the other passage names the medicine as often and is shorter."""
    parts = {
        "Febuxostat": "Forty milligrams once daily when allopurinol fails.",
        "Allopurinol": "One hundred milligrams once daily, raised every four weeks, kidneys watched.",
    }
    segments = [Segment(entries({"Gout": parts, "Noma": TWO["Quinsy"]}), dim=EMBEDDER.dim)]
    order = asked("allopurinol in the kidneys", segments)
    assert order.index("Gout:1") < order.index("Gout:0")
    question = read_question("starting dose of allopurinol")
    places = Places.of([Place(0, 0), Place(0, 1), Place(0, 2)])
    alike = headed(segments, question, places, Statistics.of(segments))
    assert alike[0] == alike[2] == 0.0
    assert 0.3 < alike[1] < 1.0


def test_a_word_in_common_answers_nothing_where_no_meaning_is_near() -> None:
    """Staging is two fifths of the query; half of it, or a passage without vectors, does answer."""
    words = {"Kidney disease": {"Staging": "Staging by filtration, from one to five, yearly."}}
    (entry,) = entries(words)
    far = replace(entry, vectors=EMBEDDER.embed(["zebra"], kind="passage"))
    flares = {f"Flare {n}": f"Colchicine on day {n} of an attack helps less." for n in range(1, 11)}
    other = entries({"Gout": flares})
    bare = replace(far, vectors=None)

    def found(text: str, passage: Entry) -> list[str]:
        return asked(text, [Segment([passage, *other], dim=EMBEDDER.dim)])

    assert found("melanoma staging", far) == []
    assert found("melanoma staging", bare) == [entry.id]
    assert found("staging of kidney disease", far)[0] == entry.id
    near = replace(far, vectors=EMBEDDER.embed(["melanoma staging"], kind="passage"))
    assert found("melanoma staging", near) == [entry.id]
    assert found("melanoma staging", replace(near, aside=True)) == []  # "Source: ..."


def test_how_documents_lie_in_segments_changes_no_order() -> None:
    whole = entries(TWO)
    text = "trismus with a muffled voice: penicillin and metronidazole"
    one = asked(text, [Segment(whole, dim=EMBEDDER.dim)])
    two = asked(text, [Segment(part, dim=EMBEDDER.dim) for part in (whole[3:], whole[:3])])
    assert one == two


def test_the_words_of_a_document_score_as_a_plain_bm25_of_whole_documents() -> None:
    random = Random(5)
    names = [f"w{n}" for n in range(30)]
    guidelines = {
        f"d{d}": {
            f"h{h}": " ".join(random.choices(names, k=20)) for h in range(random.randint(1, 4))
        }
        for d in range(12)
    }
    segment = Segment(entries(guidelines), dim=EMBEDDER.dim)
    bags = {
        title: [
            word for heading, body in parts.items() for word in f"{title} {heading} {body}".split()
        ]
        for title, parts in guidelines.items()
    }
    lengths = {
        title: sum(len(body.split()) for body in p.values()) for title, p in guidelines.items()
    }
    mean = sum(lengths.values()) / len(lengths)
    holding = sum(1 for bag in bags.values() if "w7" in bag)
    idf = np.log(1 + (len(bags) - holding + 0.5) / (holding + 0.5))
    want = [
        idf * bag.count("w7") * 2.2 / (bag.count("w7") + 1.2 * (0.25 + 0.75 * lengths[t] / mean))
        for t, bag in bags.items()
    ]
    got = wholes([segment], [segment.alive], concepts=[Concept(written={"w7": 1.0})], cosines=None)
    assert got.nearest is None
    assert got.words is not None
    assert got.words[0].tolist() == pytest.approx(want, rel=1e-6)


def test_the_nearest_passage_speaks_for_its_document_and_refused_ones_do_not() -> None:
    segment = Segment(entries(TWO), dim=EMBEDDER.dim)
    cosines = [np.array([0.1, 0.7, 0.3, 0.2, -0.5, 0.4], dtype=np.float32)]
    mask = np.array([True, False, True, False, True, False])
    got = wholes([segment], [mask], concepts=None, cosines=cosines)
    assert got.words is None
    assert got.nearest is not None
    assert got.nearest[0].tolist() == pytest.approx([0.3, -0.5])


@pytest.mark.parametrize(
    ("text", "direct"),
    [
        ("What causes gout?", True),
        ("what is the dose of colchicine", True),
        ("gout?", True),
        ("hypertension in pregnancy", False),
        ("Does tight control of blood pressure in type 2 diabetes lower stroke and death?", False),
        ("how do slats and flaps change lift drag and stall of thin wings", False),
    ],
)
def test_a_direct_question_is_short_and_has_the_form_of_a_question(text, direct) -> None:
    assert read_question(text).direct is direct


@pytest.mark.parametrize(
    ("text", "sorts"),
    [
        ("started on lisinopril last week", Sort.MEDICINES),
        ("which bloods before theatre", Sort.TESTS | Sort.SURGERY),
        ("how to keep it from coming back, vaccine", Sort.PREVENTION),
        ("treatment of quinsy", Sort.MEDICINES | Sort.LIVING | Sort.SURGERY),
        ("first-line treatment of quinsy", Sort.MEDICINES),
        ("unwanted effects", Sort.HARMS),
        ("quinsy", Sort.NONE),
    ],
)
def test_what_is_asked_for_stands_in_the_words(text, sorts) -> None:
    assert sought(text) == sorts


@pytest.mark.parametrize(
    ("path", "sort"),
    [
        ("Quinsy > Treatment > Drug", Sort.MEDICINES),
        ("Quinsy > Treatment > Non drug", Sort.LIVING),
        ("Quinsy > Differential diagnoses", Sort.DIFFERENTIAL),
        ("Quinsy > Investigations > Imaging of the neck", Sort.TESTS),
        ("Quinsy > Investigations > The neck", Sort.TESTS),
        ("Quinsy > Treatment > Goals", Sort.FRAME),
        ("Resistant hypertension", Sort.NONE),
        ("", Sort.NONE),
    ],
)
def test_what_a_passage_is_stands_in_its_deepest_telling_heading(path, sort) -> None:
    assert sort_of(path) == sort


def test_of_one_guideline_five_passages_come_before_the_others_and_repeats_come_after() -> None:
    many = {f"Part {n}": f"Metronidazole for seven days, variant {'x' * (n + 1)}" for n in range(8)}
    few = {f"Part {n}": f"Teeth and gums, metronidazole seldom {'y' * (n + 1)}" for n in range(2)}
    passages = entries({"Noma": many, "Gingivitis": few})
    twin = next(own for own in passages if own.id == "Noma:0")
    again = Entry(
        id="Again:0",
        document=Document(
            tenant="t", id="Again", revision=1, kind="guideline", title="Noma", ready=True
        ),
        words=twin.words,
        length=twin.length,
        vectors=twin.vectors,
        sort=twin.sort,
    )
    order = asked(
        "Metronidazole for seven days in noma", [Segment([*passages, again], dim=EMBEDDER.dim)]
    )
    assert sum(name.startswith("Noma") for name in order[:5]) >= 4
    assert {"Gingivitis:0", "Gingivitis:1"} <= set(order[:7])
    assert not {"Again:0", "Noma:0"} <= set(order[:7])


def _topics() -> tuple[list[Segment], str, str]:
    """Sixty short guidelines on dressings for one ulcer, and one named by half of the question."""
    random = Random(11)
    wanted = "compression bandage healing of a venous leg ulcer after surgery in the elderly"
    body = "compression bandage dressing wound granulation exudate slough"
    guidelines = {
        f"Ulcer {n:02d}": {"": " ".join(random.sample(body.split(), 5)) + f" clinic{n}"}
        for n in range(60)
    }
    guidelines["Elderly"] = {"": "surgery in the elderly healing leg delirium frailty anaesthetic"}
    return [Segment(entries(guidelines), dim=EMBEDDER.dim)], wanted, f"{wanted}?"


def test_a_question_with_its_mark_is_not_judged_by_neighbours(monkeypatch) -> None:
    """The same words as a topic ask the neighbours, and with a question mark they do not."""
    import bedside.knowledge.rank as room

    asked_neighbours: list[int] = []
    own = room.with_neighbours

    def watched(segments, vector, places, scores, statistics):
        asked_neighbours.append(len(places))
        return own(segments, vector, places, scores, statistics)

    monkeypatch.setattr(room, "with_neighbours", watched)
    segments, topic, question = _topics()
    assert asked(question, segments)
    assert asked_neighbours == []
    assert asked(topic, segments)
    assert asked_neighbours


@pytest.mark.parametrize("cuts", [(), (3,), (2, 5)])
def test_of_equal_passages_the_lower_id_comes_first_however_they_lie(cuts) -> None:
    """Eight passages of one word each, given out of order; every score is the same."""
    order = [5, 0, 7, 2, 6, 1, 4, 3]
    alike = [
        Entry(
            id=f"c{n}",
            document=Document(
                tenant="t", id=f"d{n}", revision=1, kind="note", title=f"Note {n}", ready=True
            ),
            words=pack(count_words("gout", head="")[0]),
            length=1,
        )
        for n in order
    ]
    bounds = itertools.pairwise([0, *cuts, len(alike)])
    segments = [Segment(alike[left:right], dim=1) for left, right in bounds]
    found = rank(
        segments,
        read_question("gout"),
        filters=Filters(),
        retriever="lexical",
        threshold=1.0,
        limit=8,
    )
    assert [one.id for one in found.ranked] == [f"c{n}" for n in range(8)]
