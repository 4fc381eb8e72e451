"""What kind of sentence is it: a claim, and on what basis? Pure.

Everything that is not recognised as something else is a claim, and a claim needs a citation.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Literal

from bedside.core.source import SourceKind
from bedside.core.turn import Basis, Severity
from bedside.core.value import value
from bedside.grounding.reading import Memo, Read
from bedside.grounding.terms import stem_of

__all__ = ["Kind", "Sentence", "basis_of", "classify", "severity_of"]

Kind = Literal["claim", "absence", "question", "heading", "talk"]

_HEADING = re.compile(r"^(?:#{1,6}\s+\S.*|\**[^.!?\n]{1,70}:\**)$")
_ASSERTS = re.compile(
    r"\b(?:is|are|was|were|has|have|had|shows?|showed|suggests?|indicates?|needs?|should|must|"
    r"confirms?|means?)\b",
    re.IGNORECASE,
)
_RULE = re.compile(r"^[|\s:*_=-]+$")
_ABSENCE = re.compile(
    r"\b(?:(?:not|never) (?:yet |ever )?(?:been )?(?:measured|checked|tested|recorded|documented|done|performed|obtained)\b|"
    r"(?:wasn't|isn't|weren't|aren't) (?:measured|checked|tested|recorded|documented|done|performed|obtained)\b|"
    r"no (?:known |prior |previous |past |documented |recorded |personal |medical )*history of|"
    r"(?:is|are|remains?) (?:unknown|undocumented|unrecorded|unavailable)\b|"
    r"(?:records?|charts?|sources?|documents?|notes?|letters?) (?:holds?|contains?|shows?|lists?|mentions?|gives?) no\b|"
    r"no (?:record|documentation|mention) (?:of|for)\b|"
    r"not (?:on (?:the |his |her )?(?:\w+ )?(?:list|record|file|chart))\b|"
    r"not (?:found|recorded|documented|available|listed|mentioned|stated|given|covered|present|"
    r"included|on file|in the (?:record|sources?|documents?|guidelines?|context|notes?|data))|"
    r"no (?:[\w'/()+-]+\s+){0,8}?(?:(?:is|are|was|were|has been|have been) )?"
    r"(?:recorded|documented|found|on file|available|listed|mentioned|in the (?:record|sources?|documents?|"
    r"guidelines?|context|notes?|data)|on record|on (?:the |his |her )?(?:\w+ )?(?:list|file|chart))|"
    r"(?:do(?:es)?|did) not (?:contain|mention|state|say|include|record|cover|show|list|hold|give|address)|"
    r"(?:could|can) ?not (?:find|be found|be answered|be determined|tell|answer|say|determine)|"
    r"(?:nothing|none)\b.{0,60}\b(?:recorded|documented|found|on file|in the (?:record|sources?))|"
    r"not (?:among|one of) (?:the |his |her )?\w+|missing from the (?:record|sources?)|(?:has|have) no record(?:ed)?\b|there is no record|"
    r"unable to (?:find|answer|tell|determine)|lacks? (?:a |any )?record)",
    re.IGNORECASE,
)  # fmt: skip
_CLAUSES = re.compile(
    r";\s+|,?\s+(?:but|although|however|though|while|whereas)\s+|,\s+(?:and|so|therefore|which)\s+(?=[^,]*\b(?:is|are|was|were|has|have|had|takes|shows?)\b)",
    re.IGNORECASE,
)
_INFER = re.compile(
    r"\b(?:suggests?|suggesting|suggestive|likely|probably|possibly|(?-i:may)|might|could|consistent with|"
    r"consider|interpretation|speculation|indicates?|indicating|implies|implying|therefore|"
    r"in keeping with|appears?|seems?|worsening|improving|trend|concern(?:ing)?|warrants?|option|"
    r"weigh|worth|overall|so )\b",
    re.IGNORECASE,
)
_CRITICAL = re.compile(
    r"\b(?:allerg\w+|anaphyla\w+|contraindicat\w+|critical\w*|life-threatening|emergenc\w+|urgent\w*|"
    r"immediate\w*|overdose\w*|toxic\w*|interact\w+|bleed\w*|sepsis|stroke|suicid\w+|red flag\w*|"
    r"do not|must not|avoid|stop|hyperkal\w+)\b",
    re.IGNORECASE,
)
_WARNING = re.compile(
    r"\b(?:abnormal\w*|high|low|raised|elevated|reduced|decreased|increased|worsen\w*|stale|overdue|"
    r"borderline|above|below|declin\w+|deteriorat\w+|uncontrolled|contradict\w*|conflict\w*|risk)\b",
    re.IGNORECASE,
)
# Words of conversation and of pointing at the answer itself; with figures, drugs or anything else
# beside them the sentence is a claim.
_TALK_WORDS = (
    "hello hi hey good morning afternoon evening thanks thank welcome sorry please happy glad help "
    "helps assist ask asking question questions answer answers answered look looks let know like want "
    "need needs go ahead sure yes no ok okay doctor colleague detail details detailed summary summarise "
    "summarize overview source sources quoted quote quotes cited citation citations following follow "
    "follows below above here listed point points key main start first second third next finally also "
    "note information context relevant available extract extracts extracted composed composing sentence "
    "sentences model without deterministic rule rules passage passages text document documents guideline "
    "guidelines guidance chart file data check checked confirm verify review reviewed clinical clinician "
    "clinicians judgement judgment decision decisions support supports local reference references "
    "pharmacist pharmacy specialist consult consulting dose dosing interaction interactions "
    "interpretation speculation draft tell say more would should could can may discuss further "
    "together based read reading one two anything something else rest outside scope advice lawyer legal "
    "insurer insurance matter matters cannot help glad explain nothing there part parts table time "
    "treat treating team apply applies final responsibility yours make makes made provide provided "
    "hold holds held given drawn put "
    "options option consider considered weigh order relevance date dates units unit stale marked find"
)
_TALK = frozenset(stem_of(word) for word in _TALK_WORDS.split())


@value
class Sentence:
    """A unit of an answer, classified. `text` is without markers and list signs."""

    text: str
    kind: Kind


def classify(text: str, *, allowed: Collection[str] = (), read: Memo | None = None) -> Sentence:
    """Say what a unit is.

    Args:
        text: The unit without citation markers.
        allowed: Further stems that make no claim, such as the names of a country's references.
        read: The readings that a gate keeps.

    Returns:
        "question" for one that ends so; "heading" for titles, table heads and lines that end with
        a colon; "absence" for a statement that something is not in the record or the sources;
        "talk" for conversation; else "claim".
    """
    bare = re.sub(r"^[\s>*+•-]*(?:\(?\d{1,2}[.)]\s+)?", "", text).strip(" *_")
    if not bare or _RULE.match(text.strip()):
        return Sentence(text=bare, kind="heading")
    if bare.endswith(("?", "？")):
        return Sentence(text=bare, kind="question")
    said = (read or Memo())(bare)
    plain = not said.quantities
    if text.strip().startswith("|") and plain:
        return Sentence(text=bare, kind="heading")
    talk = plain and _talk(said, allowed)
    if plain and _HEADING.match(text.strip()) and (talk or not _ASSERTS.search(bare)):
        return Sentence(text=bare, kind="heading")
    if _ABSENCE.search(bare):
        return Sentence(text=bare, kind="claim" if _rides(bare, read) else "absence")
    if talk:
        return Sentence(text=bare, kind="talk")
    return Sentence(text=bare, kind="claim")


def _rides(text: str, read: Memo | None) -> bool:
    """Does a statement of absence carry a claim with it ("..., but glucose is 9.1")?"""
    parts = [one for one in _CLAUSES.split(text) if one and one.strip()]
    if len(parts) == 1:
        return False
    memo = read or Memo()
    missing = [one for one in parts if _ABSENCE.search(one)]
    known = {key for one in missing for key in memo(one).named}
    if not missing:
        return False
    rest = [memo(one) for one in parts if one not in missing]
    return any(one.quantities or one.named - known for one in rest)


def _talk(said: Read, allowed: Collection[str]) -> bool:
    """Only words of conversation, no medicine and no test?"""
    known = all(term.key in _TALK or term.key in allowed for term in said.stems)
    return known and not said.named


def basis_of(text: str, kinds: Sequence[SourceKind]) -> Basis:
    """On what a claim rests: its cited sources' kinds, or an inference from them.

    Words that draw a conclusion make it an inference; so do sources of two bases in one sentence.
    """
    bases = {
        "guideline" if kind == "guideline" else "said" if kind == "message" else "record"
        for kind in kinds
    }
    if _INFER.search(text) or len(bases) > 1 or not bases:
        return "inference"
    if bases == {"guideline"}:
        return "guideline"
    return "said" if bases == {"said"} else "record"


def severity_of(said: Read) -> Severity:
    """How much harm a wrong sentence could do: allergies, doses and red flags are critical."""
    if _CRITICAL.search(said.text) or (said.drugs and said.quantities):
        return "critical"
    if _WARNING.search(said.text) or said.drugs:
        return "warning"
    return "info"
