"""Which of the medicines taken raise or lower a result, by the rules of the monitoring pack. Pure."""

from __future__ import annotations

import re

from bedside.clinical.monitoring import rules_for_drug
from bedside.flows.copilot.names import ingredients, shown_name
from bedside.flows.copilot.query import Parsed
from bedside.flows.copilot.tools.events import is_active
from bedside.flows.copilot.tools.sheet import Sheet, plain_name
from bedside.record.needs import RecordFacts

__all__ = ["tell_moving"]

_RAISES = re.compile(r"\b(?:rais\w+|increas\w+|elevat\w+|pus\w+ up|put\w* up)\b", re.IGNORECASE)
_LOWERS = re.compile(r"\b(?:lower\w*|reduc\w+|drop\w*|deplet\w+|bring\w* down)\b", re.IGNORECASE)
_SAYS = {">": re.compile(r"\braises?\b"), "<": re.compile(r"\blowers?\b")}


def tell_moving(text: str, parsed: Parsed, record: RecordFacts, sheet: Sheet) -> None:
    """For "which of her medicines raise potassium?" each that a rule says it of, in its words.

    A rule that only watches a result says nothing of which way a medicine moves it, and is left out.
    """
    way = ">" if _RAISES.search(text) else "<" if _LOWERS.search(text) else ""
    measured = [one.key for one in parsed.entities if one.kind == "analyte"]
    if not way or not measured or "medications" not in parsed.topics:
        return
    found = False
    for fact in filter(is_active, record.of("medications")):
        for rule in rules_for_drug(ingredients(fact)):
            about = {key.replace("_", " ") for key in rule.analytes} & set(measured)
            moves = rule.threshold is not None and rule.threshold.op == way
            if not (about and moves and _SAYS[way].search(rule.text)):
                continue
            said = f"{plain_name(fact)}: {rule.text}"
            sheet.say(f"By rule: {said} {sheet.cite(fact)}.")
            sheet.calculated(said)
            found = True
            break
    if not found:
        verb = "raises" if way == ">" else "lowers"
        sheet.count(f"No rule here says that a current medicine {verb} {shown_name(measured[0])}.")
