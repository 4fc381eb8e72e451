"""What is not found is named only where its name can be nobody's."""

from __future__ import annotations

import pytest

from bedside.core.errors import NotFound


@pytest.mark.parametrize(
    "name",
    [
        "maria.gonzalez",
        "dob-1950-01-02",
        "demo-adeyemi",
        "1950-01-02",
        "MRN-004417",
        "Maria Gonzalez",
        "gonzalez/1950",
        "abcdefabcdefabcdef",
        "1950010219500102",
        "session-maria.gonzalez",
        "maria-0123456789abcdef",
        "0123456789abcdef maria",
        "",
    ],
)
def test_a_name_or_a_date_given_as_an_id_is_not_repeated(name):
    hint = "`bedside patients` lists them."
    assert str(NotFound("patient", name, hint=hint)) == (
        f"No patient of that name ({len(name)} characters). {hint}"
    )


@pytest.mark.parametrize(
    "name",
    [
        "turn-2d22bba97ebc4aa19021",
        "companion-2d22bba97ebc4aa1",
        "2d22bba97ebc4aa190212d22bba97ebc",
        "1b4e28ba-2fa1-11d2-883f-0016d3cca427",
    ],
)
def test_an_opaque_id_is_repeated(name):
    assert str(NotFound("turn", name)) == f"No turn {name!r}."
