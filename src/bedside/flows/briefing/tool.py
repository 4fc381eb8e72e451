"""The one tool of the briefing's model, and of the MCP door: a search in the guidelines. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from bedside.core.errors import InvalidArgument
from bedside.core.turn import Tool
from bedside.flows.briefing.guidance import hit_items
from bedside.knowledge.needs import Filters, SearchNeed
from bedside.knowledge.render import EMPTY

__all__ = [
    "DESCRIPTION",
    "MOST_RESULTS",
    "NAME",
    "RESULTS",
    "SCHEMA",
    "SEARCH",
    "SPENT",
    "need_for",
]

NAME = "search_clinical_guidelines"
RESULTS, MOST_RESULTS = 5, 10
_LONGEST = 400
DESCRIPTION = (
    "Search the clinical guidelines of this installation. Returns numbered passages, best first; cite "
    "them by their numbers with their exact words. Ask about one clinical question at a time, such as "
    "'metformin dose in chronic kidney disease stage 3'. Never put a name, a number of a record or an "
    "address into the query."
)
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "description": "The clinical question in a few words.",
            "minLength": 1,
            "maxLength": _LONGEST,
        },
        "specialty": {
            "type": ["string", "null"],
            "description": "Only guidelines of this specialty; null or left out for all.",
        },
        "max_results": {
            "type": "integer",
            "description": f"How many passages, {RESULTS} unless said.",
            "minimum": 1,
            "maximum": MOST_RESULTS,
        },
    },
    "required": ["query"],
    "additionalProperties": False,
}
SPENT = (
    "No search is left. Write the briefing now, as the one JSON object, from what you have seen."
)


def need_for(arguments: Mapping[str, object]) -> SearchNeed:
    """The search that a tool call asks for.

    Raises:
        InvalidArgument: an argument is missing, unknown, of another type or out of its range.
    """
    if not isinstance(arguments, Mapping):
        raise InvalidArgument("arguments", found=type(arguments).__name__, want="a JSON object")
    unknown = sorted(set(map(str, arguments)) - {"query", "specialty", "max_results"})
    if unknown:
        raise InvalidArgument(
            "arguments", found=", ".join(unknown), want="query, specialty and max_results alone"
        )
    query = arguments.get("query")
    if not isinstance(query, str) or not query.strip() or len(query) > _LONGEST:
        found = f"{len(query)} characters" if isinstance(query, str) else type(query).__name__
        raise InvalidArgument("query", found=found, want=f"a text of 1 to {_LONGEST} characters")
    specialty = arguments.get("specialty")
    if specialty is not None and not isinstance(specialty, str):
        raise InvalidArgument("specialty", found=type(specialty).__name__, want="a text or null")
    most = arguments.get("max_results", RESULTS)
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= MOST_RESULTS:
        raise InvalidArgument(
            "max_results", found=most, want=f"a whole number from 1 to {MOST_RESULTS}"
        )
    return SearchNeed(
        name="guideline search",
        query=query.strip(),
        corpus="knowledge",
        limit=most,
        filters=Filters(specialty=specialty.strip() or None if specialty else None),
    )


SEARCH = Tool(
    name=NAME,
    description=DESCRIPTION,
    schema=SCHEMA,
    need=need_for,
    items=hit_items,
    element="clinical_guidelines",
    nothing=EMPTY,
)
