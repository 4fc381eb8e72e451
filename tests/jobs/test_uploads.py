"""Uploads of intake cases: read by a worker, told honestly, resumed after a kill, gone when erased."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest
from PIL import Image, ImageDraw
from sqlalchemy import select

from bedside.core.errors import AccessDenied, BadInput, Unavailable
from bedside.core.ids import ActorId, PatientId, TenantId
from bedside.jobs import extraction as extracting
from bedside.jobs.extraction import Picture, Seen, extraction
from bedside.jobs.runner import Runner
from bedside.record import uploads
from bedside.settings import load_settings
from bedside.sop.find import bundled
from bedside.storage import access
from bedside.storage.erasure import bury, leftovers, reached
from bedside.storage.tables.record import document
from bedside.storage.tables.source import source
from bedside.wiring import build_engine
from bedside.wiring.ask import Who
from bedside.wiring.clock import SystemClock
from bedside.wiring.intake import start_case
from bedside.wiring.uploads import excuse_document, intake_upload, read_uploads, upload_rows

T = TenantId("default")
TKR = bundled()["TKR"]


class Ahead(SystemClock):
    """The real clock, some time from now."""

    def __init__(self, by: timedelta) -> None:
        self.by = by

    def now(self):
        return super().now() + self.by


def opened(home):
    settings = load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none"})
    return build_engine(settings)


@pytest.fixture
def engine(tmp_path):
    made = opened(tmp_path)
    yield made
    asyncio.run(made.close())


@pytest.fixture
def who(engine):
    return engine.local()


def begin(engine, who) -> str:
    return asyncio.run(start_case(engine, who))


def add(engine, who, case, name, body, contract=TKR) -> str:
    return asyncio.run(intake_upload(engine, case, name, body, who, contract=contract))


def work(engine) -> int:
    return asyncio.run(engine.turning.jobs.run_waiting())


def grant(engine, case, connection):
    return access.grant(
        connection, tenant=T, actor=ActorId("t"), action="read",
        at=engine.clock.now(), patient=PatientId(case), purpose="test",
    )  # fmt: skip


def seen(engine, case, *, after: timedelta = timedelta(0)):
    now = engine.clock.now() + after
    return engine.store.write_now(lambda c: uploads.uploads_of(c, grant(engine, case, c), now=now))


def knee(made):
    return next(r for r in made.reports() if r.name == "knee1")


def runner(engine, *, clock=None, look=None) -> Runner:
    async def contracts(_tenant, ident):
        known = bundled()
        return (known[ident], *(c for name, c in known.items() if name not in (ident, "_generic")))

    clock = clock or engine.clock
    return Runner(
        engine.store,
        clock=clock,
        handlers={
            uploads.KIND: extraction(engine.store, clock=clock, contracts=contracts, look=look)
        },
        seconds={uploads.KIND: extracting.SECONDS},
    )


@pytest.mark.requirement("IN-07")
def test_a_report_goes_from_queued_with_an_eta_to_findings_that_cite_the_stored_text(
    engine, who, made
) -> None:
    case, report = begin(engine, who), knee(made)
    ident = add(engine, who, case, "left knee xray.pdf", made.as_pdf(report))
    (waiting,) = seen(engine, case)
    assert (waiting.status, waiting.type, waiting.findings) == ("queued", "knee_xray", {})
    assert waiting.eta_seconds is not None
    assert waiting.eta_seconds >= 1
    assert work(engine) == 1
    (done,) = seen(engine, case)
    assert (done.status, done.type, done.eta_seconds) == ("complete", "knee_xray", None)
    for name, (value, _unit) in report.gold.items():
        assert done.findings[name]["value"] == value
    text = engine.store.read_now(
        lambda c: c.execute(select(source.c.text).where(source.c.id == ident)).scalar()
    )
    for found in done.findings.values():
        assert text[found["start"] : found["end"]] == found["quote"]
    assert (
        engine.store.read_now(
            lambda c: c.execute(select(document.c.source).where(document.c.id == ident)).scalar()
        )
        == ident
    )


@pytest.mark.requirement("IN-07")
def test_a_turn_sees_the_uploads_as_they_are_now(engine, who, made) -> None:
    case = begin(engine, who)
    add(engine, who, case, "knee.docx", made.as_docx(knee(made)))
    work(engine)
    found = engine.store.write_now(
        lambda c: read_uploads(c, grant(engine, case, c), now=engine.clock.now())
    )
    assert [(one.type, one.status) for one in found] == [("knee_xray", "complete")]
    assert found[0].findings["side"]["value"] == "right"


@pytest.mark.requirement("IN-07")
def test_what_a_file_is_goes_by_its_content_and_its_name_is_told_beside(engine, who, made) -> None:
    case = begin(engine, who)
    panel = next(r for r in made.reports() if r.type == "bloodwork_recent" and r.contract == "TKR")
    add(engine, who, case, "knee-xray.pdf", made.as_pdf(panel))
    assert seen(engine, case)[0].type == "knee_xray"  # all that is known so far
    work(engine)
    (done,) = seen(engine, case)
    assert done.type == "bloodwork_recent"
    assert "named as: knee X-ray" in done.label
    assert "side" not in done.findings


@pytest.mark.requirement("IN-07")
def test_a_document_that_the_contract_does_not_ask_for_is_kept_and_not_interpreted(
    engine, who, made
) -> None:
    case = begin(engine, who)
    semen = next(r for r in made.reports() if r.type == "semen_analysis")
    add(engine, who, case, "a.pdf", made.as_pdf(semen))
    letter = b"Dear neighbour,\n\nthe garden fence is painted and the tulips are out.\n"
    add(engine, who, case, "b.txt", letter)
    work(engine)
    found = {one.file_name: (one.status, one.why, one.findings) for one in seen(engine, case)}
    assert found == {"a.pdf": ("stored", "not_asked", {}), "b.txt": ("stored", "unrecognised", {})}


def film() -> bytes:
    """Two grey bones and a letter: a picture without words."""
    picture = Image.new("L", (500, 700), 15)
    draw = ImageDraw.Draw(picture)
    draw.ellipse((170, 60, 330, 330), fill=170)
    draw.ellipse((180, 360, 320, 650), fill=150)
    made = io.BytesIO()
    picture.save(made, "PNG")
    return made.getvalue()


@pytest.mark.requirement("IN-07")
def test_a_film_without_words_is_kept_and_without_a_model_never_interpreted(engine, who) -> None:
    case = begin(engine, who)
    add(engine, who, case, "knee xray.png", film())
    work(engine)
    (done,) = seen(engine, case)
    assert (done.status, done.why, done.findings) == ("stored", "no_words", {})


@pytest.mark.requirement("IN-07")
def test_a_pdf_of_films_without_words_is_kept_and_not_interpreted(engine, who) -> None:
    pages = io.BytesIO()
    Image.open(io.BytesIO(film())).save(pages, "PDF")
    case = begin(engine, who)
    add(engine, who, case, "films.pdf", pages.getvalue())
    work(engine)
    (done,) = seen(engine, case)
    assert (done.status, done.why) == ("stored", "no_words")


@pytest.mark.requirement("IN-07")
@pytest.mark.parametrize(
    ("confidence", "status", "findings"),
    [(0.95, "complete", {"osteophytes"}), (0.4, "stored", set())],
)
def test_what_a_model_sees_in_a_film_cites_its_own_stored_words_or_is_not_used(
    engine, who, confidence, status, findings
) -> None:
    shown: list[Picture] = []

    async def look(picture: Picture) -> Seen:
        shown.append(picture)
        words = "The film shows marginal osteophytes at the tibial plateau."
        return Seen(text=words, type="knee_xray", confidence=confidence, by="local:eye")

    case = begin(engine, who)
    ident = add(engine, who, case, "knee xray.png", film())
    asyncio.run(runner(engine, look=look).run_waiting())
    (done,) = seen(engine, case)
    assert (done.status, set(done.findings)) == (status, findings)
    assert [one.content for one in shown] == [film()]
    text = engine.store.read_now(
        lambda c: c.execute(select(source.c.text).where(source.c.id == ident)).scalar()
    )
    for found in done.findings.values():
        assert text[found["start"] : found["end"]] == found["quote"]


@pytest.mark.requirement("IN-07")
def test_a_telephones_photograph_is_turned_upright_and_read(engine, who) -> None:
    photograph = (Path(__file__).parent / "photograph.heic").read_bytes()  # see photograph.md
    assert photograph[4:12] == b"ftypheic"
    case = begin(engine, who)
    add(engine, who, case, "IMG_0001.HEIC", photograph)
    work(engine)
    (done,) = seen(engine, case)
    assert (done.status, done.type) == ("complete", "knee_xray")
    assert done.findings["side"]["value"] == "right"


@pytest.mark.requirement("IN-07")
def test_a_turned_photograph_with_a_cameras_mark_is_read(engine, who, made) -> None:
    turned = made.picture(knee(made), noise=6).rotate(90, expand=True)
    marks = Image.Exif()
    marks[0x0112] = 6  # the camera stood a quarter turn away
    body = io.BytesIO()
    turned.save(body, "JPEG", quality=88, exif=marks)
    case = begin(engine, who)
    add(engine, who, case, "IMG_0002.jpg", body.getvalue())
    work(engine)
    (done,) = seen(engine, case)
    assert (done.status, done.type) == ("complete", "knee_xray")
    assert done.findings["side"]["value"] == "right"


@pytest.mark.requirement("IN-07")
@pytest.mark.parametrize(
    ("name", "body", "why"),
    [
        ("xray.pdf", b"MZ\x90 not a document at all", "content is another format"),
        ("empty.png", b"  ", "empty"),
        ("virus.exe", b"MZ\x90\x00", "not read"),
    ],
)
def test_what_is_no_document_is_refused_at_once_and_the_case_goes_on(
    engine, who, made, name, body, why
) -> None:
    case = begin(engine, who)
    with pytest.raises(BadInput, match=why):
        add(engine, who, case, name, body)
    assert seen(engine, case) == ()
    add(engine, who, case, "knee.pdf", made.as_pdf(knee(made)))
    work(engine)
    assert seen(engine, case)[0].status == "complete"


@pytest.mark.requirement("IN-07")
def test_a_file_over_the_limit_is_refused(tmp_path, made) -> None:
    settings = load_settings(
        home=tmp_path, environ={"BEDSIDE_EMBEDDER": "none", "BEDSIDE_UPLOAD_BYTES": "1000"}
    )  # fmt: skip
    engine = build_engine(settings)
    case = begin(engine, engine.local())
    with pytest.raises(BadInput, match="at most 1,000"):
        add(engine, engine.local(), case, "knee.pdf", made.as_pdf(knee(made)))
    asyncio.run(engine.close())


@pytest.mark.requirement("IN-07")
def test_a_damaged_pdf_fails_for_good_at_its_first_try_and_can_be_sent_again(
    engine, who, made
) -> None:
    case = begin(engine, who)
    broken = b"%PDF-1.7\nthis is where a document was\n%%EOF\n"
    ident = add(engine, who, case, "knee.pdf", broken)
    work(engine)
    (failed,) = seen(engine, case)
    assert (failed.status, failed.why, failed.tries) == ("failed_permanent", "unreadable", 1)
    assert "PDF" in failed.problem
    assert add(engine, who, case, "knee.pdf", broken) == ident  # the same bytes: queued anew
    assert seen(engine, case)[0].status == "queued"
    add(engine, who, case, "knee.pdf", made.as_pdf(knee(made)))
    work(engine)
    assert [one.status for one in seen(engine, case)] == ["failed_permanent", "complete"]


@pytest.mark.requirement("IN-07")
def test_a_reader_that_breaks_is_tried_three_times_and_then_given_up(
    engine, who, made, monkeypatch
) -> None:
    def broken(data, *, name):
        raise Unavailable("the reader", why="it does not answer")

    monkeypatch.setattr(extracting, "parse_apart", broken)
    case = begin(engine, who)
    add(engine, who, case, "knee.pdf", made.as_pdf(knee(made)))
    told = []
    for minutes in (0, 1, 10):
        clock = Ahead(timedelta(minutes=minutes))
        asyncio.run(runner(engine, clock=clock).run_waiting())
        (one,) = seen(engine, case, after=timedelta(minutes=minutes))
        told.append((one.status, one.tries, one.eta_seconds is not None))
    assert told == [
        ("failed_transient", 1, True), ("failed_transient", 2, True), ("failed_permanent", 3, False),
    ]  # fmt: skip
    assert seen(engine, case)[0].why == "gave_up"


@pytest.mark.requirement("IN-07")
def test_an_upload_that_nobody_reads_expires_and_its_bytes_go(engine, who, made) -> None:
    case = begin(engine, who)
    ident = add(engine, who, case, "knee.pdf", made.as_pdf(knee(made)))
    late = uploads.EXPIRES + timedelta(minutes=1)
    assert seen(engine, case, after=late)[0].status == "expired"  # before anybody has tidied up
    asyncio.run(runner(engine, clock=Ahead(late)).run_waiting())
    assert seen(engine, case)[0].status == "expired"
    assert (
        engine.store.read_now(
            lambda c: c.execute(select(document.c.content).where(document.c.id == ident)).scalar()
        )
        is None
    )
    add(engine, who, case, "knee.pdf", made.as_pdf(knee(made)))
    work(engine)
    assert seen(engine, case)[0].status == "complete"


@pytest.mark.requirement("IN-07")
def test_a_coordinator_may_say_that_a_document_is_not_needed(engine, who) -> None:
    case = begin(engine, who)
    asyncio.run(excuse_document(engine, case, "ecg", who, contract=TKR))
    assert [(one.type, one.status) for one in seen(engine, case)] == [("ecg", "not_applicable")]
    person = Who(roles=frozenset({"patient"}), patients=frozenset({case}))
    with pytest.raises(AccessDenied):
        asyncio.run(excuse_document(engine, case, "ecg", person, contract=TKR))
    with pytest.raises(BadInput, match="no such document"):
        asyncio.run(excuse_document(engine, case, "horoscope", who, contract=TKR))


KILLED = """
import asyncio, sys
from pathlib import Path
from bedside.jobs import extraction
from bedside.settings import load_settings
from bedside.wiring import build_engine
home = Path(sys.argv[1])
engine = build_engine(load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none"}))
real = extraction.parse_apart
def slow(data, *, name):
    found = real(data, name=name)
    (home / "reading").write_text("x")
    import time; time.sleep(120)
    return found
extraction.parse_apart = slow
asyncio.run(engine.turning.jobs.run_waiting())
"""


@pytest.mark.requirement("IN-07")
def test_a_worker_killed_in_the_middle_is_taken_over_by_another(tmp_path, made) -> None:
    engine = opened(tmp_path)
    who = engine.local()
    case = begin(engine, who)
    add(engine, who, case, "knee.pdf", made.as_pdf(knee(made)))
    child = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)])
    try:
        until = time.monotonic() + 90
        while not (tmp_path / "reading").exists() and time.monotonic() < until:
            assert child.poll() is None
            time.sleep(0.05)
        assert seen(engine, case)[0].status == "processing"
        os.kill(child.pid, signal.SIGKILL)
    finally:
        child.kill()
        child.wait()
    assert seen(engine, case)[0].findings == {}
    assert asyncio.run(runner(engine).run_waiting()) == 0  # the dead worker's lease still runs
    past = timedelta(seconds=extracting.SECONDS + 6)
    assert seen(engine, case, after=past)[0].status == "failed_transient"
    assert asyncio.run(runner(engine, clock=Ahead(past)).run_waiting()) == 1
    (done,) = seen(engine, case)
    assert (done.status, done.tries) == ("complete", 2)
    asyncio.run(engine.close())


@pytest.mark.requirement("IN-18")
def test_erasing_a_case_takes_its_uploads_their_text_and_their_findings(engine, who, made) -> None:
    case, other = begin(engine, who), begin(engine, who)
    for one in (case, other):
        add(engine, who, one, "knee.pdf", made.as_pdf(knee(made)))
    work(engine)
    add(engine, who, case, "later.pdf", made.as_pdf(made.reports()[2]))  # still queued
    engine.store.write_now(
        lambda c: bury(c, tenant=T, who=PatientId(case), actor=ActorId("t"), ident="e-1",
                       at=engine.clock.now())
    )  # fmt: skip
    assert engine.store.read_now(leftovers) == {}
    with engine.store.engine.connect() as connection:
        for table in reached():
            if "patient" in table.c:
                rows = connection.execute(select(table).where(table.c.patient == case)).all()
                assert rows == [], table.name
    assert work(engine) == 0
    assert [one.status for one in seen(engine, other)] == ["complete"]


@pytest.mark.requirement("IN-18")
def test_an_erasure_while_a_document_is_read_leaves_nothing(engine, who, made, monkeypatch) -> None:
    case = begin(engine, who)
    ident = add(engine, who, case, "knee.pdf", made.as_pdf(knee(made)))
    real = extracting.parse_apart

    def meanwhile(data, *, name):
        engine.store.write_now(
            lambda c: bury(c, tenant=T, who=PatientId(case), actor=ActorId("t"), ident="e-2",
                           at=engine.clock.now())
        )  # fmt: skip
        return real(data, name=name)

    monkeypatch.setattr(extracting, "parse_apart", meanwhile)
    assert work(engine) == 0
    assert engine.store.read_now(leftovers) == {}
    assert (
        engine.store.read_now(
            lambda c: c.execute(select(source.c.id).where(source.c.id == ident)).first()
        )
        is None
    )


def test_another_cases_uploads_are_not_seen(engine, who, made) -> None:
    case, other = begin(engine, who), begin(engine, who)
    add(engine, who, case, "knee.pdf", made.as_pdf(knee(made)))
    assert asyncio.run(upload_rows(engine, other, who)) == []
    person = Who(roles=frozenset({"patient"}), patients=frozenset({other}))
    with pytest.raises(AccessDenied):
        asyncio.run(upload_rows(engine, case, person))
    with pytest.raises(AccessDenied):
        asyncio.run(
            intake_upload(engine, case, "a.pdf", made.as_pdf(knee(made)), person, contract=TKR)
        )


def test_the_eta_follows_what_reading_took_and_what_waits_before(engine, who, made) -> None:
    case = begin(engine, who)
    add(engine, who, case, "first.pdf", made.as_pdf(made.reports()[0]))
    (alone,) = seen(engine, case)
    work(engine)
    with engine.store.engine.begin() as connection:  # as if reading had taken forty seconds
        connection.execute(uploads.upload.update().values(seconds=40.0))
    add(engine, who, case, "second.pdf", made.as_pdf(made.reports()[1]))
    add(engine, who, case, "third.pdf", made.as_pdf(made.reports()[2]))
    waits = sorted(one.eta_seconds for one in seen(engine, case) if one.status == "queued")
    assert alone.eta_seconds < 40
    assert waits == [40, 80]
