"""What must not come out: links, images, HTML, our own instructions. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["Instructions", "active_content"]

_ACTIVE = re.compile(
    r"""(?:
      [a-z][a-z0-9+.-]{1,12}://                       # any scheme with an authority
    | \b(?:javascript|data|vbscript|file|mailto|tel):\S
    | !\[                                             # Markdown image
    | (?<!\w\[hg)(?<!\w\[iu)(?<!\[degf)(?<!\w\[ph)\]\(\s*\S # Markdown link, not the unit "mm[Hg](seated)"
    | (?<=\w\[hg)\]\(\s*[^\s)]*[/.:\#]               # a link that calls itself a unit
    | ^\s*\[[^\]\n]{1,60}\]:\s*\S+\.\S                # Markdown reference
    | </?[a-z!][a-z0-9-]*(?:[\s/>]|$)                 # HTML
    | &lt;/?(?:img|a|script|iframe|svg|object|embed|form)\b
    | \bwww\.[a-z0-9-]+\.
    | (?<![\w@.-])//[a-z0-9-]+\.[a-z]{2,}
    | \b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|net|org|io|co|info|biz|xyz|ru|cn|top|site|online|app|dev|link|click|me|ly|gl)
      (?:/\S*|\?\S+|:\d{2,5}\b|\b(?![.-]?\w))
    )""",
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)  # fmt: skip
# Cheap to look for, and part of every form above.
_HINT = re.compile(
    r"//|<[a-z!/]|&lt;|!\[|\]\s*[(:]|www\.|[a-z]:\S|\.[a-z]{2,6}(?![a-z])", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]+")
_RUN = 8


def active_content(text: str) -> bool:
    """Does the text hold a link, an image, an address or HTML? Figures such as "<5" are none."""
    return _HINT.search(text) is not None and _ACTIVE.search(text) is not None


class Instructions:
    """Our own words to the model, and whether a text gives them away.

    `texts` are what we wrote; `shown` is what the model may repeat (sources, the question): runs
    of words that stand there are no leak. `canaries` are strings that must never come out.
    """

    def __init__(
        self, texts: Iterable[str], *, shown: Iterable[str] = (), canaries: Iterable[str] = ()
    ) -> None:
        self._texts, self._shown = tuple(texts), tuple(shown)
        self._ours: str | None = None
        self._canaries = tuple(one.lower() for one in canaries if one)

    def leaked(self, text: str) -> bool:
        """True where eight words in a row are ours and nobody else's, or a canary stands."""
        low = text.lower()
        if any(canary in low for canary in self._canaries):
            return True
        words = _words(low)
        runs = {" ".join(words[k : k + _RUN]) for k in range(len(words) - _RUN + 1)}
        if not runs or not self._texts:
            return False
        if self._ours is None:
            self._ours = _line(self._texts)
        hits = [run for run in runs if f" {run} " in self._ours]
        if not hits:
            return False
        allowed = _line(self._shown)
        return any(f" {run} " not in allowed for run in hits)


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _line(texts: Iterable[str]) -> str:
    return " " + " | ".join(" ".join(_words(text.lower())) for text in texts) + " "
