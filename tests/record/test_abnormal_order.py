"""Which abnormal values come first when a patient is opened (CO-16): grave, then far, never absurd."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from bedside.core.ids import SourceId
from bedside.core.source import Source
from bedside.record.abnormal import abnormal_now, readings_of
from bedside.record.needs import Fact, Person

ADULT = Person(id="p", name="A B", birth_date=date(1960, 1, 1), sex="female", deceased=None)


def lab(name: str, loinc: str, figure: str, unit: str, **more) -> Fact:
    line = f"{name}: {figure} {unit}"
    return Fact(
        source=Source(id=SourceId(f"rec-{name}"), revision=1, kind="record", title=name),
        category="observations",
        line=line,
        name=name,
        code=f"http://loinc.org|{loinc}",
        codes=(f"http://loinc.org|{loinc}",),
        value=Decimal(figure),
        figure=figure,
        unit=unit,
        when=datetime(2026, 11, 1, tzinfo=UTC),
        status="final",
        **more,
    )


def titles(*facts: Fact) -> list[tuple[str, str]]:
    readings = readings_of(facts, as_of=date(2026, 11, 22))
    return [(one.title, one.rule) for one in abnormal_now(readings, ADULT, pregnant=False)]


@pytest.mark.requirement("CO-16")
def test_a_critical_value_comes_before_one_that_is_further_outside_its_range():
    far = lab("Alanine aminotransferase", "1742-6", "190", "U/L")
    grave = lab("Potassium", "2823-3", "6.3", "mmol/L")
    assert titles(far, grave)[0][0].startswith("Potassium critically high")


@pytest.mark.requirement("CO-16")
def test_a_value_so_far_off_that_its_unit_is_in_doubt_comes_last_as_information():
    absurd = lab("Protein total", "2885-2", "70.9", "g/dL")
    plain = lab("Creatinine", "2160-0", "1.6", "mg/dL")
    found = titles(absurd, plain)
    assert found[0][0].startswith("Creatinine high")
    assert found[-1][1] == "abnormal-minor"


def test_the_laboratorys_own_range_is_believed_however_far_off_a_value_is():
    own = lab(
        "Creatine kinase", "2157-6", "90000", "U/L", low=Decimal(20), high=Decimal(200)
    )  # fmt: skip
    assert titles(own)[0][1] == "abnormal-now"


@pytest.mark.parametrize(
    ("fact", "rule"),
    [
        (lab("Aspartate aminotransferase", "1920-8", "4", "U/L"), "abnormal-minor"),
        (lab("Aspartate aminotransferase", "1920-8", "90", "U/L"), "abnormal-now"),
        (lab("Body mass index", "39156-5", "28.3", "kg/m2"), "abnormal-minor"),
    ],
)
def test_what_means_little_alone_is_no_priority(fact, rule):
    assert [found for _, found in titles(fact)] == [rule]
