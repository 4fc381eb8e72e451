"""Embedders on the network: OpenAI-compatible, Amazon Titan v2, Google text-embedding-005.

Making one sends nothing; wiring makes one only where settings name it and egress allows it (EN-S7).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import httpx
import numpy as np

from bedside.core.errors import Unavailable
from bedside.knowledge.embed.protocol import Floats2d, Kind, unit_rows

__all__ = ["BedrockRuntime", "GoogleEmbedder", "OpenAIEmbedder", "TitanEmbedder"]

_MOST_CHARS = 24_000
_OVERLAP = 400
_GOOGLE_TASKS = {"query": "RETRIEVAL_QUERY", "passage": "RETRIEVAL_DOCUMENT"}


class _Remote:
    """What the three share: sizes, windows by characters, and the check of what came back."""

    def __init__(self, name: str, *, dim: int, threshold: float, batch: int, longest: int) -> None:
        self._name, self._dim, self._threshold = name, dim, threshold
        self._batch, self._longest = batch, longest

    @property
    def id(self) -> str:
        """Provider, model and size."""
        return f"{self._name}:{self._dim}"

    @property
    def dim(self) -> int:
        """As named in the settings; checked against every answer."""
        return self._dim

    @property
    def threshold(self) -> float:
        """As given."""
        return self._threshold

    def windows(self, text: str) -> Sequence[str]:
        """Stretches that the model reads at once, cut at blanks, overlapping a little."""
        found: list[str] = []
        start = 0
        while len(text) - start > self._longest:
            blank = text.rfind(" ", start + self._longest // 2, start + self._longest)
            stop = blank if blank > 0 else start + self._longest
            found.append(text[start:stop])
            start = max(stop - _OVERLAP, start + 1)
        return [*found, text[start:]]

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Floats2d:
        """Unit vectors, shape (len(texts), dim).

        Raises:
            Unavailable: No answer, a failure, or vectors of another size.
        """
        rows: list[Sequence[float]] = []
        for at in range(0, len(texts), self._batch):
            batch = [text or " " for text in texts[at : at + self._batch]]
            try:
                rows.extend(self._ask(batch, kind))
            except (KeyError, TypeError, ValueError) as error:
                raise Unavailable(self._name, why="its answer has another shape") from error
        if len(rows) != len(texts) or any(len(row) != self._dim for row in rows):
            sizes = sorted({len(row) for row in rows})
            raise Unavailable(
                self._name,
                why=f"it gave {len(rows)} vectors of {sizes} columns for {len(texts)} texts of {self._dim}",
                do="Set the dimension that the model gives.",
            )
        return unit_rows(np.asarray(rows, dtype=np.float32).reshape(len(texts), self._dim))

    def _ask(self, texts: Sequence[str], kind: Kind) -> list[Sequence[float]]:
        raise NotImplementedError

    def _post(self, client: httpx.Client, url: str, **request: Any) -> Any:
        try:
            answer = client.post(url, **request)
            answer.raise_for_status()
        except httpx.HTTPStatusError as error:
            raise Unavailable(self._name, why=f"HTTP {error.response.status_code}") from error
        except httpx.HTTPError as error:
            raise Unavailable(self._name, why=type(error).__name__) from error
        return answer.json()


class OpenAIEmbedder(_Remote):
    """`POST {base}/embeddings` as OpenAI, vLLM, Ollama and llama.cpp serve it.

    `prefixes` go before queries and passages, for models that tell them apart by words ("query: ").
    """

    def __init__(
        self,
        *,
        client: httpx.Client,
        base: str,
        model: str,
        key: str | None,
        dim: int,
        threshold: float = 0.3,
        prefixes: tuple[str, str] = ("", ""),
    ) -> None:
        super().__init__(
            f"openai-compatible:{model}",
            dim=dim,
            threshold=threshold,
            batch=64,
            longest=_MOST_CHARS,
        )
        self._client, self._url, self._model = client, f"{base.rstrip('/')}/embeddings", model
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._prefixes = prefixes

    def _ask(self, texts: Sequence[str], kind: Kind) -> list[Sequence[float]]:
        prefix = self._prefixes[0 if kind == "query" else 1]
        body = {"model": self._model, "input": [prefix + text for text in texts]}
        answer = self._post(self._client, self._url, json=body, headers=self._headers)
        rows = sorted(answer["data"], key=lambda row: row["index"])
        return [row["embedding"] for row in rows]


class GoogleEmbedder(_Remote):
    """Vertex AI `text-embedding-005`, 768 columns, with its task types.

    `url` is the model's `:predict` address; `token` gives a fresh access token for each call.
    """

    def __init__(
        self,
        *,
        client: httpx.Client,
        url: str,
        token: Callable[[], str],
        dim: int = 768,
        threshold: float = 0.5,
    ) -> None:
        super().__init__(
            "google:text-embedding-005", dim=dim, threshold=threshold, batch=5, longest=6_000
        )
        self._client, self._url, self._token = client, url, token

    def _ask(self, texts: Sequence[str], kind: Kind) -> list[Sequence[float]]:
        task = _GOOGLE_TASKS[kind]
        body = {
            "instances": [{"content": text, "task_type": task} for text in texts],
            "parameters": {"outputDimensionality": self._dim},
        }
        headers = {"Authorization": f"Bearer {self._token()}"}
        answer = self._post(self._client, self._url, json=body, headers=headers)
        return [row["embeddings"]["values"] for row in answer["predictions"]]


class BedrockRuntime(Protocol):
    """The one call of boto3's `bedrock-runtime` client that is used."""

    def invoke_model(self, *, modelId: str, body: str) -> Any:  # noqa: N803 - boto3's own names
        """Run a model; `["body"].read()` of the answer is its JSON."""
        ...


class TitanEmbedder(_Remote):
    """Amazon Titan Text Embeddings V2, 1,024 columns unless told otherwise."""

    def __init__(self, *, client: BedrockRuntime, dim: int = 1_024, threshold: float = 0.3) -> None:
        super().__init__(
            "bedrock:amazon.titan-embed-text-v2:0",
            dim=dim,
            threshold=threshold,
            batch=1,
            longest=20_000,
        )
        self._client = client

    def _ask(self, texts: Sequence[str], kind: Kind) -> list[Sequence[float]]:
        del kind  # Titan reads queries and passages alike
        from botocore.exceptions import BotoCoreError, ClientError

        rows: list[Sequence[float]] = []
        for text in texts:
            body = json.dumps({"inputText": text, "dimensions": self._dim, "normalize": True})
            try:
                answer = self._client.invoke_model(
                    modelId="amazon.titan-embed-text-v2:0", body=body
                )
            except (BotoCoreError, ClientError) as error:
                raise Unavailable(self._name, why=type(error).__name__) from error
            rows.append(json.loads(answer["body"].read())["embedding"])
        return rows
