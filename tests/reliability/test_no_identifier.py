"""The eighteen identifiers of 45 CFR 164.514, in five forms each: in no log, span, metric, error or address.

One patient has all of them in her record, a document and a conversation. Every route is asked, rightly
and wrongly, with them in its texts, and so are the commands that fail; then all that left beside the
answers is searched byte by byte.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from served import Served, serve

PATIENT = "pt-1"
IDENTIFIERS = {
    "name": "Quillan Featherstonehaugh",
    "street": "7781 Zanderlew Crescent",
    "city": "Oxbarrowgate",
    "zip": "90417-5523",
    "birth date": "1931-07-23",
    "phone": "+1 555 713 9942",
    "fax": "+1 555 713 9943",
    "email": "q.featherstonehaugh@zanderlew.example",
    "ssn": "078-55-4417",
    "mrn": "MRN-7719-QX",
    "health plan": "HPB-55-201-QX",
    "account": "ACCT 88-10-QX",
    "licence": "LIC-ZQ-448811",
    "vehicle": "VIN 1ZQBH41JXMN109186",
    "device": "SN-DEV-9981-ZQ",
    "url": "https://zanderlew.example/quillan",
    "ip": "203.0.113.219",
    "biometric": "fingerprint-zq-5512-aa",
}


def forms(text: str) -> set[str]:
    """As written, in capitals, in small letters, without separators, and percent-encoded."""
    bare = re.sub(r"[^A-Za-z0-9]", "", text)
    return {text, text.upper(), text.lower(), bare, quote(text, safe="")}


CANARIES = {form for text in IDENTIFIERS.values() for form in forms(text)} | {
    "Featherstonehaugh",
    "featherstonehaugh",
}


def found_in(data: bytes) -> set[str]:
    return {canary for canary in CANARIES if canary.encode() in data}


def bundle() -> dict[str, Any]:
    given, family = IDENTIFIERS["name"].split()
    subject = {"reference": f"Patient/{PATIENT}"}
    numbers = [
        {"type": {"text": kind}, "value": IDENTIFIERS[kind]}
        for kind in ("ssn", "mrn", "health plan", "account", "licence", "vehicle", "device", "biometric")
    ]  # fmt: skip
    telecom = [
        {"system": kind, "value": IDENTIFIERS[kind]} for kind in ("phone", "fax", "email", "url")
    ]
    remark = "; ".join(IDENTIFIERS.values())
    person = {
        "resourceType": "Patient", "id": PATIENT, "gender": "female",
        "birthDate": IDENTIFIERS["birth date"], "name": [{"family": family, "given": [given]}],
        "address": [{"line": [IDENTIFIERS["street"]], "city": IDENTIFIERS["city"],
                     "postalCode": IDENTIFIERS["zip"]}],
        "identifier": numbers, "telecom": telecom,
    }  # fmt: skip
    result = {
        "resourceType": "Observation", "id": "o1", "subject": subject, "status": "final",
        "code": {"text": "HbA1c", "coding": [{"system": "http://loinc.org", "code": "4548-4"}]},
        "effectiveDateTime": "2026-01-05", "valueQuantity": {"value": 8.2, "unit": "%"},
        "note": [{"text": remark}],
    }  # fmt: skip
    entries = [{"resource": person}, {"resource": result}]
    return {"resourceType": "Bundle", "type": "collection", "entry": entries}


class Sink:
    """An OpenTelemetry address that keeps what it is sent."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        held = self.bodies

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                held.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"


def command(home: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    given = {**os.environ, "BEDSIDE_EMBEDDER": "none"}
    line = [sys.executable, "-m", "bedside", *arguments, "--home", str(home)]
    return subprocess.run(line, capture_output=True, env=given, check=False)


@pytest.fixture(scope="module")
def sink() -> Iterator[Sink]:
    made = Sink()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("identifiers")
    (folder / "a.json").write_text(json.dumps(bundle()), encoding="utf-8")
    (folder / "letter.md").write_text(
        "# Letter\n\n" + "\n".join(f"{kind}: {text}" for kind, text in IDENTIFIERS.items()),
        encoding="utf-8",
    )
    home = folder / "home"
    assert command(home, "import", str(folder / "a.json")).returncode == 0
    assert command(home, "attach", PATIENT, str(folder / "letter.md")).returncode == 0
    return home


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with serve(home, home.parent / "log") as made:
        yield made


def bodies(text: str) -> list[Any]:
    """What the routes take, with the text wherever they take one; and bodies that make no sense."""
    message = {"role": "user", "content": text}
    return [
        {"question": text, "patient": PATIENT},
        {"question": text, "patient": PATIENT, "audience": text},
        {"patient": PATIENT, "focus": text},
        {"query": text},
        {"query": text, "retriever": text},
        {"text": text},
        {"text": text, "act": text},
        {"note": text, "summary": {"key_findings": [{"text": text, "source": text}]}},
        {"note": text, "summary": text},
        {"yaml": f"id: {text}\nfields: [{text}]"},
        {"body": {"text": text}, "version": text},
        {"procedure": text, "language": text},
        {"architecture": text},
        {"to": text, "cases": [text]},
        {"target": "answer", "kind": "unsafe", "note": text},
        {"target": text, "state": text, "text": text},
        {"state": text, "by": text},
        {"messages": [message], "model": "bedside/copilot"},
        {"messages": [message], "model": text},
        {"question": {"deep": text}},
        [text],
        text,
    ]


@pytest.mark.timeout(240)
@pytest.mark.requirement("RELIABILITY-19")
def test_no_identifier_is_in_a_log_metric_error_or_address(
    server: Served,
) -> None:
    everything = "; ".join(IDENTIFIERS.values())
    refused: list[tuple[str, bytes]] = []
    done = 0
    with httpx.Client(base_url=server.base, headers=server.bearer(), timeout=60) as client:
        first = client.post(
            "/v1/ask", json={"question": f"HbA1c of {everything}?", "patient": PATIENT}
        )
        assert first.status_code == 200
        assert IDENTIFIERS["name"].split()[1] in client.get(f"/v1/patients/{PATIENT}/opening").text
        ids = {"patient": PATIENT, "turn": first.json()["turn_id"], "name": "turn", "session": "s"}
        ids["source"] = first.json()["citations"][0]["source"]["id"]
        case = client.post("/v1/intake/cases", json={"procedure": "TKR"}).json()
        ids |= {"case": case["case"], "sop": "TKR", "field": "age", "kind": "price", "key": "none"}
        known = defaultdict(lambda: "nothing-here", ids)
        described = client.get("/openapi.json").json()["paths"]
        for path, methods in described.items():
            for method in methods:
                if method == "delete":
                    continue
                for filled in (path.format_map(known), re.sub(r"\{\w+\}", "nothing-here", path)):
                    for body in [None] if method == "get" else bodies(everything):
                        said = client.request(method.upper(), filled, json=body)
                        assert said.status_code < 500, (method, path)
                        done += said.status_code == 200
                        told = json.dumps(dict(said.headers)).encode()
                        if said.status_code != 200:
                            told += said.content
                        refused.append((f"{method} {path} {said.status_code}", told))
                for name in ("x.json", "x.pdf", "x.docx", "x.png", "x.yaml"):
                    if method != "get" and "multipart/form-data" in str(methods[method]):
                        file = (name, everything.encode())
                        said = client.post(
                            path.format_map(known), files={"files": file, "file": file}
                        )
                        refused.append(
                            (
                                f"upload {path} {said.status_code}",
                                said.content * (said.status_code != 200),
                            )
                        )
        for page in (
            "/",
            f"/patients/{PATIENT}",
            f"/inspect/{ids['turn']}",
            "/safety",
            "/settings",
        ):
            shown = client.get(page, headers={"Accept": "text/html"})
            refs = re.findall(r"(?:href|src|action)=\"([^\"]*)\"", shown.text)
            refused.append((f"addresses of {page}", "\n".join(refs).encode()))
        metrics = client.get("/metrics")
        assert metrics.status_code == 200
    assert done > 40
    assert {name: held for name, told in refused if (held := found_in(told))} == {}
    assert found_in(metrics.content) == set()
    assert found_in(server.log.read_bytes()) == set()


@pytest.mark.timeout(120)
@pytest.mark.requirement("RELIABILITY-19")
def test_no_refusal_repeats_an_identifier_that_was_given_for_an_id(server: Served) -> None:
    told: dict[str, set[str]] = {}
    with httpx.Client(base_url=server.base, headers=server.bearer(), timeout=60) as client:
        for kind, text in IDENTIFIERS.items():
            if re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", text):
                continue  # one word of letters and digits is told as an id, since it may be ours
            for said in (
                client.post("/v1/ask", json={"question": "Any allergies?", "patient": text}),
                client.get(f"/v1/patients/{quote(text, safe='')}/opening"),
                client.get(f"/v1/turns/{quote(text, safe='')}"),
            ):
                assert said.status_code in {404, 405, 422}, kind
                if held := found_in(said.content):
                    told[kind] = held
    assert told == {}


@pytest.mark.timeout(240)
@pytest.mark.requirement("RELIABILITY-19")
def test_no_identifier_is_in_what_a_command_says_of_a_failure(home: Path, tmp_path: Path) -> None:
    everything = "; ".join(IDENTIFIERS.values())
    broken = tmp_path / "broken.json"
    broken.write_text('{"resourceType": "Patient", "name": "' + everything, encoding="utf-8")
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"resourceType": everything, "id": everything}), encoding="utf-8")
    sop = tmp_path / "sop.yaml"
    sop.write_text(f"id: [{everything}\n", encoding="utf-8")
    notes = tmp_path / "summary.json"
    notes.write_text('{"key_findings": "' + everything, encoding="utf-8")
    note = tmp_path / "note.txt"
    note.write_text(everything, encoding="utf-8")
    picture = tmp_path / "letter.pdf"
    picture.write_bytes(b"%PDF-1.7 " + everything.encode())
    for arguments in (
        ("import", str(broken)), ("import", str(other)), ("attach", PATIENT, str(picture)),
        ("ingest", str(picture)), ("sop", "lint", str(sop)),
        ("note", "evaluate", str(note), str(notes)),
    ):  # fmt: skip
        said = command(home, *arguments)
        assert said.returncode != 0, arguments
        assert found_in(said.stdout + said.stderr) == set(), arguments
        assert b"Traceback" not in said.stderr, arguments


@pytest.mark.requirement("RELIABILITY-19")
def test_the_spans_of_a_turn_are_sent_and_hold_no_identifier(home: Path, sink: Sink) -> None:
    before = len(sink.bodies)
    address = {"BEDSIDE_OTLP_ENDPOINT": f"{sink.address}/v1/traces"}
    with (
        serve(home, home.parent / "log2", **address) as server,
        httpx.Client(base_url=server.base, headers=server.bearer(), timeout=60) as client,
    ):
        asked = {"question": f"HbA1c of {IDENTIFIERS['name']}?", "patient": PATIENT}
        assert client.post("/v1/ask", json=asked).status_code == 200
    sent = b"".join(sink.bodies[before:])
    assert b"invoke_agent copilot" in sent
    assert found_in(sent) == set()
