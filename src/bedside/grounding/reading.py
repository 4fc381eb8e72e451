"""A text read once: everything that the checks ask of it, each worked out when first asked. Pure."""

from __future__ import annotations

import re
from datetime import date
from functools import cached_property

from bedside.grounding.numerals import has_number_words, worded
from bedside.grounding.poles import Pole, poles
from bedside.grounding.terms import Term, analytes, codes, drugs, stems
from bedside.language.dates import Written, dates
from bedside.language.laterality import SideOf, sides
from bedside.language.negation import Scope, scopes
from bedside.language.quantities import Frequency, Quantity, frequencies, quantities

__all__ = ["Memo", "Read"]

_DIGIT = re.compile(r"\d")
_END = re.compile(r"(?<!\.\w)(?<=[\w)\]%])\.\Z")


class Read:
    """One text and what it holds."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.digits = _DIGIT.search(text) is not None

    @cached_property
    def dates(self) -> list[Written]:
        """Its dates, in order."""
        return dates(self.text) if self.digits else []

    @cached_property
    def day(self) -> date | None:
        """Its one day (that of a record line), `None` where it has none or several."""
        days = {day for one in self.dates for day in one.days}
        return days.pop() if len(days) == 1 else None

    @cached_property
    def quantities(self) -> list[Quantity]:
        """Its figures, in order: those in digits and those in words."""
        spoken = (
            worded(self.text, rhythms=self.frequencies, days=self.dates)
            if has_number_words(self.text)
            else []
        )
        if not self.digits:
            return spoken
        written = quantities(self.text, known=self.dates)
        if not spoken:
            return written
        # "1/2 tablet" is half a tablet, not 1 over 2.
        apart = [w for w in written if not any(s.start <= w.start < s.end for s in spoken)]
        return sorted([*apart, *spoken], key=lambda one: one.start)

    @cached_property
    def frequencies(self) -> list[Frequency]:
        """How often, in order."""
        return frequencies(self.text)

    @cached_property
    def stems(self) -> list[Term]:
        """Its content words, in order."""
        return stems(self.text)

    @cached_property
    def codes(self) -> list[Term]:
        """Its names that hold digits, in order."""
        return codes(self.text) if self.digits else []

    @cached_property
    def drugs(self) -> list[Term]:
        """Its medicines, in order."""
        return drugs(self.text)

    @cached_property
    def analytes(self) -> list[Term]:
        """Its measurements, in order."""
        return analytes(self.text)

    @cached_property
    def scopes(self) -> list[Scope]:
        """What it denies, doubts or says of others."""
        return scopes(self.text)

    @cached_property
    def sides(self) -> list[SideOf]:
        """Its sides."""
        return sides(self.text)

    @cached_property
    def poles(self) -> list[Pole]:
        """Its words that have a reverse, in order, without those that it denies."""
        return poles(self.text, self.scopes, of_medicine=bool(self.drugs))

    @cached_property
    def words(self) -> list[Term]:
        """Content words and names that hold digits."""
        return [*self.stems, *self.codes]

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of its content words and names."""
        return frozenset(one.key for one in self.words)

    @cached_property
    def named(self) -> frozenset[str]:
        """The keys of its medicines and measurements."""
        return frozenset(one.key for one in (*self.drugs, *self.analytes))


class Memo:
    """Reads of one answer and its sources. Made for a gate and forgotten with it."""

    def __init__(self) -> None:
        self._reads: dict[str, Read] = {}

    def __call__(self, text: str) -> Read:
        """The reading of `text`, the same each time; blanks around it and its full stop are left out."""
        found = self._reads.get(text)
        if found is None:
            bare = _END.sub("", text.strip())
            found = self._reads.get(bare) or Read(bare)
            self._reads[bare] = self._reads[text] = found
        return found
