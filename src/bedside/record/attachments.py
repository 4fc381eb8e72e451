"""Texts that come inside resources: document references and report forms."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bedside.record.fhir.around import Around
from bedside.record.fhir.dates import moment
from bedside.record.fhir.shapes import concept, first_moment, obj, objects, word
from bedside.record.writing import Attachment

__all__ = ["attachments_of", "document_id"]

LIMIT = 64 * 1024 * 1024
_SUFFIXES = {
    "application/pdf": ".pdf",
    "text/html": ".html",
    "text/markdown": ".md",
    "text/plain": ".txt",
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
}


def document_id(patient: str, key: str, number: int) -> str:
    """The stable id of a stored text."""
    return "doc-" + hashlib.sha256(f"{patient}\n{key}\n{number}".encode()).hexdigest()[:20]


def _forms(resource: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if resource.get("resourceType") == "DocumentReference":
        for content in objects(resource.get("content")):
            yield obj(content.get("attachment"))
    elif resource.get("resourceType") == "DiagnosticReport":
        yield from objects(resource.get("presentedForm"))


def attachments_of(
    resource: Mapping[str, Any],
    around: Around,
    *,
    binary: Callable[[str], Mapping[str, Any] | None],
) -> tuple[Attachment, ...]:
    """The texts that a resource carries, itself or in a Binary; a mere address is not followed.

    `binary` gives the Binary of a key, `None` when the import has none.
    """
    key = f"{word(resource.get('resourceType'))}/{word(resource.get('id'))}"
    found = []
    for number, form in enumerate(_forms(resource)):
        data, media = form.get("data"), word(form.get("contentType"))
        if not isinstance(data, str):
            address = around.key({"reference": word(form.get("url"))})
            pointed = binary(address) if address.startswith("Binary/") else None
            if pointed is None:
                continue
            data, media = pointed.get("data"), media or word(pointed.get("contentType"))
        found.append(_attachment(resource, around, key, number, form, data, media))
    return tuple(found)


def _attachment(
    resource: Mapping[str, Any],
    around: Around,
    key: str,
    number: int,
    form: Mapping[str, Any],
    data: object,
    media: str,
) -> Attachment:
    content, problem = _decoded(data)
    kind = concept(resource.get("type") or resource.get("code")).text
    title = word(form.get("title")) or word(resource.get("description")) or kind or "Document"
    when = first_moment(resource, "date", "effectiveDateTime", "issued") or moment(
        form.get("creation")
    )
    facility = around.named(resource.get("custodian"), resource)
    makers = around.all_named(resource.get("performer"), resource)
    media = media.split(";", maxsplit=1)[0].strip().casefold() or "text/plain"
    plain = all(letter.isalnum() or letter in " ._-" for letter in title)
    suffix = _SUFFIXES.get(media, "")
    return Attachment(
        id=document_id(around.patient, key, number),
        title=title,
        category=kind,
        dated=when.at.date() if when else None,
        facility=facility or next(iter(makers), "") or around.visit(resource).facility,
        file_name=f"{title}{suffix}" if plain and not title.endswith(suffix or "\n") else title,
        media_type=media,
        origin=key,
        content=content,
        problem=problem,
    )


def _decoded(data: object) -> tuple[bytes | None, str]:
    if not isinstance(data, str):
        return None, "the attachment holds no data"
    if len(data) > LIMIT * 4 // 3:
        return None, f"the attachment is over {LIMIT} bytes"
    try:
        return base64.b64decode("".join(data.split()), validate=True), ""
    except (binascii.Error, ValueError):
        return None, "the attachment is not base64"
