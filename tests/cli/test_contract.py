"""The commands of the contract, one by one: names, exit codes, JSON keys and types, what goes where."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from bedside.cli import main

P = "demo-adeyemi"
BUNDLE = {
    "resourceType": "Bundle",
    "type": "collection",
    "entry": [
        {"resource": {"resourceType": "Patient", "id": "p1", "name": [{"text": "Ann Bell"}]}},
        {
            "resource": {
                "resourceType": "Coverage",
                "id": "c1",
                "beneficiary": {"reference": "Patient/p1"},
            }
        },
    ],
}


@dataclass
class Ran:
    """What a command left: its exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on standard output; anything else there is a failure."""
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that `demo` made, words only."""
    home = tmp_path_factory.mktemp("loaded")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEDSIDE_EMBEDDER", "none")
        assert main(["demo", "--no-serve", "--json", "--home", str(home)]) == 0
    return home


@pytest.fixture
def run(
    loaded: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Runs a command on a copy of that home, from an empty folder."""
    home, folder = tmp_path / "home", tmp_path / "cwd"
    shutil.copytree(loaded, home)
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("BEDSIDE_HOME", str(home))
    monkeypatch.setenv("BEDSIDE_EMBEDDER", "none")
    capsys.readouterr()

    def ran(*argv: str) -> Ran:
        try:
            code = main(list(argv))
        except SystemExit as left:
            code = int(str(left.code))
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return ran


def is_error(body: Any, kind: str) -> bool:
    return body["error"]["type"] == kind and all(
        isinstance(body["error"][name], str) and body["error"][name]
        for name in ("type", "title", "detail")
    )


def test_patients_are_a_list_with_the_five_fields(run: Run) -> None:
    ran = run("patients", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert {patient["id"] for patient in ran.json} == {
        "demo-adeyemi", "demo-chow", "demo-herrera", "demo-whitfield",
    }  # fmt: skip
    for patient in ran.json:
        assert patient.keys() >= {"id", "name", "birth_date", "sex", "documents"}
        assert isinstance(patient["documents"], int)


def test_import_reports_patients_resources_unknown_and_rejected(run: Run) -> None:
    Path("good.json").write_text(json.dumps(BUNDLE))
    Path("bad.json").write_text("{broken")
    ran = run("import", "good.json", "bad.json", "--json")
    assert ran.code == 3
    report = ran.json
    assert [(item["id"], item["name"]) for item in report["patients"]] == [("p1", "Ann Bell")]
    assert report["resources"] == {"Coverage": 1, "Patient": 1}
    assert report["unknown"] == {"Coverage": 1}
    assert [item["path"] for item in report["rejected"]] == ["bad.json"]
    assert "error" not in report
    assert run("import", "good.json", "--json").code == 0


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("broken.json", "{broken"),
        ("resource.json", '{"resourceType": "Nope"}'),
        ("other.json", '{"a": 1}'),
        ("empty.json", ""),
        ("note.txt", "a letter"),
        ("missing.json", None),
    ],
)
def test_an_import_that_takes_nothing_in_is_an_error_that_keeps_its_report(
    run: Run, name: str, content: str | None
) -> None:
    if content is not None:
        Path(name).write_text(content)
    ran = run("import", name, "--json")
    assert ran.code == 1
    assert is_error(ran.json, "BadInput")
    assert [item["path"] for item in ran.json["rejected"]] == [name]
    assert ran.json["patients"] == []
    assert len(run("patients", "--json").json) == 4


def test_attach_answers_in_the_order_given_and_names_what_it_left_out(run: Run) -> None:
    Path("locked.txt").write_bytes(b"caf\xe9")
    Path("letter.md").write_text("# Clinic letter\n\nDate: 3 November 2026\n\nSeen well.\n")
    ran = run("attach", P, "locked.txt", "letter.md", "--json")
    assert ran.code == 3
    assert [item["status"] for item in ran.json] == ["failed_permanent", "complete"]
    for item in ran.json:
        assert item.keys() >= {"document_id", "status", "index", "title"}
        assert item["index"] in {"absent", "words", "ready"}
    assert ran.json[0]["document_id"] is None
    assert is_error(run("attach", P, "locked.txt", "--json").json, "BadInput")
    assert is_error(run("attach", "nobody", "letter.md", "--json").json, "NotFound")


def test_ingest_counts_and_takes_every_flag_and_search_filters_by_them(run: Run) -> None:
    Path("g.md").write_text("# Zebra fever\n\nGive zebracillin for zebra fever.\n")
    flags = [
        "--id", "g1", "--title", "Zebra fever", "--specialty", "zebras", "--type", "protocol",
        "--conditions", "zebra fever,stripes", "--drugs", "zebracillin", "--published", "2025-01-01",
    ]  # fmt: skip
    ran = run("ingest", "g.md", *flags, "--json")
    assert ran.code == 0
    assert ran.json.items() >= {"documents": 1, "chunks": 1, "skipped": 0, "rejected": []}.items()
    assert run("ingest", "g.md", *flags, "--json").json["skipped"] == 1

    found = run(
        "search", "zebra fever", "--limit", "3", "--specialty", "zebras", "--type", "protocol",
        "--condition", "stripes", "--drug", "zebracillin", "--document", "g1",
        "--since", "2024-12-31", "--retriever", "lexical", "--json",
    )  # fmt: skip
    (hit,) = found.json["hits"]
    assert hit.keys() >= {
        "rank", "score", "document_id", "document", "section", "chunk_id", "start", "end", "text",
    }  # fmt: skip
    assert (hit["rank"], hit["document_id"], hit["document"]) == (1, "g1", "Zebra fever")
    stored = run("source", "g1", "--start", str(hit["start"]), "--end", str(hit["end"]))
    assert stored.out == hit["text"] + "\n"
    later = run("search", "zebra fever", "--since", "2025-01-02", "--json").json
    assert "g1" not in [hit["document_id"] for hit in later["hits"]]
    assert later["removed_by_filter"]["since"] >= 1
    assert later.keys() >= {"hits", "removed_by_filter", "degraded"}


def test_ingest_says_what_it_rejected_and_what_it_supersedes(run: Run) -> None:
    Path("bad.pdf").write_text("not a pdf")
    ran = run("ingest", "bad.pdf", "--json")
    assert ran.code == 1
    assert is_error(ran.json, "BadInput")
    assert ran.json.items() >= {"documents": 0, "chunks": 0, "skipped": 0}.items()
    Path("new.md").write_text("# New\n\nWords.\n")
    (warning,) = run("ingest", "new.md", "--supersedes", "gone", "--json").json["warnings"]
    assert "'gone' is not here" in warning
    assert run("ingest", "new.md", "--published", "soon", "--json").code == 2


def test_search_by_meaning_without_vectors_does_not_say_that_nothing_fits(run: Run) -> None:
    ran = run("search", "metformin", "--retriever", "dense", "--json")
    assert ran.json["hits"] == []
    assert ran.json["why_empty"] == "dense search did not serve"
    plain = run("search", "metformin", "--retriever", "dense")
    assert "dense search is off: no embedding model" in plain.out


def test_ask_prints_a_turn_that_holds_to_the_schema_and_its_quotes_are_stored_text(
    run: Run,
) -> None:
    schema = run("schema", "turn", "--json").json
    ran = run("ask", "What is her latest HbA1c?", "--patient", P, "--json")
    assert (ran.code, ran.err) == (0, "")
    turn = ran.json
    jsonschema.validate(turn, schema)
    assert (turn["status"], turn["answered_by"], turn["egress"]) == ("complete", "rules", "none")
    assert "8.6 %" in turn["answer"]
    for cited in turn["citations"]:
        span = ["--start", str(cited["start"]), "--end", str(cited["end"])]
        stored = run("source", cited["source"]["id"], *span)
        assert stored.out == cited["quote"] + "\n"


@pytest.mark.parametrize("command", [["context"], ["ask", "--no-call"]])
def test_context_assembles_and_answers_nothing(run: Run, command: list[str]) -> None:
    ran = run(*command, "Is metformin safe?", "--patient", P, "--json")
    assert ran.code == 0
    assert (ran.json["answer"], ran.json["calls"]) == ("", [])
    assert ran.json["prompt"][0]["role"] == "system"
    assert 0 < ran.json["receipt"]["total"] <= ran.json["receipt"]["limit"] == 6000


def test_ask_takes_documents_and_selected_ones(run: Run) -> None:
    Path("letter.md").write_text(
        "# Letter\n\nDate: 3 November 2026\n\nEjection fraction 35 %, moderate mitral regurgitation.\n"
    )
    ran = run("ask", "What does the new letter say?", "--patient", P, "--document", "letter.md",
              "--json")  # fmt: skip
    assert ran.code == 0
    assert "Ejection fraction 35 %" in ran.json["answer"]
    cited = {item["source"]["id"] for item in ran.json["citations"]}
    (name,) = [item for item in cited if item.startswith("doc-")]
    again = run("context", "Hello", "--patient", P, "--select", name, "--json").json
    assert "Ejection fraction" in json.dumps(again["prompt"])


@pytest.mark.parametrize(
    ("argv", "code", "kind"),
    [
        (["ask", "", "--patient", P], 2, "InvalidArgument"),
        (["ask", "  "], 2, "InvalidArgument"),
        (["ask", "hi", "--patient", "nobody"], 1, "NotFound"),
        (["ask", "hi", "--mode", "nope"], 2, "usage"),
        (["ask", "hi", "--document", "x.md"], 2, "InvalidArgument"),
        (["ask", "hi", "--patient", P, "--document", "missing.md"], 1, "BadInput"),
        (["ask", "hi", "--patient", P, "--select", "none"], 1, "NotFound"),
        (["ask", "hi", "--model", "nonsense"], 2, "InvalidArgument"),
        (["ask", "hi", "--patient", P, "--audience", "patient"], 1, "AccessDenied"),
        (["search", ""], 2, "InvalidArgument"),
        (["search", "x", "--limit", "11"], 2, "InvalidArgument"),
        (["search", "x", "--since", "soon"], 2, "InvalidArgument"),
        (["source", "none"], 1, "NotFound"),
        (["source", "demo-type-2-diabetes-2025", "--start", "9", "--end", "2"], 2,
         "InvalidArgument"),
        (["schema", "nope"], 2, "usage"),
        (["nope"], 2, "usage"),
        (["import"], 2, "usage"),
        ([], 2, "usage"),
    ],
)  # fmt: skip
def test_an_error_is_one_document_with_type_title_and_detail(
    run: Run, argv: list[str], code: int, kind: str
) -> None:
    ran = run(*argv, "--json")
    assert ran.code == code
    assert ran.json.keys() == {"error"}
    assert is_error(ran.json, kind)
    if kind != "usage":
        assert ran.err == ""


def test_without_json_an_error_is_on_standard_error_alone(run: Run) -> None:
    ran = run("ask", "hi", "--patient", "nobody")
    assert (ran.code, ran.out) == (1, "")
    said = "No patient of that name (6 characters). `bedside patients` lists them."
    assert ran.err == f"Not found. {said}\n"


def test_a_budget_that_the_protected_blocks_exceed_names_them(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEDSIDE_CONTEXT_TOKENS", "300")
    ran = run("ask", "Is metformin safe?", "--patient", P, "--json")
    assert ran.code == 1
    assert is_error(ran.json, "BudgetTooSmall")
    assert "guardrails" in ran.json["error"]["detail"]
    monkeypatch.setenv("BEDSIDE_CONTEXT_TOKENS", "6000")
    assert run("ask", "Is metformin safe?", "--patient", P, "--json").code == 0


def test_audit_lists_and_verifies(run: Run) -> None:
    before = run("audit", "verify", "--json").json
    run("ask", "hi", "--patient", P)
    entries = run("audit", "--patient", P, "--json").json
    assert (entries[-1]["action"], entries[-1]["patient"]) == ("ask", P)
    after = run("audit", "verify", "--json").json
    assert after == {"ok": True, "entries": before["entries"] + 1, "first_bad": None}


def test_doctor_shows_each_setting_with_its_place_and_masks_secrets(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-not-to-be-shown")
    monkeypatch.setenv("BEDSIDE_TOKEN_SECRET", "z" * 40)
    ran = run("doctor", "--json")
    assert (ran.code, ran.json["ok"]) == (0, True)
    places = {item["variable"]: item["origin"] for item in ran.json["settings"]}
    assert places["BEDSIDE_EMBEDDER"] == "environment"
    assert "sk-not-to-be-shown" not in ran.out
    assert "z" * 40 not in ran.out


def test_an_erasure_has_its_receipt_and_the_patient_is_gone(run: Run) -> None:
    ran = run("erase", "demo-chow", "--json")
    assert ran.code == 0
    assert (ran.json["patient"], ran.json["residual_bytes"]) == ("demo-chow", 0)
    assert all(isinstance(n, int) for n in ran.json["removed"].values())
    assert isinstance(ran.json["verified_at"], str)
    assert run("ask", "hi", "--patient", "demo-chow", "--json").code == 1


def test_a_command_that_is_stopped_says_so_in_its_one_document(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Hand(io.StringIO):
        """A keyboard at which Ctrl-C is pressed."""

        def read(self, size: int | None = -1) -> str:
            raise KeyboardInterrupt

    monkeypatch.setattr("sys.stdin", Hand())
    said = run("companion", "run", "--script", "-", "--json")
    assert said.code == 130
    assert set(said.json["error"]) == {"type", "title", "detail"}
    assert said.json["error"]["type"] == "stopped"
