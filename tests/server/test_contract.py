"""The HTTP door of the contract: events and their order, the OpenAI form, and errors that say what to do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openai import NotFoundError, OpenAI

P = "demo-adeyemi"
ASK = {"question": "What is her latest HbA1c?", "patient": P}


def frames(text: str) -> list[tuple[str, Any]]:
    found = []
    for frame in text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in frame.splitlines())
        found.append((lines["event"], json.loads(lines["data"])))
    return found


def test_a_streamed_citation_is_the_one_of_the_finished_turn(client):
    told = frames(client.post("/v1/ask", json=ASK, headers={"Accept": "text/event-stream"}).text)
    names = [name for name, _ in told]
    assert (names[0], names[-1]) == ("plan", "done")
    assert set(names[1:-1]) == {"delta", "citation"}
    turn = told[-1][1]
    assert [body for name, body in told if name == "citation"] == turn["citations"]
    assert "".join(body["text"] for name, body in told if name == "delta") == turn["answer"]
    assert told[0][1] == {name: turn["plan"][name] for name in told[0][1]}


def test_a_stream_that_cannot_begin_ends_with_an_error_event(client):
    answer = client.post(
        "/v1/ask",
        json={"question": "hi", "patient": "nobody"},
        headers={"Accept": "text/event-stream"},
    )
    ((name, body),) = frames(answer.text)
    assert name == "error"
    assert body.keys() == {"type", "title", "detail"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"question": "hi", "mode": "x"}, "'casual', 'default', 'synopsis', 'plan', 'broad'"),
        ({"question": "hi", "bogus": 1}, "body.bogus: Extra inputs are not permitted"),
        ({}, "body.question: Field required"),
        ({"question": 7}, "body.question: Input should be a valid string"),
    ],
)
def test_a_request_that_does_not_fit_says_what_would(client, body, said):
    answer = client.post("/v1/ask", json=body)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem.keys() == {"type", "title", "status", "detail"}
    assert said in problem["detail"]


def test_no_problem_repeats_what_was_sent(client):
    name = "Quillfeather"
    for body in (
        {"question": [name]},
        {"question": {name: name}},
        {"question": "hi", "mode": name},
        {"question": "hi", "documents": name},
        {"question": "x" * 100_000 + name},
    ):
        answer = client.post("/v1/ask", json=body)
        assert answer.status_code == 422
        assert name not in answer.text


@pytest.mark.parametrize(
    ("route", "kept"), [("/v1/import", "patients"), ("/v1/documents", "documents")]
)
def test_uploads_that_are_all_rejected_are_a_problem_that_keeps_the_report(client, route, kept):
    answer = client.post(route, files={"files": ("bad.pdf", b"{broken")})
    assert answer.status_code == 422
    problem = answer.json()
    assert (problem["type"], problem["status"]) == ("urn:bedside:problem:BadInput", 422)
    assert [item["path"] for item in problem["rejected"]] == ["bad.pdf"]
    assert not problem[kept]


def test_knowledge_comes_in_with_every_label_that_the_command_line_has(client):
    form = {
        "id": "g1", "title": "Zebra fever", "specialty": "zebras", "type": "protocol",
        "conditions": "zebra fever, stripes", "drugs": "zebracillin", "published": "2025-01-01",
    }  # fmt: skip
    file = ("g.md", b"# Zebra fever\n\nGive zebracillin for zebra fever.\n")
    report = client.post("/v1/documents", data=form, files={"files": file}).json()
    assert (report["documents"], report["ids"]) == (1, ["g1"])
    asked = {"query": "zebra fever", "condition": "stripes", "drug": "zebracillin"}
    (hit,) = client.post("/v1/search", json=asked).json()["hits"]
    assert (hit["document_id"], hit["document"]) == ("g1", "Zebra fever")


@pytest.fixture
def openai(client):
    """The official client on this server."""
    return OpenAI(
        api_key="none",
        base_url="http://127.0.0.1/v1",
        http_client=client,
        default_headers={"Bedside-Patient": P},
        max_retries=0,
    )


MESSAGES: list[Any] = [{"role": "user", "content": "What is her latest HbA1c?"}]


def test_the_official_client_reads_an_answer_and_its_stream(openai):
    whole = openai.chat.completions.create(model="bedside/copilot", messages=MESSAGES)
    assert whole.choices[0].finish_reason == "stop"
    said = whole.choices[0].message.content
    assert said.startswith("HbA1c: 8.6 %")
    assert "\n\nSources\n[" in said

    chunks = list(
        openai.chat.completions.create(
            model="bedside/copilot",
            messages=MESSAGES,
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    *texts, last = chunks
    assert "".join(chunk.choices[0].delta.content or "" for chunk in texts) == said
    assert [chunk.choices[0].finish_reason for chunk in texts][-1] == "stop"
    assert last.choices == []
    assert last.usage is not None  # no model was called: its tokens are none, and known
    assert last.usage.total_tokens == 0
    assert len({chunk.id for chunk in chunks}) == 1
    other = openai.chat.completions.create(model="bedside/copilot", messages=MESSAGES, stream=True)
    assert next(iter(other)).id != chunks[0].id


def test_the_official_client_shows_our_words_for_an_error(openai):
    with pytest.raises(NotFoundError) as failed:
        openai.chat.completions.create(model="gpt-9", messages=MESSAGES)
    assert failed.value.body["message"] == (
        "No model of that name (5 characters). Use bedside/copilot, bedside/briefing."
    )


def test_the_official_client_finds_a_model_by_its_name(openai):
    assert {one.id for one in openai.models.list()} == {"bedside/copilot", "bedside/briefing"}
    assert openai.models.retrieve("bedside/copilot").id == "bedside/copilot"
    with pytest.raises(NotFoundError) as failed:
        openai.models.retrieve("gpt-9")
    assert "Use bedside/copilot" in failed.value.body["message"]
