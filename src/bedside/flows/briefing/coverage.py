"""What was checked against what, so that silence is not taken for safety (BR-16). Pure."""

from __future__ import annotations

from bedside.clinical.allergy import allergy_pack
from bedside.clinical.cautions import caution_pack, caution_rules
from bedside.clinical.combinations import combination_pack, combination_rules
from bedside.clinical.duplicates import duplicate_groups, duplicate_pack
from bedside.clinical.monitoring import monitoring_pack, monitoring_rules
from bedside.clinical.packs import Pack
from bedside.clinical.ranges import range_pack, ranged
from bedside.clinical.screening import screening_pack, screening_rules
from bedside.flows.briefing.findings import Cited
from bedside.flows.briefing.kidney import Kidney
from bedside.flows.briefing.reading import Chart
from bedside.record.limits import standing

__all__ = ["NOT_SAFE", "checked"]

NOT_SAFE = (
    "What no rule names is not thereby safe: these tables are small, and what the record does not "
    "hold was not checked"
)


def checked(chart: Chart, kidney: Kidney | None) -> tuple[Cited, ...]:
    """One sentence for each check, with how much of the record it covers and by which table."""
    if chart.died:
        return (_results(chart), *_reviewed(chart))
    parts = [
        _results(chart),
        Cited(
            text="Figures of many digits are shown at four; the quoted entry has them as recorded"
        ),
        *_combined(chart),
        *_medicines(chart, kidney),
        *_due(chart),
        *_reviewed(chart),
    ]
    return (*parts, Cited(text=NOT_SAFE))


def _results(chart: Chart) -> Cited:
    newest = [next((one for one in some if one.when), None) for some in chart.readings.values()]
    latest = [one for one in newest if one is not None]
    judged = sum(
        standing(one, chart.record.person, pregnant=chart.pregnant) is not None for one in latest
    )
    if not latest:
        return Cited(text="Results: no measured value is recorded")
    return Cited(
        text=f"Results: {judged} of {len(latest)} kinds of measurement had a range to compare the "
        f"newest value with, the laboratory's own first, else {_named(range_pack())} with "
        f"{len(ranged())} analytes"
    )


def _medicines(chart: Chart, kidney: Kidney | None) -> list[Cited]:
    total = len(chart.medicines)
    if not total:
        return [Cited(text="Medicines: none is recorded as current, so none was checked")]
    known = sum(chart.interactions.named(one.generics) for one in chart.systemic)
    tables = " and ".join(_named(pack) for pack in chart.interactions.packs)
    found = [
        Cited(
            text=f"Interactions: {known} of {_medicine_count(total)} named in {tables}, "
            f"{len(chart.interactions.rules)} rules"
        ),
        Cited(
            text=f"Duplicates and conditions: {len(chart.systemic)} of {_medicine_count(total)} "
            f"recognised, {_named(duplicate_pack())}, {len(duplicate_groups())} groups, and "
            f"{_named(caution_pack())}, {len(caution_rules())} rules"
        ),
        _allergies(chart, total),
    ]
    if kidney is None:
        said = "no eGFR is recorded, and none could be computed, so no dose was held against it"
        found.append(Cited(text=f"Renal dosing: {said}"))
    elif not chart.adult:
        found.append(Cited(text="Renal dosing: not checked, the tables speak of adults"))
    else:
        found.append(
            Cited(
                text=f"Renal dosing: {_medicine_count(total)} held against {kidney.by}, by "
                f"{' and '.join(map(_named, chart.dosing.packs))}, {len(chart.dosing.rules)} rules, and "
                f"{_named(monitoring_pack())}",
            )
        )
    return found


def _combined(chart: Chart) -> list[Cited]:
    if not chart.adult:
        return []
    return [
        Cited(
            text=f"Results together: {_named(combination_pack())}, {len(combination_rules())} rules"
        )
    ]


def _medicine_count(n: int) -> str:
    return f"{n} medicine{'' if n == 1 else 's'}"


def _allergies(chart: Chart, total: int) -> Cited:
    if not chart.record.of("allergies"):
        return Cited(text="Allergies: none is recorded, so no medicine was held against one")
    return Cited(
        text=f"Allergies: {_medicine_count(total)} held against every recorded allergy, by "
        f"{_named(allergy_pack())}"
    )


def _due(chart: Chart) -> list[Cited]:
    if not chart.adult:
        return [Cited(text="Monitoring and screening: not checked, the tables speak of adults")]
    return [
        Cited(
            text=f"Monitoring: {_named(monitoring_pack())}, {len(monitoring_rules())} rules, as of "
            "the day of this briefing"
        ),
        Cited(
            text=f"Screening: {_named(screening_pack())}, {len(screening_rules())} rules, for average "
            "risk"
        ),
    ]


def _named(pack: Pack) -> str:
    return f'"{pack.title}" {pack.version}' + (
        f" (reviewed by {pack.reviewer})" if pack.reviewer else ""
    )


def _reviewed(chart: Chart) -> list[Cited]:
    """Which of the tables named above nobody has reviewed (EN-K9)."""
    packs = [range_pack()]
    if not chart.died:
        packs += [
            combination_pack(), *chart.interactions.packs, duplicate_pack(), caution_pack(), allergy_pack(), *chart.dosing.packs,
            monitoring_pack(), screening_pack(),
        ]  # fmt: skip
    waiting = [pack.title for pack in packs if not pack.reviewer]
    if not waiting:
        return []
    if len(waiting) == len(packs):
        return [Cited(text="None of these tables is clinically reviewed")]
    return [Cited(text="Not clinically reviewed: " + ", ".join(waiting))]
