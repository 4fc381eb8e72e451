"""Edits of hot data: checked, versioned, audited, and live at the next turn in every process."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection

from bedside.core.clock import Clock
from bedside.core.errors import InvalidArgument, NotFound
from bedside.flows.companion.tables import tables_of
from bedside.flows.intake import matcher
from bedside.flows.intake.dispatch import check_flag
from bedside.models.prices import read_prices
from bedside.sop.reading import read_contract
from bedside.storage import access, catalogue
from bedside.storage.catalogue import KINDS, Edition
from bedside.wiring.ask import Who

__all__ = ["CHECKS", "edit", "entries", "versions"]

LONGEST_KEY = 100

Check = Callable[[str, Any], Any]
"""Takes a key and a body; returns the body to store, or raises `CallerError`."""


def _price(key: str, body: Any) -> Any:
    del key
    read_prices(json.dumps(body))
    return body


def _prompt(key: str, body: Any) -> Any:
    if not isinstance(body, dict) or not str(body.get("text", "")).strip():
        raise InvalidArgument(f"prompt {key!r}", found=type(body).__name__, want='{"text": "..."}')
    if key.startswith("companion/"):  # what the next turn would refuse
        tables_of({"prompt": {key: body}})
    return {"text": str(body["text"])}


def _flag(key: str, body: Any) -> Any:
    try:
        return check_flag(key, body)
    except ValueError as error:
        raise InvalidArgument(f"flag {key!r}", found="another form", want=str(error)) from None


def _sop(key: str, body: Any) -> Any:
    """A contract that can be read, under its own id."""
    if not isinstance(body, dict) or not isinstance(body.get("yaml"), str):
        raise InvalidArgument(f"sop {key!r}", found=type(body).__name__, want='{"yaml": "..."}')
    contract = read_contract(body["yaml"], what=f"sop {key!r}")
    if contract.id != key:
        raise InvalidArgument(f"sop {key!r}", found=contract.id, want="the contract's own id")
    return {"yaml": body["yaml"]}


def _pack(key: str, body: Any) -> Any:
    """What intake takes from a deployer: the provider list, and how a person is reached."""
    if key == "providers":
        matcher.catalogue({"pack": {"providers": body}})
    elif (
        key != "intake"
        or not isinstance(body, dict)
        or not all(isinstance(one, str) for one in body.values())
    ):
        raise InvalidArgument(
            f"pack {key!r}", found=type(body).__name__,
            want="providers (a catalogue) or intake (emergency_number, crisis_line, contact: texts)",
        )  # fmt: skip
    return body


CHECKS: dict[str, Check] = {
    "price": _price,
    "prompt": _prompt,
    "flag": _flag,
    "sop": _sop,
    "pack": _pack,
}
"""What each kind of entry must be; flows add theirs. A kind without a check cannot be edited."""


def edit(
    connection: Connection,
    *,
    who: Who,
    kind: str,
    key: str,
    body: Any,
    expected: int | None,
    clock: Clock,
) -> dict[str, Any]:
    """Save the next version of an entry; a body of `None` withdraws it.

    Raises:
        InvalidArgument: the kind or the key is none, or the body does not hold.
        Conflict: somebody saved a version since `expected`.
    """
    if kind not in CHECKS:
        raise InvalidArgument("kind", found=kind, want="one of " + ", ".join(sorted(CHECKS)))
    if not key or len(key) > LONGEST_KEY:
        raise InvalidArgument("key", found=f"{len(key)} characters", want=f"1 to {LONGEST_KEY}")
    stored = CHECKS[kind](key, body) if body is not None else None
    now = clock.now()
    access.note(
        connection,
        tenant=who.tenant,
        actor=who.actor,
        action="write",
        at=now,
        purpose=f"edit {kind}",
    )
    saved = catalogue.put(
        connection,
        tenant=who.tenant,
        kind=kind,
        key=key,
        body=stored,
        by=who.actor,
        at=now,
        expected=expected,
    )
    return _shown(saved)


def entries(connection: Connection, *, who: Who, kind: str) -> list[dict[str, Any]]:
    """What is live of a kind.

    Raises:
        InvalidArgument: the kind is none.
    """
    _check_kind(kind)
    live = catalogue.live(connection, who.tenant)
    return [_shown(edition) for edition in live.entries.get(kind, {}).values()]


def versions(connection: Connection, *, who: Who, kind: str, key: str) -> list[dict[str, Any]]:
    """Every version of one entry, oldest first.

    Raises:
        InvalidArgument: the kind is none.
        NotFound: there never was one.
    """
    _check_kind(kind)
    found = catalogue.history(connection, who.tenant, kind, key)
    if not found:
        raise NotFound(kind, key)
    return [_shown(edition) for edition in found]


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise InvalidArgument("kind", found=kind, want="one of " + ", ".join(KINDS))


def _shown(edition: Edition) -> dict[str, Any]:
    return {
        "kind": edition.kind,
        "key": edition.key,
        "version": edition.version,
        "epoch": edition.epoch,
        "by": edition.by,
        "at": edition.at.isoformat(),
        "body": edition.body,
    }
