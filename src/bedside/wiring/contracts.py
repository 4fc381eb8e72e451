"""The contracts of a tenant as text: what ships, what was saved over it, and what lint says."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from bedside.context import o200k
from bedside.core.errors import AccessDenied, BadInput, NotFound
from bedside.flows.intake.book import Book
from bedside.sop.lint import lint_all, lint_file
from bedside.sop.reading import read_contract
from bedside.storage import access, catalogue

if TYPE_CHECKING:
    from bedside.wiring.ask import Who
    from bedside.wiring.engine import Engine

__all__ = ["contract_text", "contracts_listed", "lint_contract"]

_DESK = frozenset({"coordinator", "clinician", "admin"})
_LONGEST = 200_000


def _may(who: Who) -> None:
    if not who.roles & _DESK or who.patients is not None:
        raise AccessDenied("the contracts of the intake", need="the role 'coordinator'")


async def contracts_listed(engine: Engine, who: Who) -> list[dict[str, Any]]:
    """Every live contract by id; `edited` where a saved one takes the place of the shipped one.

    Raises:
        AccessDenied: the caller is no coordinator.
    """
    _may(who)
    hot = await engine.turning.hot.of(who.tenant)
    saved = hot.get("sop") or {}
    return [
        {
            "id": one.id,
            "title": one.title,
            "version": one.version,
            "review_status": one.review_status,
            "fields": len(one.fields),
            "edited": one.id in saved,
        }
        for one in Book(hot).contracts
    ]


async def contract_text(engine: Engine, who: Who, sop: str) -> dict[str, Any]:
    """One contract as YAML, with the saved version's number: 0 where the shipped one is live.

    Raises:
        AccessDenied: the caller is no coordinator.
        NotFound: no such contract.
    """
    _may(who)

    def work(connection: Any) -> tuple[dict[str, Any], int]:
        access.note(
            connection, tenant=who.tenant, actor=who.actor, action="read",
            at=engine.clock.now(), purpose="intake contract",
        )  # fmt: skip
        live = catalogue.live(connection, who.tenant)
        editions = catalogue.history(connection, who.tenant, "sop", sop)
        return dict(live.bodies("sop")), max((one.version for one in editions), default=0)

    saved, version = await engine.store.write(work)
    if sop in saved:
        text = str(saved[sop]["yaml"])
    else:
        place = files("bedside.sop") / "data" / "contracts" / f"{sop}.yaml"
        if not sop.replace("_", "").isalnum() or not place.is_file():
            raise NotFound("contract", sop)
        text = place.read_text(encoding="utf-8")
    return {"id": sop, "yaml": text, "saved_version": version, "edited": sop in saved}


async def lint_contract(engine: Engine, who: Who, text: str) -> dict[str, Any]:
    """The problems of a contract's text, its names against the other live contracts included.

    Raises:
        AccessDenied: the caller is no coordinator.
        BadInput: the text is too long.
    """
    _may(who)
    if len(text) > _LONGEST:
        raise BadInput("the contract", why=f"it has more than {_LONGEST:,} characters")
    book = Book(await engine.turning.hot.of(who.tenant))
    found = await asyncio.to_thread(_lint, text, book)
    errors = sum(one["severity"] == "error" for one in found)
    return {"errors": errors, "warnings": len(found) - errors, "problems": found}


def _lint(text: str, book: Book) -> list[dict[str, Any]]:
    count = o200k()
    problems = list(lint_file(text, what="the contract", count=count))
    if not any(one.rule == "unreadable" for one in problems):
        own = read_contract(text, what="the contract")
        others = [one for one in book.contracts if one.id != own.id]
        problems += [
            one
            for one in lint_all([*others, own], count=count)
            if one.rule == "duplicate_name" and one.sop == own.id
        ]
    return [asdict(one) for one in problems]
