"""What identifies a patient beyond the banner: other names, kin, telephone numbers, addresses."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, select

from bedside.core.ids import PatientId, TenantId
from bedside.record.fhir.shapes import human_name, objects, word
from bedside.storage.tables.record import resource

__all__ = ["identifying"]

_PEOPLE = ("Patient", "RelatedPerson")
_SHORT_LINE = 6  # characters; a shorter address line ("12") would veil figures


def identifying(connection: Connection, tenant: TenantId, patient: PatientId) -> tuple[str, ...]:
    """Texts that name the patient or kin in the resources as received, in their order.

    Every name in every use (maiden, nickname), kin and contacts, telephone numbers and electronic
    addresses, address lines and postcodes. National numbers stand here too, which the record shows
    nowhere: a document may quote them.
    """
    rows = connection.execute(
        select(resource.c.raw)
        .where(
            resource.c.tenant == tenant,
            resource.c.patient == patient,
            resource.c.type.in_(_PEOPLE),
        )
        .order_by(resource.c.key)
    ).scalars()
    found: list[str] = []
    for raw in rows:
        received = json.loads(zlib.decompress(raw))
        found += _of(received)
        for contact in objects(received.get("contact")):
            found += _of(contact)
    return tuple(dict.fromkeys(found))


def _of(person: Mapping[str, Any]) -> Iterator[str]:
    names = person.get("name")
    for name in [names] if isinstance(names, dict) else objects(names):
        if said := human_name([name]):
            yield said
        if word(name.get("text")):
            yield human_name([{**name, "text": None}])
    for item in (*objects(person.get("telecom")), *objects(person.get("identifier"))):
        yield word(item.get("value"))
    where = person.get("address")
    for address in [where] if isinstance(where, dict) else objects(where):
        lines = address.get("line")
        for line in [address.get("text"), *(lines if isinstance(lines, list) else [])]:
            if len(word(line)) >= _SHORT_LINE:
                yield word(line)
        yield word(address.get("postalCode"))
