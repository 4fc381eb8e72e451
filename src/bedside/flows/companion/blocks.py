"""The context of a companion's turn: the stage's prompt, the history, what is known, the message. Pure.

Order of sacrifice: retrieved context, older turns, reflections and preferences, facts, summary. The
stage's prompt, the protected turns and the message always stay.
"""

from __future__ import annotations

from collections.abc import Sequence

from bedside.core.context import Block, Budget, Cap, Count, Item, Pool
from bedside.flows.companion.moves import Move
from bedside.flows.companion.reading import trend
from bedside.flows.companion.recall import Memory, counted, parted
from bedside.flows.companion.state import Mine, Pair
from bedside.flows.companion.tables import Tables
from bedside.memory.summaries import render

__all__ = ["budget_of", "reply_blocks", "sizes", "system_text"]

_FENCES = 24
"""Tokens that an item's fence and role may take, at most."""
_LONGEST_MESSAGE = 4_000
_SUMMARY_TOKENS = 800


_FIXED = ("base", "facilitator", "protocol")
"""Parts of the system prompt that every turn of every conversation begins with: the cached prefix."""
_OPTIONAL = ("post_share", "probing", "transition", "overview")
"""Parts that come and go with a message, and stand behind the history; where the prompt is over its
budget they go, in this order."""


def system_text(
    tables: Tables, move: Move, *, prompt: str = "", count: Count | None = None
) -> tuple[tuple[str, str], ...]:
    """The parts of the system prompt, as (name, text): what is fixed, then the stage's, then the optional.

    With a counter they stay inside the budget of the system prompt: a tenant's own prompts that are
    too long give way to the bundled ones, which all fit.
    """
    names = _system_parts(move, prompt)
    parts = tuple((name, tables.prompt(name)) for name in names)
    most = tables.rules["budget"]["system"]
    if count is None or sum(count(text) + _FENCES for _, text in parts) <= most:
        return parts
    fitting = [(name, tables.prompt(name, bundled=True)) for name in names]
    for name in _OPTIONAL:
        if sum(count(text) + _FENCES for _, text in fitting) > most:
            fitting = [one for one in fitting if one[0] != name]
    return tuple(fitting)


def _system_parts(move: Move, prompt: str) -> list[str]:
    stage, shared = move.stage, move.state.shared
    alone = len({*shared.people, *shared.invited}) < 2  # noqa: PLR2004 - it takes two people
    alone = alone and not move.state.mine.space
    wanted = {
        "post_share": any(one.state == "shared" for one in move.state.mine.drafts),
        "probing": move.said.brief and not prompt,
        "transition": move.stage.id != move.before.id,
        "overview": move.said.process,
    }
    name = prompt or ("invitation" if stage.id == 0 and alone else stage.prompt)
    return [*_FIXED, name, *(one for one in _OPTIONAL if wanted[one])]


def _prompt_block(name: str, text: str) -> Block:
    """One part of the prompt: nothing that changes within a conversation stands before what does not."""
    item = Item(text, key=f"prompt:{name}")
    if name in _FIXED:
        return Block(f"prompt {name}", item, slot="system", zone="primacy", stability="static",
                     protected=True, priority=100, trust="ours")  # fmt: skip
    if name in _OPTIONAL:
        return Block(f"prompt {name}", item, slot="tail", zone="primacy", protected=True,
                     priority=100, trust="ours")  # fmt: skip
    return Block(f"prompt {name}", item, slot="system", zone="primacy", stability="session",
                 keep=1, priority=100, trust="ours")  # fmt: skip


def reply_blocks(
    *,
    tables: Tables,
    move: Move,
    memory: Memory,
    history: Sequence[Item],
    message: str,
    person: str,
    count: Count,
    retrieved: Sequence[Item] = (),
    prompt: str = "",
) -> list[Block]:
    """All blocks of a reply."""
    limits = tables.rules["budget"]
    older, kept = parted(
        history, memory, messages=limits["messages"], before=move.state.mine.before,
        before_most=limits["pre_session"], step=limits["window_step"],
    )  # fmt: skip
    each = Cap(chars_each=limits["message_characters"])
    blocks = [
        _prompt_block(name, text)
        for name, text in system_text(tables, move, prompt=prompt, count=count)
    ]
    if older:
        blocks.append(
            Block("older", older, slot="history", zone="primacy", stability="session", priority=20,
                  cap=each, shrink="drop_oldest", pool="older")
        )  # fmt: skip
    if kept:
        blocks.append(
            Block("recent", kept, slot="history", zone="middle", stability="session", priority=90,
                  cap=each, shrink="drop_oldest", keep=memory.protected)
        )  # fmt: skip
    blocks += _known(tables, move, memory, person, count)
    if retrieved and memory.hits:
        guide = (
            "Words of this person's own from before, and thoughts that they linked to this "
            "conversation. Use them only where they fit; do not list them."
        )
        items = (Item(guide, key="guidance"), *retrieved)
        blocks.append(Block("retrieved", items, priority=10, pool="retrieved"))
    blocks.append(
        Block("message", Item(message or "(no words)", key="message"), zone="recency", priority=100,
              protected=True, cap=Cap(tokens=_LONGEST_MESSAGE), shrink="cut_mark")
    )  # fmt: skip
    return blocks


def _known(tables: Tables, move: Move, memory: Memory, person: str, count: Count) -> list[Block]:
    mine, most = move.state.mine, tables.rules["context"]
    levels = mine.intensities
    now = (
        f"Stage: {move.stage.id} ({move.stage.name}). Intensity: {levels[-1] if levels else 4}/10 "
        f"({trend(levels)}). Turn: {mine.turns}, {mine.since} in this stage."
    )
    if move.opening:
        now = f"{now} {move.opening}"
    blocks = [Block("now", now, priority=95, protected=True, trust="ours")]
    if memory.summary and mine.summary is not None:
        text = render(mine.summary, count=count, tokens=_SUMMARY_TOKENS)
        blocks.append(Block("summary", Item(text, key="summary"), priority=60))
    if memory.depth == "none":
        return [*blocks, _shared(move.state, person)]
    if mine.preferences:
        lines = mine.preferences[-most["preferences"] :]
        blocks.append(Block("preferences", lines, priority=40))
    if memory.facts and mine.facts:
        blocks.append(Block("facts", _facts(mine, min(memory.facts, most["facts"])), priority=50))
    if asked := [f"{one.line} (kept at this person's request)" for one in mine.kept
                 if one.kind == "fact"]:  # fmt: skip
        blocks.append(Block("kept", asked[-most["facts"] :], priority=50))
    if mine.people:
        named = "; ".join(one.line for one in mine.people[-most["people"] :])
        blocks.append(Block("people", Item(f"People they spoke of: {named}", key="people"),
                            priority=45))  # fmt: skip
    if mine.reflections:
        lines = [one.text for one in mine.reflections[-most["reflections"] :]]
        blocks.append(Block("private reflections", lines, priority=30))
    blocks.append(_shared(move.state, person))
    if milestones := _milestones(move.state, person):
        blocks.append(Block("milestones", milestones, priority=55, trust="ours"))
    return blocks


def _facts(mine: Mine, most: int) -> list[Item]:
    return [Item(f"{one.category}: {one.text}", key=one.id) for one in mine.facts[-most:]]


def _shared(state: Pair, person: str) -> Block:
    """What was given out by either, and nothing else of the other."""
    items = [
        Item(
            f"{'Given by this person' if one.author == person else 'Given by the other person'} "
            f"({one.kind}, {one.state}): {one.text}",
            key=one.id,
        )
        for one in state.shared.live()
    ]
    items += [
        Item(f"One of the two statements names this, the other does not: {one.text}", key=one.id)
        for one in state.shared.gaps
        if set(one.cleared) >= set(state.shared.people)
    ]
    if not items:
        items = [Item("Nothing has been given out by either person.", key="nothing shared")]
    return Block("shared", items, priority=70)


def _milestones(state: Pair, person: str) -> list[str]:
    shared, lines = state.shared, []
    if state.mine.stage > 1:
        lines.append("This person confirmed being heard.")
    for one in shared.live():
        if one.state == "acknowledged":
            whose = "This person's" if one.author == person else "The other person's"
            lines.append(f"{whose} {one.kind} was acknowledged.")
    return lines


def budget_of(
    tables: Tables,
    blocks: Sequence[Block],
    *,
    count: Count,
    output: int | None = None,
) -> Budget:
    """The target of 8,000 tokens; more, up to 40,000, only where what is protected needs it.

    The input never passes 150,000 tokens, less the 4,000 that are reserved for the answer.
    """
    rules = tables.rules["budget"]
    each = rules["message_characters"]
    fixed = sum(
        count(item.body[:each] if block.name == "recent" else item.body) + _FENCES
        for block in blocks
        if block.name in {"recent", "message", "now"} or block.name.startswith("prompt ")
        for item in block.items
    )
    limit = min(rules["context"], max(rules["target"], fixed + _FENCES * 4))
    return Budget(
        max(1, min(limit, rules["input"] - rules["reserved"])),
        output=min(output or rules["output"], rules["reserved"]),
        pools=(
            Pool(name="older", share=rules["older_share"]),
            Pool(name="retrieved", share=rules["retrieved_share"]),
        ),
    )


def sizes(blocks: Sequence[Block], count: Count) -> dict[str, int]:
    """Tokens wanted by what is pinned, the summary, recent turns and what was retrieved."""
    groups = {"summary": "summary", "recent": "recent", "older": "recent", "retrieved": "retrieved"}
    total = {"pinned": 0, "summary": 0, "recent": 0, "retrieved": 0}
    for block in blocks:
        total[groups.get(block.name, "pinned")] += counted(block.items, count)
    return total
