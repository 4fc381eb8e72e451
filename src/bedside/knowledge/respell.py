"""A query with its slips of the pen mended by the library's own words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from sqlalchemy import Connection, func, select

from bedside.clinical.drugs import class_of, generic_of
from bedside.clinical.vocabulary import expand, misspelt
from bedside.knowledge.index.scoring import frequency
from bedside.knowledge.index.segment import Segment
from bedside.language.slips import one_slip
from bedside.language.stems import STOP_WORDS, stem, words
from bedside.storage.tables.source import chunk, source

__all__ = ["as_written", "respelt", "slips", "unknown"]

_LEAST = 6
"""Letters from which a word is long enough for one slip to leave it recognisable."""
_READ = 20
"""Passages that are read for how a stem is written: "hypertensive", or "hypertension"."""


def unknown(text: str, segments: Sequence[Segment]) -> tuple[str, ...]:
    """Words of a query that may be misspelt, in order, lower case.

    No living passage holds them, they are no medicine, and the vocabulary does not know them: a name
    that is only absent here stays what it is.
    """
    return tuple(
        word
        for word in dict.fromkeys(words(text))
        if len(word) >= _LEAST
        and word.isalpha()
        and word not in STOP_WORDS
        and not frequency(segments, stem(word))
        and not (generic_of(word) or class_of(word) or expand(word))
    )


def slips(
    text: str, segments: Sequence[Segment], written: Callable[[Segment, str], Iterable[str]]
) -> tuple[tuple[str, str], ...]:
    """Each unknown word that has a library's word one slip away, with the one of these in most passages.

    One letter changed, missing or too many, or two neighbours swapped, a plural's end aside; the first
    letter stays. Two slips would make other words of many ("hypo-", "hyper-"), and so would one in
    what is left without endings ("retention", "recent"). A word with none so near stays as it is, as does
    a name's misspelling where the name is not here: "migrane" is no migrant.

    Args:
        text: The query.
        segments: Where it is to be searched.
        written: The words of a segment that have a stem.
    """
    found: list[tuple[str, str]] = []
    for word in unknown(text, segments):
        own = stem(word)
        name_meant = misspelt(word)
        near = {
            name: segment
            for segment in segments
            for name in segment.spelt_like(own)
            if one_slip(own, name)
            and segment.holding(name)
            and (name_meant is None or name == stem(name_meant))
        }
        often = sorted(near, key=lambda name: (-frequency(segments, name), name))
        whole = (other for name in often for other in written(near[name], name))
        meant = next((other for other in whole if _is_slip(word, other)), None)
        if meant is not None:
            found.append((word, meant))
    return tuple(found)


def respelt(text: str, meant: Iterable[tuple[str, str]]) -> str:
    """The text with these words read as those."""
    for word, other in meant:
        text = re.sub(rf"(?i)\b{word}\b", other, text)
    return text


def _is_slip(word: str, other: str) -> bool:
    return one_slip(word.removesuffix("s"), other.removesuffix("s"))


def as_written(connection: Connection, segment: Segment, name: str) -> tuple[str, ...]:
    """Words of living passages that have this stem, in order; as many passages are read as tell enough."""
    held = [int(place) for place in segment.postings(name)[0] if segment.alive[place]][:_READ]
    rows = connection.execute(
        select(
            chunk.c.section,
            func.substr(source.c.text, chunk.c.start + 1, chunk.c.end - chunk.c.start),
        )
        .select_from(
            chunk.join(
                source,
                (chunk.c.tenant == source.c.tenant)
                & (chunk.c.source == source.c.id)
                & (chunk.c.revision == source.c.revision),
            )
        )
        .where(
            chunk.c.tenant.in_({segment.documents[int(segment.owner[at])].tenant for at in held}),
            chunk.c.id.in_([segment.ids[at] for at in held]),
        )
        .order_by(chunk.c.tenant, chunk.c.id)
    )
    found = dict.fromkeys(word for row in rows for word in words(f"{row[0]} {row[1]}"))
    return tuple(word for word in found if stem(word) == name)
