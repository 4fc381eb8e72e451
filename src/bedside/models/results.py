"""How a tool's result is written where the caller gave no renderer of its own. Pure."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from bedside.core.context import Numbering, ToolResult

__all__ = ["RenderResult", "render_result"]

RenderResult = Callable[[ToolResult, Numbering], str]
"""(result, the session's numbering) -> the text that the model reads."""


def render_result(result: ToolResult, numbering: Numbering) -> str:
    """Write each item as one numbered, fenced source, escaped so that it cannot close its fence.

    An item whose source has no number is fenced as `<result>`. No items and no error read
    "Nothing was found."; an error is said as such.
    """
    if result.error is not None:
        return f"<error>\n{escape(result.error, quote=False)}\n</error>\n"
    if not result.items:
        return "<result>\nNothing was found.\n</result>\n"
    written: list[str] = []
    for item in result.items:
        body = escape(item.body, quote=False)
        note = f"\n<note>{escape(item.note, quote=False)}</note>" if item.note else ""
        n = (
            numbering.get((item.span.source.id, item.span.source.revision))
            if item.span is not None
            else None
        )
        name, mark = ("source", f' n="{n}"') if n is not None else ("result", "")
        written.append(f"<{name}{mark}>\n{body}{note}\n</{name}>\n")
    return "".join(written)
