"""The desk, the figures, erasure, and the HTTP door."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace

import anyio
import pytest
from fastapi.testclient import TestClient

from bedside.core.errors import AccessDenied, BadInput, InvalidArgument
from bedside.flows.intake.case import change
from bedside.flows.intake.matcher import catalogue, rank, reasons_in
from bedside.flows.intake.writer import House
from bedside.server.app import create_app
from bedside.settings import load_settings
from bedside.sop.find import find
from bedside.sop.state import State
from bedside.wiring import Who, build_engine
from bedside.wiring.intake import contract_text, send, start_case, upload
from bedside.wiring.intake_desk import _apply, case_of, cases, set_field
from bedside.wiring.intake_figures import figures
from bedside.wiring.keeping import erase

SECRET = "a-secret-of-at-least-thirty-two-characters"


@pytest.mark.requirement("IN-03")
def test_the_desk_shows_what_blocks_a_case_and_where_each_value_stands(engine_work):
    async def work(engine):
        who = engine.local()
        case = await start_case(engine, who)
        words = "I need a left knee replacement and I am 62"
        await send(engine, who, case, words)
        urgent = await start_case(engine, who)
        await send(engine, who, urgent, "I want to talk to a person")
        listed = await cases(engine, who)
        shown = await case_of(engine, who, case)
        age = shown["state"]["fields"]["age"]
        source = await engine.source(age["message"], who, start=age["start"], end=age["end"])
        with pytest.raises(AccessDenied):
            await cases(engine, Who(roles=frozenset({"patient"}), patients=frozenset({case})))
        return listed, shown, source

    listed, shown, source = engine_work(work)
    assert listed[0]["urgent"] == 1
    assert "field: funding_source (unasked)" in shown["blocked_by"]
    assert source["text"] == "62"


@pytest.mark.requirement("IN-10")
def test_a_coordinators_value_stays_and_a_conflict_with_it_is_asked_about(engine_work):
    async def work(engine):
        who = engine.local()
        case = await start_case(engine, who)
        await send(engine, who, case, "I need a left knee replacement")
        await set_field(engine, who, case, "age", "64")
        with pytest.raises(InvalidArgument):
            await set_field(engine, who, case, "age", "quite old")
        asked = await send(engine, who, case, "I'm 62")
        settled = await send(engine, who, case, "62")
        return asked, settled

    asked, settled = engine_work(work)
    assert asked["state"]["fields"]["age"]["value"] == 64
    assert asked["asked"] == "@conflict:age"
    assert "64" in asked["answer"]
    assert "62" in asked["answer"]
    assert settled["state"]["fields"]["age"]["value"] == 62
    assert settled["state"]["conflicts"] == []


@pytest.mark.requirement("IN-18", "IN-20")
def test_figures_hold_counts_and_names_of_ours_and_nothing_that_was_said(engine_work):
    canaries = ["Quixotenburg", "Wanjikunda", "sixty-three", "Perupolis"]

    async def work(engine):
        who = engine.local()
        case = await start_case(engine, who)
        for text in (
            "I need a left knee replacement, my name is Wanjikunda Quixotenburg",
            "sixty-three", "Perupolis", "I have chest pain at rest, it is crushing",
        ):  # fmt: skip
            await send(engine, who, case, text)
        return await figures(engine, who), case

    found, case = engine_work(work)
    told = json.dumps(found)
    assert not [word for word in (*canaries, case) if word.casefold() in told.casefold()]
    assert found["turns"] == found["served"] == 4
    assert found["architectures"] == {"flexible": 4}
    assert found["funnel"]["flexible"] == {"start": 1, "engaged": 1, "matched": 0, "consented": 0}
    assert found["alerts"] == []


@pytest.mark.requirement("IN-19")
def test_every_turn_is_stamped_with_what_decided_it(engine_work):
    async def work(engine):
        who = engine.local()
        case = await start_case(engine, who)
        first = await send(engine, who, case, "I need a left knee replacement")
        same = await send(engine, who, case, "?")
        paper = b"Knee X-ray report\nDate: 3 March 2026\nGrade 4 osteoarthritis of the left knee.\n"
        await upload(engine, who, case, "knee.txt", paper)
        later = await send(
            engine, who, case, "I am 62. Please note that I will send my ECG on Friday."
        )
        return first["stamps"], same["stamps"], later["stamps"], later["state"]

    first, same, later, state = engine_work(work)
    assert {
        "architecture", "version", "source", "sop", "state_revision", "documents",
        "processed_documents", "promises", "observations", "fallback_reason",
    } <= first.keys()  # fmt: skip
    assert (first["architecture"], first["source"], first["sop"]) == ("flexible", "default", "TKR")
    assert first["state_revision"] != later["state_revision"]
    assert first["documents"] == {}
    assert sum(later["documents"].values()) == 1 == len(state["documents"])
    assert (same["turn"], later["turn"]) == (first["turn"] + 1, first["turn"] + 3)
    assert later["fallback_reason"] is None


def _window(**more) -> dict:
    none = dict.fromkeys(
        ("turns", "served", "fell_through", "ceiling_hits", "voice_failures", "by_model"), 0
    )
    return {**none, "sources": {}, **more}


@pytest.mark.requirement("IN-20")
@pytest.mark.parametrize(
    ("hour", "day", "alerts"),
    [
        ({}, {}, set()),
        ({"turns": 100, "served": 100, "by_model": 100}, {"by_model": 100}, set()),
        ({"turns": 100, "served": 94, "fell_through": 6}, {}, {"fallbacks", "served"}),
        ({"turns": 100, "served": 96, "fell_through": 4}, {}, set()),
        ({"turns": 9, "served": 9, "ceiling_hits": 6}, {}, {"ceiling_hits"}),
        ({"turns": 100, "served": 100, "by_model": 100, "voice_failures": 2},
         {"by_model": 1_000, "voice_failures": 2}, {"voice_failures"}),
        ({"turns": 100, "served": 100, "by_model": 100, "voice_failures": 12},
         {"by_model": 1_000, "voice_failures": 12}, {"voice_failures", "safety"}),
        ({}, {"turns": 100, "sources": {"force": 2}}, {"forced"}),
    ],
)  # fmt: skip
def test_alerts_stand_over_their_limits_and_never_on_nothing(hour, day, alerts):
    from bedside.wiring.intake_figures import alerts_of

    assert {one["alert"] for one in alerts_of(_window(**hour), _window(**day))} == alerts


@pytest.mark.requirement("IN-18")
def test_an_erased_case_leaves_no_state_document_message_or_trace(engine_work, tmp_path):
    canary = "Zygomorphalia"

    async def work(engine):
        who = engine.local()
        case = await start_case(engine, who)
        await send(engine, who, case, f"I need a knee replacement, my name is {canary}")
        with contextlib.suppress(BadInput):
            await upload(
                engine, who, case, "note.txt", f"{canary} blood test, Hb 13.1 g/dL".encode()
            )
        await engine.turning.settled()
        receipt = await erase(engine, case, who, by_id=True)
        return receipt, await cases(engine, who)

    receipt, left = engine_work(work)
    assert receipt["residual_bytes"] == 0
    assert receipt["removed"]["state"] == 1
    assert receipt["removed"]["turn"] >= 1
    assert left == []
    for path in (tmp_path / "home").rglob("*"):
        if path.is_file():
            assert canary.encode() not in path.read_bytes(), path.name


@pytest.fixture
def client(tmp_path):
    engine = build_engine(
        load_settings(
            home=tmp_path / "home",
            environ={"BEDSIDE_EMBEDDER": "none", "BEDSIDE_TOKEN_SECRET": SECRET},
        )
    )
    with TestClient(create_app(engine), base_url="http://127.0.0.1") as made:
        yield made


def bearer(*roles: str, patients=None) -> dict[str, str]:
    from bedside.server.auth import token

    text = token(SECRET, actor="u", roles=roles, patients=patients, expires=4_102_444_800)
    return {"Authorization": f"Bearer {text}"}


@pytest.mark.requirement("IN-03")
def test_a_link_resumes_its_own_case_and_opens_no_other(client):
    desk = bearer("clinician", "coordinator")
    one = client.post("/v1/intake/cases", json={"procedure": "TKR"}, headers=desk).json()
    two = client.post("/v1/intake/cases", json={}, headers=desk).json()
    assert one["turn"]["state"]["sop"] == "TKR"
    assert "AI" in one["turn"]["answer"]
    link = {"Authorization": f"Bearer {one['link']}"}
    path = f"/v1/intake/cases/{one['case']}"
    said = client.post(f"{path}/messages", json={"text": "the left one"}, headers=link)
    assert said.json()["state"]["fields"]["procedure_side"]["value"] == "left"
    assert client.get(path, headers=link).json()["state"]["turn"] == 2
    foreign = f"/v1/intake/cases/{two['case']}"
    assert client.get(foreign, headers=link).status_code == 403
    assert client.post(f"{foreign}/messages", json={"text": "hi"}, headers=link).status_code == 403
    assert client.get("/v1/intake/cases", headers=link).status_code == 403
    assert client.post(f"{path}/messages", json={"text": " "}, headers=link).status_code == 422
    unknown = client.post("/v1/intake/cases/case-none/messages", json={"text": "hi"}, headers=desk)
    assert unknown.status_code == 404
    assert client.post(f"{path}/messages", json={"act": "person"}, headers=link).status_code == 200


def test_a_turn_streams_and_ends_with_its_json(client):
    desk = bearer("clinician")
    case = client.post("/v1/intake/cases", json={}, headers=desk).json()["case"]
    with client.stream(
        "POST", f"/v1/intake/cases/{case}/messages", json={"text": "I need a hip replacement"},
        headers={**desk, "Accept": "text/event-stream"},
    ) as answer:  # fmt: skip
        text = "".join(answer.iter_text())
    events = [block.split("\n", 1) for block in text.strip().split("\n\n")]
    assert events[0][0] == "event: plan"
    assert events[-1][0] == "event: done"
    done = json.loads(events[-1][1].removeprefix("data: "))
    assert done["status"] == "intake"
    assert done["turn_status"] == "complete"


@pytest.mark.requirement("IN-22", "IN-13")
def test_a_contract_is_saved_with_its_lint_and_an_invalid_one_changes_nothing(client, tmp_path):
    admin = bearer("admin", "clinician")
    shown = client.get("/v1/sops/TKR", headers=admin).json()
    text = shown["yaml"]
    assert shown["saved"] == 0
    named = {"yaml": text, "expected": shown["saved"]}
    saved = client.put("/v1/sops/TKR", json=named, headers=admin)
    assert saved.status_code == 200
    assert saved.json()["version"] == 1
    assert client.get("/v1/sops/TKR", headers=admin).json()["saved"] == 1
    assert client.put("/v1/sops/TKR", json={"yaml": "id: TKR"}, headers=admin).status_code == 422
    ordering = text.replace("A blood thinner calls for", "You should stop the blood thinner;")
    assert ordering != text
    refused = client.put("/v1/sops/TKR", json={"yaml": ordering}, headers=admin)
    assert refused.status_code == 422
    stale = client.put("/v1/sops/TKR", json={"yaml": text, "expected": 0}, headers=admin)
    assert stale.status_code == 409
    assert len(client.get("/v1/sops/TKR/history", headers=admin).json()) == 1
    assert (
        client.put("/v1/sops/TKR", json={"yaml": text}, headers=bearer("coordinator")).status_code
        == 403
    )
    figures_ = client.get("/v1/intake/figures?form=prometheus", headers=admin)
    assert "bedside_intake_turns" in figures_.text


def test_contract_text_is_none_where_there_is_none(tmp_path):
    async def go():
        engine = build_engine(load_settings(home=tmp_path, environ={"BEDSIDE_EMBEDDER": "none"}))
        try:
            return [await contract_text(engine, engine.local(), one) for one in ("NONE", "../TKR")]
        finally:
            await engine.close()

    assert anyio.run(go) == [None, None]


@pytest.mark.requirement("IN-07")
def test_who_looks_between_two_turns_sees_a_file_as_it_is_by_then(engine_work):
    async def work(engine):
        who = engine.local()
        case = await start_case(engine, who)
        await send(engine, who, case, "I need a left knee replacement")
        paper = b"Knee X-ray report\nDate: 3 March 2026\nGrade 4 osteoarthritis of the left knee.\n"
        await upload(engine, who, case, "knee.txt", paper)
        before = await case_of(engine, who, case)
        await engine.turning.jobs.run_waiting()
        return before, await case_of(engine, who, case)

    before, after = engine_work(work)
    (was,) = before["state"]["documents"].values()
    (now,) = after["state"]["documents"].values()
    assert was["status"] == "queued"
    assert now["status"] == "complete"
    assert now["findings"]
    assert now["last_seen_turn"] == was["last_seen_turn"]


@pytest.mark.requirement("IN-07")
def test_the_desk_says_what_blocks_a_case_as_its_documents_are_now(engine_work):
    # A file that is read between two turns blocks nothing from then on, in the list as in the case.
    report = (
        b"X-RAY LEFT KNEE\n\nFINDINGS\nMedial joint space narrowing.\n\nIMPRESSION\nOsteoarthritis."
    )

    async def work(engine):
        who = engine.local()
        case = await start_case(engine, who)
        await send(engine, who, case, "I need a left knee replacement")
        await _apply(
            engine, who, [case], lambda _: (change("status", "consultation"),), purpose="t"
        )
        before = (await cases(engine, who))[0]["blocked_by"]
        await upload(engine, who, case, "knee xray.txt", report)
        await engine.turning.jobs.run_waiting()
        return before, (await cases(engine, who))[0]["blocked_by"], await case_of(engine, who, case)

    before, after, shown = engine_work(work)
    assert set(before) - set(after) == {"document: knee_xray (missing)"}
    assert after == shown["blocked_by"]


def test_the_desk_tells_a_coordinators_message_from_the_persons(engine_work):
    async def work(engine):
        local = engine.local()
        case = await start_case(engine, local)
        person = Who(
            actor=f"patient:{case}", roles=frozenset({"patient"}), patients=frozenset({case})
        )
        staff = Who(actor="amal", roles=frozenset({"coordinator"}))
        await send(engine, person, case, "I need a left knee replacement")
        await send(engine, staff, case, "She told me by telephone that she is 62")
        await send(engine, local, case, "I live in Kenya")
        return await case_of(engine, staff, case)

    shown = engine_work(work)
    assert [one["by"] for one in shown["conversation"]] == [
        "person", "bedside", "coordinator", "bedside", "person", "bedside",
    ]  # fmt: skip
    assert shown["conversation"][2]["text"].startswith("She told me")


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("ar", ("حاصل على اعتماد", "يقع في بلد الإقامة")),
        ("hi", ("मान्यता प्राप्त", "आपके रहने के देश में है")),
    ],
)
def test_the_reasons_of_a_match_are_told_in_the_cases_language(language, words) -> None:
    contract = find("TKR")
    state = replace(State.new(contract), language=language).with_value(
        "country_of_residence", "India", said="India"
    )
    first, *_ = rank(contract, state, catalogue())
    told = reasons_in(first, language, "")
    assert first.reasons == reasons_in(first, "en", "")
    assert set(words) <= set(told)
    assert not any("a" <= char <= "z" for one in told for char in one.casefold())


def test_only_the_fictional_list_is_called_a_sample() -> None:
    own = {"pack": {"providers": {"providers": []}}}
    assert House.of({}).sample
    assert not House.of(own).sample
