"""Hot data for turns: the catalogue's live entries, read again when the tenant's epoch has moved."""

from __future__ import annotations

from typing import Any

from bedside.storage import catalogue
from bedside.storage.catalogue import Live
from bedside.storage.store import Store

__all__ = ["HotData"]


class HotData:
    """A cache of one process. An edit by any process is seen at the next turn's opening."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._live: dict[str, Live] = {}

    async def live(self, tenant: str) -> Live:
        """What is live now."""
        epoch = await self._store.read(lambda c: catalogue.epoch_of(c, tenant))
        known = self._live.get(tenant)
        if known is None or known.epoch != epoch:
            known = await self._store.read(lambda c: catalogue.live(c, tenant))
            self._live[tenant] = known
        return known

    async def of(self, tenant: str) -> dict[str, Any]:
        """What a flow is given: kind -> key -> body, and the epoch under "epoch"."""
        live = await self.live(tenant)
        found: dict[str, Any] = {kind: live.bodies(kind) for kind in catalogue.KINDS}
        found["epoch"] = live.epoch
        return found
