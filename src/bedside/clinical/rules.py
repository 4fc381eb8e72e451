"""What all rule tables share: who is meant, what a rule rests on, and how it is cited."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Literal, TypeVar

from bedside.clinical.drugs import class_of
from bedside.clinical.packs import Pack, PackFile, parse_pack
from bedside.core.errors import BadInput
from bedside.core.value import value

__all__ = ["GRAVITY", "Reference", "Severity", "deployed", "means", "reference", "words_fit"]

Severity = Literal["critical", "warning", "info"]
GRAVITY: Mapping[Severity, int] = {"critical": 0, "warning": 1, "info": 2}
"""The order of severities, the gravest first."""
M = TypeVar("M", bound=PackFile)
_WORD = re.compile(r"[a-z0-9]+")
_CLASS = "@"


@value
class Reference:
    """The citable text of one rule.

    `id` begins with "pack:" and names the table and the rule; `text` is the whole text: what the
    rule says, the source it rests on, and the table with its terms and review state. `source` is
    what it rests on and the review state alone.
    """

    id: str
    title: str
    text: str
    source: str = ""


def reference(kind: str, key: str, *, title: str, text: str, cite: str, pack: Pack) -> Reference:
    """The citable text of a rule of a pack."""
    said = text[:1].upper() + text[1:]
    return Reference(
        id=f"pack:{kind}:{key}",
        title=f"{pack.title}: {title}",
        text=f"{said}. Source: {cite}. Table: {pack.title} {pack.version} ({pack.jurisdiction}; "
        f"{pack.state}; review due {pack.review_due.isoformat()}; {pack.licence}).",
        source=f"{cite}; {pack.state}",
    )


def means(generic: str, party: Iterable[str], *, exempt: Iterable[str] = ()) -> bool:
    """Is this generic among a rule's medicines: named itself, or by one of its classes ("@nsaid")?"""
    if generic in exempt:
        return False
    classes = {f"{_CLASS}{key}" for key in class_of(generic)}
    return any(one == generic or one in classes for one in party)


def words_fit(name: str, wanted: Sequence[Sequence[str]], *, but: Sequence[str] = ()) -> bool:
    """Does a name hold all words of one of the alternatives, and none of `but`?

    A wanted word fits the beginning of a word of the name ("mammogra" fits "Mammography"), except
    words of up to two letters, which fit whole ones only.
    """
    have = _WORD.findall(name.casefold())

    def stands(word: str) -> bool:
        if len(word) <= 2:  # noqa: PLR2004 - "c" of "hepatitis c" is no beginning
            return word in have
        return any(one.startswith(word) for one in have)

    if any(stands(word) for word in but):
        return False
    return any(all(stands(word) for word in words) for words in wanted)


def deployed(model: type[M], name: str) -> tuple[M, ...]:
    """The tables that a deployer brings: entry points of `bedside.packs` with this name.

    Each names a function that returns the table as YAML text of the same form as ours.

    Raises:
        BadInput: an entry point gives no such text.
    """
    found: list[M] = []
    for entry in entry_points(group="bedside.packs", name=name):
        text = entry.load()()
        if not isinstance(text, str):
            raise BadInput(f"pack {entry.value}", why="it gives no YAML text")
        found.append(parse_pack(model, text, what=entry.value))
    return tuple(found)
