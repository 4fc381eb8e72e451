"""Consent is read with its negations: sixty and more ways to say yes, no, and neither."""

from __future__ import annotations

import pytest

from bedside.sop.consent import consent

CASES = """
yes|Go ahead, find me hospitals
yes|go ahead
yes|Please proceed
yes|Let's do it
yes|find me some good hospitals please
yes|Yes, show me the options
yes|I am ready
yes|I'm ready, match me
yes|can you find me hospitals?
yes|Could you show me clinics in Turkey?
yes|start the matching
yes|You can share my file now
yes|you have my consent
yes|I agree, send my details
yes|Send my case to the surgeons
yes|I give my permission
yes|look for hospitals in Bangkok
yes|OK let's start
yes|not much to add, go ahead
yes|I was not ready last week, but now go ahead
yes|No other illnesses. Go ahead and find hospitals.
yes|Don't wait for the X-ray, go ahead
yes|Go ahead without the MRI
yes|I don't have the reports, go ahead anyway
yes|contact the hospitals
yes|We are ready now
yes|आगे बढ़िए
yes|ابحث لي عن مستشفى
no|I'm not ready to go ahead
no|not ready to be matched yet
no|Don't go ahead
no|do not share my details
no|please don't send my file
no|I don't want you to find me hospitals yet
no|never share my data
no|wait, not yet
no|Hold on
no|go ahead, no wait, not yet
no|I changed my mind
no|I need more time
no|let me think about it
no|Go ahead later
no|find me hospitals, but not now
no|proceed once my MRI is in
no|go ahead after my father agrees
no|you can share my file next month
no|I am not comfortable with that, don't share my case
no|we are not ready
no|I'd rather not proceed
no|it is too early to start the matching
no|Stop, cancel it
no|I can't go ahead
no|I haven't said go ahead
no|لست مستعدا
no|अभी नहीं
no|I withdraw
none|My left knee hurts
none|I am 54
none|What happens when you send my details?
none|Should I go ahead?
none|When do you share my data?
none|How do you find hospitals?
none|what if you send my file to somebody else?
none|go ahead of the queue is not my wish
none|The procedure is a knee replacement
none|it matches exactly
none|thank you
none|yes
none|I take warfarin
none|5 lakh
"""


@pytest.mark.requirement("IN-16")
@pytest.mark.parametrize("row", CASES.strip().splitlines())
def test_consent_is_read_with_its_negation(row: str) -> None:
    wanted, message = row.split("|", 1)
    found = consent(message)
    assert found.answer == wanted
    assert (found.end > found.start) == (wanted != "none")


@pytest.mark.requirement("IN-16")
def test_a_bare_yes_or_no_counts_only_after_the_question() -> None:
    assert [consent(text).answer for text in ("yes", "ok", "no")] == ["none", "none", "none"]
    assert [consent(text, asked=True).answer for text in ("Yes please", "ok", "no thanks", "not yet")] == [
        "yes", "yes", "no", "no",
    ]  # fmt: skip


@pytest.mark.requirement("IN-16")
def test_documents_are_waived_only_together_with_a_yes() -> None:
    assert consent("go ahead without the MRI").waives_documents
    assert not consent("go ahead").waives_documents
    assert not consent("I came without my reports").waives_documents


def test_the_table_has_sixty_cases() -> None:
    assert len(CASES.strip().splitlines()) >= 60
