"""A document on its way in: where it comes from, what is known about it, and its identity."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

from bedside.core.errors import BadInput
from bedside.core.value import value

__all__ = ["Labels", "Upload", "collect", "identify", "labelled", "passed_over"]

ENDINGS = frozenset(
    [
        ".md",
        ".markdown",
        ".txt",
        ".text",
        ".html",
        ".htm",
        ".xhtml",
        ".pdf",
        ".docx",
        ".png",
        ".jpg",
        ".jpeg",
        ".tif",
        ".tiff",
        ".webp",
        ".bmp",
    ]
)


@value
class Labels:
    """Metadata of one document (EN-K3); empty or `None` where it is not known.

    `supersedes` is the id of the document that this one replaces. `published` is the date of the
    content. `category`, `facility` and `file_name` are for a patient's documents.
    """

    id: str = ""
    title: str = ""
    specialty: str = ""
    type: str = ""
    conditions: tuple[str, ...] = ()
    drugs: tuple[str, ...] = ()
    published: date | None = None
    supersedes: str = ""
    category: str = ""
    facility: str = ""
    file_name: str = ""

    def as_json(self) -> str:
        """The fields that are stored beside the text, in a fixed order; absent ones are left out."""
        fields = {
            "specialty": self.specialty,
            "type": self.type,
            "conditions": list(self.conditions),
            "drugs": list(self.drugs),
            "supersedes": self.supersedes,
            "category": self.category,
            "facility": self.facility,
            "file_name": self.file_name,
        }
        return json.dumps(
            {key: entry for key, entry in fields.items() if entry}, ensure_ascii=False
        )


@value
class Upload:
    """A file by its bytes, or by a path that is read when its turn comes.

    `name` is shown and gives the identity where no id is given: the path below the folder that was
    named, or the file's name.
    """

    name: str
    data: bytes | None = None
    path: Path | None = None


def collect(paths: list[Path]) -> list[Upload]:
    """Files of the given files and folders, in order; hidden files and other formats in folders fall.

    Raises:
        BadInput: A path that does not exist.
    """
    found: list[Upload] = []
    for path in paths:
        if path.is_dir():
            found.extend(
                Upload(name=file.relative_to(path).as_posix(), path=file)
                for file in _shown(path)
                if _of_a_format(file)
            )
        elif path.is_file():
            found.append(Upload(name=path.name, path=path))
        else:
            raise BadInput(path.name, why="there is no such file or folder", do="Check the path.")
    return found


def passed_over(path: Path) -> list[str]:
    """The files of a folder that `collect` leaves out for their format, by their paths in it."""
    if not path.is_dir():
        return []
    return [f.relative_to(path).as_posix() for f in _shown(path) if not _of_a_format(f)]


def _shown(folder: Path) -> Iterator[Path]:
    """Every file below a folder in order, without what is hidden."""
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not hidden and path.is_file():
            yield path


def _of_a_format(file: Path) -> bool:
    return file.suffix.lower() in ENDINGS


def labelled(given: Labels, meta: dict[str, object], *, title: str, name: str) -> Labels:
    """What the caller gave, then front matter, then what the file itself shows."""

    def text(key: str) -> str:
        return str(meta.get(key) or "").strip()

    def several(key: str) -> tuple[str, ...]:
        entry = meta.get(key)
        return tuple(str(item) for item in entry) if isinstance(entry, list | tuple) else ()

    published = given.published
    if published is None and text("published"):
        published = date.fromisoformat(text("published"))
    stem = Path(name).stem.replace("_", " ").strip()
    return replace(
        given,
        id=given.id or text("id"),
        title=given.title or text("title") or title or stem,
        specialty=given.specialty or text("specialty"),
        type=given.type or text("type"),
        conditions=given.conditions or several("conditions"),
        drugs=given.drugs or several("drugs"),
        published=published,
        supersedes=given.supersedes or text("supersedes"),
        category=given.category or text("category"),
        facility=given.facility or text("facility"),
        file_name=given.file_name or Path(name).name,
    )


def identify(labels: Labels, *, name: str, patient: str | None) -> str:
    """The id of a document: the one given, else made of its name, the same every time.

    A patient's file name may name the patient, so it is hashed.
    """
    if labels.id:
        return labels.id
    if patient is not None:
        return "doc-" + hashlib.sha256(f"{patient}\0{name}".encode()).hexdigest()[:20]
    stem = Path(name).with_suffix("").as_posix()
    plain = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60]
    if slug and slug == re.sub(r"[\s_/]+", "-", stem.lower()):
        return slug
    # Names that differ only in what a slug drops stay apart.
    return f"{slug or 'document'}-{hashlib.sha256(stem.encode()).hexdigest()[:8]}"
