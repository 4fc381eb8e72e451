"""Items of a summary and a plan, whoever wrote them. Pure.

Read are: this package's JSON; the narratives of a FHIR Composition; any nesting of objects and arrays that end in objects with a text (and
perhaps a source) or in plain strings; JSON text of these; and plain text or Markdown, a sentence an
item. What stands where a text is expected and is none becomes a problem, never an exception.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, cast

from bedside.core.errors import BadInput, InvalidArgument
from bedside.core.value import value
from bedside.grounding.evaluate.composition import is_fhir, narrative_lines
from bedside.language.sentences import sentences

__all__ = ["Given", "GivenChunk", "GivenItem", "read_summary"]

Part = Literal["summary", "plan"]

_TEXT_KEYS = (
    "text",
    "recommendation",
    "statement",
    "claim",
    "fact",
    "sentence",
    "content",
    "finding",
    "description",
)
_WEAK_KEYS = ("item", "value", "problem", "action", "order", "name", "title")
_HOLDERS = frozenset(("recommendations", "items", "facts", "claims", "statements", "entries"))
_SOURCE_KEYS = (
    "source", "sources", "citation", "citations", "evidence", "provenance", "reference",
    "references", "ref", "cite", "quote", "quotes", "span", "spans",
)  # fmt: skip
_PLACE_KEYS = ("start", "end", "chunk", "chunk_id", "section")
_ROOT_PARTS = (
    "summary",
    "plan",
    "recommendations",
    "note_summary",
    "items",
    "facts",
    "claims",
    "result",
)
_OWN_PARTS = ("summary", "plan", "recommendations")
_OF_A_TURN = frozenset(("intent", "queries"))
"""Keys of a turn's own plan of work, which stand beside its recommendations."""
_NOT_ITEMS_WORDS = (
    "chunks note note_text document documents metadata meta trace trace_id turn_id receipt calls cost_usd "
    "model version id ids schema basis guardrails degraded missing removed egress review session_id status "
    "usage prompt confidence number hallucination_guard_note"
)
_NOT_ITEMS = frozenset(_NOT_ITEMS_WORDS.split())
_PLAN = re.compile(
    r"plan|recommend|order|action|next_?steps?|follow_?up|todo|instruction", re.IGNORECASE
)
_CITED = re.compile(
    r"[ \t]*[\[(`]?(?P<source>(?:Source:\s*)?[^\[\]()`\n:;]{1,80}? section, chunk_\d+:\d+-\d+)[\])`]?[ \t]*"
)
_OWN_ITEM = re.compile(r"[^`\n]*`[^`\n:]{1,80} section, chunk_\d+:\d+-\d+`")
"""A list's item as this package writes it: all of its sentences rest on the citation that ends it."""
_FENCE = re.compile(r"^\s*```(?:json)?[ \t]*\n(.*?)\n```\s*$", re.DOTALL)
_HEADING = re.compile(
    r"^(?:#{1,6}\s+(?P<a>.+?)|\**(?P<b>[A-Z][^.!?\n:]{1,60}):\**|(?P<c>[A-Z][A-Z /&,-]{2,60}))\s*$"
)
_BULLET = re.compile(r"^[ \t]*(?:[-*+•◦▪·]|\(?\d{1,3}[.)]|\[[ xX]\])[ \t]+")
_REMARK = re.compile(
    r"^(?:> (?:Extracted word for word from the note by rule; no model wrote any of it|Written by [^\n]{1,120}, each item held to the note)\. A draft\."
    r"|> To check: [^\n]* section, chunk\\?_\d+:\d+-\d+[^\n]*\)"
    r"|[ \t]+> Look twice: [^\n]*)$"
)
"""This package's own remarks in Markdown; any other quotation may hold a claim."""
_QUOTED = re.compile(r"^(?:[ \t]*>)+[ \t]*")
_LABEL = re.compile(r"^\*\*([^\n]{1,200}?):\*\*[ \t]+")
_CONFIDENCE = re.compile(r"[ \t]*\(confidence [\d.]+\)[ \t]*$")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]<>#|!~])")
_MOST_DEEP = 12


@value
class GivenItem:
    """One fact of a summary or one recommendation.

    `where` is its path in the file, as "key_problems[0]"; `section` the array it stands in, "" in a
    flat list. `source` is what was given as its source, in any shape; `None` where there is none.
    `label` are words put over it ("Hypertension"), which its source need not hold and the note must.
    """

    part: Part
    section: str
    where: str
    text: str
    source: Any = None
    label: str | None = None


@value
class GivenChunk:
    """A chunk as the file gives it; offsets are code points of the note, not yet checked."""

    id: str
    section: str
    start: int
    end: int
    text: str | None = None


@value
class Given:
    """What a file held. `chunks` is `None` where it has none; `problems` are what could not be read."""

    items: tuple[GivenItem, ...]
    chunks: tuple[GivenChunk, ...] | None
    problems: tuple[str, ...] = ()


def read_summary(summary: object, *, plan: object = None) -> Given:
    """Read a summary, and a plan where it is given apart.

    Args:
        summary: Parsed JSON, JSON text, or plain text; bytes are read as UTF-8.
        plan: The same, for the plan; `None` where the summary holds it or there is none.

    Raises:
        BadInput: the text begins as JSON and is not, or the bytes are not UTF-8.
        InvalidArgument: it is neither text nor an object nor an array.
    """
    problems: list[str] = []
    items: list[GivenItem] = []
    data = _parsed(summary, what="summary")
    items += _from(data, "summary", problems)
    if plan is not None:
        items += _from(_parsed(plan, what="plan"), "plan", problems)
    whole = _mapping(data)
    chunks = None if whole is None else _chunks(whole, problems)
    return Given(items=tuple(items), chunks=chunks, problems=tuple(problems))


def _parsed(given: object, *, what: str) -> object:
    if isinstance(given, (bytes, bytearray)):
        try:
            given = bytes(given).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise BadInput(
                f"the {what}", why="it is not UTF-8 text", do="Give JSON or plain text in UTF-8."
            ) from error
    if isinstance(given, str):
        bare = given.strip().removeprefix("\ufeff")
        fence = _FENCE.match(bare)
        bare = fence[1].strip() if fence else bare
        if bare[:1] not in {"{", "["}:
            return given
        try:
            return json.loads(bare)
        except (ValueError, RecursionError) as error:
            if bare[0] == "[" and not re.match(r"\[\s*[{\"\[\]]", bare):
                return given  # Markdown may begin with a bracket
            at = (
                f" (line {error.lineno}, column {error.colno})"
                if isinstance(error, json.JSONDecodeError)
                else ""
            )
            raise BadInput(
                f"the {what}",
                why=f"it begins as JSON and is not valid{at}",
                do="Mend the file, or give plain text.",
            ) from error
    if _mapping(given) is not None or _sequence(given) is not None:
        return given
    raise InvalidArgument(
        what, found=type(given).__name__, want="an object, an array, JSON text or plain text"
    )


def _is_turn(whole: Mapping[str, Any]) -> bool:
    """Is this a whole turn of this package? Its claims and its plan of work are no items."""
    return "turn_id" in whole and "flow" in whole


def _from(data: object, part: Part, problems: list[str]) -> list[GivenItem]:
    whole = _mapping(data)
    if whole is not None and is_fhir(whole):
        return _from_narratives(whole, part)
    plan = None if whole is None else _mapping(whole.get("plan"))
    if whole is not None and (_is_turn(whole) or (plan is not None and set(plan) >= _OF_A_TURN)):
        whole = {**whole, "plan": None if plan is None else plan.get("recommendations")}
    if whole is not None:
        roots = [
            key
            for key in (_OWN_PARTS if _is_turn(whole) else _ROOT_PARTS)
            if isinstance(whole.get(key), (str, list, tuple, Mapping))
        ]
        if _is_turn(whole) or (roots and not _text_of(whole)):
            return [
                one
                for key in roots
                for one in _walk(
                    whole[key],
                    "plan" if key in {"plan", "recommendations"} else part,
                    "",
                    key,
                    problems,
                    0,
                )
            ]
    return list(_walk(data, part, "", "", problems, 0))


def _from_narratives(whole: Mapping[str, Any], part: Part) -> list[GivenItem]:
    found: list[GivenItem] = []
    for line in narrative_lines(whole):
        kind: Part = "plan" if _PLAN.search(line.title) else part
        where = f"{line.where}.text[{len(found)}]"
        cited = _CITED.search(line.text)
        for one in [line.text] if cited else _sentences(line.text):
            text, source = _split(one)
            found.append(
                GivenItem(
                    part=kind,
                    section=line.title,
                    where=where,
                    text=text,
                    source=source,
                    label=line.label or None,
                )
            )
    return found


def _walk(
    data: object, part: Part, section: str, where: str, problems: list[str], depth: int
) -> Iterator[GivenItem]:
    if depth > _MOST_DEEP:
        problems.append(f"{where}: nested too deep")
    elif isinstance(data, str):
        yield from _plain(data, part, section, where)
    elif (entry := _mapping(data)) is not None:
        yield from _object(entry, part, section, where, problems, depth)
    elif (rows := _sequence(data)) is not None:
        for index, one in enumerate(rows):
            at = f"{where}[{index}]"
            if isinstance(one, str):
                text, inline = _split(one.strip())
                if text:
                    yield GivenItem(part=part, section=section, where=at, text=text, source=inline)
            else:
                yield from _walk(one, part, section, at, problems, depth + 1)
    elif data is not None:
        problems.append(f"{where or 'the file'}: {type(data).__name__} where an item was expected")


def _object(
    data: Mapping[str, Any], part: Part, section: str, where: str, problems: list[str], depth: int
) -> Iterator[GivenItem]:
    """An item, or what holds items."""
    found = _text_of(data)
    if found:
        text = str(data[found]).strip()
        if not text:
            problems.append(f"{where}: an empty text")
            return
        source = _source_of(data)
        text, inline = _split(text) if source is None else (text, None)
        given = source if source is not None else inline
        about = data.get("about")
        label = about.strip() or None if isinstance(about, str) else None
        yield GivenItem(
            part=part, section=section, where=where, text=text, source=given, label=label
        )
        return
    title = next((data[key] for key in _WEAK_KEYS if isinstance(data.get(key), str)), "")
    for key, inner in data.items():
        name = str(key)
        if name.lower() in _NOT_ITEMS or inner is None or isinstance(inner, (int, float, bool)):
            continue
        if name in _WEAK_KEYS and isinstance(inner, str):
            continue
        kind: Part = "plan" if _PLAN.search(name) else part
        own = (title or section or name) if name in _HOLDERS else name
        yield from _walk(
            inner, kind, own, f"{where}.{name}" if where else name, problems, depth + 1
        )


def _mapping(data: object) -> Mapping[str, Any] | None:
    return cast("Mapping[str, Any]", data) if isinstance(data, Mapping) else None


def _sequence(data: object) -> Sequence[Any] | None:
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes, bytearray)):
        return cast("Sequence[Any]", data)
    return None


def _text_of(data: Mapping[str, Any]) -> str:
    """The key of an item's text; "" for what holds items."""
    for key in _TEXT_KEYS:
        if isinstance(data.get(key), str):
            return key
    holds = any(
        bool(_mapping(inner) or _sequence(inner))
        for key, inner in data.items()
        if key not in _SOURCE_KEYS and str(key).lower() not in _NOT_ITEMS
    )
    if holds:
        return ""
    return next((key for key in _WEAK_KEYS if isinstance(data.get(key), str)), "")


def _source_of(data: Mapping[str, Any]) -> Any:
    for key in _SOURCE_KEYS:
        found = data.get(key)
        if found not in (None, "", [], {}):
            return found
    place = {key: data[key] for key in _PLACE_KEYS if data.get(key) is not None}
    return place if {"start", "end"} <= set(place) else None


def _split(text: str) -> tuple[str, str | list[str] | None]:
    """A text and the citations that stand in it."""
    found = [match["source"].removeprefix("Source:").strip() for match in _CITED.finditer(text)]
    if not found:
        return text, None
    bare = re.sub(r"\s+([.;,])", r"\1", _CITED.sub(" ", text)).strip()
    return bare or text, found[0] if len(found) == 1 else found


def _plain(text: str, part: Part, section: str, where: str) -> Iterator[GivenItem]:
    """Lines and sentences of plain text; headings give the section."""
    count = 0
    for whole in text.splitlines():
        if _REMARK.match(whole):
            continue
        line = _QUOTED.sub("", whole)
        heading = _HEADING.match(line.strip())
        if heading and not _CITED.search(line):
            section = (heading["a"] or heading["b"] or heading["c"]).strip(" *:#")
            part = "plan" if _PLAN.search(section) else "summary"
            continue
        label: str | None = None
        bare = _BULLET.sub("", line).strip()
        if _CITED.search(bare):
            over = _LABEL.match(bare)
            label = _ESCAPED.sub(r"\1", over[1]) if over else None
            bare = _ESCAPED.sub(r"\1", _CONFIDENCE.sub("", bare[over.end() :] if over else bare))
        whole_item = bare != line.strip() and _OWN_ITEM.fullmatch(bare)
        for one in [bare] if whole_item else _sentences(bare):
            said, source = _split(one)
            if any(char.isalnum() for char in said):
                at = f"{where or 'text'}[{count}]"
                yield GivenItem(
                    part=part, section=section, where=at, text=said, source=source, label=label
                )
                label = None
                count += 1


def _sentences(line: str) -> Iterator[str]:
    """A line's sentences; a citation after the full stop belongs to the sentence before it."""
    held = ""
    for a, b in sentences(line):
        one = line[a:b]
        if held and _CITED.match(one):
            match = _CITED.match(one)
            assert match is not None
            yield f"{held} {match.group().strip()}"
            held = one[match.end() :].strip()
            continue
        if held:
            yield held
        held = one
    if held:
        yield held


def _chunks(data: Mapping[str, Any], problems: list[str]) -> tuple[GivenChunk, ...] | None:
    given = data.get("chunks")
    inner = _mapping(data.get("result"))
    if given is None and inner is not None:
        given = inner.get("chunks")
    by_id = _mapping(given)
    if by_id is not None:
        given = [{"id": key, **(_mapping(one) or {})} for key, one in by_id.items()]
    found: list[GivenChunk] = []
    for index, one in enumerate(_sequence(given) or ()):
        row = _mapping(one)
        if row is None:
            problems.append(f"chunks[{index}]: not an object")
            continue
        start = row.get("start", row.get("start_char"))
        end = row.get("end", row.get("end_char"))
        if type(start) is not int or type(end) is not int:
            problems.append(f"chunks[{index}]: no start and end")
            continue
        text = row.get("text")
        found.append(
            GivenChunk(
                id=str(row.get("id", row.get("chunk_id", f"chunk_{index}"))),
                section=str(row.get("section_title", row.get("section", ""))),
                start=start,
                end=end,
                text=text if isinstance(text, str) else None,
            )
        )
    return tuple(found) or None
