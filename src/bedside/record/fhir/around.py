"""What a reader knows besides the resource: references resolved, and how a fact is made."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Protocol, TypeVar

from bedside.core.ids import SourceId
from bedside.core.source import Source
from bedside.core.value import value
from bedside.record.fhir.dates import Moment
from bedside.record.fhir.shapes import (
    Concept,
    concept,
    human_name,
    obj,
    objects,
    reference,
    untagged,
    word,
)
from bedside.record.needs import Category, Fact

__all__ = ["STANDS", "Around", "Told", "Visit", "entry_id", "joined", "key_of", "made", "name_of"]

T = TypeVar("T")


class Told(Protocol[T]):
    """What is known by a key; a mapping is one."""

    def get(self, key: str, default: T, /) -> T:
        """What is known by this key."""
        ...


_LITERAL = re.compile(r"(?:.*/)?(?P<key>[A-Z][A-Za-z]+/[A-Za-z0-9\-.]{1,64})(?:/_history/.*)?")


def entry_id(patient: str, key: str, part: str = "") -> SourceId:
    """The stable id of a record entry's text: the same entry of the same patient, always the same.

    It is a digest, so that an identifier inside a FHIR id does not travel in addresses or logs.
    """
    text = f"{patient}\n{key}\n{part}"
    return SourceId("rec-" + hashlib.sha256(text.encode()).hexdigest()[:20])


def key_of(written: str, links: Told[str]) -> str:
    """Say "Type/id" of a literal reference, "" for one that names nothing resolvable.

    `links` maps the full URLs of the same file; it wins over the shape of the reference.
    """
    if not written or written.startswith("#"):
        return ""
    if linked := links.get(written, ""):
        return linked
    found = _LITERAL.fullmatch(written)
    return found["key"] if found else ""


def name_of(resource: Mapping[str, Any]) -> str:
    """What a directory resource (organisation, practitioner, place, medicine...) is called."""
    named = resource.get("name")
    if isinstance(named, str):
        return word(named)
    if text := human_name(named):
        return text
    return concept(resource.get("code")).text or word(resource.get("description"))


@value
class Visit:
    """The encounter that an entry belongs to: its facility and class, "" when unknown."""

    facility: str = ""
    group: str = ""


@value
class Around:
    """The surroundings of one patient's resources in one file.

    `names` maps "Type/id" to a display name, for directory resources and for this patient's own
    conditions, reports and observations. `documents` maps "Type/id" to the ids of stored texts.
    """

    patient: str
    links: Told[str] = field(default_factory=dict[str, str])
    names: Told[str] = field(default_factory=dict[str, str])
    visits: Told[Visit] = field(default_factory=dict[str, Visit])
    documents: Mapping[str, str] = field(default_factory=dict)

    def key(self, found: object) -> str:
        """Say "Type/id" of a Reference, or ""."""
        return key_of(reference(found), self.links)

    def named(self, found: object, resource: Mapping[str, Any] | None = None) -> str:
        """What a Reference points at is called: its own display, a contained resource's, or ours."""
        source = obj(found)
        written = reference(source)
        given = untagged(word(source.get("display")))
        if written.startswith("#") and resource is not None:
            for contained in objects(resource.get("contained")):
                if word(contained.get("id")) == written[1:]:
                    return name_of(contained) or given
        return self.names.get(self.key(source), "") or given

    def all_named(self, found: object, resource: Mapping[str, Any]) -> tuple[str, ...]:
        """The names behind an array of References, unknown ones left out, in order."""
        names = (self.named(item, resource) for item in objects(found))
        return tuple(dict.fromkeys(name for name in names if name))

    def visit(self, resource: Mapping[str, Any]) -> Visit:
        """The visit of a resource; an empty one when it names none that is known."""
        where = resource.get("encounter") or obj(resource.get("context")).get("encounter")
        first = next(objects(where), {})
        return self.visits.get(self.key(first), Visit())


def joined(parts: Iterable[str], *, by: str = "; ") -> str:
    """The parts that say something, joined."""
    return by.join(part for part in parts if part)


STANDS = frozenset({"", "active", "on-hold", "unknown"})
"""States of an order in which it still stands: one not to do something is then an alert."""


def made(
    resource: Mapping[str, Any],
    around: Around,
    *,
    category: Category,
    line: str,
    what: Concept,
    when: Moment | None,
    end: Moment | None = None,
    updated: Moment | None = None,
    part: str = "",
    section: str = "",
    **fields: Any,
) -> Fact:
    """A fact whose source is the entry's canonical line."""
    kind, ident = word(resource.get("resourceType")), word(resource.get("id"))
    key = f"{kind}/{ident}"
    where = resource.get("encounter") or obj(resource.get("context")).get("encounter")
    name = what.text or kind
    facility = fields.pop("facility", "") or around.visit(resource).facility
    return Fact(
        source=Source(
            id=entry_id(around.patient, key, part),
            revision=1,
            kind="record",
            title=name,
            section=section or category.replace("_", " "),
            dated=when.at.date() if when else None,
        ),
        category=category,
        line=line,
        name=name,
        code=what.code,
        codes=what.codes,
        synonyms=what.synonyms,
        when=when.at if when else None,
        roughly=when.shown if when and not when.exact else "",
        end=end.at if end else None,
        updated=updated.at if updated else None,
        facility=facility,
        encounter=around.key(next(objects(where), {})),
        resource=key,
        **fields,
    )
