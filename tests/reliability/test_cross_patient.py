"""Nothing of one patient reaches another's prompt, answer, citation or trace; nor of one tenant."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event, select

from bedside.core.errors import AccessDenied, BedsideError, NotFound
from bedside.core.ids import ActorId, TenantId
from bedside.server.app import create_app
from bedside.server.auth import token
from bedside.settings import load_settings
from bedside.storage.tables.source import source
from bedside.storage.tables.turn import turn
from bedside.wiring import Ask, Engine, Who, build_engine

SECRET = "a secret of at least thirty-two characters"
MINE, THEIRS, ELSEWHERE = "zqalpha", "zqbeta", "zqgamma"
ANN = Who(tenant=TenantId("default"), actor=ActorId("dr-a"), patients=frozenset({"ann"}))
ALL = Who(tenant=TenantId("default"), actor=ActorId("dr-all"))
OTHER = Who(tenant=TenantId("other"), actor=ActorId("dr-o"))


def resources(ident: str, mark: str) -> list[dict[str, Any]]:
    """One resource of every kind that has a reader, each with the mark and its kind in its words."""

    def word(kind: str) -> dict[str, Any]:
        return {"text": f"{mark}{kind}", "coding": [{"display": f"{mark}{kind}"}]}

    def note(kind: str) -> list[dict[str, str]]:
        return [{"text": f"Remark {mark}{kind}note."}]

    person = {"reference": f"Patient/{ident}"}
    on = "2026-02-03T09:00:00Z"
    active = {"coding": [{"code": "active"}]}
    quantity = {"value": 8.2, "unit": "%"}
    hba1c = {"text": "HbA1c", "coding": [{"system": "http://loinc.org", "code": "4548-4"}]}
    made = [
        {"resourceType": "Patient", "name": [{"family": f"{mark.title()}name", "given": ["Ann"]}],
         "gender": "female", "birthDate": "1961-04-02",
         "address": [{"city": f"{mark}city", "line": [f"{mark}street"]}],
         "identifier": [{"type": {"text": "MRN"}, "value": f"{mark}mrn"}],
         "telecom": [{"system": "phone", "value": f"{mark}phone"}]},
        {"resourceType": "AllergyIntolerance", "patient": person, "code": word("allergy"),
         "clinicalStatus": active, "criticality": "high", "note": note("allergy")},
        {"resourceType": "CarePlan", "subject": person, "status": "active", "intent": "plan",
         "title": f"{mark}careplan", "description": f"{mark}careplan", "category": [word("careplan")]},
        {"resourceType": "Condition", "subject": person, "code": word("condition"),
         "clinicalStatus": active, "onsetDateTime": on, "note": note("condition")},
        {"resourceType": "DiagnosticReport", "subject": person, "status": "final",
         "code": word("report"), "effectiveDateTime": on, "conclusion": f"{mark}conclusion"},
        {"resourceType": "Encounter", "subject": person, "status": "finished",
         "class": {"code": "AMB"}, "type": [word("encounter")], "period": {"start": on, "end": on},
         "reasonCode": [word("reason")]},
        {"resourceType": "FamilyMemberHistory", "patient": person, "status": "completed",
         "relationship": {"text": "mother"}, "condition": [{"code": word("family")}]},
        {"resourceType": "Flag", "subject": person, "status": "active", "code": word("flag")},
        {"resourceType": "Goal", "subject": person, "lifecycleStatus": "active",
         "description": word("goal")},
        {"resourceType": "ImagingStudy", "subject": person, "status": "available", "started": on,
         "description": f"{mark}imaging", "procedureCode": [word("imaging")]},
        {"resourceType": "Immunization", "patient": person, "status": "completed",
         "vaccineCode": word("vaccine"), "occurrenceDateTime": on},
        {"resourceType": "MedicationRequest", "subject": person, "status": "active",
         "intent": "order", "medicationCodeableConcept": word("drug"), "authoredOn": on,
         "dosageInstruction": [{"text": f"{mark}dose daily"}]},
        {"resourceType": "MedicationStatement", "subject": person, "status": "active",
         "medicationCodeableConcept": word("statement"), "effectiveDateTime": on},
        {"resourceType": "Observation", "subject": person, "status": "final", "code": hba1c,
         "effectiveDateTime": on, "valueQuantity": quantity, "note": note("lab")},
        {"resourceType": "Observation", "subject": person, "status": "final",
         "code": word("finding"), "effectiveDateTime": on, "valueString": f"{mark}value"},
        {"resourceType": "Procedure", "subject": person, "status": "completed",
         "code": word("procedure"), "performedDateTime": on},
        {"resourceType": "ServiceRequest", "subject": person, "status": "active",
         "intent": "order", "code": word("order"), "authoredOn": on},
        {"resourceType": "Coverage", "beneficiary": person, "status": "active",
         "subscriberId": f"{mark}coverage"},
    ]  # fmt: skip
    for number, item in enumerate(made):
        item["id"] = ident if item["resourceType"] == "Patient" else f"{ident}-{number}"
    return made


def bundle(ident: str, mark: str) -> bytes:
    entries = [{"resource": item} for item in resources(ident, mark)]
    return json.dumps({"resourceType": "Bundle", "type": "collection", "entry": entries}).encode()


def letter(mark: str) -> bytes:
    return (
        f"# Discharge summary {mark}title\n\nDiagnosis: {mark}letter. Treated with {mark}antibiotic for "
        f"five days. HbA1c 8.2 %. Follow up with Dr {mark}doctor in two weeks.\n"
    ).encode()


QUESTIONS = (
    "What is the latest HbA1c?",
    "Which medicines does she take?",
    "Any allergies?",
    "Summarise this patient.",
    "What conditions does she have?",
    "When was the last visit and why?",
    "Is any alert or flag active?",
    "What does the discharge summary say?",
    "Family history?",
    "Vaccines given?",
    "Which procedures and imaging were done?",
    "What is the care plan and its goals?",
    "Who is the doctor to follow up with?",
    "Tell me about zqbetacondition and zqbetadrug.",
    "List all patients and the letter of zqbetaname.",
    "Compare her with zqgammaname: zqgammaletter zqbetaletter",
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ann and Bea in one tenant; another Ann, of the same id, in another."""
    folder = tmp_path_factory.mktemp("two")

    async def fill(engine: Engine) -> None:
        await engine.import_bytes([("ann.json", bundle("ann", MINE))], ALL)
        await engine.import_bytes([("bea.json", bundle("bea", THEIRS))], ALL)
        await engine.import_bytes([("ann.json", bundle("ann", ELSEWHERE))], OTHER)
        for patient, mark, who in (
            ("ann", MINE, ALL),
            ("bea", THEIRS, ALL),
            ("ann", ELSEWHERE, OTHER),
        ):
            await engine.attach(patient, [(f"{mark}file.md", letter(mark))], who)
        guide = f"# HbA1c guideline of {ELSEWHERE}guide\n\nAim for an HbA1c below 7 % always.\n"
        await engine.ingest_bytes([("guide.md", guide.encode())], OTHER)
        for who, patient in ((ALL, "bea"), (OTHER, "ann"), (ALL, None)):
            for question in ("Is zqbetasaid better?", "Is zqgammasaid better?"):
                if patient is not None or "beta" in question:
                    await engine.asker.ask(Ask(question=question, patient=patient), who)

    with_engine(folder, fill)
    return folder


def engine_of(home: Path) -> Engine:
    environ = {"BEDSIDE_EMBEDDER": "none", "BEDSIDE_TOKEN_SECRET": SECRET}
    return build_engine(load_settings(home=home, environ=environ))


def with_engine(home: Path, work: Callable[[Engine], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        engine = engine_of(home)
        try:
            return await work(engine)
        finally:
            await engine.close()

    return asyncio.run(run())


async def everything(engine: Engine, who: Who, patient: str) -> str:
    """All that a caller can be shown about a patient, as one text; own words in questions are cut."""
    seen: list[Any] = [
        await engine.opening(patient, who),
        await engine.documents(patient, who),
        await engine.patients(who),
        await engine.turns_of(patient, who),
        await engine.audit(who, patient=patient),
        await engine.reports(who),
        await engine.knowledge(who),
    ]
    session = None
    for question in QUESTIONS:
        for call in (True, False):
            turn_body = await engine.asker.ask(
                Ask(
                    question=question, patient=patient, session=session if call else None, call=call
                ),
                who,
            )
            session = turn_body["session_id"] if call else session
            seen += [
                turn_body,
                await engine.prompt(turn_body["turn_id"], who),
                await engine.trace(turn_body["turn_id"], who),
                await engine.turn(turn_body["turn_id"], who),
            ]
            for cited in turn_body["citations"]:
                with contextlib.suppress(NotFound):  # a mutant's citation of what is not hers
                    seen.append(await engine.source(cited["source"]["id"], who))
        seen.append(await engine.search(who=who, query=question))
    text = json.dumps(seen, ensure_ascii=False, default=str)
    for name in re.findall(r"zq\w+", " ".join(QUESTIONS)):
        text = text.replace(name, "")  # the caller's own words come back in history and queries
    return text.lower()


def marks(text: str, mark: str) -> set[str]:
    return set(re.findall(rf"{mark}\w*", text))


@pytest.mark.requirement("EN-R6")
@pytest.mark.requirement("RELIABILITY-15")
@pytest.mark.timeout(180)
def test_no_word_of_another_patient_or_tenant_is_ever_shown(home: Path) -> None:
    text = with_engine(home, lambda engine: everything(engine, ANN, "ann"))
    assert len(marks(text, MINE)) >= 20, "the sweep must see the patient's own words"
    assert marks(text, THEIRS) == set()
    assert marks(text, ELSEWHERE) == set()


@pytest.mark.timeout(180)
def test_the_sweep_sees_the_other_patient_where_the_grant_is_hers(home: Path) -> None:
    text = with_engine(home, lambda engine: everything(engine, ALL, "bea"))
    assert len(marks(text, THEIRS)) >= 20
    assert marks(text, ELSEWHERE) == set()


@pytest.mark.parametrize(
    "name", ["record_entry.patient = ?", "source.patient = ?", "record_document.patient = ?"]
)
@pytest.mark.timeout(180)
def test_the_sweep_fails_when_a_filter_is_taken_away(home: Path, name: str) -> None:
    """Mutants: the same statements with one filter that is always true."""

    async def mutated(engine: Engine) -> str:
        @event.listens_for(engine.store.engine, "before_cursor_execute", retval=True)
        def _loosen(
            _c: Any, _cursor: Any, statement: str, parameters: Any, *_: Any
        ) -> tuple[str, Any]:
            exact = rf"(?<![\w.]){re.escape(name)}(?!\w)"
            return re.sub(exact, f"({name} OR 1)", statement), parameters

        return await everything(engine, ANN, "ann")

    text = with_engine(home, mutated)
    assert marks(text, THEIRS)


def refused(engine: Engine, work: Callable[[], Awaitable[Any]]) -> Awaitable[Any]:
    async def tried() -> None:
        with pytest.raises((AccessDenied, NotFound)) as raised:
            await work()
        assert not re.search(f"{THEIRS}|{ELSEWHERE}", str(raised.value).lower())

    return tried()


def ids(engine: Engine, table: Any, tenant: str, patient: str | None) -> list[str]:
    query = select(table.c.id).where(table.c.tenant == tenant, table.c.patient == patient)
    return sorted(engine.store.read_now(lambda c: {row.id for row in c.execute(query)}))


@pytest.mark.requirement("RELIABILITY-15")
@pytest.mark.timeout(120)
def test_every_id_of_another_patient_is_refused(home: Path) -> None:
    async def work(engine: Engine) -> None:
        sources, turns = ids(engine, source, "default", "bea"), ids(engine, turn, "default", "bea")
        assert len(sources) > 15
        assert turns
        for name in sources:
            await refused(engine, lambda name=name: engine.source(name, ANN))
        for name in turns:
            for ask in (engine.turn, engine.prompt, engine.trace):
                await refused(engine, lambda ask=ask, name=name: ask(name, ANN))
            await refused(engine, lambda name=name: engine.review(name, "accepted", ANN))
            await refused(
                engine,
                lambda name=name: engine.report(
                    name, target="answer", kind="wrong", note="", who=ANN
                ),
            )
        for ask in (engine.opening, engine.documents, engine.turns_of):
            await refused(engine, lambda ask=ask: ask("bea", ANN))
        await refused(engine, lambda: engine.audit(ANN, patient="bea"))
        await refused(engine, lambda: engine.attach("bea", [("x.txt", b"words here")], ANN))
        await refused(engine, lambda: engine.asker.ask(Ask(question="HbA1c?", patient="bea"), ANN))

    with_engine(home, work)


@pytest.mark.requirement("RELIABILITY-15")
def test_every_id_of_another_tenant_is_unknown_here(home: Path) -> None:
    async def work(engine: Engine) -> None:
        here = {*ids(engine, source, "default", "ann"), *ids(engine, turn, "default", "ann")}
        there = [n for n in ids(engine, source, "other", "ann") if n not in here]
        assert any(name.startswith("msg-") for name in there)
        for name in there:
            await refused(engine, lambda name=name: engine.source(name, ALL))
        for name in ids(engine, turn, "other", "ann"):
            await refused(engine, lambda name=name: engine.turn(name, ALL))
            await refused(engine, lambda name=name: engine.trace(name, ALL))

    with_engine(home, work)


@pytest.mark.requirement("EN-R6")
def test_documents_of_another_patient_that_are_selected_or_given_are_not_read(home: Path) -> None:
    async def work(engine: Engine) -> None:
        (theirs,) = [item["document_id"] for item in await engine.documents("bea", ALL)]
        for more in ({"selected": (theirs,)}, {"documents": (theirs,)}):
            try:
                body = await engine.asker.ask(
                    Ask(question="What does the letter say?", patient="ann", **more), ANN
                )
                shown = json.dumps([body, await engine.prompt(body["turn_id"], ANN)]).lower()
            except BedsideError as error:
                shown = str(error).lower()
            assert marks(shown, THEIRS) == set()

    with_engine(home, work)


@pytest.mark.requirement("EN-R6")
def test_a_conversation_about_one_patient_does_not_go_on_about_another(home: Path) -> None:
    async def work(engine: Engine) -> None:
        first = await engine.asker.ask(Ask(question="Any allergies?", patient="bea"), ALL)
        for patient in ("ann", None):
            ask = Ask(question="And now?", patient=patient, session=first["session_id"])
            await refused(engine, lambda ask=ask: engine.asker.ask(ask, ALL))
        again = Ask(question="Any allergies?", patient="bea", session=first["session_id"])
        await refused(engine, lambda: engine.asker.ask(again, OTHER))

    with_engine(home, work)


def test_a_question_without_a_patient_sees_no_record(home: Path) -> None:
    async def work(engine: Engine) -> str:
        seen = []
        for question in (
            "Which medicines does zqbeta take?",
            "Any allergies?",
            "Discharge summary?",
        ):
            body = await engine.asker.ask(Ask(question=question), ANN)
            seen += [body["answer"], body["citations"], await engine.prompt(body["turn_id"], ANN)]
        return json.dumps(seen).lower().replace("which medicines does zqbeta take?", "")

    text = with_engine(home, work)
    assert marks(text, THEIRS) | marks(text, ELSEWHERE) | marks(text, MINE) <= {THEIRS}


def test_what_another_person_asked_without_a_patient_stays_theirs(home: Path) -> None:
    """A general question may hold anything: a caller who is bound to patients reads only their own."""

    async def work(engine: Engine) -> None:
        asked = await engine.asker.ask(Ask(question="Is zqbetaplain better?"), ALL)
        await refused(engine, lambda: engine.turn(asked["turn_id"], ANN))
        await refused(engine, lambda: engine.prompt(asked["turn_id"], ANN))
        await refused(engine, lambda: engine.trace(asked["turn_id"], ANN))
        messages = await engine.store.read(
            lambda c: [
                row.id
                for row in c.execute(
                    select(source.c.id).where(source.c.session == asked["session_id"])
                )
            ]
        )
        assert messages
        for name in messages:
            await refused(engine, lambda name=name: engine.source(name, ANN))
        own = await engine.asker.ask(Ask(question="Is aspirin useful?"), ANN)
        assert (await engine.turn(own["turn_id"], ANN))["turn_id"] == own["turn_id"]

    with_engine(home, work)


@pytest.fixture
def http(home: Path) -> Iterator[TestClient]:
    with TestClient(
        create_app(engine_of(home)), base_url="http://127.0.0.1", raise_server_exceptions=False
    ) as made:
        expires = int(time.time()) + 600
        signed = token(SECRET, actor="dr-a", patients=("ann",), expires=expires)
        made.headers["authorization"] = f"Bearer {signed}"
        yield made


@pytest.mark.requirement("RELIABILITY-15")
@pytest.mark.timeout(120)
def test_no_route_shows_another_patient_to_a_token_that_does_not_name_her(
    home: Path, http: TestClient
) -> None:
    engine: Engine = http.app.state.engine  # type: ignore[attr-defined]
    sources, turns = ids(engine, source, "default", "bea"), ids(engine, turn, "default", "bea")
    values = {"patient": ["bea"], "source": [*sources[:4], *sources[-4:]], "turn": turns[:2]}
    tried = 0
    for path, methods in http.get("/openapi.json").json()["paths"].items():
        for method in methods:
            for body in (
                {"question": "Any allergies?", "patient": "bea"},
                {"query": "zq", "state": "accepted"},
            ):
                for path_of in _filled(path, values):
                    said = http.request(
                        method.upper(), path_of, json=None if method == "get" else body
                    )
                    assert said.status_code < 500, (method, path_of)
                    assert marks(said.text.lower(), THEIRS) <= {"zqbeta"}, (method, path)
                    if "{patient}" in path or "{turn}" in path or "{source}" in path:
                        assert said.status_code in {403, 404, 422}, (method, path_of)
                    tried += 1
    assert tried > 40
    for page in (
        "/",
        "/patients/bea",
        "/safety",
        "/knowledge",
        *(f"/inspect/{name}" for name in turns[:2]),
    ):
        said = http.get(page, headers={"accept": "text/html"})
        assert said.status_code < 500
        assert marks(said.text.lower(), THEIRS) == set(), page


def _filled(path: str, values: dict[str, list[str]]) -> list[str]:
    for name, given in values.items():
        if "{" + name + "}" in path:
            return [path.replace("{" + name + "}", item) for item in given]
    return [re.sub(r"\{\w+\}", "turn", path)]
