"""A gateway without any model: scripted, in process, with a memory of what it was asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence

from bedside.core.context import Assembly, ToolCall, ToolResult
from bedside.core.turn import Delta, Ended, NoModel, Route, Tool
from bedside.core.value import value

__all__ = ["FakeGateway", "Request", "Script", "Written"]


@value
class Request:
    """One `stream` that was asked for."""

    prompt: Assembly
    route: Route
    tools: tuple[Tool, ...]
    may_call: bool
    schema: object | None
    output: int
    deadline_ms: int

    @property
    def text(self) -> str:
        """All text of the prompt, message by message, tool results included."""
        told: list[str] = []
        for message in self.prompt.messages:
            for part in message.parts:
                if isinstance(part, str):
                    told.append(part)
                elif isinstance(part, ToolResult):
                    told.extend(item.body for item in part.items)
        return "\n".join(told)


@value
class Written:
    """One answer. `pieces` are streamed as they stand; without them `text` goes word by word.

    `calls` follow the text where calling is allowed; without a text they come all the same, as long
    as the request has tools. `cut` breaks off after the pieces. `fail` raises `NoModel` with these
    words instead.
    """

    text: str = ""
    pieces: tuple[str, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    cut: bool = False
    fail: str = ""
    input: int | None = None
    output: int | None = None


Script = Sequence[Written | str] | Callable[[Request], Written | str]


class FakeGateway:
    """Says what a script tells it: in order (the last answer repeats), or by the request.

    `requests` holds what it was asked. An empty script is a gateway with no model.
    """

    def __init__(self, script: Script = (), *, model: str = "fake") -> None:
        """Take a script; a string is an answer of that text."""
        self._script, self._model = script, model
        self.requests: list[Request] = []

    async def stream(
        self,
        prompt: Assembly,
        *,
        route: Route,
        tools: Sequence[Tool] = (),
        may_call: bool = False,
        schema: object | None = None,
        output: int = 4_096,
        deadline_ms: int = 30_000,
    ) -> AsyncGenerator[Delta | ToolCall | Ended, None]:
        """Stream the next answer; raises `NoModel` where the script says so or is empty."""
        request = Request(
            prompt=prompt,
            route=route,
            tools=tuple(tools),
            may_call=may_call,
            schema=schema,
            output=output,
            deadline_ms=deadline_ms,
        )
        at = len(self.requests)
        self.requests.append(request)
        if callable(self._script):
            said = self._script(request)
        elif self._script:
            said = self._script[min(at, len(self._script) - 1)]
        else:
            raise NoModel
        answer = Written(text=said) if isinstance(said, str) else said
        if answer.fail:
            raise NoModel(answer.fail)
        for piece in answer.pieces or _words(answer.text):
            yield Delta(text=piece)
        only_calls = bool(tools) and not (answer.text or answer.pieces)
        if (may_call or only_calls) and not answer.cut:
            for call in answer.calls:
                yield call
        yield Ended(
            usage={
                "input": answer.input,
                "output": answer.output,
                "cache_read": None,
                "cache_write": None,
            },
            model=self._model,
            provider="fake",
            role=route.role,
            outcome="cut" if answer.cut else "ok",
            cut=answer.cut,
        )


def _words(text: str) -> list[str]:
    words = text.split(" ")
    return [word if at == 0 else f" {word}" for at, word in enumerate(words) if word or at]
