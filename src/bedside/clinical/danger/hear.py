"""The dangers that a person's message names, by rule, before any model. Pure.

One module hears for every room: emergencies of the body, the wish to die, being hurt, and hurting
others. Each finding says what it is, whose it is and how it is said; a room maps it to its texts.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from bedside.clinical.danger.frames import Danger, Framed, frame_packs, framed
from bedside.clinical.danger.hints import hints_pack
from bedside.clinical.danger.scope import CLAUSE_END, HAS, Manner, guards, lasts, manner, scope_pack
from bedside.clinical.danger.signs import Formed, formed, forms_pack, respelled, signs_packs
from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.core.value import value

__all__ = ["Danger", "Heard", "danger_packs", "heard"]

_HARM: dict[str, Danger] = {"suicide": "suicide", "violence": "abuse"}


@value
class Heard:
    """One danger: the rule that heard it, and its words at [start, end) of the message.

    `who` is "other" where it is told of somebody who does not write ("my brother is suicidal");
    who is with the person and in an emergency counts as the person. `how` is "now" where it is
    said of now, plainly; else why it is not. `mild` is mostly a manner of speaking.
    """

    danger: Danger
    rule: str
    start: int
    end: int
    who: Literal["self", "other"] = "self"
    how: Manner = "now"
    mild: bool = False


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Rule(_Part):
    id: str
    kind: Literal["emergency", "crisis"] = "emergency"
    source: str
    patterns: tuple[str, ...]
    past_counts: bool = False
    needs: tuple[str, ...] = ()


class _Rules(PackFile):
    rules: tuple[_Rule, ...]


def _data() -> _Rules:
    return load_pack(_Rules, "bedside.clinical", "danger/data/rules.yaml")


def danger_packs() -> tuple[Pack, ...]:
    """What the rules and forms say of themselves; unreviewed until they say otherwise."""
    return (_data().pack, scope_pack(), forms_pack(), *signs_packs(), *frame_packs(), hints_pack())


@functools.cache
def _forms() -> tuple[tuple[_Rule, re.Pattern[str], re.Pattern[str] | None], ...]:
    def any_of(forms: Sequence[str]) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{form})" for form in forms), re.IGNORECASE)

    return tuple(
        (rule, any_of(rule.patterns), any_of(rule.needs) if rule.needs else None)
        for rule in _data().rules
    )


_SENTENCE = re.compile(r"(?:[^.!?\n;؟।]|\.(?=\S))+[.!?;؟।]*")
_POINT = re.compile(r"(?<=\d)\.(?=\d)")
_WIDE = str.maketrans({"’": "'", "‘": "'", "`": "'"})
_QUOTED = re.compile(r"[\"“”«»][^\"“”«»]{1,300}[\"“”«»]|(?<!\w)'[^'\n]{3,300}'(?!\w)")


def heard(message: str) -> tuple[Heard, ...]:
    """The dangers that the message names, in their order; of each rule the gravest.

    Positions are code points of the message as given.
    """
    spelled = respelled(message.translate(_WIDE))
    text = spelled.text
    frames, figures = framed(text)
    harm = [_harm(text, one) for one in frames if one.danger != "emergency"]
    spoken = [*figures, *((one.start, one.end) for one in harm if one.how != "now")]
    bodily = [one for one in frames if one.danger == "emergency"]
    found = {
        rule: one
        for rule, one in _emergencies(text, bodily).items()
        if not any(start < one.end and one.start < end for start, end in spoken)
    }
    for one in harm:
        known = found.get(one.rule)
        if known is None or _weight(one) > _weight(known):
            found[one.rule] = one
    now = [one for one in found.values() if one.how == "now"]
    if len(now) > 1:
        found.pop("unwell", None)  # said by what is more particular
    places = spelled.places
    placed = [
        Heard(
            danger=one.danger,
            rule=one.rule,
            start=places[one.start],
            end=places[one.end - 1] + 1,
            who=one.who,
            how=one.how,
            mild=one.mild,
        )
        for one in found.values()
    ]
    return tuple(sorted(placed, key=lambda one: (one.start, one.rule)))


def _weight(one: Heard) -> tuple[bool, bool, bool]:
    return one.how == "now", one.who == "self", not one.mild


# ---- harm


def _harm(text: str, one: Framed) -> Heard:
    sentences = [found.span() for found in _SENTENCE.finditer(text)]
    hows: list[Manner] = [
        _how(_apart(text, one.parts, part), sentences, part) for part in one.parts
    ]
    told: list[Manner] = [how for how in hows if how != "now"]
    return Heard(
        danger=one.danger,
        rule=one.rule,
        start=one.start,
        end=one.end,
        who=one.who,
        how=told[0] if told else "now",
        mild=one.mild,
    )


def _apart(text: str, parts: Sequence[tuple[int, int]], own: tuple[int, int]) -> str:
    """The message where no word of another part denies this one: "if I wasn't here, they'd be happier"."""
    for start, end in parts:
        if end <= own[0]:
            said = _NOT.sub(lambda hit: "x" * len(hit[0]), text[start:end])
            text = f"{text[:start]}{said}{text[end:]}"
    return text


_NOT = re.compile(r"\w*n['’]?t\b|\bnot?\b|\bnever\b|\bwithout\b|\bnobody\b", re.IGNORECASE)


def _how(text: str, sentences: Sequence[tuple[int, int]], span: tuple[int, int]) -> Manner:
    for quoted in _QUOTED.finditer(text):
        if quoted.start() < span[0] and span[1] <= quoted.end():
            return "quoted"
    within = next((one for one in sentences if one[0] <= span[0] < one[1]), (0, len(text)))
    return manner(text, within, (span[0], min(span[1], within[1])), crisis=True)


# ---- emergencies of the body


def _emergencies(text: str, frames: Sequence[Framed]) -> dict[str, Heard]:
    """What the patterns and the signs say is so now; idioms are looked at where anything stands."""
    plain = _POINT.sub(",", text)
    candidates = list(_candidates(plain, text))
    if not frames and not candidates:
        return {}
    idioms = guards()["idioms"]
    masked = idioms.sub(lambda hit: "\x00" * len(hit.group()), plain)
    if masked != plain:
        candidates = list(
            _candidates(masked, idioms.sub(lambda hit: "\x00" * len(hit.group()), text))
        )
    sentences = [one.span() for one in _SENTENCE.finditer(masked)]
    found: dict[str, Heard] = {}
    whole = (0, len(text))
    met = ((one, whole, (one.start, one.end)) for one in frames)
    for rule, sentence, span in itertools.chain(candidates, met):
        id_ = rule.id if isinstance(rule, _Rule) else rule.rule
        if id_ in found:
            continue
        if (
            _of_now(masked, sentence, span, rule)
            if isinstance(rule, _Rule)
            else "\x00" not in masked[slice(*span)] and _stands(masked, sentences, rule)
        ):
            found[id_] = Heard(
                danger=_HARM.get(id_, "emergency"), rule=id_, start=span[0], end=span[1]
            )
    return found


def _candidates(
    masked: str, pointed: str
) -> Iterator[tuple[_Rule | Formed, tuple[int, int], tuple[int, int]]]:
    sentences = [one.span() for one in _SENTENCE.finditer(masked)]
    for sentence in sentences:
        for rule, form, needs in _forms():
            if needs is not None and not needs.search(masked):
                continue
            for match in form.finditer(masked, *sentence):
                yield rule, sentence, match.span()
    for one in formed(pointed, sentences):
        yield one, sentences[0], (one.start, one.end)


def _of_now(text: str, sentence: tuple[int, int], span: tuple[int, int], rule: _Rule) -> bool:
    crisis = rule.kind == "crisis"
    if not crisis and (lasts(text, sentence, span) or _IS_NOT.search(text[slice(*span)])):
        return False
    said = manner(text, sentence, span, crisis=crisis, past_counts=rule.past_counts)
    return said == "now"


_IS_NOT = re.compile(
    r"\w (?:(?:is|are|was|were) not|(?:is|are|was|were)n'?t) (?:\w+ )?(?!\w+ing$)\w+$",
    re.IGNORECASE,
)
"""A sign that is denied within its own words: "my face is not droopy"."""


def _stands(text: str, sentences: Sequence[tuple[int, int]], one: Formed | Framed) -> bool:
    """Is the combination of now, with none of its concepts denied between the others?"""
    guard = guards()
    crisis = isinstance(one, Formed) and one.kind == "crisis"
    for (_, end), (start, _) in itertools.pairwise(one.parts):
        between = text[end:start] if start > end else ""
        *_, last = CLAUSE_END.split(between)
        if guard["denied"].search(last) and (last == between or _DENIES.match(last)):
            return False
    within = [span for span in sentences if span[0] < one.end and one.start < span[1]]
    told = (within[0][0], within[-1][1])
    if not crisis and lasts(text, told, (one.start, one.end)):
        return False
    for sentence in within:
        parts = [part for part in one.parts if sentence[0] <= part[0] < sentence[1]]
        if not parts:
            continue
        start, end = parts[0][0], max(end for _, end in parts)
        before = text[sentence[0] : start]
        if (
            text[slice(*sentence)].rstrip().endswith("?")
            and guard["general"].search(before)
            and not HAS.search(before)
        ):
            return False
        if manner(text, sentence, (start, end), crisis=crisis) != "now":
            return False
    return True


_DENIES = re.compile(r"\W*(?:no|not|without|never|nor)\b", re.IGNORECASE)
