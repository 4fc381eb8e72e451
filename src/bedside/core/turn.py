"""One turn: what is asked, planned, gathered, drafted, checked and changed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, Literal, Protocol, TypeVar, cast

from bedside.core.context import Assembly, Item, Opaque, ToolCall
from bedside.core.ids import PatientId, PersonId, SessionId, SourceId
from bedside.core.source import Span
from bedside.core.value import value

__all__ = [
    "Change",
    "Check",
    "Citation",
    "Claim",
    "Decoder",
    "Delta",
    "Draft",
    "Ended",
    "Finding",
    "Gate",
    "Gateway",
    "Gathered",
    "Got",
    "Job",
    "Lost",
    "Need",
    "NoModel",
    "Plan",
    "Quote",
    "Route",
    "Tool",
    "ToolUse",
    "TurnRequest",
    "Verdict",
    "got",
]

T = TypeVar("T")
Basis = Literal["record", "guideline", "inference", "said"]
Support = Literal["full", "partial", "none"]
Severity = Literal["critical", "warning", "info"]


@value
class Need(Generic[T]):
    """Something to gather. `T` is the room's own type; `flows/sources.py` maps a need to a room."""

    name: str
    deadline_ms: int = 2_500


@value
class Got(Generic[T]):
    """A need that was met. `via` is "primary" or the name of the fallback that served."""

    value: T
    via: str = "primary"
    ms: float = 0.0


@value
class Lost:
    """A need that was not met, and why; never the same as an empty answer."""

    why: Literal["timeout", "failed", "refused", "not_ready"]
    ms: float = 0.0
    detail: str = ""


Gathered = Mapping[Need[Any], "Got[Any] | Lost"]


def got(gathered: Gathered, need: Need[T]) -> Got[T] | Lost:
    """Look a need up with its type; a need that was never gathered is `Lost("refused")`."""
    return cast("Got[T] | Lost", gathered.get(need, Lost(why="refused")))


@value
class Route:
    """Which model: a role, the router's score with its factors, and texts to veil before egress."""

    role: Literal["writer", "mechanic"]
    score: int = 0
    factors: tuple[tuple[str, int], ...] = ()
    veil: tuple[str, ...] = ()
    exempt: bool = False
    """True for a bundled synthetic patient, who is exempt from the egress allow list."""
    thinking: int = 0
    """Most tokens to think before the answer, where the model takes such a budget; 0 asks for none."""
    aside: frozenset[str] = frozenset()
    """Providers that were given up earlier in the turn: they are not asked again in it."""


@value
class Plan:
    """What this turn needs. `read` holds facts that rules read in the message itself."""

    intent: str
    needs: tuple[Need[Any], ...]
    categories: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    source: Literal["rules", "fallback"] = "rules"
    read: tuple[tuple[str, object], ...] = ()
    mode: str = "default"
    clinical: bool = True
    """True where clinical reasoning is needed (gates hard data)."""


@value
class TurnRequest:
    """One message to a flow. Doors attach and parse documents; a turn only reads them.

    `act` is a deed that needs no model, such as ("share", id). `history` is a stateless client's
    own and untrusted; `None` means ours. `deadline_ms` is for the whole turn to its first token.
    """

    flow: str
    text: str
    session: SessionId | None = None
    person: PersonId | None = None
    patient: PatientId | None = None
    documents: tuple[SourceId, ...] = ()
    selected: tuple[SourceId, ...] = ()
    act: tuple[str, str] | None = None
    history: tuple[tuple[Literal["user", "assistant"], str], ...] | None = None
    options: tuple[tuple[str, str], ...] = ()
    idempotency_key: str | None = None
    deadline_ms: int = 30_000

    def option(self, name: str, default: str = "") -> str:
        """The option of that name, or `default` where it was not given."""
        return dict(self.options).get(name, default)


@value
class Quote:
    """Model-written text said to be verbatim from source `n`; `at` is where in the draft it stands."""

    n: int
    text: str
    at: tuple[int, int]


@value
class Citation:
    """A resolved quote: `quote` equals the stored text at `span`; `at` is [start, end) in the answer."""

    n: int
    span: Span
    quote: str
    at: tuple[int, int]


@value
class Draft:
    """What was written, before its checks.

    `by` is "rules", "extractive" or "model:<name>"; `cut` is True when the stream broke off.
    `items` are what a deterministic writer used: they are shown to the gate as quotable.
    A deterministic writer numbers them itself: `[k]` and `Quote.n == k` mean `items[k - 1]`, and
    the engine rewrites them to the session's numbers (`flows.numbers`).
    `missing` names what was looked for and not found.
    """

    text: str
    quotes: tuple[Quote, ...] = ()
    payload: object | None = None
    by: str = "rules"
    cut: bool = False
    items: tuple[Item, ...] = ()
    missing: tuple[str, ...] = ()


@value
class Finding:
    """What a check found. `want` is the wish; `otherwise` is what happens when the repair is spent."""

    id: str
    want: Literal["pass", "flag", "repair", "remove", "block"]
    otherwise: Literal["flag", "remove", "block"] = "flag"
    detail: str = ""
    at: tuple[int, int] | None = None


@value
class Claim:
    """One checked sentence; `at` is [start, end) in the answer, `citations` are numbers n."""

    at: tuple[int, int]
    basis: Basis
    support: Support
    severity: Severity
    citations: tuple[int, ...]


@value
class Verdict:
    """A draft after its checks. `removed` is (text, why); `repair` is the order to the model, if any."""

    text: str
    claims: tuple[Claim, ...] = ()
    citations: tuple[Citation, ...] = ()
    removed: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()
    repair: str | None = None


@value
class Change:
    """One change of a flow's state, applied by its reducer inside the commit."""

    part: Literal["shared", "mine"]
    path: str
    op: Literal["set", "add", "remove"]
    value: object
    by: Literal["rule", "model", "person", "observer"]


@value
class Job:
    """Work to do after the answer: written by the commit, run here at once, else by the worker."""

    kind: str
    payload: tuple[tuple[str, str], ...] = ()


@value
class Delta:
    """Released text, or text as a provider streams it."""

    text: str


@value
class Ended:
    """The end of one model call. Token counts are `None` where the provider did not say.

    `usage` keys: input, output, cache_read, cache_write.
    """

    usage: Mapping[str, int | None]
    model: str
    provider: str = ""
    role: str = ""
    ms: float = 0.0
    cost_usd: str | None = None
    outcome: str = "ok"
    cut: bool = False
    opaque: tuple[Opaque, ...] = ()


class Decoder(Protocol):
    """Incremental and total: any chunking gives the same pieces; a broken tag never becomes text."""

    def feed(self, delta: str) -> Sequence[str | Quote]:
        """Take more of the stream; return the pieces that are now certain."""
        ...

    def finish(self) -> Draft:
        """End the stream and give the whole draft."""
        ...


class Gate(Protocol):
    """Holds text until the checks of its unit pass; nothing released is recalled."""

    def admit(self, pieces: Sequence[str | Quote]) -> Sequence[Delta | Citation]:
        """Take pieces; return what may be shown now."""
        ...

    def close(self, draft: Draft, *, last: bool) -> tuple[Verdict, Sequence[Delta | Citation]]:
        """End the draft: the verdict and what is still unsent. With `last` no repair is asked for."""
        ...


Check = Callable[[Draft, Assembly], Sequence[Finding]]


class NoModel(Exception):
    """The chain of models is spent, or there is none, and no content event was seen."""

    def __init__(self, why: str = "no model is configured", calls: Sequence[Ended] = ()) -> None:
        super().__init__(why)
        self.why, self.calls = why, tuple(calls)


@value
class Tool:
    """A tool that a model may call: a name, a JSON Schema, and the need that its arguments make.

    `items` turns what a source gave into what the model reads, best first. `element` names what
    they stand in, `nothing` says there that none was found.
    """

    name: str
    description: str
    schema: Mapping[str, object]
    need: Callable[[Mapping[str, object]], Need[Any]]
    items: Callable[[Any], Iterable[Item]] = tuple
    element: str = "results"
    nothing: str = "Nothing found."


@value
class ToolUse:
    """One tool call of a step as it went: what was asked and what came back.

    `arguments` is JSON text as the model wrote it, `round` the number of the model call that asked,
    from 1. `sources` are the ids of what came back, best first, `why_empty` says why there is none.
    `error` is the refusal or failure that the model was told, "" where it was answered.
    """

    name: str
    arguments: str
    round: int
    sources: tuple[str, ...] = ()
    why_empty: str = ""
    error: str = ""
    ms: float = 0.0


class Gateway(Protocol):
    """Streams one model call. Passes `bedside.testing`'s gateway suite.

    Raises `NoModel` when every link of the chain failed before its first content event; the failed
    attempts stand in its `calls`.
    """

    def stream(
        self,
        prompt: Assembly,
        *,
        route: Route,
        tools: Sequence[Tool] = (),
        may_call: bool = False,
        schema: object | None = None,
        output: int = 4_096,
        deadline_ms: int = 30_000,
    ) -> AsyncIterator[Delta | ToolCall | Ended]:
        """Yield deltas and tool calls in order, then exactly one `Ended` per attempt that counted."""
        ...
