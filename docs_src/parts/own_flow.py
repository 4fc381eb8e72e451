"""A flow of one's own: it answers from the patient's allergies, and from nothing else."""

from __future__ import annotations

from bedside.context import Block, Budget
from bedside.core.turn import Change, Draft, Got, Job, Need, Plan, Quote, Route, TurnRequest, got
from bedside.flows.flow import Done, Flow, Opened, Step, View
from bedside.flows.parts import fact_item, question_block
from bedside.grounding import Prose
from bedside.record.needs import Fact, RecordNeed

NEED = RecordNeed(name="allergies", categories=("allergies",))
RULES = "Answer from the allergies below. Cite every statement with its number."


def plan(request: TurnRequest, opened: Opened[None]) -> Plan:
    """Say what this turn needs."""
    del request, opened
    return Plan(intent="allergies", needs=(NEED,), categories=("allergies",))


def facts(view: View[None]) -> tuple[Fact, ...]:
    """What the record gave; none where it could not be read."""
    found = got(view.gathered, NEED)
    return found.value.of("allergies") if isinstance(found, Got) else ()


def unaided(view: View[None]) -> Draft:
    """What stands when no model can write: each entry, quoted."""
    text, quotes = "", []
    items = tuple(fact_item(fact) for fact in facts(view))
    for n, item in enumerate(items, start=1):
        start = len(text)
        text += f"{item.body} [{n}]\n"
        quotes.append(Quote(n=n, text=item.body, at=(start, len(text) - 1)))
    missing = () if items else ("allergies: nothing is recorded, which is not the same as none",)
    return Draft(text=text, quotes=tuple(quotes), by="extractive", items=items, missing=missing)


def next_step(view: View[None]) -> Step[None] | None:
    """One step: a model where one is configured, `unaided` where none is."""
    if view.done:
        return None
    return Step(
        name="answer",
        blocks=(
            Block(
                "rules",
                RULES,
                zone="primacy",
                stability="static",
                protected=True,
                trust="ours",
            ),
            Block("allergies", [fact_item(fact) for fact in facts(view)], protected=True),
            question_block(view.request.text),
        ),
        budget=Budget(2_000, output=500),
        layout="balanced",
        route=Route(role="writer"),
        decoder=Prose,
        checks=(),
        unaided=unaided,
        release="whole",
    )


def compose(view: View[None]) -> Done[None]:
    """The last step is the answer."""
    return view.done[-1]


def none_of(view: View[None]) -> tuple[()]:
    """No second round, no changes, no jobs."""
    del view
    return ()


def initial() -> None:
    """No state of its own."""


def reduce(state: None, change: Change) -> None:
    """No state, so nothing to change."""
    del state, change


def no_rule(view: View[None]) -> Draft | None:
    """No rule takes the whole question."""
    del view
    return None


def no_jobs(view: View[None]) -> tuple[Job, ...]:
    """Nothing to do afterwards."""
    del view
    return ()


def no_more(view: View[None]) -> tuple[Need[object], ...]:
    """One round of needs is enough."""
    del view
    return ()


ALLERGY_CARD: Flow[None] = Flow(
    name="allergy-card",
    version="1",
    initial=initial,
    plan=plan,
    more=no_more,
    answer=no_rule,
    next=next_step,
    compose=compose,
    changes=none_of,
    reduce=reduce,
    jobs=no_jobs,
)
