"""How a thing is said: of now, or denied, over, feared, asked in general, told of elsewhere. Pure.

Forms are data (`data/scope.yaml`). A thing counts where its words stand in a clause that is of now
and of the person or somebody with them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from bedside.clinical.danger.signs import lasting
from bedside.clinical.packs import Pack, PackFile, load_pack

__all__ = ["CLAUSE_END", "HAS", "Manner", "guards", "lasts", "manner", "scope_pack"]

Manner: TypeAlias = Literal["now", "over", "denied", "asked", "elsewhere", "feared", "quoted"]
Span: TypeAlias = tuple[int, int]


class _Scope(PackFile):
    idioms: tuple[str, ...]
    denied: tuple[str, ...]
    over: tuple[str, ...]
    over_once: tuple[str, ...]
    over_age: tuple[str, ...]
    present: tuple[str, ...]
    general: tuple[str, ...]
    elsewhere: tuple[str, ...]
    feared: tuple[str, ...]
    harm_over: tuple[str, ...]
    harm_present: tuple[str, ...]
    professional: tuple[str, ...]
    told: tuple[str, ...]


def _data() -> _Scope:
    return load_pack(_Scope, "bedside.clinical", "danger/data/scope.yaml")


def scope_pack() -> Pack:
    """What the forms say of themselves; they are unreviewed until it says otherwise."""
    return _data().pack


@functools.cache
def guards() -> Mapping[str, re.Pattern[str]]:
    """The forms of each guard as one pattern."""
    data = _data()
    return {
        name: re.compile("|".join(f"(?:{form})" for form in getattr(data, name)), re.IGNORECASE)
        for name in _Scope.model_fields
        if name != "pack"
    }


CLAUSE_END = re.compile(  # a comma inside a figure ends nothing
    r",(?!\d)|\b(?:but|however|although|though|yet|now|today|except|because|and (?:now|i|my|he|she)|لكن|लेकिन|पर)\b",
    re.IGNORECASE,
)


def manner(
    text: str, sentence: Span, span: Span, *, crisis: bool = False, past_counts: bool = False
) -> Manner:
    """How the words at `span` of the sentence are said.

    Args:
        text: The whole message, as long as that of the spans.
        sentence: Where the sentence stands.
        span: Where the words stand.
        crisis: Harm to oneself or by others: a fear of it, and what is told of others, count.
        past_counts: What has been counts as what is.
    """
    guard = guards()
    before = text[sentence[0] : span[0]]
    said = text[slice(*span)]
    whole_sentence = text[slice(*sentence)]
    breaks = [one.end() for one in CLAUSE_END.finditer(before)]
    clause = _own_clause(before[breaks[-1] :] if breaks else before, said)
    after = text[span[1] : sentence[1]]
    stop = CLAUSE_END.search(after)
    tail = after[: stop.start()] if stop else after
    whole = f"{clause}{said}{tail}"
    listed = _NEGATED_LIST.search(before)
    if guard["denied"].search(clause) or _DENIED_AFTER.match(tail):
        return "denied"
    if listed is not None and " or " in whole_sentence and not _OWN.search(listed["list"]):
        return "denied"
    if guard["general"].search(clause if crisis else whole) and not HAS.search(clause):
        return "asked"
    if _is_elsewhere(whole, clause, said, "professional" if crisis else "elsewhere"):
        return "elsewhere"
    if not crisis and _is_feared(f"{clause}{said}"):
        return "feared"
    if past_counts or _is_present(clause, said):
        return "now"
    if crisis and guard["harm_present"].search(whole_sentence):
        return "now"
    over = _is_over(whole) or _HAD.search(clause) or (crisis and guard["harm_over"].search(whole))
    if not over and not breaks:
        over = _is_over(whole_sentence)
    return "over" if over and not _is_back(whole_sentence, whole) else "now"


def _is_back(sentence: str, clause: str) -> bool:
    """Does what is over stand again: in its own clause, or in one that says that it came back?

    "Two years ago I could not breathe, now I walk" says of now that something else is so.
    """
    present = guards()["present"]
    if present.search(clause):
        return True
    rest = sentence.replace(clause, " ", 1)
    return present.search(rest) is not None and _ELSE.search(rest) is None


def _own_clause(clause: str, said: str) -> str:
    """The clause from where a subject begins it anew: "if you cannot, I will" denies no "will"."""
    anew = (one.start() for one in _ANEW.finditer(f"{clause}{said}"))
    starts = [at for at in anew if at < len(clause)]
    return clause[starts[-1] :] if starts else clause


def _is_over(said: str) -> bool:
    """Do the words put it in the past? An age or "once" does so only beside a past verb."""
    guard = guards()
    if guard["over"].search(said):
        return True
    if guard["over_age"].search(said):
        return _WAS.search(said) is not None
    return guard["over_once"].search(said) is not None and _PAST.search(said) is not None


def _is_present(clause: str, said: str) -> bool:
    """Does a verb of now stand in the words, or right before them: "is not breathing"?"""
    verbs = [one.end() for one in _IS.finditer(f"{clause}{said}")]
    *_, own = _AND.split(clause)
    if not verbs or _HYPOTHETICAL.search(own) or _PAST.search(said):
        return False
    between = clause[verbs[-1] :]
    return len(between.split()) <= _NEAR and _PAST.search(between) is None


def _is_elsewhere(whole: str, clause: str, said: str, guard: str) -> bool:
    """Is it told of a film, a job or the news, and of nobody here?"""
    found = guards()[guard].search(whole)
    if found is None or HAS.search(clause):
        return False
    joined = _ALSO.search(f"{clause}{said}")
    return joined is None or joined.start("also") < found.end()


def _is_feared(said: str) -> bool:
    """Is it what somebody fears may come? What explains the fear is there already."""
    hits = list(guards()["feared"].finditer(said))
    return bool(hits) and _EXPLAINS.search(said, hits[-1].end()) is None


def lasts(text: str, sentence: Span, span: Span) -> bool:
    """Has it long been so? What lasts in another clause says nothing of one of now."""
    if not lasting(text[slice(*sentence)]):
        return False
    before, said = text[sentence[0] : span[0]], text[slice(*span)]
    breaks = [one.end() for one in _JOINS.finditer(before)]
    if not breaks:
        return True
    clause = before[breaks[-1] :]
    return not _is_present(clause, said) or lasting(f"{clause}{said}{text[span[1] : sentence[1]]}")


HAS = re.compile(
    r"(?<!if )(?<!whether )\b(?:i|he|she|we|my \w+|the patient)(?:'m|'ve|'s)?(?: (?:am|is|are|have|has|had|having|feel|feels|"
    r"got|keep|keeps|just|suddenly|now|can't|cannot|been|a|some|this|such))+ ?(?:(?!afraid|scared|worried|of\b|about)\w+ ){0,2}$",
    re.IGNORECASE,
)
_ANEW = re.compile(
    r"(?<=\w )(?<!\bif )(?<!\bthat )(?<!\bwhen )(?<!\bwhether )(?<!\bthink )(?<!\bthought )(?<!\bsay )"
    r"(?<!\bsaid )(?<!\bsaying )(?<!\bmean )(?<!\bbelieve )(?<!\bfeel )(?<!\bknow )(?<!\bsure )(?<!\blike )"
    r"(?<!\bwhat )(?<!\bwhy )(?<!\bhow )(?<!\btell you )(?<!\bmeant )(?<!\bclaim )(?<!\bor )"
    r"(?:i|he|she|we|they)(?:'ve|'m|'ll|ve| am| will| have| has)\b",
    re.IGNORECASE,
)
"""Where a subject and its verb begin a clause with no mark before them."""
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
_JOINS = re.compile(rf"\band\b|[:;]|{CLAUSE_END.pattern}", re.IGNORECASE)
_ALSO = re.compile(
    r"\b(?:i|he|she|we|they|my \w+)\b[^.!?]*?\b(?P<also>(?:and|but|so)) (?:now |also |just |suddenly )?"
    r"(?:have|has|am|is|are|can't|cannot|won't|feel|feels|keep|keeps|cough\w*|vomit\w*|bleed\w*|chok\w+|swallowed|drank|ate|fell|collapsed|fainted)\b",
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
_ELSE = re.compile(
    r"(?:\b(?:now|today)\b[ ,]*|^[ ,]*)(?:i am |i'm |i |we are |we're |we |he is |he's |he |she is |she's |she )"
    r"(?:(?:really|just|so|very|much|all|in|an?|the|doing|feeling|feel|back to|every) )*"
    r"(?:glad|happy|well|fine|ok|okay|better|good|great|healthy|free|safe|normal|different|walk|run|swim|cycle|work|"
    r"play|dance|climb|teach|volunteer|help|live|enjoy|love)\b",
    re.IGNORECASE,
)
"""What somebody who came through it says of now."""
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
