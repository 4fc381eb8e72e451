"""From settings to an engine: the only place that builds real objects."""

from __future__ import annotations

from sqlalchemy.exc import SQLAlchemyError

from bedside.core.errors import Unavailable
from bedside.settings import Settings
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.ledger import NAME, reconcile
from bedside.storage.schema import migrate
from bedside.storage.store import Store
from bedside.wiring.clock import SystemClock
from bedside.wiring.engine import Engine
from bedside.wiring.texts import Texts

__all__ = ["build_engine"]


def build_engine(settings: Settings) -> Engine:
    """Open the stores and put the rooms together. No model is loaded and no network touched.

    Raises:
        BadInput: the ledger of erasures cannot be read.
        Unavailable: the store cannot be opened.
    """
    clock = SystemClock()
    try:
        if not settings.database:
            settings.home.mkdir(parents=True, exist_ok=True)
        store = Store(open_engine(settings.database or sqlite_url(settings.home)))
        migrate(store)
        if settings.home.is_dir():
            # A database that came from a backup brings nobody back who was erased since.
            reconcile(store, settings.home / NAME, now=clock.now())
    except (SQLAlchemyError, OSError) as error:
        raise Unavailable(
            "the store",
            why=f"it cannot be opened ({type(error).__name__})",
            do="Check the home folder, its rights and the free space.",
        ) from None
    return Engine(
        settings=settings,
        store=store,
        clock=clock,
        texts=Texts(settings=settings, store=store, clock=clock),
    )
