"""Erasure that reaches every index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bedside.core.errors import Unavailable
from bedside.knowledge.index.protocol import VectorIndex

__all__ = ["remove_patient"]


def remove_patient(
    indexes: Iterable[VectorIndex], *, tenant: str, patient: str
) -> Mapping[str, int]:
    """Remove everything of a patient from every index; how many windows went, by index name.

    Call it when the patient's rows have gone: an index follows rows, so what went here does not come
    back. Safe to repeat, and on an index that was never opened; each is asked a second time, and must
    then find nothing, in the vectors of any model.

    Raises:
        InvalidArgument: An empty tenant or patient.
        Unavailable: An index does not answer, or holds something still. Erasure is not done then.
    """
    gone: dict[str, int] = {}
    for index in indexes:
        gone[index.name] = index.remove_patient(tenant, patient)
        if left := index.remove_patient(tenant, patient):
            raise Unavailable(
                f"the vector index ({index.name})",
                why=f"{left} vectors of the patient were still there after their removal",
                do="Run the erasure again.",
            )
    return gone
