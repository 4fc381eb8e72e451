"""The deterministic figure check (EN-G3): a figure is repeated as written, or it is not said. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from functools import cached_property

from bedside.grounding.reading import Read
from bedside.language.dates import Written
from bedside.language.quantities import Quantity

__all__ = ["Figures", "same_bound"]

_FURTHER = re.compile(
    r"(?:[;,]|\b(?:and|then|from|to|against|vs\.?|previously|was|before))\s*\Z", re.IGNORECASE
)


class Figures:
    """The figures, dates and named codes that some texts hold.

    `known` are days that stand for the texts without being written in them (a source's date).
    `computed` are texts that count too and are read only where the others do not do: outputs of
    calculators.
    """

    def __init__(
        self,
        texts: Iterable[str | Read],
        *,
        known: Iterable[date] = (),
        computed: Iterable[Read] = (),
    ) -> None:
        self.texts = tuple(Read(text) if isinstance(text, str) else text for text in texts)
        self.known = tuple(known)
        self._computed = tuple(computed)

    @cached_property
    def _more(self) -> Figures | None:
        return Figures(self._computed) if self._computed else None

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Every figure, in order of the texts."""
        return tuple(one for text in self.texts for one in text.quantities)

    @cached_property
    def dates(self) -> tuple[Written, ...]:
        """Every written date, in order of the texts."""
        return tuple(one for text in self.texts for one in text.dates)

    @cached_property
    def codes(self) -> frozenset[str]:
        """Names that hold digits, in lower case."""
        return frozenset(one.key for text in self.texts for one in text.codes)

    def figure(self, said: Quantity) -> bool:
        """Does the figure stand here: same digits, same ends of its range, same comparator?"""
        if any(_same_figure(said, one) for one in self.quantities) or self._apart(said):
            return True
        return self._more is not None and self._more.figure(said)

    def unit(self, said: Quantity) -> bool:
        """Does it stand here with the same unit (or is no unit said)?"""
        if not said.unit:
            return True
        for one in self.quantities:
            if _same_figure(said, one) and (
                one.unit == said.unit or self._headed(one, said) or self._listed(one, said)
            ):
                return True
        if self._apart(said):
            return True
        return self._more is not None and self._more.unit(said) and self._more.figure(said)

    def day(self, said: Written) -> bool:
        """Is the date here, as exactly as it is said?"""
        if any(said.agrees(one) for one in self.dates) or any(
            said.agrees(day) for day in self.known
        ):
            return True
        if not said.days and said.month is None and said.year is None:
            return True
        return self._more is not None and self._more.day(said)

    def name(self, key: str) -> bool:
        """Does a name with digits stand here ("3b", "b12")?"""
        return key in self.codes or (self._more is not None and self._more.name(key))

    def exceeds(self, said: Quantity) -> bool:
        """Is there a figure of that unit which makes the comparison true ("above 5" for 5.2)?"""
        return any(
            one.high is None
            and one.unit in {said.unit, ""} | ({one.unit} if not said.unit else set())
            and _holds(one.low, said)
            for one in self.quantities
        )

    def _apart(self, said: Quantity) -> bool:
        """Are the two ends of a pair or a course ("120/80", "57 to 49") written apart in one text?

        With that unit, or where none is said or written; those of a pair in the same order.
        """
        if said.high is None:
            return False
        low, high = str(said.low), str(said.high)
        for text in self.texts:
            ends = [
                str(one.low)
                for one in text.quantities
                if one.high is None
                and not one.comparator
                and (not said.unit or one.unit in {said.unit, ""})
            ]
            if low in ends and high in ends:
                ordered = said.joint != "/" or high in ends[ends.index(low) + 1 :]
                if ordered or low == high:
                    return True
        return False

    def between(self, said: Quantity) -> bool:
        """Is each end of a course ("from 280 to 420") a value of its own text about the same test?

        The first end is of no later day than the second, where both days are known.
        """
        texts = [text for text in self.texts if text.quantities and text.named]
        firsts = [(text.quantities[0], text.day) for text in texts]
        rows = [row for row in firsts if row[0].high is None and row[0].unit in {said.unit, ""}]
        return len({text.named for text in texts}) == 1 and any(
            one.low == said.low and other.low == said.high and (not a or not b or a <= b)
            for one, a in rows
            for other, b in rows
        )

    def _listed(self, written: Quantity, said: Quantity) -> bool:
        """A value or range whose unit is written once: "41 mL/min on ...; 49 on ..."."""
        if written.unit:
            return False
        for text in self.texts:
            others = {one.unit for one in text.quantities if one.unit}
            if written in text.quantities and others == {said.unit} and len(text.named) == 1:
                printed = written.joint == "-"  # "118 U/L (7-56)": the range of that value
                return printed or _FURTHER.search(text.text, 0, written.start) is not None
        return False

    def _headed(self, written: Quantity, said: Quantity) -> bool:
        """A figure without a unit in a text that names the unit elsewhere: a table's cell."""
        return not written.unit and any(
            f"({said.unit})" in text.text.lower().replace(" ", "")
            or (said.unit == "%" and text.text.startswith("|") and "percent" in text.text.lower())
            for text in self.texts
        )


def same_bound(said: Quantity, written: Quantity) -> bool:
    """The same comparison; "about" may stand before what is written plainly, not before a limit.

    "May go up to 200 mg" says as much as "may be raised to 200 mg".
    """
    mine = "" if said.reached and not written.comparator else said.comparator
    theirs = "" if written.reached and not said.comparator else written.comparator
    return mine == theirs or (mine, theirs) == ("~", "")


def _same_figure(said: Quantity, written: Quantity) -> bool:
    if not same_bound(said, written):
        return False
    if said.figure == written.figure:
        return said.joint == written.joint or said.high is None
    if said.high is None and written.joint == "/":
        return str(said.low) in written.figure
    return False


def _holds(found: Decimal, said: Quantity) -> bool:
    return {
        "<": found < said.low,
        "<=": found <= said.low,
        ">": found > said.low,
        ">=": found >= said.low,
    }.get(said.comparator, False)
