"""Emergencies that a message names, by rule, before any model (IN-24). Pure.

Rules and texts are data (`data/red_flags.yaml`). A rule speaks where its words stand in a clause
that is of now and of the person or somebody with them: not denied, not over, not a figure of
speech, not a question about risks in general.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.core.value import value
from bedside.sop.emergency_forms import Formed, formed, lasting, respelled

__all__ = ["RedFlag", "emergency_text", "red_flags", "rules_pack"]

Kind = Literal["emergency", "crisis"]


@value
class RedFlag:
    """One emergency: its rule, and the words at [start, end) of the message that named it.

    `kind` "crisis" is about harm to oneself or by others, and has a text of its own.
    """

    id: str
    start: int
    end: int
    kind: Kind = "emergency"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Rule(_Part):
    id: str
    kind: Kind = "emergency"
    source: str
    patterns: tuple[str, ...]
    past_counts: bool = False
    needs: tuple[str, ...] = ()


class _RedFlags(PackFile):
    rules: tuple[_Rule, ...]
    idioms: tuple[str, ...]
    denied: tuple[str, ...]
    over: tuple[str, ...]
    over_once: tuple[str, ...]
    over_age: tuple[str, ...]
    present: tuple[str, ...]
    general: tuple[str, ...]
    elsewhere: tuple[str, ...]
    feared: tuple[str, ...]
    texts: dict[Kind, dict[str, str]]


def _data() -> _RedFlags:
    return load_pack(_RedFlags, "bedside.sop", "data/red_flags.yaml")


def rules_pack() -> Pack:
    """What the rules and texts say of themselves; they are unreviewed until it says otherwise."""
    return _data().pack


def _any(forms: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{form})" for form in forms), re.IGNORECASE)


@functools.cache
def _forms() -> tuple[tuple[_Rule, re.Pattern[str], re.Pattern[str] | None], ...]:
    return tuple(
        (rule, _any(rule.patterns), _any(rule.needs) if rule.needs else None)
        for rule in _data().rules
    )


@functools.cache
def _guards() -> dict[str, re.Pattern[str]]:
    data = _data()
    return {
        name: _any(getattr(data, name))
        for name in (
            "idioms",
            "denied",
            "over",
            "over_once",
            "over_age",
            "present",
            "general",
            "elsewhere",
            "feared",
        )
    }


_SENTENCE = re.compile(r"(?:[^.!?\n;؟।]|\.(?=\S))+[.!?;؟।]*")
_POINT = re.compile(r"(?<=\d)\.(?=\d)")
_CLAUSE_END = re.compile(  # a comma inside a figure ends nothing
    r",(?!\d)|\b(?:but|however|although|though|yet|now|today|except|because|and (?:now|i|my|he|she)|لكن|लेकिन|पर)\b",
    re.IGNORECASE,
)
_WIDE = {"’": "'", "‘": "'", "`": "'"}


def red_flags(message: str) -> tuple[RedFlag, ...]:
    """The emergencies that stand in the message, in their order; at most one of a rule.

    Positions are code points of the message as given.
    """
    spelled = respelled(message.translate(str.maketrans(_WIDE)))
    guards = _guards()
    masked = guards["idioms"].sub(
        lambda found: "\x00" * len(found.group()), _POINT.sub(",", spelled.text)
    )
    sentences = [one.span() for one in _SENTENCE.finditer(masked)]
    found: dict[str, tuple[int, int, Kind]] = {}
    for sentence in sentences:
        for rule, form, needs in _forms():
            if rule.id in found or (needs is not None and not needs.search(masked)):
                continue
            for match in form.finditer(masked, *sentence):
                if rule.kind == "emergency" and _lasts(masked, sentence, match.span()):
                    continue
                if _of_now(
                    masked,
                    sentence,
                    match.span(),
                    crisis=rule.kind == "crisis",
                    past_counts=rule.past_counts,
                ):
                    found[rule.id] = (*match.span(), rule.kind)
                    break
    pointed = guards["idioms"].sub(lambda hit: "\x00" * len(hit.group()), spelled.text)
    for one in formed(pointed, sentences):
        if one.rule not in found and _stands(masked, sentences, one):
            found[one.rule] = (one.start, one.end, one.kind)
    if len(found) > 1:
        found.pop("unwell", None)  # said by what is more particular
    places = spelled.places
    flags = [
        RedFlag(id=rule, start=places[start], end=places[end - 1] + 1, kind=kind)
        for rule, (start, end, kind) in found.items()
    ]
    return tuple(sorted(flags, key=lambda one: (one.start, one.id)))


def _stands(text: str, sentences: Sequence[tuple[int, int]], one: Formed) -> bool:
    """Is the combination of now, with none of its concepts denied between the others?"""
    guards = _guards()
    for (_, end), (start, _) in itertools.pairwise(one.parts):
        between = text[end:start] if start > end else ""
        *_, last = _CLAUSE_END.split(between)
        if guards["denied"].search(last) and (last == between or _DENIES.match(last)):
            return False
    within = [span for span in sentences if span[0] < one.end and one.start < span[1]]
    told = (within[0][0], within[-1][1])
    if one.kind == "emergency" and _lasts(text, told, (one.start, one.end)):
        return False
    for sentence in within:
        parts = [part for part in one.parts if sentence[0] <= part[0] < sentence[1]]
        if not parts:
            continue
        start, end = parts[0][0], max(end for _, end in parts)
        before = text[sentence[0] : start]
        if (
            text[slice(*sentence)].rstrip().endswith("?")
            and guards["general"].search(before)
            and not _HAS.search(before)
        ):
            return False
        if not _of_now(text, sentence, (start, end), crisis=one.kind == "crisis"):
            return False
    return True


def _of_now(
    text: str,
    sentence: tuple[int, int],
    span: tuple[int, int],
    *,
    crisis: bool = False,
    past_counts: bool = False,
) -> bool:
    """Is the clause of these words neither denied, nor over, nor said in general?"""
    guards = _guards()
    before = text[sentence[0] : span[0]]
    said = text[slice(*span)]
    whole_sentence = text[slice(*sentence)]
    breaks = [one.end() for one in _CLAUSE_END.finditer(before)]
    clause = before[breaks[-1] :] if breaks else before
    after = text[span[1] : sentence[1]]
    stop = _CLAUSE_END.search(after)
    tail = after[: stop.start()] if stop else after
    whole = f"{clause}{said}{tail}"
    listed = _NEGATED_LIST.search(before)
    if guards["denied"].search(clause) or _DENIED_AFTER.match(tail):
        return False
    if listed is not None and " or " in whole_sentence and not _OWN.search(listed["list"]):
        return False
    if guards["general"].search(whole) and not _HAS.search(clause):
        return False
    if not crisis and _is_elsewhere(whole, clause, said):
        return False
    if not crisis and _is_feared(f"{clause}{said}"):
        return False
    if past_counts or _is_present(clause, said):
        return True
    over = _is_over(whole) or _HAD.search(clause)
    if over or (not breaks and _is_over(whole_sentence)):
        return guards["present"].search(whole_sentence) is not None
    return True


def _is_over(said: str) -> bool:
    """Do the words put it in the past? An age or "once" does so only beside a past verb."""
    guards = _guards()
    if guards["over"].search(said):
        return True
    if guards["over_age"].search(said):
        return _WAS.search(said) is not None
    return guards["over_once"].search(said) is not None and _PAST.search(said) is not None


def _is_present(clause: str, said: str) -> bool:
    """Does a verb of now stand in the words, or right before them: "is not breathing"?"""
    verbs = [one.end() for one in _IS.finditer(f"{clause}{said}")]
    *_, own = _AND.split(clause)
    if not verbs or _HYPOTHETICAL.search(own) or _PAST.search(said):
        return False
    between = clause[verbs[-1] :]
    return len(between.split()) <= _NEAR and _PAST.search(between) is None


def _is_elsewhere(whole: str, clause: str, said: str) -> bool:
    """Is it told of a film, a job or the news, and of nobody here?"""
    found = _guards()["elsewhere"].search(whole)
    if found is None or _HAS.search(clause):
        return False
    joined = _ALSO.search(f"{clause}{said}")
    return joined is None or joined.start("also") < found.end()


def _is_feared(said: str) -> bool:
    """Is it what somebody fears may come? What explains the fear is there already."""
    hits = list(_guards()["feared"].finditer(said))
    return bool(hits) and _EXPLAINS.search(said, hits[-1].end()) is None


def _lasts(text: str, sentence: tuple[int, int], span: tuple[int, int]) -> bool:
    """Has it long been so? What lasts in another clause says nothing of one of now."""
    if not lasting(text[slice(*sentence)]):
        return False
    before, said = text[sentence[0] : span[0]], text[slice(*span)]
    breaks = [one.end() for one in _JOINS.finditer(before)]
    if not breaks:
        return True
    clause = before[breaks[-1] :]
    return not _is_present(clause, said) or lasting(f"{clause}{said}{text[span[1] : sentence[1]]}")


_HAS = re.compile(
    r"(?<!if )(?<!whether )\b(?:i|he|she|we|my \w+|the patient)(?:'m|'ve|'s)?(?: (?:am|is|are|have|has|had|having|feel|feels|"
    r"got|keep|keeps|just|suddenly|now|can't|cannot|been|a|some|this|such))+ ?(?:(?!afraid|scared|worried|of\b|about)\w+ ){0,2}$",
    re.IGNORECASE,
)
_IS = re.compile(
    r"(?:\b(?:is|are|am|isn't|aren't|won't|will not|can't|cannot|doesn't|does not|don't|do not|keeps?)"
    r"|\b(?:i'm|he's|she's|it's|they're|we're)|(?<=and )(?:have|has)|(?<=and now )(?:have|has))\b",
    re.IGNORECASE,
)
"""Verbs of what goes on now."""
_NEAR = 2
_AND = re.compile(r"\band\b", re.IGNORECASE)
_HYPOTHETICAL = re.compile(
    r"\b(?:if|whether|when|whenever|what|how|could|would|might|may|suppose|supposing|imagine)\b",
    re.IGNORECASE,
)
_JOINS = re.compile(rf"\band\b|[:;]|{_CLAUSE_END.pattern}", re.IGNORECASE)
_ALSO = re.compile(
    r"\b(?:i|he|she|we|they|my \w+)\b[^.!?]*?\b(?P<also>(?:and|but|so)) (?:now |also |just |suddenly )?"
    r"(?:have|has|am|is|are|can't|cannot|won't|feel|feels|keep|keeps|cough\w*|vomit\w*|bleed\w*|chok\w+)\b",
    re.IGNORECASE,
)
_EXPLAINS = re.compile(
    r"[:;\u2013\u2014]| - |\b(?:because|since|cos|and|so|as|after) (?:i|he|she|we|they|it|my|his|her)\b",
    re.IGNORECASE,
)
_WAS = re.compile(
    r"\b(?:was|were|had|did|died|suffered|survived|saved|treated|operated|removed)\b", re.IGNORECASE
)
_PAST = re.compile(
    r"\b(?:was|were|had|did|been|went|came|got|gave|fell|broke|lost|felt|threw|"
    r"(?!aged\b|need\b|bleed\b|feed\b|swallowed\b|overdosed\b|injected\b|inhaled\b)\w{2,}ed)\b",
    re.IGNORECASE,
)
"""Verbs of the past but those of taking in: a poison taken is still there."""
_DENIES = re.compile(r"\W*(?:no|not|without|never|nor)\b", re.IGNORECASE)
_HAD = re.compile(r"\b(?:had|has had|have had)(?: (?!to\b)\S+){0,3} ?$", re.IGNORECASE)
_NEGATED_LIST = re.compile(
    r"\b(?:no|denies|denied|without|never had|not had any|(?:don't|do not) have(?: any)?)\b(?P<list>[^.!?]*)$",
    re.IGNORECASE,
)
_OWN = re.compile(r"\b(?:i|my|but|is|am|has|now|he|she|his|her)\b", re.IGNORECASE)
_DENIED_AFTER = re.compile(
    r"\s*(?:is |was |has |are )?(?:not there|gone|absent|none|denied|negative|ruled out|: ?no\b|नहीं)",
    re.IGNORECASE,
)


def emergency_text(
    flags: Sequence[RedFlag], *, number: str, crisis_line: str = "", language: str = "en"
) -> str:
    """The fixed text that replaces the question.

    Args:
        flags: What `red_flags` found, at least one; a crisis is answered before an emergency.
        number: The emergency number that the deployer set; "" says "your local emergency number".
        crisis_line: A crisis line's number, "" where the deployer set none.
        language: "en", "ar" or "hi"; anything else gets English.
    """
    texts = _data().texts
    kinds: list[Kind] = sorted({flag.kind for flag in flags})
    local = {
        "en": "your local emergency number",
        "ar": "رقم الطوارئ المحلي",
        "hi": "अपने स्थानीय आपातकालीन नंबर",
    }
    said = []
    for kind in kinds or ["emergency"]:
        by_language = texts[kind]
        chosen = language if language in by_language else "en"
        text = by_language[chosen]
        if not number:  # the Arabic "by" is written on to a word, and apart from a number
            text = text.replace("بـ {number}", f"ب{local['ar']}")
        text = text.replace("{number}", number or local[chosen])
        line = {"en": "A crisis line", "ar": "خط للدعم النفسي", "hi": "संकट सहायता लाइन"}[chosen]
        said.append(
            text.replace("{crisis}", f"{line}: {crisis_line}." if crisis_line else "").strip()
        )
    return " ".join(" ".join(one.split()) for one in said)
