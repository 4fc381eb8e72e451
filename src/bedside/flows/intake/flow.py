"""Intake: a conversation that fills a procedure's contract, one question at a time.

Read this file, then `turn.py`, for the whole behaviour. The turn's architecture is chosen by
`chain` and sticks to its case; rules read every message first, emergencies are answered by fixed
text, a model (where there is one) words the rest and is checked, and the sidecars alone set the
status. Facts and conversation are one case: state, consent, matches.
"""

from __future__ import annotations

from dataclasses import replace

from bedside.flows.flow import Flow
from bedside.flows.intake.architectures import architecture, chain, pin
from bedside.flows.intake.case import Case
from bedside.flows.intake.dispatch import Facts, choose
from bedside.flows.intake.extract import EXTRACT

__all__ = ["INTAKE"]

_BASE = architecture("minimal", choose(Facts(case=""), None))

INTAKE: Flow[Case] = replace(
    _BASE, version="1", observers={"intake.extract": EXTRACT}, pin=pin, chain=chain
)
