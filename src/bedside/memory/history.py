"""What of a conversation goes into a prompt: protected turns, then older ones, then what was recalled. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bedside.core.context import Item
from bedside.core.errors import InvalidArgument
from bedside.core.value import value

__all__ = ["PROTECTED_TURNS", "Trimmed", "in_turns", "trim"]

PROTECTED_TURNS = 6
TURNS_WITH_SUMMARY, TURNS_WITHOUT = 8, 12
OLDER_SHARE = 0.6
MOST_MESSAGES = 24


@value
class Trimmed:
    """What stays. `history` is oldest first; `dropped` counts messages that were left out.

    `recalled_tokens` is how much room is left for what was recalled.
    """

    history: tuple[Item, ...]
    dropped: int
    tokens: int
    recalled_tokens: int


def in_turns(history: Sequence[Item]) -> list[tuple[Item, ...]]:
    """A conversation in turns: a person's messages and the answers that follow them, oldest first."""
    turns: list[list[Item]] = []
    answered = True
    for item in history:
        if item.role == "assistant" and turns:
            turns[-1].append(item)
            answered = True
        elif answered or not turns:
            turns.append([item])
            answered = item.role == "assistant"
        else:
            turns[-1].append(item)
    return [tuple(turn) for turn in turns]


def trim(
    history: Sequence[Item],
    *,
    budget: int,
    count: Callable[[str], int],
    buffer: int = TURNS_WITHOUT,
    summarised: bool = False,
    protected: int = PROTECTED_TURNS,
) -> Trimmed:
    """Two levels: so many turns of the stage and of the summary, then the tokens.

    The last `protected` turns stay, or the stage's buffer where that is smaller. Of what the budget
    leaves after them 60 % may go to older turns, dropped oldest first and never in part, and the
    rest to what was recalled.

    Args:
        history: Messages, oldest first.
        budget: Tokens for history and recall together, at least 0.
        count: Tokens of a text.
        buffer: Turns that the stage sends; 0 sends none.
        summarised: A summary stands for what is older.
        protected: Turns that are never dropped.

    Raises:
        InvalidArgument: a negative budget or buffer.
    """
    if budget < 0 or buffer < 0:
        raise InvalidArgument("budget or buffer", found=min(budget, buffer), want="0 or more")
    most = min(buffer, TURNS_WITH_SUMMARY if summarised else TURNS_WITHOUT)
    turns = in_turns(history)
    recent = turns[-most:] if most else []
    while len(recent) > 1 and sum(map(len, recent)) > MOST_MESSAGES:
        recent = recent[1:]
    safe = recent[-min(protected, most) :] if most else []
    older = recent[: len(recent) - len(safe)]

    def size(turn: Sequence[Item]) -> int:
        return sum(count(item.body) for item in turn)

    used = sum(map(size, safe))
    left = max(0, budget - used)
    room = int(left * OLDER_SHARE)
    kept: list[tuple[Item, ...]] = []
    for turn in reversed(older):
        cost = size(turn)
        if cost > room:
            break
        room -= cost
        kept.insert(0, turn)
    spent = sum(map(size, kept))
    stay = tuple(item for turn in (*kept, *safe) for item in turn)
    return Trimmed(
        history=stay,
        dropped=len(history) - len(stay),
        tokens=used + spent,
        recalled_tokens=max(0, left - spent),
    )
