"""The evaluator: citations, vendors' forms, completeness, outputs, bad input."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from bedside.core.errors import BadInput, InvalidArgument
from bedside.grounding import NoteEvaluation, evaluate_note

NOTE = """HISTORY OF PRESENT ILLNESS

The patient is a 58-year-old male with hypertension. He denies chest pain. He takes metformin 500 mg twice daily.

FAMILY HISTORY

Diabetes and stroke.

ALLERGIES

Allergic to penicillin.

VITALS

Blood pressure: 122/70 mmHg. Heart rate: 72 bpm.

RESULTS

Potassium 5.1 mmol/L.

ASSESSMENT

1. Hypertension.

PLAN

Order an echocardiogram next week."""


def cite(words: str, *, section: str = "", chunk: str = "", shift: tuple[int, int] = (0, 0)) -> str:
    """The citation of some words, in the chunks of `CHUNKS`."""
    start = NOTE.index(words)
    home = next(c for c in CHUNKS if c["start"] <= start < c["end"])
    return (
        f"{section or home['section_title']} section, {chunk or home['id']}:"
        f"{start + shift[0]}-{start + len(words) + shift[1]}"
    )


def _chunks() -> list[dict[str, object]]:
    """One chunk for each section, by this file's own rule."""
    found = []
    marks = [*re.finditer(r"(?m)^[A-Z ]{4,}$", NOTE), None]
    for index, mark in enumerate(marks[:-1]):
        after = marks[index + 1]
        end = after.start() if after else len(NOTE)
        body = NOTE[mark.end() : end]
        start = mark.end() + len(body) - len(body.lstrip())
        found.append({"id": f"chunk_{index}", "section_title": mark.group(), "start": start,
                      "end": start + len(body.strip())})  # fmt: skip
    return found


CHUNKS = _chunks()


def evaluated(*items: dict[str, object], chunks: object = CHUNKS, **more: object) -> NoteEvaluation:
    return evaluate_note(
        {"summary": {"key_problems": list(items)}, "chunks": chunks, **more}, note=NOTE
    )


def kinds(result: NoteEvaluation, index: int = 0) -> list[str]:
    return [one.kind for one in result.items[index].findings]


WORDS = "He denies chest pain."
METFORMIN = "He takes metformin 500 mg twice daily."


@pytest.mark.requirement("NO-08")
def test_a_right_citation_raises_nothing_and_is_covered():
    result = evaluated({"text": WORDS, "source": cite(WORDS)})
    assert kinds(result) == []
    assert result.citation_coverage == 1.0
    assert result.ok
    (place,) = result.items[0].places
    assert NOTE[place.start : place.end] == WORDS


@pytest.mark.requirement("NO-06")
@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (cite(WORDS, section="PLAN"), "section_mismatch"),
        (cite(WORDS, section="Plan"), "section_mismatch"),
        (cite(WORDS, section="COURSE"), "section_mismatch"),
        (cite(WORDS, chunk="chunk_99"), "bad_id"),
        (cite(WORDS, chunk="chunk_1"), "span_error"),
        (cite(WORDS, shift=(1, 0)), "span_error"),
        (cite(WORDS, shift=(-1, 0)), "span_error"),
        (cite(WORDS, shift=(0, 1)), "span_error"),
        (cite(WORDS, shift=(0, -1)), "span_error"),
        (cite(WORDS, shift=(5000, 5000)), "span_error"),
        ("HISTORY OF PRESENT ILLNESS section, chunk_0:90-80", "span_error"),
        (cite(WORDS).replace(" section,", ","), "format_error"),
        (cite(WORDS).replace(":", ": "), "format_error"),
        (cite(WORDS) + ".", "format_error"),
        ("see the note", "format_error"),
        ({"chunk": "chunk_99", "quote": WORDS}, "bad_id"),
        ({"start": 3, "end": 3}, "span_error"),
        ({"start": 0, "end": 99_999}, "span_error"),
        ({"quote": "He admits chest pain."}, "span_error"),
        ({"page": 3}, "format_error"),
        ([7], "format_error"),
        (None, "orphan_claim"),
        ("", "orphan_claim"),
    ],
)
def test_each_fault_of_a_citation_has_its_kind(source: object, kind: str):
    result = evaluated({"text": WORDS, "source": source})
    assert kind in kinds(result)
    assert result.citation_coverage == 0.0
    assert result.count(kind) == 1


@pytest.mark.requirement("NO-08")
def test_a_quote_inside_an_overlap_takes_the_lower_chunk():
    start, end = NOTE.index(METFORMIN), NOTE.index(METFORMIN) + len(METFORMIN)
    overlapping = [
        {"id": "chunk_0", "section_title": "HPI", "start": 0, "end": end},
        {"id": "chunk_1", "section_title": "HPI", "start": start, "end": len(NOTE)},
    ]
    result = evaluated({"text": METFORMIN, "source": METFORMIN}, chunks=overlapping)
    assert [place.chunk for place in result.items[0].places] == ["chunk_0"]
    assert result.chunks_from == "file"


@pytest.mark.requirement("NO-08")
def test_a_note_is_chunked_anew_where_the_file_has_no_chunks_and_the_report_says_so():
    result = evaluate_note([{"text": WORDS, "source": WORDS}], note=NOTE)
    assert result.chunks_from == "note"
    assert "chunked anew" in result.warnings[0]
    assert result.ok
    wrong = evaluated(
        {"text": WORDS, "source": WORDS}, chunks=[{"id": "chunk_0", "start": 5, "end": 10**6}]
    )
    assert wrong.chunks_from == "note"
    assert any("outside the note" in one for one in wrong.warnings)


@pytest.mark.parametrize(
    "summary",
    [
        [{"text": WORDS, "source": WORDS}],
        [{"claim": WORDS, "evidence": {"quote": WORDS}}],
        [{"statement": WORDS, "citations": [{"start": NOTE.index(WORDS), "end": NOTE.index(WORDS) + len(WORDS)}]}],
        [{"text": WORDS, "start": NOTE.index(WORDS), "end": NOTE.index(WORDS) + len(WORDS)}],
        [{"text": WORDS, "span": [NOTE.index(WORDS), NOTE.index(WORDS) + len(WORDS)]}],
        {"sections": [{"name": "History", "items": [{"text": WORDS, "source": WORDS}]}]},
        {"history": {"problems": [{"fact": WORDS, "ref": WORDS}]}},
        {"summary": {"key_problems": [{"text": WORDS, "source": cite(WORDS)}]}, "chunks": CHUNKS},
        json.dumps([{"text": WORDS, "source": WORDS}]),
        "```json\n" + json.dumps([{"text": WORDS, "source": WORDS}]) + "\n```",
        json.dumps([{"text": WORDS, "source": WORDS}]).encode(),
    ],
)  # fmt: skip
def test_vendors_forms_give_the_same_item(summary: object):
    result = evaluate_note(summary, note=NOTE)
    (row,) = result.items
    assert row.item.text == WORDS
    assert [(p.start, p.end) for p in row.places] == [
        (NOTE.index(WORDS), NOTE.index(WORDS) + len(WORDS))
    ]
    assert result.ok


@pytest.mark.requirement("NO-08")
def test_plain_text_is_taken_by_sentences_and_its_items_are_orphans():
    text = f"# Summary\n- Hypertension.\n- Reports chest pain. {METFORMIN}\n\nPlan:\n1. Order an echocardiogram next week."
    result = evaluate_note(text, note=NOTE)
    assert [(one.item.part, one.item.section) for one in result.items] == [
        ("summary", "Summary"), ("summary", "Summary"), ("summary", "Summary"), ("plan", "Plan"),
    ]  # fmt: skip
    assert result.orphan_claims == 4
    assert result.citation_coverage == 0.0
    assert "negation" in kinds(result, 1)
    assert kinds(result, 2) == ["orphan_claim"]
    assert {one.by for one in result.items} == {"words"}


def test_citations_inside_plain_text_are_read():
    result = evaluate_note(f"{WORDS} ({cite(WORDS)})\n{METFORMIN} [{cite(METFORMIN)}]", note=NOTE)
    assert [one.item.text for one in result.items] == [WORDS, METFORMIN]
    assert result.orphan_claims == 0


@pytest.mark.requirement("NO-08")
def test_a_family_section_listed_as_the_patients_own_problem_is_found():
    words = "Diabetes and stroke."
    assert "subject" in kinds(evaluated({"text": words, "source": cite(words)}))
    there = evaluate_note(
        {"summary": {"pertinent_history": [{"text": words, "source": cite(words)}]}, "chunks": CHUNKS}, note=NOTE
    )  # fmt: skip
    assert kinds(there) == []


@pytest.mark.requirement("NO-05")
def test_a_plan_item_rests_on_the_assessment_and_may_find_its_order_elsewhere():
    source = cite("Hypertension.")
    plan = {"recommendations": [
        {"number": 1, "recommendation": "Order an echocardiogram next week.", "source": source, "confidence": 0.9},
        {"number": 2, "recommendation": "Start amiodarone 200 mg daily.", "source": source, "confidence": 0.9},
    ]}  # fmt: skip
    result = evaluated({"text": "Hypertension.", "source": source}, plan=plan)
    assert [one.item.part for one in result.items] == ["summary", "plan", "plan"]
    assert kinds(result, 1) == []
    assert {"medicines", "doses", "support"} <= set(kinds(result, 2))


@pytest.mark.requirement("NO-08")
def test_completeness_counts_the_notes_own_facts():
    full = evaluated(
        *({"text": line, "source": line} for line in re.findall(r"[^\n]+[.]", NOTE))
    ).completeness()
    empty = evaluated({"text": WORDS, "source": WORDS}).completeness()
    expected = {"problems": 1, "medicines": 1, "allergies": 1, "vitals": 2, "labs": 1, "orders": 1}
    assert {kind: empty[kind]["found"] for kind in expected} == expected
    assert {kind: full[kind]["covered"] for kind in expected} == expected
    assert empty["medicines"]["covered"] == 0
    (missing,) = empty["medicines"]["missing"]
    assert NOTE[missing["start"] : missing["end"]] == missing["text"] == "metformin 500 mg"


def test_a_fact_with_another_figure_is_not_covered():
    result = evaluated({"text": "Metformin 5000 mg twice daily; BP 122/710", "source": METFORMIN})
    full = result.completeness()
    assert full["medicines"]["covered"] == full["vitals"]["covered"] == 0


def test_a_repeated_item_is_found_and_another_dose_is_no_repetition():
    other = "He takes metformin 1000 mg twice daily."
    result = evaluated(
        *({"text": one, "source": METFORMIN} for one in (METFORMIN, METFORMIN, other))
    )
    assert [("duplicate" in kinds(result, k)) for k in range(3)] == [False, True, False]


def test_an_empty_section_is_no_item():
    assert "format_error" in kinds(evaluated({"text": "None documented", "source": cite(WORDS)}))


@pytest.mark.requirement("NO-08")
def test_the_same_input_gives_the_same_bytes_and_the_contracts_names():
    items = (
        {"text": "He reports chest pain.", "source": cite(WORDS)},
        {"text": "Unknown thing", "source": 5},
    )
    first, second = evaluated(*items), evaluated(*items)
    assert first.to_json() == second.to_json()
    body = json.loads(first.to_json())
    assert {"citation_coverage", "section_mismatches", "span_errors", "bad_ids", "format_errors", "orphan_claims",
            "faithfulness", "completeness", "items"} <= set(body)  # fmt: skip
    assert body["faithfulness"]["negation"] == {"checked": 1, "wrong": 1}
    assert body["items"][0]["citations"][0]["quote"] == WORDS
    assert body["items"][0]["findings"][0]["kind"] == "negation"


@pytest.mark.requirement("NO-08")
def test_the_bytes_do_not_depend_on_the_process(tmp_path: Path):
    summary = [
        {"text": line.replace("500", "5000"), "source": line}
        for line in re.findall(r"[^\n]+[.]", NOTE)
    ]
    (tmp_path / "in.json").write_text(json.dumps([summary, NOTE]), encoding="utf-8")
    program = (
        "import json, pathlib, sys; from bedside.grounding import evaluate_note; "
        "summary, note = json.loads(pathlib.Path(sys.argv[1]).read_text()); "
        "sys.stdout.write(evaluate_note(summary, note=note).to_json() + evaluate_note(summary, note=note).html())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / "in.json")],
            env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True, text=True,
        ).stdout
        for seed in ("0", "1", "77")
    }  # fmt: skip
    assert len(outputs) == 1


@pytest.mark.requirement("NO-08")
@pytest.mark.parametrize("bad", ['{"summary": [', "[{", b"\xff\xfe\x00", '{"a": 1,}'])
def test_broken_json_is_a_clear_error_without_the_text(bad: object):
    with pytest.raises(BadInput) as caught:
        evaluate_note(bad, note=NOTE)
    assert "summary" in str(caught.value)


def test_a_note_without_text_and_a_summary_of_no_kind_are_refused():
    with pytest.raises(BadInput, match="the note"):
        evaluate_note([], note=" \n")
    with pytest.raises(InvalidArgument, match="summary"):
        evaluate_note(5, note=NOTE)
    with pytest.raises(InvalidArgument, match="note"):
        evaluate_note([], note=b"x")  # type: ignore[arg-type]


@pytest.mark.parametrize("nothing", ["", [], {}, "{}", {"summary": {"key_problems": []}}])
def test_no_items_is_said_and_gives_no_share(nothing: object):
    result = evaluate_note(nothing, note=NOTE)
    assert result.citation_coverage is None
    assert not result.ok
    assert "No item was found in the file." in result.warnings


def test_what_cannot_be_read_is_listed_and_the_rest_is_evaluated():
    result = evaluate_note([{"text": WORDS, "source": WORDS}, 7, {"text": " "}], note=NOTE)
    assert len(result.items) == 1
    assert len(result.problems) == 2
    assert not result.ok


@pytest.mark.requirement("NO-08")
def test_a_summary_of_another_note_is_called_so():
    strange = [
        "Colonoscopy found three polyps.", "Sickle cell crisis treated with morphine.", "Left ulnar fracture was plated.",
        "Bipolar disorder on lithium.", "Breech delivery by caesarean section.",
    ]  # fmt: skip
    result = evaluate_note([{"text": one} for one in strange], note=NOTE)
    assert any("another note" in one for one in result.warnings)


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@pytest.mark.requirement("NO-12")
def test_the_page_is_self_contained_escaped_and_shows_the_gravest_first(tmp_path: Path):
    result = evaluated(
        {"text": WORDS, "source": cite(WORDS)},
        {"text": "<script>alert()</script> & hypertension", "source": None},
        {"text": "He takes metformin 5000 mg twice daily.", "source": cite(METFORMIN)},
    )
    html = result.to_html(tmp_path / "report.html").read_text(encoding="utf-8")
    page = _Page()
    page.feed(html)
    assert "<script>alert()" not in html
    assert "&lt;script&gt;alert()" in html
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert not [
        attrs for _, attrs in page.tags if {"src", "href", "onclick", "onload"} & set(attrs)
    ]
    classes = [attrs.get("class") for tag, attrs in page.tags if tag == "article"][:3]
    assert classes[0] == "grave"
    assert classes.index("grave") < classes.index("wrong")
    spans = [
        attrs["data-at"] for tag, attrs in page.tags if tag == "article" and attrs.get("data-at")
    ]
    start = NOTE.index(METFORMIN)
    assert spans[0] == f"{start}-{start + len(METFORMIN)}"
    assert "prefers-color-scheme:dark" in html


@pytest.mark.requirement("NO-08")
def test_the_table_names_each_wrong_item_with_its_reason():
    table = evaluated(
        {"text": "He takes metformin 5000 mg twice daily.", "source": cite(METFORMIN)}
    ).table()
    assert "doses: this figure is not in the cited words [5000 mg] (note: 500 mg)" in table
