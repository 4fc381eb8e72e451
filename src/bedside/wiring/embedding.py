"""The embedder that the settings name, and what is sent to one that is not on this machine."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

from bedside.core.clock import Clock
from bedside.core.errors import InvalidArgument, MissingExtra, OutsideError, Unavailable
from bedside.core.turn import Route
from bedside.models.address import address_of, is_local
from bedside.models.config import ModelsConfig
from bedside.models.egress import allow
from bedside.settings import Settings

__all__ = ["Elsewhere", "Sent", "make_embedder"]

_SERVED = re.compile(r"openai:(.+)@([1-9]\d{0,4})")
_NAMED = {"google:text-embedding-005": "google", "bedrock:amazon.titan-embed-text-v2:0": "bedrock"}
_SECONDS, _CONNECT_SECONDS = 20.0, 5.0
_REST_SECONDS = 30.0
"""So long nothing is asked of an embedder elsewhere that has just failed."""
_SLOW_SECONDS = 1.2
"""While a question has waited longer, no other is asked: a silent embedder costs one turn its time."""


class Sent:
    """Where the texts of one turn went to be embedded. Once told, nothing more of the turn goes."""

    def __init__(self) -> None:
        self._lock, self._to, self._told = threading.Lock(), list[str](), False

    def note(self, provider: str) -> None:
        """Say that a text is about to go there.

        Raises:
            Unavailable: The turn has said where its texts went; what comes later stays here.
        """
        with self._lock:
            if self._told:
                raise Unavailable(provider, why="the turn has ended, so nothing more is sent")
            if provider not in self._to:
                self._to.append(provider)

    def tell(self) -> tuple[str, ...]:
        """The providers that texts went to, in order; from now on none goes."""
        with self._lock:
            self._told = True
            return tuple(self._to)


class Elsewhere:
    """An embedder that is not on this machine, named in `egress.allow`.

    Passages go as they are: wiring gives it those of guidelines alone. A question goes only through
    `asking`, where somebody has said what to take out of it and where to note that it went.
    """

    def __init__(self, inner: Any, *, provider: str, clock: Clock) -> None:
        self._inner, self.provider, self._clock = inner, provider, clock
        self._rests_until = float("-inf")
        self._waiting: dict[object, float] = {}  # questions under way, and since when

    @property
    def id(self) -> str:
        """The embedder's own."""
        return str(self._inner.id)

    @property
    def dim(self) -> int:
        """The embedder's own."""
        return int(self._inner.dim)

    @property
    def threshold(self) -> float:
        """The embedder's own."""
        return float(self._inner.threshold)

    def windows(self, text: str) -> Sequence[str]:
        """The embedder's own."""
        return self._inner.windows(text)

    def embed(self, texts: Sequence[str], *, kind: str) -> Any:
        """Vectors of passages, as they are.

        Raises:
            Unavailable: It did not answer, or the text is a question.
        """
        if kind != "passage":
            raise Unavailable(
                self.id, why="nobody said what to remove from the question", do="Use its words."
            )
        return self._inner.embed(texts, kind="passage")

    def asking(self, hide: Callable[[str], str], sent: Sent) -> _Asking:
        """The same embedder for the questions of one turn: `hide` is applied to every one."""
        return _Asking(self, hide, sent)

    def ask(self, texts: Sequence[str], sent: Sent) -> Any:
        """Vectors of questions whose identifiers are out already; that they go is noted first."""
        now, waits = self._clock.monotonic(), object()
        if now < self._rests_until:
            raise Unavailable(self.id, why="it has just failed, and is left alone for a while")
        if any(now - since > _SLOW_SECONDS for since in tuple(self._waiting.values())):
            raise Unavailable(self.id, why="it has not answered the question before yet")
        sent.note(self.provider)
        self._waiting[waits] = now
        try:
            return self._inner.embed(texts, kind="query")
        except OutsideError:
            self._rests_until = self._clock.monotonic() + _REST_SECONDS
            raise
        finally:
            del self._waiting[waits]


class _Asking:
    """An embedder elsewhere, for the questions of one turn."""

    def __init__(self, outer: Elsewhere, hide: Callable[[str], str], sent: Sent) -> None:
        self._outer, self._hide, self._sent = outer, hide, sent
        self.id, self.dim, self.threshold = outer.id, outer.dim, outer.threshold
        self.windows = outer.windows

    def embed(self, texts: Sequence[str], *, kind: str) -> Any:
        """Vectors of the questions with their identifiers removed.

        Raises:
            Unavailable: It did not answer, has just failed, or the texts are no questions.
        """
        if kind != "query":
            raise Unavailable(self.id, why="a turn embeds questions alone")
        return self._outer.ask([self._hide(text) for text in texts], self._sent)


def make_embedder(settings: Settings, *, config: ModelsConfig, clock: Clock) -> Any:
    """The local model, one on a server or of a provider, or `None` for no embeddings.

    One that is not on this machine comes as `Elsewhere`, and only where `egress.allow` names its
    provider, by the same rule as for models. Making one sends nothing.

    Raises:
        EgressRefused: Its provider is remote and not in `egress.allow`.
        InvalidArgument: A kind of embedder that is none, or an address that is none.
        MissingExtra: Bedrock's SDK is not installed.
    """
    name = settings.embedder
    if name == "none":
        return None
    if name == "local":
        from bedside.knowledge.embed.minilm import MiniLM

        return MiniLM(cache=settings.cache)
    served = _SERVED.fullmatch(name)
    provider = "openai" if served else _NAMED.get(name)
    if provider is None:
        kinds = ", ".join(["local", "none", "openai:MODEL@COLUMNS", *_NAMED])
        raise InvalidArgument("BEDSIDE_EMBEDDER", found=name, want=f"one of {kinds}")
    allow(provider, route=Route(role="mechanic"), config=config)
    if served:
        made = _openai(settings, config, model=served[1], dim=int(served[2]))
    else:
        made = _google(settings, clock) if provider == "google" else _titan(settings, config)
    if is_local(provider, config.provider(provider)):
        return made
    return Elsewhere(made, provider=provider, clock=clock)


def _client() -> Any:
    import httpx

    limits = httpx.Timeout(_SECONDS, connect=_CONNECT_SECONDS)
    return httpx.Client(timeout=limits, follow_redirects=False, trust_env=False)


def _openai(settings: Settings, config: ModelsConfig, *, model: str, dim: int) -> Any:
    from bedside.knowledge.embed.remote import OpenAIEmbedder

    return OpenAIEmbedder(
        client=_client(),
        base=address_of("openai", config.provider("openai")),
        model=model,
        key=settings.openai_api_key or None,
        dim=dim,
    )


def _google(settings: Settings, clock: Clock) -> Any:
    from bedside.knowledge.embed.google import ServiceAccount
    from bedside.knowledge.embed.remote import GoogleEmbedder

    if not settings.google_credentials:
        raise InvalidArgument(
            "GOOGLE_APPLICATION_CREDENTIALS", found="", want="the file of a service account's key"
        )
    client = _client()
    account = ServiceAccount.read(settings.google_credentials, client=client, clock=clock)
    url = account.predict_url(
        "text-embedding-005", region=settings.google_region, base=settings.google_base_url
    )
    return GoogleEmbedder(client=client, url=url, token=account.token)


def _titan(settings: Settings, config: ModelsConfig) -> Any:
    from bedside.knowledge.embed.remote import TitanEmbedder

    if find_spec("boto3") is None:
        raise MissingExtra("the embedder of Bedrock", extra="bedrock")
    url = address_of("bedrock", config.provider("bedrock"))
    return TitanEmbedder(client=_Bedrock(url, region=settings.bedrock_region))


class _Bedrock:
    """boto3's client, made at its first call: that looks for credentials, on the network too."""

    def __init__(self, url: str, *, region: str) -> None:
        self._url, self._region = url, region
        self._lock, self._client = threading.Lock(), None

    def invoke_model(self, **request: Any) -> Any:
        """As boto3's own; one attempt."""
        with self._lock:
            if self._client is None:
                from boto3.session import Session
                from botocore.config import Config

                self._client = Session(region_name=self._region).client(
                    "bedrock-runtime",
                    endpoint_url=self._url,
                    config=Config(
                        connect_timeout=_CONNECT_SECONDS,
                        read_timeout=_SECONDS,
                        retries={"total_max_attempts": 1},
                    ),
                )
        return self._client.invoke_model(**request)
