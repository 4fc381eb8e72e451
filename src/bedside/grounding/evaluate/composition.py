"""A summary that came as FHIR: the sections and lines of a Composition's narrative. Pure.

Narratives are read as text: a list's entry, a table's row or a paragraph is a line. In a line that
carries its citation, bold words before it that end in a colon are its label, and this package's own
remark behind the citation is none of what it says; other bold words are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html.parser import HTMLParser
from itertools import groupby
from typing import Any, cast

from bedside.core.value import value

__all__ = ["NarrativeLine", "is_fhir", "narrative_lines"]

_BLOCKS = frozenset(("li", "p", "tr", "div", "h1", "h2", "h3", "h4", "ul", "ol", "table", "br"))
_ASIDE = frozenset(("b", "strong"))
_HIDDEN = frozenset(("script", "style", "head"))
_CITES = " section, chunk_"
_OWN_REMARK = "Look twice: "
_MOST_DEEP = 12


@value
class NarrativeLine:
    """One line of a section; `where` is the section's path in the Composition, `title` its title.

    `label` are the bold words over it, without their colon; "" for none.
    """

    title: str
    where: str
    text: str
    label: str = ""


def is_fhir(tree: Mapping[str, Any]) -> bool:
    """Is it a Composition, or a Bundle of resources?"""
    return tree.get("resourceType") in {"Composition", "Bundle"}


def narrative_lines(tree: Mapping[str, Any]) -> Iterator[NarrativeLine]:
    """The lines of every Composition in it, in order; other resources hold no claim."""
    for place, one in _compositions(tree):
        yield from _sections(one.get("section"), place, 0)


def _compositions(tree: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if tree.get("resourceType") == "Composition":
        yield "Composition", tree
        return
    for index, entry in enumerate(_rows(tree.get("entry"))):
        one = _mapping(entry.get("resource"))
        if one.get("resourceType") == "Composition":
            yield f"entry[{index}].resource", one


def _sections(given: object, where: str, depth: int) -> Iterator[NarrativeLine]:
    if depth > _MOST_DEEP:
        return
    for index, one in enumerate(_rows(given)):
        place = f"{where}.section[{index}]"
        title = one.get("title")
        div = _mapping(one.get("text")).get("div")
        if isinstance(div, str):
            reader = _Narrative()
            reader.feed(div)
            reader.close()
            for text, label in reader.lines():
                yield NarrativeLine(
                    title=title if isinstance(title, str) else "",
                    where=place,
                    text=text,
                    label=label,
                )
        yield from _sections(one.get("section"), place, depth + 1)


class _Narrative(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._lines: list[list[tuple[str, bool]]] = [[]]
        self._aside = self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag in _BLOCKS:
            self._lines.append([])
        self._aside += tag in _ASIDE
        self._hidden += tag in _HIDDEN

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._lines.append([])
        self._aside -= tag in _ASIDE and self._aside > 0
        self._hidden -= tag in _HIDDEN and self._hidden > 0

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._lines[-1].append((data, bool(self._aside)))

    def lines(self) -> Iterator[tuple[str, str]]:
        """Each line's text and its label."""
        for row in self._lines:
            parts = [
                ("".join(text for text, _ in group), aside)
                for aside, group in groupby(row, key=lambda part: part[1])
            ]
            label = ""
            if _CITES in "".join(text for text, _ in parts):
                parts = [one for one in parts if one[0].strip()]
                if parts[0][1] and parts[0][0].rstrip().endswith(":"):
                    label = " ".join(parts.pop(0)[0].split()).rstrip(": ")
                if len(parts) > 1 and parts[-1][1] and parts[-1][0].startswith(_OWN_REMARK):
                    parts.pop()
            line = " ".join("".join(text for text, _ in parts).split())
            if any(char.isalnum() for char in line):
                yield line, label


def _rows(given: object) -> list[Mapping[str, Any]]:
    if not isinstance(given, Sequence) or isinstance(given, str | bytes | bytearray):
        return []
    return [_mapping(one) for one in cast("Sequence[object]", given)]


def _mapping(given: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", given) if isinstance(given, Mapping) else {}
