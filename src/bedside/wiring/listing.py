"""The list of a tenant's knowledge as JSON, made anew only where knowledge has changed."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict

from sqlalchemy import Connection

from bedside.knowledge.index.rows import head_of_log
from bedside.wiring.ask import Who
from bedside.wiring.reading import read_knowledge

__all__ = ["MOST", "Listing"]

MOST = 16
"""Tenants whose lists are held; the one asked for longest ago goes first."""


class Listing:
    """Lists by tenant, each with the number of the change log that it was made at. Safe between threads.

    Every change to knowledge is logged in its own transaction, by whichever process made it, so a
    list of the log's present number is the one that the rows would give. It holds nothing of a patient.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held: OrderedDict[str, tuple[int, bytes]] = OrderedDict()

    def of(self, connection: Connection, who: Who) -> bytes:
        """`read_knowledge` of the caller's tenant, as UTF-8 JSON."""
        tenant = str(who.tenant)
        head = head_of_log(connection, tenant)
        with self._guard:
            held = self._held.get(tenant)
            if held is not None and held[0] == head:
                self._held.move_to_end(tenant)
                return held[1]
        rows = read_knowledge(connection, who=who)
        body = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()
        with self._guard:
            self._held[tenant] = (head, body)
            self._held.move_to_end(tenant)
            while len(self._held) > MOST:
                self._held.popitem(last=False)
        return body
