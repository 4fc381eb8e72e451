"""The whole briefing by rule: flags, options, guidance, and what was checked (BR-09). Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from bedside.clinical.rules import GRAVITY
from bedside.flows.briefing.coverage import checked
from bedside.flows.briefing.due import overdue_flags, screening_flags
from bedside.flows.briefing.findings import Action, Briefing, Cited, Flag, Level
from bedside.flows.briefing.guidance import Guidance
from bedside.flows.briefing.kidney import apart_flags, kidney_of
from bedside.flows.briefing.medicines import (
    caution_flags,
    dosing_flags,
    duplicate_flags,
    interaction_flags,
)
from bedside.flows.briefing.phrases import readable
from bedside.flows.briefing.reading import Chart
from bedside.flows.briefing.results import (
    REPEAT,
    abnormal_flags,
    conflict_flags,
    contradiction_flags,
    trend_flags,
)
from bedside.flows.briefing.summary import notes_of, summary_of
from bedside.flows.briefing.together import combination_flags

__all__ = ["actions_of", "by_rule", "in_order", "rule_flags"]

_LEVEL: dict[str, Level] = {"critical": "high", "warning": "medium", "info": "low"}
_ACTIONS = 8
_REPEATS = 2
_ASKS = ("measuring ", "offering ", "same-day review of ")


def by_rule(chart: Chart, guidance: Guidance) -> Briefing:
    """The briefing that stands with no model at all."""
    flags = tuple(map(_readable_flag, rule_flags(chart)))
    summary = summary_of(chart)
    return Briefing(
        summary=replace(
            summary,
            one_liner=_readable(summary.one_liner),
            conditions=tuple(map(_readable, summary.conditions)),
            changes=tuple(map(_readable, summary.changes)),
        ),
        flags=flags,
        actions=() if chart.died else actions_of(flags),
        guidance=guidance.sentences,
        checked=checked(chart, kidney_of(chart)),
        notes=(*notes_of(chart), *_said_of(guidance)),
        missing=("guideline passages for this record",) if guidance.state == "none" else (),
    )


def _readable(cited: Cited) -> Cited:
    return replace(cited, text=readable(cited.text))


def _readable_flag(flag: Flag) -> Flag:
    return replace(
        flag,
        description=tuple(map(_readable, flag.description)),
        action=_readable(flag.action) if flag.action else None,
    )


def rule_flags(chart: Chart) -> tuple[Flag, ...]:
    """Every flag that rules raise, gravest first, each once."""
    insights = chart.record.insights
    kidney = kidney_of(chart)
    return in_order(
        [
            *conflict_flags(chart, insights),
            *combination_flags(chart),
            *interaction_flags(chart),
            *caution_flags(chart),
            *dosing_flags(chart, kidney),
            *duplicate_flags(chart),
            *apart_flags(chart),
            *abnormal_flags(chart, insights),
            *trend_flags(insights),
            *contradiction_flags(chart),
            *(() if chart.died else overdue_flags(chart, insights)),
            *screening_flags(chart),
        ]
    )


def in_order(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """Gravest first, then by weight; of two with the same title and rule the first stands.

    Among flags of one severity a rule that has spoken already, and one about a measurement that was
    spoken of, lets others speak first, so that three priorities are three things.
    """
    once: dict[tuple[str, str], Flag] = {}
    for flag in flags:
        once.setdefault((flag.title.casefold(), flag.rule), flag)
    ranked = sorted(once.values(), key=lambda one: (GRAVITY[one.severity], -one.weight))
    said: Counter[str] = Counter()
    placed: list[tuple[int, int, Flag]] = []
    for flag in ranked:
        own = bool(flag.rule) and not flag.rule.startswith("abnormal")
        before = max(said[flag.rule] if own else 0, said[f"about {flag.about}"])
        placed.append((GRAVITY[flag.severity], before, flag))
        said[flag.rule] += 1
        said[f"about {flag.about}"] += bool(flag.about)
    return tuple(flag for *_, flag in sorted(placed, key=lambda row: row[:2]))


def actions_of(flags: Sequence[Flag]) -> tuple[Action, ...]:
    """The options of the flags, gravest first, each once, at most eight.

    The same option about several medicines stands once and names them all. What a due check asks
    for is not asked for again as a repeat of an old result, and of such repeats only the first few
    stand here; the others stand with their flags.
    """
    due = [
        flag.action.text.partition(word)[2].casefold()
        for flag in flags
        for word in _ASKS
        if flag.action and word in flag.action.text
    ]
    found: dict[str, Action] = {}
    repeats = 0
    for flag in flags:
        if flag.action is None:
            continue
        option = flag.action.text.rpartition(" (")[0] or flag.action.text
        if option in found:
            found[option] = replace(found[option], text=_together(found[option].text, flag.action))
            continue
        again = flag.action.text.startswith(REPEAT)
        if again:
            name = flag.action.text.removeprefix(REPEAT).partition(",")[0]
            if any(_asks(one, name) for one in due) or repeats == _REPEATS:
                continue
            repeats += 1
        found[option] = Action(text=flag.action, priority=_LEVEL[flag.severity])
    return tuple(found.values())[:_ACTIONS]


def _asks(due: str, name: str) -> bool:
    """Is this measurement one of those asked for? "Calcium" is not in "ionized calcium"."""
    alone = rf"(?:\A|, |\band ){re.escape(name.casefold())}(?=\Z|[,;]| and | \()"
    return re.search(alone, due) is not None


def _together(one: Cited, other: Cited) -> Cited:
    """The same option about more: "Consider whether ... (naproxen with apixaban; naproxen with ...)"."""
    about = other.text.rpartition(" (")[2].removesuffix(")")
    if about in one.text:
        return one
    items = {item.key: item for item in (*one.items, *other.items)}
    return replace(one, text=f"{one.text.removesuffix(')')}; {about})", items=tuple(items.values()))


def _said_of(guidance: Guidance) -> tuple[Cited, ...]:
    if guidance.state == "none":
        return (
            Cited(text="No guideline passage was found that fits this record, and none is cited"),
        )
    if guidance.state == "failed":
        return (
            Cited(
                text="The guideline search did not answer: this briefing rests on the record and the "
                "rule tables"
            ),
        )
    return tuple(
        Cited(text=f"This briefing rests on a superseded edition: {title}")
        for title in guidance.superseded
    )
