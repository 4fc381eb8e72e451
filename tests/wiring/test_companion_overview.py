"""What either person may see of the shared part."""

from __future__ import annotations

import pytest

from bedside.wiring.companion import cleared_only


@pytest.mark.requirement("CM-11")
def test_a_gap_is_seen_only_when_both_have_cleared_it() -> None:
    def gap(name: str, *cleared: str) -> dict[str, object]:
        return {"id": name, "between": ["a", "b"], "text": "words", "cleared": list(cleared)}

    shared = {"people": ["ann", "bob"], "gaps": [gap("one", "ann"), gap("both", "ann", "bob")]}
    assert [one["id"] for one in cleared_only(shared)["gaps"]] == ["both"]
    assert cleared_only({"people": [], "gaps": [gap("early")]})["gaps"] == []
