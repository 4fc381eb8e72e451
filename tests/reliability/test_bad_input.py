"""Bad input: a clear error, nothing changed, no content in any message, the next command works."""

from __future__ import annotations

import json
import resource
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen import canvas

CANARY = "Quagga7731"
TOO_LARGE = 200_000_001


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(TOO_LARGE)


def _locked(path: Path) -> None:
    page = canvas.Canvas(str(path), encrypt=StandardEncryption("secret"))
    page.drawString(100, 700, CANARY)
    page.save()


def _blank(path: Path) -> None:
    page = canvas.Canvas(str(path))
    page.showPage()
    page.save()


def _bytes(content: bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(content) and None


def _json(body: object) -> Callable[[Path], None]:
    return _bytes(json.dumps(body).encode())


RECORDS = {
    "broken.json": (
        _bytes(b'{"resourceType": "Bundle", "entry": [{"x": "' + CANARY.encode()),
        "not JSON",
    ),
    "hello.json": (_json({"hello": CANARY}), "not FHIR"),
    "list.json": (_json([CANARY, 1]), "not a FHIR"),
    "empty.json": (_bytes(b""), "not JSON"),
    "latin.json": (
        _bytes(f'{{"resourceType": "Bundle", "n": "{CANARY}é"}}'.encode("latin-1")),
        "UTF-8",
    ),
    "bytes.json": (_bytes(bytes(range(128, 256)) + CANARY.encode()), "UTF-8"),
    "half.ndjson": (
        _bytes(b'{"resourceType": "Patient", "id": "half"}\n{"resourceType": "' + CANARY.encode()),
        "line 2",
    ),
    "large.json": (_sparse, "bytes"),
    "absent.json": (lambda path: None, "no such file"),
}
TEXTS = {
    "locked.pdf": (_locked, "password"),
    "torn.pdf": (_bytes(b"%PDF-1.7\n" + CANARY.encode()), "PDF"),
    "page.pdf": (_bytes(f"<html><p>{CANARY}, log in first</p></html>".encode()), "another format"),
    "torn.docx": (_bytes(b"PK\x03\x04" + CANARY.encode()), "Word"),
    "wide.txt": (_bytes(f"{CANARY} in sixteen bits".encode("utf-16-le")), "not text"),
    "zero.txt": (_bytes(f"words {CANARY}\0 more".encode()), "not text"),
    "latin.txt": (_bytes(f"M\xe9decin {CANARY}".encode("latin-1")), "not UTF-8"),
    "broken.md": (_bytes(f"# Head\n\n{CANARY} ".encode() + b"\xff\xfe"), "not UTF-8"),
    "undated.md": (_bytes(f"---\npublished: {CANARY}\n---\n# A\n\nB.".encode()), "not a date"),
    "nested.md": (_bytes(b"---\na: " + b"[" * 60_000 + b"\n---\n# A\n\nB."), "too deeply"),
    "empty.txt": (_bytes(b""), "empty"),
    "blank.md": (_bytes(b" \n\n "), "empty"),
    "large.txt": (_sparse, "bytes"),
    "large.pdf": (_sparse, "bytes"),
    "absent.txt": (lambda path: None, "no such file"),
}


def reason(said) -> str:
    """The one reason of a failure: an error document, or a report of what was left out."""
    body = said.json
    if "error" in body:
        assert set(body["error"]) == {"type", "title", "detail"}
        return body["error"]["detail"]
    (rejected,) = body["rejected"]
    assert set(rejected) == {"path", "reason"}
    return rejected["reason"]


def refused(run, dump, home: Path, *arguments: str, code: int = 1) -> str:
    """Run a command that must fail; returns its reason. Nothing changes, nothing leaks."""
    before, begun = dump(home), time.monotonic()
    said = run(home, *arguments)
    assert said.code == code
    why = reason(said)
    assert CANARY not in said.out
    assert CANARY not in said.err
    assert "Traceback" not in said.err
    assert dump(home) == before
    assert time.monotonic() - begun < 30
    after = run(home, "ask", "What is the latest HbA1c?", "--patient", "ada")
    assert after.code == 0
    assert "8.2" in after.json["answer"]
    return why


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_that_cannot_be_read_changes_nothing(run, dump, home, tmp_path, name: str) -> None:
    make, part = RECORDS[name]
    make(tmp_path / name)
    assert part in refused(run, dump, home, "import", str(tmp_path / name))


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("command", ["ingest", "attach"])
def test_a_text_that_cannot_be_read_changes_nothing(
    run, dump, home, tmp_path, name: str, command: str
) -> None:
    make, part = TEXTS[name]
    make(tmp_path / name)
    to = ["attach", "ada"] if command == "attach" else ["ingest"]
    assert part in refused(run, dump, home, *to, str(tmp_path / name))


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_pdf_without_text_is_refused_after_its_picture_was_read_too(
    run, dump, home, tmp_path
) -> None:
    _blank(tmp_path / "blank.pdf")
    why = refused(run, dump, home, "attach", "ada", str(tmp_path / "blank.pdf"))
    assert "no text layer" in why


def test_a_document_that_came_with_a_question_and_cannot_be_read_leaves_no_turn(
    run, dump, home, tmp_path
) -> None:
    _locked(tmp_path / "locked.pdf")
    why = refused(
        run, dump, home, "ask", "What does the letter say?", "--patient", "ada",
        "--document", str(tmp_path / "locked.pdf"),
    )  # fmt: skip
    assert "password" in why


def test_a_large_file_is_refused_by_its_size_and_never_read(run, home, tmp_path) -> None:
    _sparse(tmp_path / "large.txt")
    run(home, "patients")  # everything is imported now
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run(home, "attach", "ada", str(tmp_path / "large.txt"))
    run(home, "ingest", str(tmp_path / "large.txt"))
    run(home, "import", str(tmp_path / "large.txt"))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 100_000  # kilobytes; the file has 195,313


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["ask", ""], "at least one word"),
        (["ask", "  \n ", "--patient", "ada"], "at least one word"),
        (["ask", "a " * 15_000], "20000"),
        (["ask", "latest HbA1c?", "--patient", "nobody"], "No patient of that name (6 characters)"),
        (
            ["context", "latest HbA1c?", "--patient", "nobody"],
            "No patient of that name (6 characters)",
        ),
        (["source", "absent"], "No source of that name (6 characters)"),
        (["search", " "], "words"),
        (["search", "x", "--limit", "0"], "1 to 10"),
        (["search", "x", "--since", "yesterday"], "YYYY-MM-DD"),
        (["ask", "latest HbA1c?", "--document", "x.txt"], "patient"),
    ],
    ids=lambda item: " ".join(item)[:40] if isinstance(item, list) else None,
)
def test_a_request_that_makes_no_sense_changes_nothing(
    run, dump, home, arguments: list[str], part: str
) -> None:
    missing = {"nobody", "absent"} & set(arguments)  # well asked, but there is no such thing
    assert part in refused(run, dump, home, *arguments, code=1 if missing else 2)


def test_an_unknown_patient_gets_no_document(run, dump, home, tmp_path) -> None:
    (tmp_path / "note.txt").write_text(f"A note about {CANARY}.", encoding="utf-8")
    why = refused(run, dump, home, "attach", "nobody", str(tmp_path / "note.txt"))
    assert "No patient of that name (6 characters)" in why
    assert "nobody" not in why


@pytest.mark.parametrize("command", ["ask", "context"])
def test_a_budget_below_the_protected_blocks_is_named_with_their_sizes(
    run, dump, home, monkeypatch, command: str
) -> None:
    monkeypatch.setenv("BEDSIDE_CONTEXT_TOKENS", "200")
    before = dump(home)
    said = run(home, command, "Why is she on treatment?", "--patient", "ada")
    assert said.code == 1
    error = said.json["error"]
    assert error["type"] == "BudgetTooSmall"
    assert "leaves 200" in error["detail"]
    assert "guardrails" in error["detail"]
    after = dump(home)
    (turn,) = [row for row in after["turn"] if row not in before["turn"]]
    assert "refused" in turn  # the turn is on record, and it has no answer
    grown = {"turn", "session", "message", "source"}
    assert {n: r for n, r in after.items() if n not in grown} == {
        n: r for n, r in before.items() if n not in grown
    }
    monkeypatch.delenv("BEDSIDE_CONTEXT_TOKENS")
    assert run(home, command, "What is the latest HbA1c?", "--patient", "ada").code == 0


@pytest.mark.parametrize(
    ("name", "value"), [("BEDSIDE_CONTEXT_TOKENS", "many"), ("BEDSIDE_PORT", "-1")]
)
def test_a_setting_that_is_none_is_named(run, dump, home, monkeypatch, name, value) -> None:
    before = dump(home)
    monkeypatch.setenv(name, value)
    said = run(home, "patients")
    assert said.code == 1
    assert name in said.json["error"]["detail"]
    assert dump(home) == before


@pytest.mark.parametrize(
    "arguments",
    [["ask"], ["nosuch"], ["search", "x", "--retriever", "best"], ["ask", "x", "--mode", "y"]],
)
def test_wrong_usage_is_exit_two_and_says_so_in_json(
    run, dump, home, monkeypatch, arguments: list[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["bedside", *arguments, "--json"])
    before = dump(home)
    said = run(home, *arguments)
    assert said.code == 2
    assert said.json["error"]["type"] == "usage"
    assert dump(home) == before


def test_of_several_files_the_good_ones_are_taken_and_the_rest_named(
    run, home, tmp_path, bundle
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "good.json").write_text(json.dumps(bundle("eve", "Adams")), encoding="utf-8")
    RECORDS["broken.json"][0](tmp_path / "in" / "broken.json")
    said = run(home, "import", str(tmp_path / "in"))
    assert said.code == 3
    assert [item["id"] for item in said.json["patients"]] == ["eve"]
    assert "broken.json" in said.json["rejected"][0]["path"]
    assert CANARY not in said.out + said.err

    (tmp_path / "good.md").write_text(
        "# Gout\n\nGive colchicine early in a flare of gout.\n", encoding="utf-8"
    )
    TEXTS["latin.txt"][0](tmp_path / "latin.txt")
    said = run(home, "ingest", str(tmp_path / "good.md"), str(tmp_path / "latin.txt"))
    assert (said.code, said.json["documents"], len(said.json["rejected"])) == (3, 1, 1)
    said = run(home, "attach", "ada", str(tmp_path / "good.md"), str(tmp_path / "latin.txt"))
    assert said.code == 3
    assert [item["status"] for item in said.json] == ["complete", "failed_permanent"]
    assert "UTF-8" in said.json[1]["problem"]


@pytest.mark.parametrize("what", ["garbage", "file", "newer", "toml"])
def test_a_home_that_cannot_be_used_is_named_and_left_alone(run, home, tmp_path, what: str) -> None:
    target = home
    if what == "garbage":
        (home / "bedside.db").write_bytes(CANARY.encode() * 1_000)
        for beside in home.glob("bedside.db-*"):
            beside.unlink()
    elif what == "file":
        target = tmp_path / "plain"
        target.write_text(CANARY, encoding="utf-8")
    elif what == "newer":
        with sqlite3.connect(home / "bedside.db") as connection:
            connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.close()
    else:
        (home / "bedside.toml").write_text(f"models = [ {CANARY}", encoding="utf-8")
    said = run(target, "patients")
    assert said.code == 1
    assert said.json["error"]["title"] in {"Unavailable", "The input cannot be read"}
    assert CANARY not in said.out + said.err
    if what == "garbage":
        assert (home / "bedside.db").read_bytes() == CANARY.encode() * 1_000


def test_a_store_that_cannot_be_reached_is_named_as_the_target(run, dump, home) -> None:
    before = dump(home)
    said = run(home, "migrate-store", "--to", f"postgresql://u:{CANARY}@127.0.0.1:1/none")
    assert said.code == 1
    assert said.json["error"]["detail"].startswith("the target: no database answers")
    assert CANARY not in said.out + said.err
    assert dump(home) == before


@pytest.mark.parametrize(
    "line",
    [
        "[[[[",
        "5",
        '{"text": 5}',
        '{"text": " "}',
        '{"upload": "absent.pdf"}',
        '{"text": "\\ud800"}',
    ],
)
def test_a_script_whose_every_line_is_wrong_begins_no_case(
    run, dump, home, tmp_path, line: str
) -> None:
    (tmp_path / "script.jsonl").write_text(f"{line}\n", encoding="utf-8")
    before = dump(home)
    said = run(home, "intake", "run", "--script", str(tmp_path / "script.jsonl"))
    assert (said.code, said.json["line"], said.json["case"]) == (1, 1, None)
    assert dump(home) == before


def test_a_refused_document_leaves_a_bundled_patients_exemption_as_it_was(
    run, demo_home, dump, tmp_path
) -> None:
    home = shutil.copytree(demo_home, tmp_path / "demo")
    TEXTS["torn.pdf"][0](tmp_path / "torn.pdf")
    before = dump(home)
    said = run(home, "attach", "demo-adeyemi", str(tmp_path / "torn.pdf"))
    assert said.code == 1
    assert dump(home) == before
