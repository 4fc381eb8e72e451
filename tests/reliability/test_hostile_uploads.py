"""Files that are not what they claim, or far more: refused over HTTP in time, and in little memory."""

from __future__ import annotations

import io
import json
import struct
import sys
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import docx
import httpx
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from served import Served, serve

from bedside.cli import main

SECONDS = 5.0
EXTRA = 200_000_000


def bomb_docx() -> bytes:
    """Under a megabyte that unpacks to 210."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("word/document.xml", b"\0" * 210_000_000)
    return out.getvalue()


def lying_docx() -> bytes:
    """A bomb whose directory says that it is small."""
    data = bytearray(bomb_docx())
    at = data.rfind(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 1_000)
    return bytes(data)


def docx_with_macros() -> bytes:
    out = io.BytesIO()
    made = docx.Document()
    made.add_paragraph("An ordinary letter.")
    made.save(out)
    with zipfile.ZipFile(out, "a") as archive:
        archive.writestr("word/vbaProject.bin", b"\xd0\xcf\x11\xe0" + b"0" * 600)
    return out.getvalue()


def entities_docx() -> bytes:
    """A Word document whose XML grows a billion laughs."""
    lines = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    body = (
        f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "laugh">{lines}]>'
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        "<w:body><w:p><w:r><w:t>&l9;</w:t></w:r></w:p></w:body></w:document>"
    )
    source = io.BytesIO()
    docx.Document().save(source)
    out = io.BytesIO()
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(out, "w") as made:
        for part in old.infolist():
            data = old.read(part.filename)
            made.writestr(part, body if part.filename == "word/document.xml" else data)
    return out.getvalue()


def pages_pdf(pages: int = 10_000) -> bytes:
    """A PDF of so many pages, written by hand."""
    kids = " ".join(f"{n + 3} 0 R" for n in range(pages))
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>".encode(),
    ]
    parts += [b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] >>"] * pages
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, part in enumerate(parts, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + part + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(parts) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010d} 00000 n \n".encode() for place in places)
    out += f"trailer\n<< /Size {len(parts) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF".encode()
    return bytes(out)


def bomb_png() -> bytes:
    """A picture of 30,000 x 30,000 pixels in a few hundred kilobytes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    side = 30_000
    head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    rows = zlib.compress(b"\0" * (side * (side // 8 + 1)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


FILES: list[tuple[str, Callable[[], bytes]]] = [
    ("program.pdf", lambda: b"MZ" + b"\x90" * 5_000),
    ("program.exe", lambda: b"MZ" + b"\x90" * 5_000),
    ("page.docx", lambda: b"<html><script>alert(1)</script></html>"),
    ("archive.txt", lambda: bomb_docx()[:5_000]),
    ("picture.md", lambda: b"\x89PNG\r\n\x1a\n" + b"\0" * 500),
    ("macros.docx", docx_with_macros),
    ("bomb.docx", bomb_docx),
    ("lying.docx", lying_docx),
    ("laughs.docx", entities_docx),
    ("pages.pdf", pages_pdf),
    ("bomb.png", bomb_png),
    ("nothing.pdf", lambda: b""),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("uploads")
    bundle = {"resourceType": "Bundle", "type": "collection", "entry": [
        {"resource": {"resourceType": "Patient", "id": "ann", "name": [{"family": "A"}]}}
    ]}  # fmt: skip
    (folder / "a.json").write_text(json.dumps(bundle), encoding="utf-8")
    assert main(["import", str(folder / "a.json"), "--home", str(folder / "home"), "--json"]) == 0
    with serve(folder / "home", folder / "log") as made:
        yield made


class Memory:
    """The most memory that a process and its children held while it was watched, in bytes."""

    def __init__(self, pid: int) -> None:
        self._pid, self._done = pid, threading.Event()
        self.before = self.most = self._held()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.02):
            self.most = max(self.most, self._held())

    def _held(self) -> int:
        total, todo = 0, [self._pid]
        while todo:
            pid = todo.pop()
            try:
                status = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
                children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
                threads = Path(f"/proc/{pid}/task").iterdir()
                for thread in threads:
                    children += " " + (thread / "children").read_text(encoding="ascii")
            except OSError:  # it ended meanwhile
                continue
            total += 1_000 * sum(
                int(line.split()[1]) for line in status.splitlines() if line.startswith("Pss:")
            )
            todo += {int(child) for child in children.split()} - {pid}
        return total


@pytest.mark.requirement("RELIABILITY-17")
@pytest.mark.parametrize(("name", "make"), FILES)
def test_a_hostile_upload_is_refused_in_time_and_memory(
    server: Served, name: str, make: Callable[[], bytes]
) -> None:
    data = make()
    with httpx.Client(base_url=server.base, headers=server.bearer(), timeout=60) as client:
        before = client.get("/v1/patients/ann/documents").json()
        with Memory(server.pid) as memory:
            start = time.monotonic()
            said = client.post("/v1/patients/ann/documents", files={"files": (name, data)})
            spent = time.monotonic() - start
        assert 400 <= said.status_code < 500, said.text
        assert name in said.json()["detail"]
        assert spent < SECONDS
        assert memory.most - memory.before <= EXTRA + len(data)
        assert client.get("/v1/patients/ann/documents").json() == before
        assert client.get("/readyz").status_code == 200
