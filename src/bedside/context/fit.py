"""Who stays: protected parts first, then pools, then one order kept down to a cut-off. Internal.

Raising the room never lowers a cut-off: the order does not depend on the room, evictable units
enter only when every protected one stands at full length, and a pool passes on only what it can
never use.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

from bedside.context.layout import Echo
from bedside.context.parts import Bit, Frame, Part, Unit, shorten_unit
from bedside.core.context import Pool
from bedside.core.errors import BudgetTooSmall, InvalidArgument

__all__ = ["check_pools", "fit"]

_STABLE = {"turn": 0, "session": 1, "static": 2}


def check_pools(parts: Sequence[Part], pools: Sequence[Pool]) -> None:
    """Check that pools are well formed and that each block's pool exists.

    Raises:
        InvalidArgument: a share outside [0, 1], shares above 1 in all, a pool with both or
            neither of share and tokens, two pools of one name, or a block's pool that is none.
    """
    names = [pool.name for pool in pools]
    if len(set(names)) != len(names):
        raise InvalidArgument("pools", found=names, want="pools of different names")
    total = 0.0
    for pool in pools:
        if (pool.share is None) == (pool.tokens is None):
            raise InvalidArgument(
                f"pool {pool.name!r}", found=pool, want="given a share or tokens, not both"
            )
        if pool.tokens is not None and pool.tokens < 0:
            raise InvalidArgument(
                f"pool {pool.name!r} tokens", found=pool.tokens, want="0 or more tokens"
            )
        if pool.share is not None and not 0 <= pool.share <= 1:
            raise InvalidArgument(f"pool {pool.name!r} share", found=pool.share, want="in [0, 1]")
        total += pool.share or 0.0
    if total > 1 + 1e-9:
        raise InvalidArgument("pool shares", found=total, want="at most 1 in all")
    for part in parts:
        if part.block.pool is not None and part.block.pool not in names:
            raise InvalidArgument(
                f"pool of block {part.block.name!r}",
                found=part.block.pool,
                want="a pool of the budget" + (f": {', '.join(names)}" if names else ""),
            )


def fit(
    parts: Sequence[Part],
    says: Sequence[Echo],
    *,
    room: int,
    lead: tuple[int, int],
    pools: Sequence[Pool],
) -> None:
    """Mark every unit as taken or left out.

    Args:
        parts: After their caps.
        says: Lines said again; they are protected.
        room: Tokens for all of it.
        lead: Tokens, inside `room`, of the line that a history may have to begin with: because
            of what is protected, and because of any candidate.
        pools: Checked.

    Raises:
        BudgetTooSmall: the protected units and lines do not fit in their shortest forms.
    """
    for part in parts:
        for unit in part.units:
            if unit.keep:
                part.take(unit)
    for echo in says:
        echo.home.open = True
    least, most = lead
    need = _protected(parts, says) + least
    if need > room:
        _shorten_protected(parts, says, excess=need - room)
        need = _protected(parts, says) + least
        if need > room:
            raise BudgetTooSmall(needed=need, available=max(room, 0), blocks=_sizes(parts, says))
        room = 0
    # Nothing that may be evicted enters before all that is protected stands at full length.
    _pooled(parts, max(room - need + least - most, 0), pools)


def _protected(parts: Sequence[Part], says: Sequence[Echo]) -> int:
    held = sum(
        part.wrapper + part.charged + sum(unit.tokens for unit in part.units if unit.taken)
        for part in parts
        if part.taken
    )
    homes = {part.home for part in parts if part.taken} | {echo.home for echo in says}
    return held + sum(echo.tokens for echo in says) + sum(home.tokens for home in homes)


def _sizes(parts: Sequence[Part], says: Sequence[Echo]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for part in parts:
        own = sum(echo.tokens for echo in says if echo.part is part)
        if part.taken:
            own += part.wrapper + part.charged
            own += sum(unit.tokens for unit in part.units if unit.taken)
        if own:
            sizes[part.block.name] = sizes.get(part.block.name, 0) + own
    return sizes


def _shorten_protected(parts: Sequence[Part], says: Sequence[Echo], *, excess: int) -> None:
    """Opening bookends first, then short forms, then cuts; the cacheable prefix comes last."""
    for echo in says:
        if excess > 0:
            before = echo.tokens
            echo.trim(before - excess)
            excess -= before - echo.tokens
    held = [unit for part in parts for unit in part.units if unit.taken]
    held.sort(key=lambda unit: unit.order, reverse=True)
    held.sort(key=lambda unit: _STABLE[unit.part.block.stability])
    bits: list[tuple[Part, Bit]] = [(unit.part, bit) for unit in held for bit in unit.bits]
    for cuts in (False, True):
        for part, bit in bits:
            if excess <= 0:
                return
            before = bit.tokens
            part.lower(bit, before - excess, cuts=cuts, least=1)
            excess -= before - bit.tokens


def _pooled(parts: Sequence[Part], rest: int, pools: Sequence[Pool]) -> None:
    """Split the rest among the pools and take units in each.

    A pool of tokens takes at most those. A share is of what the pools of tokens leave; blocks
    without a pool have the share that is not given away, and come last. What a pool can never use
    goes to the pools that want more, in named order.
    """
    members: list[tuple[Pool, list[Unit]]] = [
        (pool, _competing(parts, pool.name)) for pool in (*pools, Pool(name="", share=0.0))
    ]
    members[-1] = (members[-1][0], _competing(parts, None))
    left = rest
    by_share: list[tuple[str, list[Unit], float]] = []
    for pool, units in members:
        if pool.tokens is not None:
            demand = _demand(units)
            allowed = min(pool.tokens, demand, left)
            _take(units, allowed, demand, f"pool {pool.name}")
            left -= allowed
        else:
            by_share.append((pool.name, units, pool.share or 0.0))
    free = max(0.0, 1 - sum(share for _, _, share in by_share))
    by_share[-1] = (by_share[-1][0], by_share[-1][1], free)
    # Rounded down each by itself: handing the odd token on would let a pool shrink as `left` grows.
    grants = [floor(left * share + 1e-9) for _, _, share in by_share]
    demands = [_demand(units) for _, units, _ in by_share]
    surplus = sum(max(0, grant - demand) for grant, demand in zip(grants, demands, strict=True))
    for (name, units, _), grant, demand in zip(by_share, grants, demands, strict=True):
        more = min(surplus, max(0, demand - grant))
        surplus -= more
        _take(units, min(grant, demand) + more, demand, f"pool {name}" if name else "budget")


def _competing(parts: Sequence[Part], pool: str | None) -> list[Unit]:
    units = [
        unit for part in parts if part.block.pool == pool for unit in part.units if not unit.taken
    ]
    units.sort(key=lambda unit: unit.order)
    return units


def _demand(units: Sequence[Unit]) -> int:
    """Tokens that taking every unit adds."""
    total = 0
    seen: set[int] = set()
    homes: set[Frame] = set()
    for unit in units:
        part = unit.part
        total += unit.tokens
        if part.number not in seen:
            seen.add(part.number)
            homes.add(part.home)
            total += (0 if part.taken else part.wrapper) - part.charged
            total += part.more if part.lost else 0
    return max(total + sum(home.due for home in homes), 0)


def _take(units: Sequence[Unit], room: int, demand: int, why: str) -> None:
    """Keep units in order down to the cut-off; shorten the one that stands there."""
    if demand <= room:
        for unit in units:
            unit.part.take(unit)
        return
    closed = False
    for unit in units:
        part = unit.part
        if closed:
            part.lose(unit, why)
            continue
        cost = part.cost(unit)
        if cost > room:
            closed = True
            # A unit that is shortened leaves others out: its "+N more" line stays.
            extra = part.more - part.charged + (0 if part.taken else part.wrapper) + part.home.due
            if not shorten_unit(unit, room - extra):
                part.lose(unit, why)
                continue
            cost = part.cost(unit)
        room -= cost
        part.take(unit)
