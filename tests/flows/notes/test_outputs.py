"""JSON, Markdown, a page and FHIR of one summarised note; and a folder of notes, killed and resumed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

from bedside.cli import main
from bedside.flows.notes.outputs import rendered

TEXT = (
    "CHIEF COMPLAINT\n\nCough & <b>fever</b> <script>alert(1)</script>.\n\n"
    "MEDICATIONS\n\nLisinopril 20 mg daily.\n\nPLAN\n\nStart amoxicillin 500 mg. Consider an X-ray.\n"
)
AT = datetime(2026, 11, 22, 10, 0, tzinfo=UTC)


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("BEDSIDE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BEDSIDE_EMBEDDER", "none")
    return tmp_path


def run(capsys, *arguments: str) -> tuple[int, str]:
    code = main(["note", *arguments])
    return code, capsys.readouterr().out


@pytest.fixture
def turn(home, capsys) -> dict:
    (home / "n.txt").write_text(TEXT, encoding="utf-8")
    code, out = run(capsys, "summarise", str(home / "n.txt"), "--json")
    assert code == 0
    return json.loads(out)


def test_a_turn_of_notes_keeps_the_fields_of_every_turn(turn):
    assert {
        "turn_id",
        "citations",
        "claims",
        "removed",
        "degraded",
        "egress",
        "basis",
    } <= turn.keys()
    assert turn["plan"]["intent"] == "note_summary"
    assert turn["egress"] == "none"
    assert turn["answered_by"] == "extractive"
    for cited in turn["citations"]:
        assert TEXT[cited["start"] : cited["end"]] == cited["quote"]
    for claim in turn["claims"]:
        assert turn["answer"][claim["answer_start"] : claim["answer_end"]] == claim["text"]


def test_the_stored_note_gives_back_the_cited_words(home, turn, capsys):
    cited = turn["citations"][0]
    code = main(
        [
            "source",
            cited["source"]["id"],
            "--start",
            str(cited["start"]),
            "--end",
            str(cited["end"]),
        ]
    )
    assert code == 0
    assert capsys.readouterr().out == cited["quote"] + "\n"


@pytest.mark.requirement("NO-12")
def test_the_page_is_self_contained_escaped_and_points_into_the_note(turn):
    page = rendered(turn, TEXT, "html", at=AT)

    class Reader(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.tags: list[str] = []
            self.items: list[tuple[int, int]] = []
            self.note: list[str] = []
            self.inside = False

        def handle_starttag(self, tag, attrs):
            given = dict(attrs)
            self.tags.append(tag)
            self.inside = self.inside or given.get("id") == "note"
            if tag == "a":
                self.items.append((int(given["data-s"]), int(given["data-e"])))
            assert not {"src", "srcset", "action"} & given.keys()

        def handle_endtag(self, tag):
            if tag == "section":
                self.inside = False

        def handle_data(self, data):
            if self.inside:
                self.note.append(data)

    reader = Reader()
    reader.feed(page)
    assert "".join(reader.note) == TEXT  # the note's own markup is text
    assert reader.tags.count("script") == 1
    assert "b" not in reader.tags
    assert "http" not in re.sub(r"http-equiv", "", page)
    given = {(one["start"], one["end"]) for one in turn["citations"]}
    assert set(reader.items) == given


def test_markdown_from_a_note_cannot_act(turn):
    made = rendered(turn, TEXT, "md", at=AT)
    assert "<script>" not in made
    assert "CHIEF COMPLAINT section, chunk_0:" in made
    assert "1. Start amoxicillin 500 mg." in made


def test_fhir_is_a_composition_with_provenance_that_validates(turn):
    bundle_type = pytest.importorskip(
        "fhir.resources.R4B.bundle", reason="fhir.resources is not here"
    )
    tree = json.loads(rendered(turn, TEXT, "fhir", at=AT))
    bundle_type.Bundle.model_validate(tree)
    kinds = [entry["resource"]["resourceType"] for entry in tree["entry"]]
    assert kinds == ["Composition", "DocumentReference", "Device", "Provenance"]
    urls = {entry["fullUrl"] for entry in tree["entry"]}
    told = tree["entry"][3]["resource"]
    assert {one["what"]["reference"] for one in told["entity"]} <= urls
    assert {one["what"]["display"] for one in told["entity"]} == {
        item["source"] for items in turn["summary"].values() for item in items
    } | {item["source"] for item in turn["plan"]["recommendations"]}


def test_sections_are_printed_as_the_contract_has_them(home, capsys):
    (home / "n.txt").write_text(TEXT, encoding="utf-8")
    code, out = run(capsys, "sections", str(home / "n.txt"), "--json")
    assert code == 0
    found = json.loads(out)
    assert [(one["title"], one["found_by"]) for one in found] == [
        ("CHIEF COMPLAINT", "capitals"),
        ("MEDICATIONS", "capitals"),
        ("PLAN", "capitals"),
    ]
    assert "".join(TEXT[one["start"] : one["end"]] for one in found) == TEXT


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("empty.txt", b"  \n ", "empty"),
        ("binary.txt", bytes(range(256)) * 40, "not"),
        ("marks.txt", b"... --- ...", "empty"),
    ],
)
def test_a_note_that_is_none_is_a_clear_error(home, capsys, name, data, words):
    (home / name).write_bytes(data)
    code, out = run(capsys, "summarise", str(home / name), "--json")
    assert code == 1
    assert words in json.loads(out)["error"]["detail"]


def test_a_broken_summary_to_evaluate_is_a_clear_error(home, capsys):
    (home / "n.txt").write_text(TEXT, encoding="utf-8")
    (home / "s.json").write_text('{"summary": {"key_problems": [', encoding="utf-8")
    code, out = run(
        capsys, "evaluate", str(home / "s.json"), "--note", str(home / "n.txt"), "--json"
    )
    assert code == 1
    assert "not valid JSON" in json.loads(out)["error"]["detail"]


@pytest.mark.requirement("NO-08")
def test_our_own_summary_passes_the_evaluator(home, turn, capsys):
    (home / "s.json").write_text(json.dumps(turn), encoding="utf-8")
    code, out = run(
        capsys, "evaluate", str(home / "s.json"), "--note", str(home / "n.txt"), "--json"
    )
    assert code == 0
    report = json.loads(out)
    assert report["citation_coverage"] == 1.0
    assert [
        report[k] for k in ("section_mismatches", "span_errors", "bad_ids", "format_errors")
    ] == [0] * 4


@pytest.mark.parametrize("form", ["json", "md", "fhir"])
def test_every_format_of_ours_passes_the_evaluator(home, capsys, form):
    (home / "n.txt").write_text(TEXT, encoding="utf-8")
    _, out = run(capsys, "summarise", str(home / "n.txt"), "--format", form)
    (home / f"s.{form}").write_text(out, encoding="utf-8")
    code, out = run(
        capsys, "evaluate", str(home / f"s.{form}"), "--note", str(home / "n.txt"), "--json"
    )
    report = json.loads(out)
    assert code == 0
    assert len(report["items"]) > 3
    assert report["citation_coverage"] == 1.0
    assert {
        name: tally["wrong"] for name, tally in report["faithfulness"].items() if tally["wrong"]
    } == {}


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("s.json", b"not json", "not valid JSON"),
        ("s.json", b"7", "no JSON object"),
        ("s.txt", b"  \n", "empty"),
        ("s.txt", bytes(range(256)), "not UTF-8"),
        ("s.html", b"<!doctype html><html></html>", "HTML page"),
    ],
)
def test_a_file_that_is_no_summary_is_a_clear_error(home, capsys, name, data, words):
    (home / "n.txt").write_text(TEXT, encoding="utf-8")
    (home / name).write_bytes(data)
    code, out = run(capsys, "evaluate", str(home / name), "--note", str(home / "n.txt"), "--json")
    assert code == 1
    assert words in json.loads(out)["error"]["detail"]


def test_a_large_note_without_line_breaks_is_summarised(home, capsys):
    words = "The patient reports pain in the left knee for 3 weeks. " * 9_500  # 0.5 MB
    (home / "big.txt").write_text(words, encoding="utf-8")
    code, out = run(capsys, "summarise", str(home / "big.txt"), "--json")
    assert code == 0
    assert len(json.loads(out)["summary"]["pertinent_history"]) == 1


def folder(home: Path, n: int) -> Path:
    where = home / "notes"
    where.mkdir()
    for number in range(n):
        (where / f"n{number:03}.txt").write_text(
            f"CHIEF COMPLAINT\n\nPain number {number}.\n\nPLAN\n\nRest for {number + 1} days.\n",
            encoding="utf-8",
        )
    return where


@pytest.mark.requirement("NO-13")
def test_one_bad_note_stops_no_other_and_a_rerun_keeps_what_was_done(home, capsys):
    where = folder(home, 4)
    (where / "bad.txt").write_bytes(b"\xff\xfe\x00\x01" * 9 + b"\xd8")
    (where / "empty.md").write_text(" \n", encoding="utf-8")
    arguments = ("summarise", str(where), "--out", str(home / "out"), "--json")
    code, out = run(capsys, *arguments)
    first = json.loads(out)
    assert code == 3
    assert (first["done"], len(first["failed"])) == (4, 2)
    assert sorted(one.name for one in (home / "out").glob("*.json")) == [
        f"n{number:03}.json" for number in range(4)
    ]
    (where / "n002.txt").write_text("CHIEF COMPLAINT\n\nAnother pain.\n", encoding="utf-8")
    code, out = run(capsys, *arguments)
    again = json.loads(out)
    assert (again["done"], again["kept"]) == (1, 3)
    assert again["written"] == ["n002.json"]


def test_several_notes_without_a_folder_are_json_lines(home, capsys):
    where = folder(home, 3)
    code, out = run(capsys, "summarise", str(where), "--json")
    assert code == 0
    lines = [json.loads(line) for line in out.splitlines()]
    assert [Path(line["file"]).name for line in lines] == ["n000.txt", "n001.txt", "n002.txt"]
    assert all("summary" in line for line in lines)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
def test_a_batch_that_was_killed_goes_on_where_it_stopped_and_leaves_no_half_file(home):
    where = folder(home, 40)
    out = home / "out"
    command = [
        sys.executable, "-m", "bedside", "note", "summarise", str(where), "--out", str(out), "--json"
    ]  # fmt: skip
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    )
    assert child.stderr is not None
    for line in child.stderr:
        if line.startswith("notes 1"):
            child.send_signal(signal.SIGKILL)
            break
    child.wait()
    child.stderr.close()
    assert child.stdout is not None
    child.stdout.close()
    before = {one.name: one.stat().st_mtime_ns for one in out.glob("*.json")}
    assert 0 < len(before) < 40
    for name in before:
        json.loads((out / name).read_text(encoding="utf-8"))
    again = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ})
    report = json.loads(again.stdout)
    assert again.returncode == 0
    assert report["done"] + report["kept"] == 40
    assert report["kept"] >= len(before) - 1
    assert len(list(out.glob("*.json"))) == 40
    assert list(out.glob(".*.part")) == []
    kept = [name for name in before if name not in report["written"]]
    assert all((out / name).stat().st_mtime_ns == before[name] for name in kept)


def test_a_note_that_contradicts_itself_gives_both_sides_and_says_so(home, capsys):
    text = (
        "ALLERGIES\n\nNo known drug allergies.\n\nMEDICATIONS\n\nNone.\n\n"
        "DRUG ALLERGIES\n\nPenicillin (anaphylaxis).\n"
    )
    (home / "n.txt").write_text(text, encoding="utf-8")
    _, out = run(capsys, "summarise", str(home / "n.txt"), "--json")
    turn = json.loads(out)
    assert [one["text"] for one in turn["summary"]["medicines_allergies"]] == [
        "No known drug allergies.",
        "MEDICATIONS None.",
        "DRUG ALLERGIES Penicillin (anaphylaxis).",
    ]
    assert [(one["id"], one["outcome"]) for one in turn["guardrails"]] == [
        ("G1", "pass"),
        ("G8", "flagged"),
    ]
    for form in ("text", "md", "html"):
        _, out = run(
            capsys,
            "summarise",
            str(home / "n.txt"),
            *(() if form == "text" else ("--format", form)),
        )
        assert "denies allergies and names one" in out, form


def test_a_soap_note_is_read_by_its_letters(home, capsys):
    text = "S: cough 3 wks\nO: BP 150/90, lungs clear\nA: ACE cough\nP: stop lisinopril\n"
    (home / "n.txt").write_text(text, encoding="utf-8")
    _, out = run(capsys, "summarise", str(home / "n.txt"), "--json")
    turn = json.loads(out)
    assert [one["title"] for one in turn["sections"]] == ["S", "O", "A", "P"]
    assert turn["summary"]["objective_findings"][0]["text"] == "BP 150/90, lungs clear"
    assert [one["recommendation"] for one in turn["plan"]["recommendations"]] == ["stop lisinopril"]
