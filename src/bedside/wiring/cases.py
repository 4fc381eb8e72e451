"""Which patient rows are intake cases, and who may work at one."""

from __future__ import annotations

from sqlalchemy import Connection, select

from bedside.core.ids import TenantId
from bedside.storage.tables.record import patient as patient_table
from bedside.storage.tables.turn import session as session_table
from bedside.wiring.ask import Who

__all__ = ["is_case", "may_work", "with_intake"]


def is_case(connection: Connection, tenant: TenantId, case: str) -> bool:
    """Is there such a case? The record of a patient is none, whatever its id."""
    there = connection.execute(
        select(patient_table.c.id).where(
            patient_table.c.tenant == tenant,
            patient_table.c.id == case,
            patient_table.c.revision == 0,
        )
    ).first()
    talk = connection.execute(
        select(session_table.c.flow).where(
            session_table.c.tenant == tenant, session_table.c.id == case
        )
    ).scalar()
    return there is not None and talk in {None, "intake"}


def with_intake(connection: Connection, tenant: TenantId) -> set[str]:
    """The ids of the intake cases that have no record: the coordinator's desk lists them."""
    return set(
        connection.execute(
            select(patient_table.c.id)
            .join(
                session_table,
                (session_table.c.tenant == patient_table.c.tenant)
                & (session_table.c.id == patient_table.c.id),
            )
            .where(
                patient_table.c.tenant == tenant,
                patient_table.c.revision == 0,
                session_table.c.flow == "intake",
            )
        ).scalars()
    )


def may_work(connection: Connection, who: Who, case: str) -> bool:
    """May the caller write in this case: its person, who sees records, or a coordinator of cases?"""
    return who.sees(case) or (who.leads(case) and is_case(connection, who.tenant, case))
