"""Films and photographs without words before a model that takes images, where one is configured."""

from __future__ import annotations

import io
import json
from typing import Any

from bedside.core.context import Assembly, Message
from bedside.core.errors import BadInput, OutsideError
from bedside.core.turn import Delta, Ended, NoModel, Route
from bedside.jobs.extraction import Look, Picture, Seen
from bedside.knowledge.parse.image import opened
from bedside.models.build import profile_of
from bedside.models.config import ModelsConfig
from bedside.models.images import Image

__all__ = ["look_with"]

_LONGEST_SIDE = 1_600
_DEADLINE_MS = 60_000
_SYSTEM = (
    "The picture was added to a patient's file. Describe in short plain sentences what is visible "
    "and nothing else: no diagnosis, no advice, no guess. Name a side only where the picture is "
    "marked with it. Answer with JSON: text (the sentences), type (one of the given types, or "
    '"unknown"), confidence (0 to 1: how sure every sentence is).'
)
_SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "type": {"type": "string"},
        "confidence": {"type": "number"},
    },
    "required": ["text", "type", "confidence"],
    "additionalProperties": False,
}


def look_with(gateway: Any, config: ModelsConfig) -> Look | None:
    """The way to the mechanic's eyes; `None` where the first of its models takes no images.

    An image cannot be de-identified: what may not leave this machine is not shown, and the document
    stays stored.
    """
    routed = profile_of(config, "mechanic")
    if routed is None or not routed[1].images:
        return None

    async def look(picture: Picture) -> Seen | None:
        types = ", ".join(kind.type for kind in picture.kinds)
        said, by = "", ""
        try:
            image = Image.of(_small(picture))
            async for event in gateway.stream(
                _prompt(f"Types: {types}."),
                route=Route(role="mechanic"),
                schema=_SCHEMA,
                output=600,
                deadline_ms=_DEADLINE_MS,
                images=(image,),
            ):
                if isinstance(event, Delta):
                    said += event.text
                elif isinstance(event, Ended) and event.outcome == "ok":
                    by = f"{event.provider}:{event.model}"
        except (BadInput, NoModel, OutsideError):  # no picture, or one that may not be shown
            return None
        return _seen(said, by)

    return look


def _seen(said: str, by: str) -> Seen | None:
    """The model's answer, checked; `None` where it is not what was asked for."""
    try:
        body = json.loads(said)
        text, confidence = str(body["text"]).strip(), float(body["confidence"])
        kind = str(body["type"])
    except (ValueError, KeyError, TypeError):
        return None
    if not text or not 0 <= confidence <= 1:
        return None
    return Seen(text=text, type=kind, confidence=confidence, by=by or "model")


def _small(picture: Picture) -> bytes:
    """The picture upright, as JPEG, at most 1,600 points a side."""
    image = opened(picture.content, name=picture.name).convert("RGB")
    image.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
    made = io.BytesIO()
    image.save(made, "JPEG", quality=88)
    return made.getvalue()


def _prompt(text: str) -> Assembly:
    messages = (
        Message(role="system", parts=(_SYSTEM,), tokens=0),
        Message(role="user", parts=(text,), tokens=0),
    )
    return Assembly(
        messages=messages,
        tokens=0,
        limit=0,
        layout="balanced",
        ledger=(),
        numbering={},
        shown={},
        segments=(),
    )
