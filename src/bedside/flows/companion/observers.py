"""What happens after an answer: facts, people, the rolling summary, references in doubt. Pure.

Observers are flows whose words nobody sees. They read one person's own conversation under a grant of
their own and change that person's own part; a fact that is not in a message of theirs is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from bedside.core.context import Block, Item
from bedside.core.turn import Change, Draft, Job, Plan, TurnRequest
from bedside.flows.companion.asides import hidden
from bedside.flows.companion.mirror import asks
from bedside.flows.companion.moves import Move
from bedside.flows.companion.people import may_name, people_by_rule, people_of
from bedside.flows.companion.reading import is_act
from bedside.flows.companion.reconcile import pair_of
from bedside.flows.companion.reduce import reduce
from bedside.flows.companion.safety import attacking
from bedside.flows.companion.state import Gap, Pair, dump, load
from bedside.flows.companion.state import start as beginning
from bedside.flows.companion.tables import Tables, tables_of
from bedside.flows.companion.wishes import asks_to_drop, asks_to_keep
from bedside.flows.flow import Done, Flow, Opened, Step, View
from bedside.language.sentences import sentences
from bedside.memory.facts import CATEGORIES, Diff, Fact, Own, Upsert, read_diff
from bedside.memory.summaries import Rhythm, Summary, extract
from bedside.memory.summaries import due as summary_due

__all__ = ["OBSERVERS", "due", "facts_by_rule", "own_messages", "with_room"]

_MESSAGES = 6
_LONGEST_FACT = 200
_CUES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("Conflict", re.compile(r"\b(argu(e|ed|ing|ment)|f(ight|ought|ighting)|shout(ed|ing)?|yell(ed|ing)?|quarrel\w*|accus\w+|slammed|silent treatment|broke (our|the|his|her) promise|lied)\b", re.IGNORECASE)),
    ("Logistics", re.compile(r"\b(money|rent|bills?|mortgage|job|work(s|ing|ed)?|shifts?|appointments?|school|moved|moving|schedule|o'clock|monday|tuesday|wednesday|thursday|friday|saturday|sunday|hospital|treatment|chemo\w*|medication)\b", re.IGNORECASE)),
    ("History", re.compile(r"\b(years? ago|months? ago|since (19|20)\d\d|in (19|20)\d\d|when we (met|married|moved)|used to|last (year|summer|winter|spring|autumn)|after (the|our|my) (diagnosis|wedding|birth|accident|operation|funeral))\b", re.IGNORECASE)),
    ("People", re.compile(r"\b(my|our|his|her) (mother|father|mum|mom|dad|sister|brother|son|daughter|children|kids|wife|husband|partner|friend|boss|parents|grand\w+|uncle|aunt|cousin|colleague|baby)\b", re.IGNORECASE)),
    ("Emotional", re.compile(r"\bi('m| am| was| feel| felt|'ve been| have been)\b.*\b(afraid|alone|angry|anxious|ashamed|confused|disappointed|exhausted|frustrated|guilty|hopeless|hurt|ignored|lonely|overwhelmed|relieved|sad|scared|tired|unappreciated|upset|worried|invisible|helpless|grateful|hopeful)\b", re.IGNORECASE)),
)  # fmt: skip


def own_messages(history: Sequence[Item]) -> tuple[Own, ...]:
    """What the person wrote, deeds left out; never an answer, so nothing recalled is learned again."""
    return tuple(
        Own(source=item.key, text=item.body)
        for item in history
        if item.role == "user" and item.body.strip() and not is_act(item.body)
    )


def facts_by_rule(own: Sequence[Own], *, categories: Sequence[str] = CATEGORIES) -> Diff:
    """The last message's telling sentences as they stand, each under one category."""
    found: list[Upsert] = []
    for message in own[-1:]:
        for start, end in sentences(message.text):
            sentence = message.text[start:end].strip()
            if not 12 <= len(sentence) <= _LONGEST_FACT or asks(sentence):  # noqa: PLR2004
                continue
            if asks_to_keep(sentence) or asks_to_drop(sentence):
                continue
            category = next(
                (name for name, cue in _CUES if name in categories and cue.search(sentence)), None
            )
            if category is not None:
                found.append(
                    Upsert(category=category, text=sentence, quote=sentence, source=message.source)
                )
    return Diff(upsert=tuple(found))


def with_room(facts: Sequence[Fact], diff: Diff, *, most: int) -> Diff:
    """The diff with deletions that make room in a full ledger: the oldest of the fullest category."""
    left = [one for one in facts if one.id not in diff.delete]
    known = {one.text for one in left}
    new = [one for one in diff.upsert if one.text not in known]
    gone = list(diff.delete)
    while left and len(left) + len(new) > most:
        counts = Counter(one.category for one in left)
        fullest = max(counts, key=lambda name: counts[name])
        oldest = next(one for one in left if one.category == fullest)
        left.remove(oldest)
        gone.append(oldest.id)
    return Diff(upsert=diff.upsert, delete=tuple(gone))


def due(view: View[Pair], tables: Tables, move: Move) -> list[Job]:
    """The observers that a turn leaves work for."""
    jobs = [Job(kind="companion.facts")]
    if may_name(move.said.text):
        jobs.append(Job(kind="companion.people"))
    messages, tokens = _extent(view)
    rhythm = _rhythm(tables, inner=bool(move.state.mine.space))
    upto = move.state.mine.summary.upto if move.state.mine.summary else 0
    if summary_due(messages, tokens, upto=upto, rhythm=rhythm):
        jobs.append(Job(kind="companion.summary"))
    mine, said = move.state.mine, move.said
    doubt = said.unsure and not said.reference and not said.commitment
    if doubt and "model" in view.opened.can and mine.turns >= mine.rest_until:
        jobs.append(Job(kind="companion.reference", payload=(("turn_number", str(mine.turns)),)))
    jobs.append(Job(kind="companion.kept"))
    return jobs


def _extent(view: View[Pair]) -> tuple[int, int]:
    history, count = view.opened.history, view.opened.count
    now = (view.request.text, *(done.verdict.text for done in view.done))
    return len(history) + 2, sum(count(item.body) for item in history) + sum(map(count, now))


def _rhythm(tables: Tables, *, inner: bool) -> Rhythm:
    rules = tables.rules["inner_summary" if inner else "summary"]
    return Rhythm(
        first=rules["first_messages"],
        tokens=rules["first_tokens"],
        again=rules["again"],
        keep=rules["keep"],
        words=rules["words"],
    )


def _plan(request: TurnRequest, opened: Opened[Pair], *, name: str) -> Plan:
    del request
    tables_of(opened.data)
    return Plan(intent=name, needs=(), clinical=False)


def _step(view: View[Pair], *, name: str, prompt: str) -> Step[Pair] | None:
    if view.done or "model" not in view.opened.can:
        return None
    tables = tables_of(view.opened.data)
    mine = view.opened.state.mine
    history = [item for item in view.opened.history if item.body.strip()]
    if name == "companion.people":
        history = [item for item in history if item.role == "user"]
    lines = history[-_MESSAGES:] if name != "companion.summary" else history
    said = [
        Item(f"{'Person' if item.role == 'user' else 'Guide'}: {item.body}", key=item.key)
        for item in lines
    ]
    known = [Item(f"{one.id} {one.category}: {one.text}", key=one.id) for one in mine.facts]
    blocks = [Block("conversation", said, shrink="drop_oldest", priority=60, keep=1)]
    if known and name == "companion.facts":
        blocks.append(Block("facts so far", known, priority=50))
    return hidden(name, tables, blocks, declared=prompt)


def _tree(view: View[Pair]) -> dict[str, Any] | None:
    found = view.done[0].draft.payload if view.done else None
    return found if isinstance(found, dict) else None


def _learned(view: View[Pair]) -> tuple[Change, ...]:
    own = own_messages(view.opened.history)
    if not own:
        return ()
    tree = _tree(view)
    most, categories = _ledger(view)
    diff = read_diff(tree) if tree is not None else facts_by_rule(own, categories=categories)
    if tree is None:
        diff = with_room(view.opened.state.mine.facts, diff, most=most)
    if not diff.upsert and not diff.delete:
        return ()
    value = (diff, own, most, categories)
    return (Change(part="mine", path="facts", op="set", value=value, by="observer"),)


def _ledger(view: View[Pair]) -> tuple[int, tuple[str, ...]]:
    """Most facts of a session, and their categories."""
    declared = tables_of(view.opened.data).rules["facts"]
    return int(declared["most"]), tuple(declared["categories"])


def _met(view: View[Pair]) -> tuple[Change, ...]:
    """The people of the person's own messages; those who take part here are none."""
    own = own_messages(view.opened.history)
    tree, shared = _tree(view), view.opened.state.shared
    given = tree if tree is not None and "people" in tree else None
    mentions = people_of(given) if given is not None else people_by_rule(own)
    if not own or not mentions:
        return ()
    most, categories = _ledger(view)
    people = int(tables_of(view.opened.data).side["people"]["most"])
    names = (*shared.people, *shared.invited)
    value = (mentions, own, names, (people, most), categories)
    return (Change(part="mine", path="people", op="set", value=value, by="observer"),)


def _summarised(view: View[Pair]) -> tuple[Change, ...]:
    tables = tables_of(view.opened.data)
    rhythm = _rhythm(tables, inner=bool(view.opened.state.mine.space))
    history = [item for item in view.opened.history if not is_act(item.body)]
    state = view.opened.state
    tokens = sum(view.opened.count(item.body) for item in history)
    upto = state.mine.summary.upto if state.mine.summary else 0
    cover = summary_due(len(view.opened.history), tokens, upto=upto, rhythm=rhythm)
    if not cover:
        return ()
    lines = [(item.role, item.body) for item in view.opened.history[:cover] if item in history]
    tree = _tree(view)
    made = _summary_of(tree, cover, rhythm.words) if tree is not None else None
    made = made or extract([(str(role), text) for role, text in lines], rhythm=rhythm)
    made = replace(made, upto=cover)
    return (Change(part="mine", path="summary", op="set", value=made, by="observer"),)


def _summary_of(tree: dict[str, Any], cover: int, words: int) -> Summary | None:
    narrative = " ".join(str(tree.get("narrative", "")).split()[:words])
    if not narrative:
        return None

    def lines(name: str) -> tuple[str, ...]:
        part = tree.get(name)
        return tuple(str(one)[:300] for one in part[:6]) if isinstance(part, list) else ()

    names = {
        "themes": "themes", "journey": "emotional_journey", "unresolved": "unresolved",
        "facts": "agreed_facts", "needs": "my_needs", "others_needs": "their_needs",
        "questions": "questions", "agreements": "agreements",
    }  # fmt: skip
    parts = {ours: lines(theirs) for ours, theirs in names.items()}
    return Summary(narrative=narrative, upto=cover, by="model", **parts)


def _referred(view: View[Pair]) -> tuple[Change, ...]:
    """What the small model says of a doubtful reference; three failures rest it for ten turns."""
    rules = tables_of(view.opened.data).rules["breaker"]
    mine, tree = view.opened.state.mine, _tree(view)
    if tree is None or not isinstance(tree.get("reference"), bool):
        failures = mine.failures + 1
        if failures < rules["failures"]:
            return (Change(part="mine", path="failures", op="set", value=failures, by="observer"),)
        until = mine.turns + rules["turns"]
        return (
            Change(part="mine", path="failures", op="set", value=0, by="observer"),
            Change(part="mine", path="rest_until", op="set", value=until, by="observer"),
        )
    changes = [Change(part="mine", path="failures", op="set", value=0, by="observer")]
    if tree["reference"]:
        changes.append(Change(part="mine", path="told", op="set", value="reference", by="observer"))
    return tuple(changes)


def _observer(name: str, prompt: str, changes: Any) -> Flow[Pair]:
    return Flow(
        name=name,
        version="1",
        initial=beginning,
        plan=partial(_plan, name=name),
        more=_none,
        answer=_no_answer,
        next=partial(_step, name=name, prompt=prompt),
        compose=_nothing,
        changes=changes,
        reduce=reduce,
        jobs=_none,
        dump=dump,
        load=load,
        private=True,
    )


def _none(view: View[Pair]) -> tuple[Any, ...]:
    del view
    return ()


def _no_answer(view: View[Pair]) -> Draft | None:
    del view
    return None


def _nothing(view: View[Pair]) -> Done[Pair]:
    return view.done[-1]


def _reconciling(view: View[Pair]) -> Step[Pair] | None:
    """One call that sees the two approved statements and nothing else."""
    shared = view.opened.state.shared
    pair = pair_of(shared)
    if view.done or "model" not in view.opened.can or not pair:
        return None
    tables = tables_of(view.opened.data)
    texts = [Item(one.text, key=one.id) for one in shared.live("statement") if one.id in pair]
    statements = Block("statements", texts, protected=True, priority=90)
    return hidden("companion.reconcile", tables, (statements,), declared="reconciler")


def _reconciled(view: View[Pair]) -> tuple[Change, ...]:
    """The model's gaps, pending: each person's own turn holds them against that person's words."""
    tree, pair = _tree(view), pair_of(view.opened.state.shared)
    found = tree.get("gaps") if tree is not None and tree.get("stop") is not True else None
    if not pair or not isinstance(found, list):
        return ()
    safety = tables_of(view.opened.data).safety
    named = [str(one).strip()[:120] for one in found[:3] if str(one).strip()]
    text = ", ".join(one for one in named if not attacking(one, safety))
    if not text:
        return ()
    gap = Gap(id="gap-read-" + "-".join(pair), between=pair, text=text)
    return (Change(part="shared", path="gaps", op="add", value=gap, by="observer"),)


OBSERVERS = {
    "companion.facts": _observer("companion.facts", "facts", _learned),
    "companion.people": _observer("companion.people", "people", _met),
    "companion.summary": _observer("companion.summary", "summary", _summarised),
    "companion.reconcile": replace(
        _observer("companion.reconcile", "reconciler", _reconciled), next=_reconciling
    ),
    "companion.reference": _observer("companion.reference", "references", _referred),
}
