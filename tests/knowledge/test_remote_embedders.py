"""Remote embedders against fakes that behave like the services."""

from __future__ import annotations

import io
import json

import httpx
import numpy as np
import pytest

from bedside.core.errors import Unavailable
from bedside.knowledge.embed.remote import GoogleEmbedder, OpenAIEmbedder, TitanEmbedder
from bedside.testing.embedder import EmbedderContract, HashedEmbedder

INNER = HashedEmbedder(dim=32)


def vectors(texts: list[str]) -> list[list[float]]:
    return (INNER.embed([t if t != " " else "" for t in texts], kind="query") * 3).tolist()


def openai_service(request: httpx.Request) -> httpx.Response:
    if request.headers.get("authorization") != "Bearer key":
        return httpx.Response(401, json={"error": "no"})
    texts = json.loads(request.content)["input"]
    data = [{"index": i, "embedding": row} for i, row in enumerate(vectors(texts))]
    return httpx.Response(200, json={"data": data[::-1]})  # the index, not the order, says which


def google_service(request: httpx.Request) -> httpx.Response:
    instances = json.loads(request.content)["instances"]
    if len(instances) > 5:
        return httpx.Response(400)
    rows = vectors([item["content"] for item in instances])
    return httpx.Response(
        200, json={"predictions": [{"embeddings": {"values": row}} for row in rows]}
    )


class Bedrock:
    def invoke_model(self, *, modelId: str, body: str):  # noqa: N803
        assert modelId == "amazon.titan-embed-text-v2:0"
        asked = json.loads(body)
        (row,) = vectors([asked["inputText"]])
        return {"body": io.BytesIO(json.dumps({"embedding": row[: asked["dimensions"]]}).encode())}


def openai(key: str = "key", handler=openai_service, **more) -> OpenAIEmbedder:
    client = httpx.Client(transport=httpx.MockTransport(handler))
    return OpenAIEmbedder(
        client=client, base="http://localhost/v1/", model="m", key=key, **{"dim": 32, **more}
    )


class TestOpenAI(EmbedderContract):
    def make(self) -> OpenAIEmbedder:
        return openai()


class TestGoogle(EmbedderContract):
    def make(self) -> GoogleEmbedder:
        client = httpx.Client(transport=httpx.MockTransport(google_service))
        return GoogleEmbedder(
            client=client, url="http://localhost/p:predict", token=lambda: "t", dim=32
        )


class TestTitan(EmbedderContract):
    def make(self) -> TitanEmbedder:
        return TitanEmbedder(client=Bedrock(), dim=32)


def test_queries_and_passages_are_told_apart() -> None:
    seen: list[object] = []

    def note(request: httpx.Request) -> httpx.Response:
        seen.append(json.loads(request.content))
        return (
            google_service(request) if b"instances" in request.content else openai_service(request)
        )

    client = httpx.Client(transport=httpx.MockTransport(note))
    google = GoogleEmbedder(client=client, url="http://localhost/p", token=lambda: "t", dim=32)
    for kind in ("query", "passage"):
        google.embed(["x"], kind=kind)
        openai(handler=note, prefixes=("query: ", "passage: ")).embed(["x"], kind=kind)
    assert [body["instances"][0]["task_type"] for body in seen[::2]] == [
        "RETRIEVAL_QUERY",
        "RETRIEVAL_DOCUMENT",
    ]
    assert [body["input"] for body in seen[1::2]] == [["query: x"], ["passage: x"]]


def test_vectors_of_another_size_are_refused() -> None:
    with pytest.raises(Unavailable, match=r"\[32\] columns for 1 texts of 1536"):
        openai(dim=1536).embed(["x"], kind="query")


def test_a_refused_key_a_dead_line_and_a_strange_answer_are_unavailable() -> None:
    def dead(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no route", request=request)

    for embedder in (
        openai(key="wrong"),
        openai(handler=dead),
        openai(handler=lambda r: httpx.Response(200, json={"x": 1})),
    ):
        with pytest.raises(Unavailable):
            embedder.embed(["secret text"], kind="query")


def test_failures_never_repeat_the_text() -> None:
    with pytest.raises(Unavailable) as caught:
        openai(key="wrong").embed(["Ann Smith has HIV"], kind="passage")
    assert "Ann" not in str(caught.value)


def test_rows_come_back_in_order_and_of_norm_1() -> None:
    rows = openai().embed(["asthma", "gout"], kind="passage")
    assert np.allclose(rows, INNER.embed(["asthma", "gout"], kind="passage"), atol=1e-6)
