"""The whole question by rule, or nothing (CO-01). Pure."""

from __future__ import annotations

from bedside.core.turn import Draft
from bedside.flows.copilot.elsewhere import names_another
from bedside.flows.copilot.modes import MODES
from bedside.flows.copilot.plan import Nothing, facts_of, grounded, hits_of, parsed_of
from bedside.flows.copilot.tools.answering import answer_queries
from bedside.flows.copilot.tools.reference import reference_draft
from bedside.flows.flow import View

__all__ = ["letters_may_say", "rule_draft"]

_GREETING = "Hello. Ask about this patient's record, documents, or a guideline."
_GREETING_KNOWLEDGE = "Hello. Ask about a guideline, a medicine or a protocol; no patient is open."
_THANKS = "You are welcome."


def rule_draft(view: View[Nothing]) -> Draft | None:
    """The answer of deterministic tools; `None` where they cannot take the whole question.

    A document uploaded or selected for this question may hold newer facts than the record, so then
    rules do not answer. Nor do they where the record lacks what a document of the patient may say.
    """
    if view.plan.intent == "greeting":
        return Draft(text=_greeting(view))
    if not grounded(view.opened):
        return _reference(view)
    if view.request.documents or view.request.selected:
        return None
    record = facts_of(view)
    if record is None:
        return None
    parsed = parsed_of(view)
    if names_another(view.request.text, parsed, record):
        return None  # "Asha Reddy's": a surname may be read as a word that is a slip away
    limit = MODES[view.plan.mode].words
    draft = answer_queries(parsed.queries, record, today=view.opened.as_of, words=limit)
    if draft is None or not draft.missing:
        return draft
    return None if letters_may_say(view) else draft


def letters_may_say(view: View[Nothing]) -> bool:
    """True where what no entry says (who, why, where) may stand in a document that was found."""
    if not any(query.in_letters for query in parsed_of(view).queries):
        return False
    hits = hits_of(view, "documents")
    return hits is not None and bool(hits.hits)


def _reference(view: View[Nothing]) -> Draft | None:
    """Without a patient: the usual range of a test, where nothing else is asked."""
    if view.opened.pinned.get("unreviewed") == "off":
        return None
    return reference_draft(view.request.text, parsed_of(view))


def _greeting(view: View[Nothing]) -> str:
    if "thank" in view.request.text.lower() or "cheers" in view.request.text.lower():
        return _THANKS
    return _GREETING if grounded(view.opened) else _GREETING_KNOWLEDGE
