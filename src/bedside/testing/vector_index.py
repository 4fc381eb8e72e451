"""What every index of vectors keeps to. Subclass it in a test module and say how to make one.

class TestMine(VectorIndexContract):
    @pytest.fixture
    def make(self): return lambda dim=8, model="m": MyIndex(...)     # of one and the same store
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any, ClassVar

import numpy as np
import pytest

from bedside.core.errors import Conflict, InvalidArgument
from bedside.knowledge.embed.protocol import Floats2d, unit_rows
from bedside.knowledge.index.entry import Document, Entry
from bedside.knowledge.index.erase import remove_patient
from bedside.knowledge.index.protocol import Held, Neighbour, Scope, VectorIndex
from bedside.knowledge.needs import Filters

__all__ = ["MakeIndex", "VectorIndexContract", "axis", "document_of", "entries_of"]

DIM = 8
SHARED = Scope(tenant="clinic")
MakeIndex = Callable[..., VectorIndex]


def axis(number: int, *, lean: float = 0.0, dim: int = DIM) -> Floats2d:
    """One window along an axis, leaning a little to the next one; shape (1, dim)."""
    row = np.zeros((1, dim), dtype=np.float32)
    row[0, number % dim] = 1.0
    row[0, (number + 1) % dim] += lean
    return unit_rows(row)


def document_of(name: str, *, tenant: str = "clinic", revision: int = 1, **more: Any) -> Document:
    """A document that is ready."""
    return Document(
        tenant=tenant, id=name, revision=revision, kind="guideline", title=name, ready=True, **more
    )


def entries_of(document: Document, windows: Sequence[Floats2d | None]) -> list[Entry]:
    """A chunk for each block of windows, numbered as the store numbers them."""
    return [
        Entry(
            id=f"{document.id}:{document.revision}:{number:04d}",
            document=document,
            words=b"",
            length=1,
            vectors=block,
        )
        for number, block in enumerate(windows)
    ]


def _names(found: Sequence[Neighbour]) -> list[str]:
    return [near.chunk for near in found]


class VectorIndexContract:
    """The suite; pytest collects the subclass. `make` gives indexes over one store, opened or not."""

    keeps: ClassVar[bool] = True
    """Whether a second index over the store sees what the first one wrote."""

    @pytest.fixture
    def make(self) -> MakeIndex:
        """A maker of indexes: `make(dim=..., model=...)`."""
        raise NotImplementedError

    @pytest.fixture
    def index(self, make: MakeIndex) -> VectorIndex:
        """One that is open."""
        made = make(dim=DIM, model="m")
        made.open()
        return made

    def put(self, index: VectorIndex, scope: Scope, document: Document, *blocks) -> None:
        """Put a document of chunks."""
        index.put(scope, document.id, entries_of(document, blocks))

    def near(self, index: VectorIndex, scope: Scope = SHARED, number: int = 0, **more) -> list[str]:
        """Chunk ids nearest to an axis."""
        found = index.nearest(
            scope,
            axis(number)[0],
            filters=more.pop("filters", Filters()),
            limit=more.pop("limit", 10),
        )
        return _names(found)

    def test_the_nearest_come_first_with_their_cosine(self, index: VectorIndex) -> None:
        """Against figures worked out by hand: cos 45 degrees is 0.70711."""
        self.put(index, SHARED, document_of("a"), axis(0), axis(0, lean=1.0), axis(3))
        found = index.nearest(SHARED, axis(0)[0], filters=Filters(), limit=3)
        assert [(n.chunk, n.document) for n in found] == [
            ("a:1:0000", "a"),
            ("a:1:0001", "a"),
            ("a:1:0002", "a"),
        ]
        assert [n.similarity for n in found] == pytest.approx([1.0, 0.70711, 0.0], abs=2e-5)

    def test_a_query_of_any_length_is_compared_by_direction(self, index: VectorIndex) -> None:
        """Cosine, not the inner product."""
        self.put(index, SHARED, document_of("a"), axis(0, lean=1.0))
        (found,) = index.nearest(SHARED, 7 * axis(0)[0], filters=Filters(), limit=1)
        assert found.similarity == pytest.approx(0.70711, abs=2e-5)

    def test_a_chunk_stands_once_by_its_best_window(self, index: VectorIndex) -> None:
        """However many windows it has."""
        long = np.concatenate([axis(3), axis(0), axis(0, lean=0.2), axis(4)])
        self.put(index, SHARED, document_of("a"), long, axis(0, lean=0.5))
        found = index.nearest(SHARED, axis(0)[0], filters=Filters(), limit=10)
        assert _names(found) == ["a:1:0000", "a:1:0001"]
        assert found[0].similarity == pytest.approx(1.0, abs=2e-5)
        assert index.count(SHARED) == 5  # noqa: PLR2004 - four windows and one

    def test_many_windows_of_one_chunk_do_not_crowd_out_the_others(
        self, index: VectorIndex
    ) -> None:
        """A limit counts chunks."""
        self.put(index, SHARED, document_of("a"), np.repeat(axis(0), 60, axis=0))
        self.put(index, SHARED, document_of("b"), axis(0, lean=0.3))
        assert self.near(index, limit=2) == ["a:1:0000", "b:1:0000"]

    def test_equals_stand_by_their_ids_also_where_the_limit_cuts(self, index: VectorIndex) -> None:
        """So that two searches agree."""
        for name in ("d", "b", "e", "a", "c"):
            self.put(index, SHARED, document_of(name), *[axis(0)] * 8)
        want = [f"{name}:1:{number:04d}" for name in "abcde" for number in range(8)]
        assert self.near(index, limit=3) == want[:3]
        assert self.near(index, limit=20) == want[:20]

    def test_putting_again_changes_nothing(self, index: VectorIndex) -> None:
        """Idempotent."""
        for _ in range(3):
            self.put(index, SHARED, document_of("a"), axis(0), axis(1))
        assert index.count(SHARED) == 2  # noqa: PLR2004
        assert self.near(index) == ["a:1:0000", "a:1:0001"]

    def test_a_new_revision_takes_the_place_of_the_old_one(self, index: VectorIndex) -> None:
        """Nothing of the old one stays, also where it was longer."""
        self.put(index, SHARED, document_of("a"), axis(0), axis(1), axis(2))
        self.put(index, SHARED, document_of("b"), axis(5))
        self.put(index, SHARED, document_of("a", revision=2), axis(0))
        assert self.near(index, limit=9) == ["a:2:0000", "b:1:0000"]
        assert index.documents(SHARED) == {
            "a": Held(revision=2, windows=1),
            "b": Held(revision=1, windows=1),
        }

    def test_a_document_without_vectors_leaves(self, index: VectorIndex) -> None:
        """A revision whose vectors are not made yet is not found by its older ones."""
        self.put(index, SHARED, document_of("a"), axis(0))
        self.put(index, SHARED, document_of("a", revision=2), None, None)
        assert self.near(index) == []

    def test_a_removed_document_is_not_found(self, index: VectorIndex) -> None:
        """And removing it again is no error."""
        self.put(index, SHARED, document_of("a"), axis(0))
        self.put(index, SHARED, document_of("b"), axis(0))
        for _ in range(2):
            index.remove(SHARED, "a")
            assert self.near(index) == ["b:1:0000"]
        index.remove(SHARED, "never there")
        assert index.count(SHARED) == 1

    @pytest.mark.parametrize(
        ("filters", "want"),
        [
            (Filters(), ["asthma", "bp", "gout", "plain"]),
            (Filters(specialty="Cardiology"), ["bp"]),
            (Filters(type="Clinical-Guideline"), ["asthma"]),
            (Filters(condition="HTN"), ["bp"]),
            (Filters(condition="gout"), ["bp", "gout"]),
            (Filters(drug="Colchicine"), ["gout"]),
            (Filters(document="gout"), ["gout"]),
            (Filters(since=date(2023, 1, 1)), ["asthma", "bp"]),
            (Filters(condition="gout", since=date(2023, 1, 1)), ["bp"]),
            (Filters(specialty="nowhere"), []),
        ],
    )
    def test_filters_apply_before_the_nearest_are_counted(
        self, index: VectorIndex, filters: Filters, want: list[str]
    ) -> None:
        """What is filtered out takes no place among the limit; an absent field passes nothing."""
        library = [
            document_of("asthma", type="clinical_guideline", dated=date(2023, 1, 1)),
            document_of(
                "bp",
                specialty="cardiology",
                conditions=("hypertension", "gout"),
                dated=date(2024, 2, 1),
            ),
            document_of(
                "gout", conditions=("Gout",), drugs=("colchicine",), dated=date(2019, 6, 1)
            ),
            document_of("plain"),
        ]
        for number, document in enumerate(library):
            self.put(index, SHARED, document, axis(0, lean=number * 0.1))
        found = index.nearest(SHARED, axis(0)[0], filters=filters, limit=len(want) or 5)
        assert sorted(near.document for near in found) == want

    @pytest.mark.requirement("RELIABILITY-15")
    def test_no_scope_sees_what_another_one_holds(self, index: VectorIndex) -> None:
        """A canary in every scope, all of one direction; same document names everywhere."""
        scopes = [
            Scope(tenant=tenant, patient=patient)
            for tenant in ("clinic", "other", "*")
            for patient in (None, "ann", "bob")
        ]
        for number, scope in enumerate(scopes):
            own = document_of(f"canary{number}", tenant=scope.tenant)
            same = document_of("same", tenant=scope.tenant)
            self.put(index, scope, own, axis(0))
            self.put(index, scope, same, axis(0))
        for number, scope in enumerate(scopes):
            assert self.near(index, scope, limit=50) == [f"canary{number}:1:0000", "same:1:0000"]
            assert set(index.documents(scope)) == {f"canary{number}", "same"}
            assert index.count(scope) == 2  # noqa: PLR2004
        index.remove(scopes[0], "same")
        counts = [index.count(scope) for scope in scopes]
        assert counts == [1, *[2] * (len(scopes) - 1)]

    @pytest.mark.requirement("RELIABILITY-15")
    def test_an_empty_scope_is_refused(self, index: VectorIndex) -> None:
        """It would be everybody's."""
        for tenant, patient in (("", None), (" ", "ann"), ("clinic", ""), ("clinic", " ")):
            with pytest.raises(InvalidArgument):
                Scope(tenant=tenant, patient=patient)
            if patient is not None:
                with pytest.raises(InvalidArgument):
                    index.remove_patient(tenant, patient)

    def test_erasing_a_patient_leaves_every_neighbour(self, index: VectorIndex) -> None:
        """And says how much went; the second time nothing."""
        ann = Scope(tenant="clinic", patient="ann")
        others = [
            SHARED,
            Scope(tenant="clinic", patient="bob"),
            Scope(tenant="other", patient="ann"),
        ]
        for scope in (ann, *others):
            document = document_of("letter", tenant=scope.tenant)
            self.put(index, scope, document, axis(0), axis(1))
        assert remove_patient([index], tenant="clinic", patient="ann") == {index.name: 2}
        assert self.near(index, ann) == []
        assert [self.near(index, scope) for scope in others] == [
            ["letter:1:0000", "letter:1:0001"]
        ] * 3
        assert remove_patient([index], tenant="clinic", patient="ann") == {index.name: 0}

    def test_erasing_from_an_index_that_was_never_opened_finds_nothing(
        self, make: MakeIndex
    ) -> None:
        """A store where nothing was ever indexed has nothing to erase."""
        index = make(dim=DIM, model="m")
        assert remove_patient([index], tenant="clinic", patient="ann") == {index.name: 0}

    def test_vectors_of_another_size_are_refused_and_nothing_changes(
        self, index: VectorIndex
    ) -> None:
        """Both what is put and what is asked."""
        self.put(index, SHARED, document_of("a"), axis(0))
        with pytest.raises(InvalidArgument, match="8"):
            self.put(index, SHARED, document_of("a", revision=2), axis(0, dim=DIM + 1))
        with pytest.raises(InvalidArgument, match="8"):
            index.nearest(SHARED, axis(0, dim=4)[0], filters=Filters(), limit=3)
        assert self.near(index) == ["a:1:0000"]

    @pytest.mark.requirement("EN-K4")
    def test_a_store_of_another_size_is_refused_when_it_is_opened(self, make: MakeIndex) -> None:
        """The sizes stand in the message; the store stays as it was."""
        if not self.keeps:
            pytest.skip("an index of this process's memory is always new")
        first = make(dim=DIM, model="m")
        first.open()
        self.put(first, SHARED, document_of("a"), axis(0))
        other = make(dim=16, model="m")
        with pytest.raises(Conflict, match=r"8 columns.*16"):
            other.open()
        again = make(dim=DIM, model="m")
        again.open()
        assert self.near(again) == ["a:1:0000"]

    def test_two_models_do_not_mix(self, make: MakeIndex) -> None:
        """Their vectors cannot be compared. Erasure reaches both."""
        ann = Scope(tenant="clinic", patient="ann")
        first, second = make(dim=DIM, model="m"), make(dim=DIM, model="n")
        first.open()
        second.open()
        self.put(first, ann, document_of("a"), axis(0))
        self.put(second, ann, document_of("b"), axis(0))
        assert (self.near(first, ann), self.near(second, ann)) == (["a:1:0000"], ["b:1:0000"])
        if self.keeps:
            assert first.remove_patient("clinic", "ann") == 2  # noqa: PLR2004
            assert second.count(ann) == 0

    def test_a_limit_below_one_is_refused(self, index: VectorIndex) -> None:
        """As a query of no direction is."""
        with pytest.raises(InvalidArgument, match="limit"):
            index.nearest(SHARED, axis(0)[0], filters=Filters(), limit=0)
        with pytest.raises(InvalidArgument, match="direction"):
            index.nearest(SHARED, 0 * axis(0)[0], filters=Filters(), limit=1)

    def test_opening_and_settling_may_be_repeated(self, index: VectorIndex) -> None:
        """An empty one finds nothing."""
        for _ in range(2):
            index.open()
            index.settle()
            assert self.near(index) == []
        assert (index.count(SHARED), dict(index.documents(SHARED))) == (0, {})
