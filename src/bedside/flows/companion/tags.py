"""The companion's tagged answers: what a person may see of them, as they stream. Pure.

A model writes `<thinking>` fields, perhaps a `<draft>`, perhaps a `<dispatch>`, then plain text. Only
the plain text is ever given out. The decoder is a function of the whole text: any chunking gives the
same pieces joined. A tag that never ends hides all that follows; the flow then answers by template.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Literal

from bedside.core.turn import Draft, Quote
from bedside.core.value import value

__all__ = ["Modes", "TagDecoder", "Tagged"]

Modes = Literal["WITNESS", "PERSPECTIVE", "NEEDS", "REPAIR", "ONBOARDING", "DISPATCH"]
_MODES = ("WITNESS", "PERSPECTIVE", "NEEDS", "REPAIR", "ONBOARDING", "DISPATCH")
_NAMES = (
    "thinking", "think", "thought", "thoughts", "reasoning", "scratchpad", "analysis", "draft",
    "dispatch",
)  # fmt: skip
_WRAPS = ("response", "answer", "reply", "message", "output")
"""Tags that a model puts round what it says: they go, and what they hold stays."""
_FIELDS = ("mode", "userintensity", "feelheardcheck", "readyshare", "strategy")
_HEAD = re.compile(
    r"(?:<|&lt;)\s{0,3}(/?)\s{0,3}("
    + "|".join(sorted((*_NAMES, *_WRAPS), key=len, reverse=True))
    + r")"
    r"(?![A-Za-z0-9_-])",
    re.IGNORECASE,
)
_START = re.compile(r"<|&")
_TAIL = re.compile(r">|&gt;|(?=<)|(?=&lt;)|(?=\n)", re.IGNORECASE)
_DRESS = r"[ \t*_#>-]*"
"""What a model puts round a field's name: emphasis, a heading, a list."""
_NAMED = r"(mode|user[ _]?intensity|feel[ _]?heard[ _]?check|ready[ _]?share|strategy)"
_FIELD = re.compile(rf"{_DRESS}(?:{_NAMED}{_DRESS}:|```)", re.IGNORECASE)
_FIELD_LINE = re.compile(rf"^{_DRESS}{_NAMED}{_DRESS}:[ \t*_]*(.*)$", re.IGNORECASE | re.MULTILINE)
_THINKS = re.compile(
    rf"^{_DRESS}(?:{_NAMED}|thinking|thoughts?|reasoning|scratchpad|analysis|internal \w+){_DRESS}:",
    re.IGNORECASE | re.MULTILINE,
)
_JSON_FIELD = re.compile(
    rf"[{{,]\s*\"(?:{_NAMED}|thinking|thoughts?|reasoning|scratchpad|analysis)\"\s*:", re.IGNORECASE
)
_PREFIX = re.compile(r"(?:<|&lt;)\s{0,3}/?\s{0,3}([A-Za-z]*)\Z", re.IGNORECASE)


@value
class Tagged:
    """What stood in the tags. `None` and "" where a field was missing or no value of its kind.

    `heard` and `ready` are what the model thinks, never what a gate goes by.
    """

    mode: Modes | None = None
    intensity: int | None = None
    heard: bool | None = None
    ready: bool | None = None
    strategy: str = ""
    draft: str = ""
    dispatch: str = ""
    sound: bool = True
    """False where a tag was missing, unclosed, or closed without being open."""


class TagDecoder:
    """Implements `bedside.core.turn.Decoder`. Used for one answer, once.

    An answer that does not begin with a tag is held until its first tag or its end: its opening tag
    may be what is missing, and text before a stray closing tag was meant to be hidden.
    """

    def __init__(self, *, lead: str = "") -> None:
        """Begin an answer; `lead` stands before its first plain text, if there is any."""
        self._first = lead
        self._buffer = ""
        self._stack: list[str] = []
        self._inside: dict[str, str] = {}
        self._lead: str | None = ""  # plain text before the first tag; None once a tag was seen
        self._line = ""  # the beginning of a line that may turn out to be a field
        self._dropping = False
        self._fresh = True  # at the beginning of a line
        self._object: str | None = ""  # plain text that may be a JSON object; None once it is none
        self._out: list[str] = []
        self._sound = True

    def feed(self, delta: str) -> Sequence[str | Quote]:
        """Take more of the stream; return what is certainly plain."""
        self._buffer += delta
        before = len(self._out)
        self._scan(last=False)
        return tuple(self._out[before:])

    def finish(self) -> Draft:
        """End the stream. `Draft.payload` is the `Tagged`."""
        self._scan(last=True)
        if self._lead is not None:
            held, self._lead = self._lead, None
            self._sound = False
            self._plain(_after_thoughts(held, self._inside))
        if self._line:
            line, self._line = self._line, ""
            if not _FIELD.match(line):
                self._emit(line)
        if held := self._object:
            self._object = None
            self._sound = False
            self._emit(_after_thoughts(held, self._inside))
        if self._stack:
            self._sound = False
        return Draft(text="".join(self._out), payload=self._tagged(), by="model")

    # ---- scanning

    def _scan(self, *, last: bool) -> None:
        while self._buffer:
            at, kind, close, name, end = _next_tag(self._buffer, last=last)
            self._take(self._buffer[:at])
            if kind in {"none", "half"}:
                self._buffer = ""
            elif kind == "maybe":
                self._buffer = self._buffer[at:]
                return
            else:
                self._buffer = self._buffer[end:]
                if name not in _WRAPS:
                    self._tag(name, close=close)
                elif self._lead and not close:  # what stands before the answer is no part of it
                    self._inside["thinking"] = self._inside.get("thinking", "") + self._lead
                    self._lead, self._sound = "", False

    def _take(self, text: str) -> None:
        if not text:
            return
        if self._stack:
            name = self._stack[0]
            if len(self._stack) == 1:
                self._inside[name] = self._inside.get(name, "") + text
        elif self._lead is not None:
            self._lead += text
        else:
            self._plain(text)

    def _tag(self, name: str, *, close: bool) -> None:
        held, self._lead = self._lead, None
        if held is not None and held.strip():
            self._sound = False
            if close or _FIELD_LINE.search(held):
                key = name if close else "thinking"
                self._inside[key] = self._inside.get(key, "") + held
            else:
                self._plain(held)
        if not close:
            if not self._stack:
                self._end_line()
                if self._inside.get(name):
                    self._inside[name] += "\n"
            self._stack.append(name)
        elif name in self._stack:
            while self._stack.pop() != name:
                self._sound = False
        else:
            self._sound = False

    def _end_line(self) -> None:
        """Text that waits on whether its line is a field is none: a tag stands in its middle."""
        if self._line:
            line, self._line = self._line, ""
            self._emit(line)

    # ---- plain text

    def _plain(self, text: str) -> None:
        """Let plain text out, less the lines that repeat a field of the protocol."""
        for line in re.split(r"(?<=\n)", text):
            if not line:
                continue
            if self._dropping:
                self._dropping = not line.endswith("\n")
                continue
            if not self._fresh:
                self._emit(line)
                continue
            self._line += line
            if _FIELD.match(self._line):
                self._dropping = not self._line.endswith("\n")
                self._line = ""
            elif self._line.endswith("\n") or not _may_be_field(self._line):
                whole, self._line = self._line, ""
                self._emit(whole)

    def _emit(self, text: str) -> None:
        if self._object is not None and not self._out:
            # An answer that is a JSON object is held to its end: what it says to the person is shown.
            self._object += text
            if self._object.lstrip()[:1] in {"", "{"}:
                return
            text, self._object = self._object, None
        self._fresh = text.endswith("\n")
        if not self._out:
            text = text.lstrip()
            text = self._first + text if text else ""
        if text:
            self._out.append(text)

    # ---- what stood inside

    def _tagged(self) -> Tagged:
        hidden = "\n".join(
            text for name, text in self._inside.items() if name not in {"draft", "dispatch"}
        )
        fields = {
            _squashed(match[1]): match[2].strip().strip("[]")
            for match in _FIELD_LINE.finditer(hidden)
        }
        number = re.search(r"\d+", fields.get("userintensity", ""))
        intensity = int(number[0]) if number else 0
        mode = fields.get("mode", "").upper()
        return Tagged(
            mode=mode if mode in _MODES else None,
            intensity=intensity if 1 <= intensity <= 10 else None,  # noqa: PLR2004 - the scale
            heard=_yes(fields.get("feelheardcheck", "")),
            ready=_yes(fields.get("readyshare", "")),
            strategy=fields.get("strategy", ""),
            draft=self._inside.get("draft", "").strip() if self._closed("draft") else "",
            dispatch=self._inside.get("dispatch", "").strip() if self._closed("dispatch") else "",
            sound=self._sound,
        )

    def _closed(self, name: str) -> bool:
        return name not in self._stack


def _next_tag(text: str, *, last: bool) -> tuple[int, str, bool, str, int]:
    """(where, "tag" | "maybe" | "half" | "none", closing, name, end) of the first tag in `text`."""
    for start in _START.finditer(text):
        at = start.start()
        head = _HEAD.match(text, at)
        if head and (head.end() < len(text) or last):
            tail = _TAIL.search(text, head.end())
            if tail is None and not last:
                return at, "maybe", False, "", at
            return at, "tag", bool(head[1]), _plainly(head[2]), tail.end() if tail else len(text)
        if head or _may_be_tag(text[at:]):
            if not last:
                return at, "maybe", False, "", at
            if text[at] == "<":  # half a tag at the very end is dropped
                return at, "half", True, "", len(text)
    return len(text), "none", False, "", len(text)


def _plainly(name: str) -> str:
    lower = name.lower()
    return lower if lower in {"draft", "dispatch", *_WRAPS} else "thinking"


def _may_be_tag(rest: str) -> bool:
    """Could more text make a tag of this end of the buffer?"""
    if "&lt;".startswith(rest.lower()):
        return True
    match = _PREFIX.match(rest)
    return bool(match) and any(name.startswith(match[1].lower()) for name in (*_NAMES, *_WRAPS))


def _may_be_field(line: str) -> bool:
    body = _squashed(line)
    return any(name.startswith(body) for name in (*_FIELDS, "```"))


def _squashed(text: str) -> str:
    """A name without its dress, in lower case."""
    return re.sub(r"[ \t*_#>-]", "", text).lower()


def _after_thoughts(held: str, inside: dict[str, str]) -> str:
    """An answer without any tag: the paragraphs after its last field or label, all of it where it has none.

    One that is or holds a JSON object is what that object says to the person, and nothing where it says nothing.
    """
    if held.lstrip().startswith("{") or _JSON_FIELD.search(held):
        try:
            tree = json.loads(held[held.find("{") : held.rfind("}") + 1])
        except (ValueError, RecursionError):
            return ""
        said = (tree.get(name) for name in (*_WRAPS, "text")) if isinstance(tree, dict) else ()
        return next((one for one in said if isinstance(one, str)), "")
    labels = list(_THINKS.finditer(held))
    if not labels:
        return held
    blank = re.compile(r"\n[ \t]*\n").search(held, labels[-1].end())
    cut = blank.end() if blank else len(held)
    inside["thinking"] = inside.get("thinking", "") + held[:cut]
    return held[cut:]


def _yes(text: str) -> bool | None:
    first = text[:1].upper()
    return True if first == "Y" else False if first == "N" else None
