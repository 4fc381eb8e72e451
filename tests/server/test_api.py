"""The HTTP API: the contract's operations, errors as problems, nothing leaked."""

from __future__ import annotations

import json
import logging

import pytest

P = "demo-adeyemi"


def ask(client, question="latest HbA1c?", **more):
    return client.post("/v1/ask", json={"question": question, "patient": P, **more})


def test_an_answer_quotes_stored_text_exactly_and_its_source_can_be_read_back(client):
    turn = ask(client).json()
    assert turn["status"] == "complete"
    assert turn["answered_by"] == "rules"
    assert turn["citations"]
    for cited in turn["citations"]:
        source = client.get(
            f"/v1/sources/{cited['source']['id']}",
            params={
                "start": cited["start"],
                "end": cited["end"],
                "revision": cited["source"]["revision"],
            },
        ).json()
        assert source["text"] == cited["quote"]


def test_a_stream_gives_plan_then_text_then_the_same_turn(client):
    with client.stream(
        "POST",
        "/v1/ask",
        json={"question": "latest HbA1c?", "patient": P},
        headers={"Accept": "text/event-stream"},
    ) as answer:
        raw = answer.read().decode()
    names = [line[7:] for line in raw.splitlines() if line.startswith("event: ")]
    bodies = [json.loads(line[6:]) for line in raw.splitlines() if line.startswith("data: ")]
    assert names[0] == "plan"
    assert names[-1] == "done"
    said = "".join(
        body["text"] for name, body in zip(names, bodies, strict=True) if name == "delta"
    )
    assert said == bodies[-1]["answer"]


def test_context_assembles_and_calls_no_model(client):
    turn = client.post(
        "/v1/context", json={"question": "summarise this patient", "patient": P}
    ).json()
    assert turn["calls"] == []
    assert turn["answered_by"] is None
    assert "summarise this patient" in turn["prompt"][-1]["content"]
    assert turn["receipt"]["total"] <= turn["receipt"]["limit"] == 6000


def test_the_turn_holds_to_its_own_schema(client):
    import jsonschema_rs

    schema = client.get("/v1/schema/turn").json()
    validator = jsonschema_rs.validator_for(schema)
    for question in ("latest HbA1c?", "Is metformin still safe for her?", "hello"):
        errors = [
            str(error.instance_path)
            for error in validator.iter_errors(ask(client, question).json())
        ]
        assert errors == []


@pytest.mark.requirement("EN-S5")
@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/ask", {"question": "  ", "patient": P}, 422),
        ("/v1/ask", {"question": "x", "patient": "nobody"}, 404),
        ("/v1/ask", {"question": "x", "patient": P, "select": ["none"], "mode": "loud"}, 422),
        ("/v1/ask", {"question": "x", "unknown": 1}, 422),
        ("/v1/ask", {"question": "x" * 20_001}, 422),
        ("/v1/ask", {"question": "x", "patient": P, "audience": "patient"}, 403),
        ("/v1/ask", {"question": "x", "session": "s", "model": "nobody:x"}, 422),
        ("/v1/search", {"query": ""}, 422),
        ("/v1/search", {"query": "x", "limit": 0}, 422),
    ],
)
def test_bad_input_gets_a_problem_and_the_next_request_works(client, path, body, status):
    answer = client.post(path, json=body)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found = answer.json()
    assert found["status"] == status
    assert found["title"]
    assert ask(client).status_code == 200


def test_unknown_things_are_not_found(client):
    for path in (
        "/v1/sources/none",
        "/v1/turns/none",
        "/v1/turns/none/trace",
        "/v1/patients/none/opening",
        "/nowhere",
    ):
        answer = client.get(path)
        assert answer.status_code == 404, path
        assert answer.headers["content-type"] == "application/problem+json"


def test_an_idempotency_key_answers_once(client):
    one = client.post(
        "/v1/ask",
        json={"question": "latest HbA1c?", "patient": P},
        headers={"Idempotency-Key": "k1"},
    ).json()
    two = client.post(
        "/v1/ask",
        json={"question": "latest HbA1c?", "patient": P},
        headers={"Idempotency-Key": "k1"},
    ).json()
    other = client.post(
        "/v1/ask", json={"question": "latest LDL?", "patient": P}, headers={"Idempotency-Key": "k1"}
    )
    assert one == two
    assert other.status_code == 409


@pytest.mark.requirement("EN-S8")
def test_an_answer_is_a_draft_until_accepted_and_a_report_reaches_the_inbox(client):
    turn = ask(client).json()
    assert turn["review"]["state"] == "draft"
    assert (
        client.post(f"/v1/turns/{turn['turn_id']}/review", json={"state": "accepted"}).json()[
            "state"
        ]
        == "accepted"
    )
    assert client.get(f"/v1/turns/{turn['turn_id']}").json()["review"]["state"] == "accepted"
    client.post(
        f"/v1/turns/{turn['turn_id']}/reports",
        json={"target": "claim:0", "kind": "wrong", "note": "old value"},
    )
    inbox = client.get("/v1/reports").json()
    assert [(item["turn"], item["target"], item["note"]) for item in inbox] == [
        (turn["turn_id"], "claim:0", "old value")
    ]


def test_the_openai_endpoint_takes_the_patient_from_the_header_and_adds_sources(client):
    body = {"model": "bedside/copilot", "messages": [{"role": "user", "content": "latest HbA1c?"}]}
    answer = client.post("/v1/chat/completions", json=body, headers={"Bedside-Patient": P}).json()
    content = answer["choices"][0]["message"]["content"]
    assert "\n\nSources\n[" in content
    assert client.get("/v1/models").json()["data"][0]["id"] == "bedside/copilot"
    in_text = {
        "model": "bedside/copilot",
        "messages": [{"role": "user", "content": f"patient {P}: latest HbA1c?"}],
    }
    assert (
        client.post("/v1/chat/completions", json=in_text).json()["bedside"]["basis"]["record_as_of"]
        is None
    )


def test_the_openai_stream_ends_with_done(client):
    body = {
        "model": "bedside/copilot",
        "stream": True,
        "messages": [{"role": "user", "content": "latest HbA1c?"}],
    }
    with client.stream(
        "POST", "/v1/chat/completions", json=body, headers={"Bedside-Patient": P}
    ) as answer:
        lines = [line for line in answer.read().decode().splitlines() if line]
    assert lines[-1] == "data: [DONE]"
    text = "".join(
        json.loads(line[6:])["choices"][0]["delta"].get("content", "") for line in lines[:-1]
    )
    assert "Sources" in text


@pytest.mark.requirement("EN-S4")
def test_patient_text_reaches_no_log_metric_or_error(client, caplog):
    caplog.set_level(logging.DEBUG)
    name = "Zanzibar Quillfeather"
    ask(client, f"latest HbA1c of {name}?")
    client.post("/v1/ask", json={"question": name, "patient": name})
    client.post("/v1/ask", json={"question": {"deep": name}})
    client.post(
        "/v1/import",
        files={"files": ("x.json", json.dumps({"resourceType": "Patient", "name": name}))},
    )
    metrics = client.get("/metrics").text
    assert "bedside_requests_total" in metrics
    for text in (
        caplog.text,
        metrics,
        client.post("/v1/ask", json={"question": {"deep": name}}).text,
    ):
        assert "Quillfeather" not in text


def test_a_write_from_another_site_is_refused(client):
    answer = client.post(
        "/v1/ask", json={"question": "x"}, headers={"Sec-Fetch-Site": "cross-site"}
    )
    assert answer.status_code == 403


def test_attaching_gives_words_at_once_and_the_document_is_found(client):
    note = b"# Cardiology letter\n\nDate: 3 November 2026\n\nEchocardiogram: ejection fraction 35 %, moderate mitral regurgitation.\n"
    added = client.post(f"/v1/patients/{P}/documents", files={"files": ("letter.md", note)}).json()
    assert added[0]["status"] == "complete"
    assert added[0]["index"] == "words"
    turn = ask(
        client,
        "What did the cardiology letter say about the ejection fraction?",
        documents=[added[0]["document_id"]],
    ).json()
    assert "35 %" in turn["answer"]
    assert any(cited["source"]["kind"] == "document" for cited in turn["citations"])


@pytest.mark.parametrize("body", [b"", b"\x00\x01\x02" * 50, b"%PDF-1.4 broken"])
def test_a_document_that_cannot_be_read_changes_nothing(client, body):
    before = client.get(f"/v1/patients/{P}/documents").json()
    answer = client.post(f"/v1/patients/{P}/documents", files={"files": ("scan.pdf", body)})
    assert answer.status_code == 422
    assert client.get(f"/v1/patients/{P}/documents").json() == before
