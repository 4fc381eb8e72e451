"""An embedder on another machine: what arrives there, and what each turn says of it."""

from __future__ import annotations

import json
import shutil
import threading
import zlib
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import anyio
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bedside.cli import show
from bedside.core.errors import Unavailable
from bedside.core.ids import PatientId, SessionId
from bedside.settings import load_settings
from bedside.storage import access
from bedside.wiring import Ask, Engine, build_engine

P = "demo-adeyemi"
QUESTION = "What do the guidelines say of metformin when the eGFR falls?"
COLUMNS = 64


def _row(text: str, columns: int) -> list[float]:
    row = [0.0] * columns
    for word in text.lower().split():
        row[zlib.crc32(word.encode()) % columns] += 1.0
    return row


class _Recording(BaseHTTPRequestHandler):
    """Vectors that count the words of a text, as three providers give them; keeps every text."""

    def do_POST(self) -> None:
        server: Any = self.server
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/token":
            server.claims.append(body.decode())
            self._answer({"access_token": "t", "expires_in": 3600})
            return
        asked = json.loads(body)
        if "input" in asked:
            texts = asked["input"]
            rows = [{"index": n, "embedding": _row(one, COLUMNS)} for n, one in enumerate(texts)]
            answer: Any = {"data": rows}
        elif "instances" in asked:
            texts = [one["content"] for one in asked["instances"]]
            answer = {"predictions": [{"embeddings": {"values": _row(one, 768)}} for one in texts]}
        else:
            texts = [asked["inputText"]]
            answer = {"embedding": _row(texts[0], 1024)}
        server.heard.extend(texts)
        if server.silent:
            server.let_go.wait(10)
        self._answer(answer)

    def _answer(self, answer: Any) -> None:
        body = json.dumps(answer).encode()
        self.send_response(500 if self.server.broken else 200)  # type: ignore[attr-defined]
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        with suppress(OSError):  # who asked may have gone
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base has it
        """Say nothing."""


@pytest.fixture
def away() -> Iterator[Any]:
    """A server that by the name of its address is not this machine."""
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Recording)
    server.heard, server.claims, server.broken, server.silent = [], [], False, False
    server.let_go = threading.Event()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.let_go.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def home(demo_home: Path, tmp_path: Path) -> Path:
    shutil.copytree(demo_home, tmp_path / "home")
    return tmp_path / "home"


def engine_of(home: Path, server: Any, **more: str) -> Engine:
    environ = {
        "BEDSIDE_EMBEDDER": f"openai:words@{COLUMNS}",
        "OPENAI_BASE_URL": f"http://0.0.0.0:{server.server_port}/v1",
        "OPENAI_API_KEY": "k",
        "BEDSIDE_EGRESS_ALLOW": "openai",
        **more,
    }
    return build_engine(load_settings(home=home, environ=environ))


def asked(home: Path, server: Any, question: str, *, embed: bool = True, **more: str) -> Any:
    """One turn about the demonstration's patient, after the guidelines have their vectors."""

    async def go() -> Any:
        engine = engine_of(home, server, **more)
        try:
            if embed:
                await engine.texts.embed_waiting()
            return await engine.asker.ask(Ask(question=question, patient=P), engine.local())
        finally:
            await engine.close()

    return anyio.run(go)


def record() -> dict[str, Any]:
    """The patient's FHIR resource as it ships."""
    path = Path(__file__).parents[2] / f"src/bedside/demo/patients/{P}.json"
    entries = [entry["resource"] for entry in json.loads(path.read_text())["entry"]]
    return next(one for one in entries if one["resourceType"] == "Patient")


def identifiers() -> list[str]:
    """What names the patient, from the bundle itself."""
    person = record()
    (name,) = person["name"]
    said = [*name["given"], name["family"], person["birthDate"], P]
    return said + [one["value"] for one in person.get("identifier", ())]


def leaked(server: Any, *more: str) -> list[str]:
    """Identifiers of the patient among what arrived."""
    heard = "\n".join(server.heard).casefold()
    return [secret for secret in (*identifiers(), *more) if secret.casefold() in heard]


@pytest.mark.requirement("EN-S7")
@pytest.mark.requirement("EN-K4")
def test_no_identifier_of_the_patient_arrives_and_the_turn_says_where_its_question_went(
    home: Path, away: Any
) -> None:
    person = record()
    given, family = person["name"][0]["given"][0], person["name"][0]["family"]
    mrn = person["identifier"][0]["value"]
    question = (
        f"{given} {family} (MRN {mrn}, born {person['birthDate']}, phone +44 7700 900123), or "
        f"{family.lower()}: {QUESTION}"
    )
    turn = asked(home, away, question)
    assert turn["egress"] == "openai, identifiers removed"
    assert show.receipt_line(turn).endswith("openai, identifiers removed")
    assert turn["degraded"] == ["documents: by words alone: the embedder is not on this machine"]
    sent = [text for text in away.heard if QUESTION in text]
    assert sent
    assert len(away.heard) > 100  # the guidelines' passages
    assert leaked(away, "7700 900123") == []
    # Nothing that stands in the patient's own documents alone.
    assert "St Brannock" not in "\n".join(away.heard)


@pytest.mark.requirement("EN-S7")
def test_with_a_key_and_without_egress_allow_nothing_arrives_and_words_serve(
    home: Path, away: Any
) -> None:
    async def go() -> tuple[Any, Any, Any, Any]:
        engine = engine_of(home, away, BEDSIDE_EGRESS_ALLOW="anthropic")
        try:
            who = engine.local()
            report = await engine.ingest_bytes([("own.md", b"# Own\n\nGive cromolyn.\n")], who)
            await engine.texts.embed_waiting()
            found = await engine.search(who=who, query=QUESTION)
            turn = await engine.asker.ask(Ask(question=QUESTION, patient=P), who)
            return report, found, turn, await engine.doctor()
        finally:
            await engine.close()

    report, found, turn, doctor = anyio.run(go)
    assert away.heard == []
    assert (report["egress"], found["egress"], turn["egress"]) == ("none", "none", "none")
    assert found["hits"]
    assert found["degraded"] == ["dense search is off: openai is not in egress.allow"]
    assert turn["status"] == "complete"
    (check,) = [one for one in doctor["checks"] if one["name"] == "embeddings"]
    assert not check["ok"]
    assert "'openai' is not in egress.allow" in check["detail"]


@pytest.mark.requirement("EN-S7")
def test_a_search_and_an_ingest_say_where_texts_went_and_a_patients_document_stays(
    home: Path, away: Any
) -> None:
    async def go() -> tuple[Any, Any, list[Any]]:
        engine = engine_of(home, away)
        try:
            who = engine.local()
            report = await engine.ingest_bytes([("own.md", b"# Own\n\nGive cromolyn.\n")], who)
            letter = b"# Letter\n\nThe neighbour keeps quokkas.\n"
            await engine.attach(P, [("letter.md", letter)], who)
            await engine.texts.embed_waiting()
            found = await engine.search(who=who, query="May Ruth Adeyemi have cromolyn?")
            return report, found, (await engine.doctor())["checks"]
        finally:
            await engine.close()

    report, found, checks = anyio.run(go)
    assert report["egress"] == "openai, full"
    assert "openai, full" in show.ingested(report)
    assert found["egress"] == "openai, identifiers removed"
    assert "openai, identifiers removed" in show.hits(found)
    heard = "\n".join(away.heard)
    assert "Give cromolyn" in heard
    assert "have cromolyn?" in heard
    assert "quokkas" not in heard
    assert leaked(away) == []
    said = {one["name"]: one["detail"] for one in checks}
    assert "guidelines and questions go to openai" in said["embeddings"]
    assert said["index"].startswith("every guideline is searchable by words and vectors")


@pytest.mark.requirement("EN-S7")
def test_what_persons_said_before_is_not_embedded_elsewhere(home: Path, away: Any) -> None:
    async def go() -> int:
        engine = engine_of(home, away)
        try:
            who = engine.local()
            turn = await engine.asker.ask(Ask(question="Is she well?", patient=P), who)
            grant = await engine.store.write(
                lambda c: access.grant(
                    c,
                    tenant=who.tenant,
                    actor=who.actor,
                    action="read",
                    at=engine.clock.now(),
                    patient=PatientId(P),
                    session=SessionId(turn["session_id"]),
                    purpose="memory",
                )
            )
            away.heard.clear()
            return await engine.turning.memory.catch_up(grant)
        finally:
            await engine.close()

    assert anyio.run(go) == 0
    assert away.heard == []


def test_an_embedder_that_fails_is_left_alone_and_the_turns_go_on_by_words(
    home: Path, away: Any
) -> None:
    async def go() -> tuple[Any, int, Any]:
        engine = engine_of(home, away)
        try:
            who = engine.local()
            first = await engine.asker.ask(Ask(question=QUESTION, patient=P), who)
            heard = len(away.heard)
            return first, heard, await engine.asker.ask(Ask(question=QUESTION, patient=P), who)
        finally:
            await engine.close()

    away.broken = True
    first, heard, second = anyio.run(go)
    for turn in (first, second):
        assert turn["status"] == "complete"
        assert "knowledge: dense failed: the embedder did not answer" in turn["degraded"]
    assert first["egress"] == "openai, identifiers removed"  # it went, though no answer came
    assert 1 <= heard <= 2  # two searches begin together
    assert (len(away.heard), second["egress"]) == (heard, "none")


def test_an_embedder_that_is_silent_is_waited_for_no_longer_than_the_deadline(
    home: Path, away: Any
) -> None:
    away.silent = True
    turn = asked(home, away, QUESTION, embed=False)
    assert turn["status"] == "complete"
    assert turn["egress"] == "openai, identifiers removed"
    assert "knowledge: dense timed out" in turn["degraded"]
    # Two searches begin together; the one after them asks no more.
    assert "knowledge for the record: dense failed: the embedder did not answer" in turn["degraded"]
    assert len(away.heard) <= 2


def test_a_change_of_embedder_is_said_until_the_guidelines_have_their_new_vectors(
    home: Path, away: Any
) -> None:
    assert not [one for one in asked(home, away, QUESTION)["degraded"] if "vectors" in one]
    other: Any = {"BEDSIDE_EMBEDDER": f"openai:other@{COLUMNS}"}
    turn = asked(home, away, QUESTION, embed=False, **other)
    assert [one for one in turn["degraded"] if "vectors not ready" in one]
    assert not [one for one in asked(home, away, QUESTION, **other)["degraded"] if "vectors" in one]


@pytest.mark.requirement("EN-K4")
def test_other_columns_than_were_set_make_no_vectors_and_words_serve(home: Path, away: Any) -> None:
    wrong: Any = {"BEDSIDE_EMBEDDER": "openai:words@65"}
    with pytest.raises(Unavailable, match="columns"):
        asked(home, away, QUESTION, **wrong)
    turn = asked(home, away, QUESTION, embed=False, **wrong)
    assert turn["status"] == "complete"
    assert "knowledge: dense failed: the embedder did not answer" in turn["degraded"]


@pytest.mark.requirement("EN-K4")
@pytest.mark.parametrize(
    ("provider", "name"),
    [("google", "google:text-embedding-005"), ("bedrock", "bedrock:amazon.titan-embed-text-v2:0")],
)
def test_google_and_amazon_are_asked_by_setting(
    home: Path, tmp_path: Path, away: Any, monkeypatch: Any, provider: str, name: str
) -> None:
    base = f"http://0.0.0.0:{away.server_port}"
    account, public = _account(f"{base}/token")
    (tmp_path / "account.json").write_text(json.dumps(account))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "k")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "k")
    turn = asked(
        home,
        away,
        f"Ruth Adeyemi: {QUESTION}",
        BEDSIDE_EMBEDDER=name,
        BEDSIDE_EGRESS_ALLOW=provider,
        GOOGLE_VERTEX_BASE_URL=f"{base}/v1",
        GOOGLE_APPLICATION_CREDENTIALS=str(tmp_path / "account.json"),
        AWS_ENDPOINT_URL_BEDROCK_RUNTIME=base,
    )
    assert turn["egress"] == f"{provider}, identifiers removed"
    assert not [one for one in turn["degraded"] if "dense" in one or "vectors" in one]
    assert leaked(away) == []
    if provider == "google":
        (form,) = away.claims  # one token for all calls
        claim = jwt.decode(
            parse_qs(form)["assertion"][0], public, algorithms=["RS256"], audience=f"{base}/token"
        )
        assert claim["iss"] == "reader@project.example"
        assert claim["exp"] - claim["iat"] == 3600


def _account(token_uri: str) -> tuple[dict[str, str], Any]:
    """The key file of a service account, made here, and the public key."""
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    named = {"project_id": "p", "client_email": "reader@project.example", "token_uri": token_uri}
    return {**named, "private_key": pem.decode()}, key.public_key()
