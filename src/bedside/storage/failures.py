"""What a database says when it fails, in words that hold no row and no statement."""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from bedside.core.errors import BedsideError, Conflict, Unavailable

__all__ = ["named"]

_SQLITE = {
    "SQLITE_FULL": ("there is no room left on its disk", "Free some space, then ask again."),
    "SQLITE_READONLY": ("it may not be written", "Check the rights of the home folder."),
    "SQLITE_PERM": ("it may not be opened", "Check the rights of the home folder."),
    "SQLITE_CANTOPEN": ("it cannot be opened", "Check the home folder and its rights."),
    "SQLITE_BUSY": ("another process is writing", "Ask again in a moment."),
    "SQLITE_LOCKED": ("another process is writing", "Ask again in a moment."),
    "SQLITE_IOERR": ("its disk does not answer", "Check the disk, then ask again."),
    "SQLITE_CORRUPT": ("its file is damaged", "Restore a backup."),
    "SQLITE_NOTADB": ("its file is no database", "Restore a backup, or choose another home."),
}
_POSTGRES = {
    "53100": ("there is no room left on its disk", "Free some space, then ask again."),
    "25006": ("it may not be written", "Check the rights of the database user."),
    "42501": ("the database user may not do this", "Check the rights of the database user."),
    "53300": ("it has no connection left", "Ask again in a moment."),
}
_OTHERWISE = ("it did not do what was asked", "Try again; `bedside doctor` looks closer.")
_CLASS = 2  # the first two characters of an SQLSTATE name its class


def named(error: SQLAlchemyError) -> BedsideError:
    """The failure as an error of Bedside's own. Parameters and statements stay out of it.

    `Conflict` where a row of another writer stands in the way, else `Unavailable`.
    """
    if isinstance(error, IntegrityError):
        return Conflict(
            "the store",
            why="another writer was faster, or a row that is needed has gone",
            do="Ask again.",
        )
    why, do = _reason(error)
    return Unavailable("the store", why=why, do=do)


def _reason(error: SQLAlchemyError) -> tuple[str, str]:
    if not isinstance(error, DBAPIError):
        return (f"{_OTHERWISE[0]} ({type(error).__name__})", _OTHERWISE[1])
    state = getattr(error.orig, "sqlstate", None)
    if state:
        if state[:_CLASS] in {"08", "57"}:
            return "it does not answer", "Check that the server runs, then ask again."
        return _POSTGRES.get(state, (f"{_OTHERWISE[0]} (SQLSTATE {state})", _OTHERWISE[1]))
    name = str(getattr(error.orig, "sqlite_errorname", "") or "")
    for known, reason in _SQLITE.items():
        if name == known or name.startswith(known + "_"):  # extended codes: SQLITE_IOERR_WRITE
            return reason
    kind = name or type(error.orig).__name__
    return f"{_OTHERWISE[0]} ({kind})", _OTHERWISE[1]
