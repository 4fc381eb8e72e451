"""The workbench's templates: every value is escaped, and a missing one is an error."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from bedside import __version__
from bedside.wiring import Engine, Who

__all__ = ["Templates"]


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
            banner=banner,
            **values,
        )
        return HTMLResponse(text, headers={"Cache-Control": "no-store"})

    def bare(self, name: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """A page that nobody need be signed in for."""
        text = self._environment.get_template(name).render(version=__version__, **values)
        return HTMLResponse(text, status_code=status, headers={"Cache-Control": "no-store"})
