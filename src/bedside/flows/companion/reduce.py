"""How changes become the state: inside the commit, on the state as it is then. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, cast

from bedside.core.turn import Change
from bedside.flows.companion.kept import Kept, Reflection
from bedside.flows.companion.people import Mention, as_facts, met, names
from bedside.flows.companion.state import Gap, Mine, Pair, Share, Shared, Written
from bedside.flows.companion.wall import runs
from bedside.memory.facts import Diff, Own, apply
from bedside.memory.summaries import Summary

__all__ = ["purged", "reduce"]

_MOST_KEPT = 20
_FIELDS = frozenset(one.name for one in fields(Mine))


def reduce(state: Pair, change: Change) -> Pair:
    """Apply one change. One that no longer fits (a share that is gone) changes nothing."""
    if change.part == "shared":
        return Pair(shared=_SHARED[change.path](state.shared, change.value), mine=state.mine)
    special = _MINE.get(change.path)
    if special is not None:
        return Pair(shared=state.shared, mine=special(state.mine, change.value))
    if change.path not in _FIELDS:
        raise KeyError(change.path)
    known = getattr(state.mine, change.path)
    if change.op == "set":
        made: Any = change.value
    elif change.op == "add":
        made = (*known, change.value) if change.value not in known else known
    else:
        made = tuple(one for one in known if one != change.value)
    return Pair(shared=state.shared, mine=replace(state.mine, **{change.path: made}))


def _join(shared: Shared, person: Any) -> Shared:
    if person in shared.people or len(shared.people) > 1:
        return shared
    return replace(
        shared,
        people=(*shared.people, str(person)),
        invited=tuple(one for one in shared.invited if one != person),
    )


def _invite(shared: Shared, person: Any) -> Shared:
    if person in (*shared.people, *shared.invited) or len(shared.people) + len(shared.invited) > 1:
        return shared
    return replace(shared, invited=(*shared.invited, str(person)))


def _leave(shared: Shared, person: Any) -> Shared:
    """Without the person, what they gave out, and what compared it. The other's shares stay."""
    kept = replace(
        shared,
        people=tuple(one for one in shared.people if one != person),
        invited=tuple(one for one in shared.invited if one != person),
        begun=tuple(one for one in shared.begun if one != person),
        shares=tuple(one for one in shared.shares if one.author != person),
    )
    return _without_gaps(kept)


def _share(shared: Shared, share: Any) -> Shared:
    """A new share takes the place of its author's earlier one of that kind."""
    made = cast("Share", share)
    earlier = tuple(
        replace(one, state="withdrawn", text="")
        if (one.author, one.kind) == (made.author, made.kind)
        and one.id != made.id
        and made.kind != "agreement"
        else one
        for one in shared.shares
        if one.id != made.id
    )
    return _without_gaps(replace(shared, shares=(*earlier, made)))


def _share_state(shared: Shared, value_: Any) -> Shared:
    ident, state = value_
    made = tuple(
        one
        if one.id != ident or one.state == "withdrawn"
        else replace(one, state=state, text="" if state == "withdrawn" else one.text)
        for one in shared.shares
    )
    return _without_gaps(replace(shared, shares=made))


def _without_gaps(shared: Shared) -> Shared:
    """Gaps go with the statements that they compare."""
    live = {one.id for one in shared.live()}
    return replace(shared, gaps=tuple(one for one in shared.gaps if live >= set(one.between)))


def _gaps(shared: Shared, gap: Any) -> Shared:
    made = cast("Gap", gap)
    live = {one.id for one in shared.live()}
    if any(one.id == made.id for one in shared.gaps) or not live >= set(made.between):
        return shared
    return replace(shared, gaps=(*shared.gaps, made))


def _cleared(shared: Shared, value_: Any) -> Shared:
    """Cleared by one person; or held back for good, where it has that person's private words."""
    ident, person, clean = value_
    return replace(
        shared,
        gaps=tuple(
            replace(one, cleared=tuple(dict.fromkeys((*one.cleared, person))))
            if one.id == ident
            else one
            for one in shared.gaps
            if clean or one.id != ident
        ),
    )


_SHARED: Mapping[str, Callable[[Shared, Any], Shared]] = {
    "join": _join,
    "invite": _invite,
    "leave": _leave,
    "shares": _share,
    "shares.state": _share_state,
    "gaps": _gaps,
    "gaps.cleared": _cleared,
}


def _draft_state(mine: Mine, value_: Any) -> Mine:
    ident, state, text, *by = value_
    return replace(
        mine,
        drafts=tuple(
            replace(
                one,
                state=state,
                text=text or one.text,
                by=(by or ["person"])[0] if text else one.by,
            )
            if one.id == ident
            else one
            for one in mine.drafts
        ),
    )


def _drafts(mine: Mine, draft: Any) -> Mine:
    made = cast("Written", draft)
    if any(one.id == made.id for one in mine.drafts):
        return mine
    return replace(mine, drafts=(*mine.drafts, made))


def _facts(mine: Mine, learned: Any) -> Mine:
    """A diff over the person's own messages, applied to the ledger as it is now; at most 20 stay."""
    diff, own, most, categories = cast(
        "tuple[Diff, tuple[Own, ...], int, tuple[str, ...]]", learned
    )
    facts, refused = apply(mine.facts, diff, own, most=most, categories=categories)
    facts = tuple(one for one in facts if one.id not in mine.forgotten)
    return replace(mine, facts=facts, facts_refused=mine.facts_refused + len(refused))


def _people(mine: Mine, learned: Any) -> Mine:
    """Mentions over the person's own messages; who is new by name is a fact of the People category too."""
    mentions, own, taking_part, most, categories = cast(
        "tuple[tuple[Mention, ...], tuple[Own, ...], tuple[str, ...], tuple[int, int], tuple[str, ...]]",
        learned,
    )
    people, refused = met(
        mine.people, mentions, own, most=most[0], but=(*taking_part, *mine.forgotten)
    )
    people = tuple(one for one in people if one.id not in mine.forgotten)
    quoted = {one.quote for one in mine.facts}
    upserts = (
        tuple(one for one in as_facts(mine.people, people) if one.quote not in quoted)
        if "People" in categories
        else ()
    )
    made = replace(mine, people=people, facts_refused=mine.facts_refused + refused)
    return _facts(made, (Diff(upsert=upserts), own, most[1], categories)) if upserts else made


def _kept(mine: Mine, kept: Any) -> Mine:
    made = cast("Kept", kept)
    others = tuple(one for one in mine.kept if one.id != made.id)
    forgotten = tuple(one for one in mine.forgotten if one != made.id)
    return replace(mine, kept=(*others, made)[-_MOST_KEPT:], forgotten=forgotten)


def _forget(mine: Mine, ident: Any) -> Mine:
    """Without a fact, a person or a line; the same words do not come back by themselves.

    With a person go the facts that name them, or hold the words that did.
    """
    whom = next((one for one in mine.people if one.id == ident), None)
    naming = [one.id for one in mine.facts if whom is not None and names(whom, one.text, one.quote)]
    gone = (*naming, str(ident))

    def left(part: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(one for one in part if one.id not in gone)

    return replace(
        mine, facts=left(mine.facts), people=left(mine.people), kept=left(mine.kept),
        forgotten=tuple(dict.fromkeys((*mine.forgotten, *gone)))[-200:],
    )  # fmt: skip


def _reflections(mine: Mine, given: Any) -> Mine:
    """The latest thoughts of one linked space, in place of its earlier ones."""
    space, thoughts = cast("tuple[str, tuple[Reflection, ...]]", given)
    if space not in mine.linked:
        return mine  # unlinked meanwhile
    others = tuple(one for one in mine.reflections if one.session != space)
    return replace(mine, reflections=(*others, *thoughts))


def _linked(mine: Mine, given: Any) -> Mine:
    """Link an inner space to this conversation, or unlink it; then what came of it goes too."""
    space, on = cast("tuple[str, bool]", given)
    others = tuple(one for one in mine.linked if one != space)
    if on:
        return replace(mine, linked=(*others, space))
    kept = tuple(one for one in mine.reflections if one.session != space)
    return replace(mine, linked=others, reflections=kept)


def purged(mine: Mine, text: str) -> Mine:
    """One person's part without what came of a withdrawn text: facts, summary, reflections."""
    words = runs(text)
    summary = mine.summary
    return replace(
        mine,
        facts=tuple(
            one for one in mine.facts if not (_of(one.text, words) or _of(one.quote, words))
        ),
        summary=None if summary is not None and _summary_of(summary, words) else summary,
        reflections=tuple(one for one in mine.reflections if not _of(one.text, words)),
        kept=tuple(one for one in mine.kept if not (_of(one.line, words) or _of(one.quote, words))),
        people=tuple(one for one in mine.people if not _of(one.quote, words)),
    )


def _of(text: str, words: frozenset[tuple[str, ...]]) -> bool:
    return bool(runs(text) & words)


def _summary_of(summary: Summary, words: frozenset[tuple[str, ...]]) -> bool:
    lines = [summary.narrative]
    for one in fields(Summary):
        part = getattr(summary, one.name)
        lines += list(part) if isinstance(part, tuple) else []
    return summary.by != "extractive" or any(_of(line, words) for line in lines)


_MINE: Mapping[str, Callable[[Mine, Any], Mine]] = {
    "drafts": _drafts,
    "drafts.state": _draft_state,
    "facts": _facts,
    "people": _people,
    "kept": _kept,
    "forget": _forget,
    "reflections": _reflections,
    "linked": _linked,
    "purge": purged,
    "failures": lambda mine, count: replace(mine, failures=int(count)),
}
