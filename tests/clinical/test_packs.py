"""EN-K9: every pack says where it comes from, under which terms, and that nobody reviewed it yet."""

from __future__ import annotations

from datetime import date
from importlib import resources

import pytest
from pydantic import ConfigDict

from bedside.clinical.packs import PackFile, load_pack, parse_pack
from bedside.core.errors import BadInput

HEAD = """
pack:
  id: test.pack
  version: "1"
  title: A test pack
  source: Written for a test
  licence: CC0
  jurisdiction: nowhere
  review_due: 2027-01-01
"""


class Terms(PackFile):
    terms: dict[str, str]


def data_files():
    for package, folder in [
        ("bedside.clinical", "data"),
        ("bedside.flows.copilot", "data/specialties"),
        ("bedside.flows.copilot", "data/patient"),
    ]:
        for entry in resources.files(package).joinpath(folder).iterdir():
            if entry.name.endswith(".yaml"):
                yield pytest.param(package, f"{folder}/{entry.name}", id=entry.name)


class Anything(PackFile):
    model_config = ConfigDict(extra="allow", frozen=True)


@pytest.mark.requirement("EN-K9")
@pytest.mark.parametrize(("package", "path"), list(data_files()))
def test_every_shipped_pack_names_source_licence_jurisdiction_and_review(package, path):
    pack = load_pack(Anything, package, path).pack
    assert pack.id
    assert pack.version
    assert len(pack.source) > 10
    assert pack.licence
    assert pack.jurisdiction
    assert pack.review_due > date(2026, 11, 22)
    assert pack.review_status == "unreviewed"
    assert "not clinically reviewed" in pack.label


def test_pack_ids_are_unique():
    ids = [load_pack(Anything, *param.values).pack.id for param in data_files()]
    assert len(set(ids)) == len(ids)


def test_scalars_stay_as_written():
    read = parse_pack(
        Terms, HEAD + "terms: {NO: nitric oxide, ON: 'on', x: 72.50, y: 007}", what="t"
    )
    assert read.terms == {"NO": "nitric oxide", "ON": "on", "x": "72.50", "y": "007"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (HEAD + "terms: {a: b, a: c}", "not readable"),
        (HEAD + "terms: [", "not readable"),
        (HEAD + "terms: {a: [b]}", "terms.a"),
        (HEAD + "terms: {}\nother: 1", "other"),
        ("terms: {a: b}", "pack"),
        ("- a list", "mapping"),
        (HEAD.replace("2027-01-01", "soon") + "terms: {}", "review_due"),
    ],
)
def test_a_bad_pack_is_refused_with_the_place(text, why):
    with pytest.raises(BadInput, match=why):
        parse_pack(Terms, text, what="bad.yaml")


def test_the_message_of_a_bad_pack_holds_none_of_its_content():
    with pytest.raises(BadInput) as caught:
        parse_pack(Terms, HEAD + "terms: {a: [secret words]}", what="bad.yaml")
    assert "secret" not in str(caught.value)


def test_a_reviewed_pack_names_its_reviewer_and_a_due_date_passes():
    reviewed = HEAD.replace("review_due", "reviewer: Dr A\n  review_status: reviewed\n  review_due")
    pack = parse_pack(Terms, reviewed + "terms: {}", what="t").pack
    assert pack.label == "A test pack 1 (nowhere; reviewed by Dr A)"
    assert not pack.overdue(date(2027, 1, 1))
    assert pack.overdue(date(2027, 1, 2))
