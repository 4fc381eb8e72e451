"""The workbench's templates: every value is escaped, and a missing one is an error."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from bedside import __version__
from bedside.server.workbench.picture import said
from bedside.wiring import Engine, Who

__all__ = ["Templates", "day", "moment"]


def day(written: str | None, absent: str = "undated") -> str:
    """A date as clinicians write it: "5 Nov 2026"; a year or a month alone stays what it is."""
    if not written:
        return absent
    try:
        found = date.fromisoformat(written[:10])
    except ValueError:
        return written
    return f"{found.day} {found:%b %Y}"


def moment(written: str | None, absent: str = "") -> str:
    """A moment of a log, to the second, in UTC: "5 Nov 2026, 09:30:12"."""
    if not written:
        return absent
    found = datetime.fromisoformat(written).astimezone(UTC)
    return f"{found.day} {found:%b %Y, %H:%M:%S}"


def rule_source(text: str) -> tuple[str, str]:
    """A rule's sentence, and the source that stands in brackets at its end (empty: none)."""
    words, mark, rest = text.rpartition(" (source: ")
    if not mark:
        return text, ""
    stop = "." if rest.endswith(").") else ""
    return words.rstrip(".") + ".", rest.removesuffix(stop).removesuffix(")")


def target(what: str) -> str:
    """What a report is about, counted as people count."""
    kind, _, number = what.partition(":")
    if not number.isdigit():
        return "the whole"
    return f"{'sentence' if kind == 'claim' else kind} {int(number) + 1}"


class Templates:
    """Renders a page for somebody."""

    def __init__(self) -> None:
        self._environment = Environment(
            loader=PackageLoader("bedside.server.workbench"),
            autoescape=select_autoescape(),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters["thousands"] = lambda number: f"{number:,}"
        self._environment.filters["day"] = day
        self._environment.filters["moment"] = moment
        self._environment.filters["rule_source"] = rule_source
        self._environment.filters["said"] = said
        self._environment.filters["target"] = target

    def page(
        self,
        name: str,
        request: Request,
        who: Who,
        *,
        banner: dict[str, Any] | None = None,
        **values: Any,
    ) -> HTMLResponse:
        """A page inside the shell; with `banner` it is about that patient. Never cached."""
        engine: Engine = request.app.state.engine
        text = self._environment.get_template(name).render(
            version=__version__,
            path=request.url.path,
            who=who,
            egress=engine.egress_notice(),
            login=bool(engine.settings.token_secret),
            banner=banner,
            **values,
        )
        return HTMLResponse(text, headers={"Cache-Control": "no-store"})

    def bare(self, name: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """A page that nobody need be signed in for."""
        text = self._environment.get_template(name).render(version=__version__, **values)
        return HTMLResponse(text, status_code=status, headers={"Cache-Control": "no-store"})
