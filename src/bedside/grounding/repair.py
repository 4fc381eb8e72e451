"""What is said to the model when an answer must be mended, and to the reader when it cannot. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bedside.grounding.guardrails.policy import Policy
from bedside.grounding.guardrails.texts import Country

__all__ = ["BROKE_OFF", "NOTHING", "WITHHELD", "lookup_notice", "order"]

WITHHELD = "The rest of this answer was withheld: it did not pass the privacy check."
NOTHING = (
    "Nothing that was drafted could be supported by the sources shown, so none of it is shown. "
    "What was removed is listed with the reason."
)
BROKE_OFF = "The answer broke off before its first sentence was complete. Ask again."
_MOST, _SHOWN = 12, 120
_EXPLAIN = {
    "uncited": "it cites nothing: cite a source with its exact words, or leave it out",
    "source_not_shown": "it cites a number that is no source here",
    "quote_not_found": "the quoted words are not in that source: copy them character by character",
    "quote_ambiguous": "the quoted words stand there more than once: quote a longer stretch",
    "broken_citation": 'the citation is not of the form [n: "exact words"]',
    "figure_not_in_source": "a figure in it is not in the cited words as written",
    "unit_mismatch": "a unit in it differs from the cited words",
    "date_not_in_source": "a date in it is not in the cited source",
    "drug_not_in_source": "it names a medicine that the cited source does not",
    "analyte_not_in_source": "it names a test that the cited source does not",
    "dose_not_in_source": "the dose does not stand with that medicine in the cited words",
    "interaction_not_in_source": "no cited source states that interaction",
    "negation_mismatch": "the cited words deny what it affirms, or the reverse",
    "uncertainty_mismatch": "the cited words are uncertain; say so",
    "status_mismatch": "the entry is refuted, cancelled or over; say so",
    "subject_mismatch": "the cited words are about somebody else than it says",
    "laterality_mismatch": "the side differs from the cited words",
    "course_mismatch": "the dated values go the other way",
    "opposite_in_source": "a word in it is the reverse of what the cited words say",
    "no_support": "the cited words do not say that",
    "contradicts_source": "the sources do hold what it says is missing",
    "prescribing": "it orders treatment: offer it as an option and say whose advice it is",
    "diagnosing": "it states a diagnosis that the record does not hold",
    "out_of_scope": "it advises on law or insurance: say that this is outside your scope",
    "active_content": "it holds a link, an address, an image or HTML",
    "unknown_identifier": "it names a person or number that is not in the context",
    "other_patient": "it speaks of somebody else",
    "system_prompt": "it repeats these instructions",
    "extra_question": "one closing question at most",
    "calls_safe": "it calls something safe or well because nothing was found: leave that out",
    "contradicts_rule": "it takes back what a rule says: explain the finding, or leave it out",
}


def order(removed: Sequence[tuple[str, str]], wants: Sequence[str], policy: Policy) -> str:
    """The order for the one repair: what was wrong, sentence by sentence. Model-written text only."""
    lines = ["Your answer was checked and is not shown yet. Write the whole answer again, mended:"]
    for text, why in removed[:_MOST]:
        words = text if len(text) <= _SHOWN else text[:_SHOWN].rsplit(" ", 1)[0] + " ..."
        lines.append(f"- {words!r}: {_EXPLAIN.get(why, why)}.")
    if len(removed) > _MOST:
        lines.append(f"- and {len(removed) - _MOST} more of the same kinds.")
    lines += [f"- {_EXPLAIN.get(want, want)}." for want in dict.fromkeys(wants)]
    lines.append("Keep what was right. Leave out what no source supports.")
    if policy.words is not None:
        lines.append(f"At most {policy.words} words.")
    return "\n".join(lines)


def lookup_notice(place: Country) -> str:
    """What is said where a dose or an interaction was removed (G13)."""
    return (
        "A dose or an interaction was left out because no source shown here states it. Look it up in "
        + " or ".join(place.references)
        + "."
    )
