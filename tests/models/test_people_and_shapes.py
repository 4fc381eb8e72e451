"""Names by their surroundings and the identifiers of the safe harbour: hidden, and put back exactly."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from bedside.core.ids import SourceId
from bedside.core.source import Source
from bedside.evals.deid_planted import KINDS, plant
from bedside.flows.notes.check import check_summary
from bedside.flows.notes.note import Note, StoredNote
from bedside.flows.notes.reply import JsonReply
from bedside.models.identifiers import Unveiler, Veil
from bedside.models.people import people

DATA = Path(__file__).parents[2] / "../shared/data"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Mr. Logan Walker is a 58-year-old male.", ["Logan Walker"]),
        ("Brian White is a 58-year-old male. White agrees.", ["Brian White", "White"]),
        ("Patient: O'Brien, Saoirse", ["O'Brien, Saoirse"]),
        ("NAME: CHIDI OKAFOR", ["CHIDI OKAFOR"]),
        ("Dictated by Thandiwe MacDonald, MD", ["Thandiwe MacDonald"]),
        ("Discussed with Dr. van der Berg.", ["van der Berg"]),
        ("Her daughter Priya drove her. Priya agrees.", ["Priya", "Priya"]),
        ("Seen with Michael Jones in clinic.", ["Michael Jones"]),
    ],
)
def test_a_person_is_found_where_notes_name_people(text, names):
    assert [text[a:b] for a, b in people(text)] == names


@pytest.mark.parametrize(
    "text",
    [
        "Parkinson disease and Crohn disease are stable.",
        "Foley catheter placed. Murphy sign negative. Babinski downgoing.",
        "She takes Lisinopril 20 mg and Metformin 500 mg.",
        "PAST MEDICAL HISTORY: Hypertension, Diabetes Mellitus Type 2.",
        "White blood cells 7.2, Black stools denied, Gram stain negative.",
        "Potassium: 4.356136783301507 mmol/L, blood pressure 120/80, 98.6 F.",
        "Ejection fraction 45-50 %, TSH 2.100, 1,000 mg of calcium, 10.5 x 3.2 x 4.1 cm.",
        "Level C5-C6, L4-L5 and T12. EF 3/6. HLA-B27 negative. CA-125 35 U/mL.",
    ],
)
def test_clinical_words_and_figures_stay(text):
    assert Veil(()).hide(text) == text


@pytest.mark.requirement("EN-S7")
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_planted_identifier_of_each_kind_does_not_leave_and_comes_back(kind):
    rng = random.Random(5)
    note = "CHIEF COMPLAINT\n\nCough for 3 weeks.\n\nPLAN\n\nStart amoxicillin 500 mg.\n"
    for _ in range(25):
        text, planted = plant(note, rng, kinds={kind: KINDS[kind]}, each=2)
        veil = Veil([one.known_as for one in planted if one.known_as], key=b"k")
        hidden = veil.hide(text)
        spans = list(veil.spans(text))
        for one in planted:
            missed = [
                at
                for at in range(one.start, one.end)
                if text[at].isalnum() and not any(a <= at < b for a, b in spans)
            ]
            assert not missed, (one.format, one.surface)
        assert "Cough for 3 weeks." in hidden
        assert "Start amoxicillin 500 mg." in hidden
        assert veil.show(hidden) == text


@pytest.mark.requirement("NO-10")
def test_a_models_quote_of_hidden_words_resolves_to_the_notes_own_characters():
    text = "HPI\n\nMrs. Ngozi Okafor is a 61-year-old woman, MRN 4471920, with a dry cough.\n"
    note = Note(
        StoredNote(source=Source(id=SourceId("n"), revision=1, kind="note", title="n"), text=text)
    )
    veil = Veil((), key=b"k")
    sent = veil.hide(text)
    assert "Okafor" not in sent
    assert "4471920" not in sent
    quote = sent[sent.index("Mrs.") : sent.index("with a dry")].strip()
    reply = json.dumps(
        {"patient_snapshot": [{"text": f"{quote.rstrip(',')}", "chunk": "chunk_0", "quote": quote}]}
    )
    back = Unveiler(veil, in_json=True)
    decoder = JsonReply()
    for at in range(0, len(reply), 7):
        decoder.feed(back.feed(reply[at : at + 7]))
    decoder.feed(back.finish())
    found = check_summary(decoder.finish().payload, note)
    assert found.removed == ()
    one = found.statements[0]
    assert text[one.start : one.end].startswith("Mrs. Ngozi Okafor")
    assert "MRN 4471920" in one.text


@pytest.mark.skipif(not DATA.exists(), reason="the measuring data is not here")
def test_few_clinical_terms_of_real_notes_are_hidden_in_vain():
    from bedside.evals.deid import _notes, _over

    found = _over(list(_notes(DATA))[:150])
    assert found["n_terms"] > 500
    assert found["share"] <= 0.01
