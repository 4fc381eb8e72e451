"""The gate that a turn's text passes, with what only the engine knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bedside.core.context import Assembly
from bedside.core.turn import Check, Gate
from bedside.flows.flow import Release
from bedside.grounding.gate import gate_for
from bedside.grounding.guardrails.policy import Guardrails

__all__ = ["gate_with"]


def gate_with(
    others: tuple[str, ...],
) -> Callable[[Release, tuple[Check, ...], Assembly], Gate]:
    """A maker of gates that block the names of `others`, the tenant's other patients (G7)."""

    def make(release: Release, checks: tuple[Check, ...], assembly: Assembly) -> Gate:
        told = tuple(
            replace(check, policy=replace(check.policy, others=(*check.policy.others, *others)))
            if isinstance(check, Guardrails)
            else check
            for check in checks
        )
        return gate_for(release=release, assembly=assembly, checks=told)

    return make
