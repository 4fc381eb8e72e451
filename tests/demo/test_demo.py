"""The bundled patients and guidelines hold what the demonstration promises."""

from __future__ import annotations

import base64
import importlib.util
import json
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from bedside.demo import documents, guidelines, patients
from bedside.language.chunks import chunk
from bedside.language.sections import sections

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
LABEL = "unreviewed, demonstration content, not for clinical use"


def bundle(name: str) -> dict:
    found = {path.name: path for path in patients()}
    return json.loads(found[name].read_text(encoding="utf-8"), parse_float=str)


def resources(name: str, kind: str) -> list[dict]:
    rows = [row["resource"] for row in bundle(name)["entry"]]
    return [row for row in rows if row["resourceType"] == kind]


NAMES = [path.name for path in patients()]


def references(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        for key, found in node.items():
            if key == "reference":
                yield found
            else:
                yield from references(found)
    elif isinstance(node, list):
        for found in node:
            yield from references(found)


def test_four_patients_ship_and_each_is_marked_synthetic() -> None:
    assert len(NAMES) == 4
    for name in NAMES:
        (person,) = resources(name, "Patient")
        assert person["meta"]["tag"][0]["code"] == "synthetic"
        assert f"{person['id']}.json" == name


@pytest.mark.parametrize("name", NAMES)
def test_ids_are_unique_and_every_reference_is_in_the_bundle(name: str) -> None:
    rows = bundle(name)["entry"]
    names = [row["fullUrl"] for row in rows]
    assert len(set(names)) == len(names)
    assert set(references(rows)) <= set(names)


@pytest.mark.parametrize("name", NAMES)
def test_measurements_and_documents_lie_between_2024_and_today(name: str) -> None:
    days = [row["effectiveDateTime"][:10] for row in resources(name, "Observation")]
    days += [row["date"][:10] for row in resources(name, "DocumentReference")]
    assert min(days) >= "2024-01-01"
    assert max(days) <= "2026-11-22"


def test_figures_keep_their_trailing_noughts() -> None:
    text = next(p for p in patients() if p.name == "demo-whitfield.json").read_text("utf-8")
    assert '"value": 1.70,' in text
    assert '"value": 74.0,' in text


def test_allergies_stand_in_three_ways() -> None:
    assert [a["code"]["text"] for a in resources("demo-herrera.json", "AllergyIntolerance")] == [
        "No known allergy"
    ]
    assert resources("demo-chow.json", "AllergyIntolerance") == []
    penicillin = resources("demo-adeyemi.json", "AllergyIntolerance")[0]
    assert penicillin["code"]["text"] == "Penicillin"
    assert penicillin["criticality"] == "high"
    amoxicillin = [
        m
        for m in resources("demo-adeyemi.json", "MedicationRequest")
        if m["medicationCodeableConcept"]["text"].startswith("Amoxicillin")
    ]
    assert [m["status"] for m in amoxicillin] == ["active"]


def test_asthma_is_resolved_here_and_active_there() -> None:
    asthma = [
        row["clinicalStatus"]["coding"][0]["code"]
        for row in resources("demo-whitfield.json", "Condition")
        if row["code"]["text"] == "Asthma"
    ]
    assert sorted(asthma) == ["active", "resolved"]


def test_the_ejection_fraction_is_old_and_a_potassium_stands_at_its_limit() -> None:
    old = [
        o
        for o in resources("demo-herrera.json", "Observation")
        if o["code"]["text"].startswith("Left vent")
    ]
    assert [o["effectiveDateTime"][:10] for o in old] == ["2024-01-16"]
    potassium = [
        o for o in resources("demo-adeyemi.json", "Observation") if "Potassium" in o["code"]["text"]
    ][-1]
    assert (
        potassium["valueQuantity"]["value"]
        == potassium["referenceRange"][0]["high"]["value"]
        == "5.1"
    )


def test_documents_come_as_markdown_text_pdf_and_a_scanned_page() -> None:
    kinds = set()
    for name in NAMES:
        for row in resources(name, "DocumentReference"):
            form = row["content"][0]["attachment"]
            body = base64.b64decode(form["data"])
            kinds.add(form["contentType"])
            if form["contentType"] == "application/pdf":
                assert body.startswith(b"%PDF")
            else:
                assert len(body.decode()) > 400
    assert kinds == {"text/markdown", "text/plain", "application/pdf"}
    ((patient, scan),) = documents()
    assert patient == "demo-herrera"
    assert scan.read_bytes().startswith(b"\x89PNG")


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not SCRIPTS.is_dir(), reason="the scripts are not in this copy")
def test_the_script_makes_the_very_bundles_that_ship() -> None:
    maker = script("make_demo_patients")
    analytes = yaml.safe_load((SCRIPTS / "demo/analytes.yaml").read_text("utf-8"))
    for path in sorted((SCRIPTS / "demo").glob("patient_*.yaml")):
        patient = maker.Patient(yaml.safe_load(path.read_text("utf-8")), analytes)
        shipped = next(p for p in patients() if p.name == f"{patient.id}.json")
        # reportlab may change its bytes from version to version; the PDF's text may not.
        assert _without_pdf(json.loads(patient.bundle())) == _without_pdf(
            json.loads(shipped.read_text("utf-8"))
        )


def _without_pdf(bundle: dict) -> dict:
    for row in bundle["entry"]:
        for content in row["resource"].get("content", []):
            if content["attachment"]["contentType"] == "application/pdf":
                content["attachment"].pop("data")
    return bundle


# ---- guidelines


def parts(text: str) -> tuple[dict, str]:
    _, front, body = text.split("---\n", 2)
    return yaml.safe_load(front), body


GUIDELINES = {path.name: path.read_text("utf-8") for path in guidelines()}


def test_twelve_topics_ship_and_one_edition_supersedes_another() -> None:
    fronts = [parts(text)[0] for text in GUIDELINES.values()]
    ids = {front["id"] for front in fronts}
    assert len(ids) == len(fronts) == 13
    pairs = {front["supersedes"]: front["id"] for front in fronts if "supersedes" in front}
    assert pairs == {"demo-hypertension-2022": "demo-hypertension-2025"}
    assert set(pairs) <= ids


@pytest.mark.parametrize("name", sorted(GUIDELINES))
def test_a_guideline_is_labelled_described_and_names_its_sources(name: str) -> None:
    front, body = parts(GUIDELINES[name])
    assert front["label"] == LABEL
    assert LABEL.capitalize() in " ".join(body.replace(">", "").split())
    assert isinstance(front["published"], date)
    assert front["type"] == "guideline"
    assert front["specialty"]
    assert front["conditions"]
    assert front["drugs"]
    sources = body.split("## Sources")[1]
    assert len(re.findall(r"^\d+\. ", sources, re.MULTILINE)) >= 2
    assert re.search(r"doi:10\.\d{4,}/\S+|ISBN|NICE guideline NG\d+", sources)
    dois = re.findall(r"doi:(\S+)", sources)
    assert all(re.fullmatch(r"10\.\d{4,9}/[-._;()/:A-Za-z0-9]+", doi) for doi in dois)


@pytest.mark.parametrize("name", sorted(GUIDELINES))
def test_tables_are_whole(name: str) -> None:
    """Each row of a table has as many cells as its header."""
    width = None
    for line in GUIDELINES[name].splitlines():
        if not line.startswith("|"):
            width = None
            continue
        cells = line.count("|")
        width = width or cells
        assert cells == width, line


def test_all_guidelines_make_at_most_400_chunks_of_800_tokens() -> None:
    from rs_bpe.bpe import openai

    count = openai.o200k_base().count
    sizes = []
    for text in GUIDELINES.values():
        body = parts(text)[1]
        sizes += [
            count(body[c.start : c.end])
            for c in chunk(body, sections(body, markdown=True), profile="guideline", count=count)
        ]
    assert 120 <= len(sizes) <= 400
    assert max(sizes) <= 800
