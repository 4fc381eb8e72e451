"""The companion flow: two people, one guide, private spaces."""

from __future__ import annotations

from bedside.flows.companion.flow import COMPANION

__all__ = ["COMPANION"]
