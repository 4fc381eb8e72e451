"""Bundled demonstration content: four invented patients, their scanned pages, twelve guidelines.

Everything here was written for the demonstration. The patients are nobody; the guidelines are short
digests in our own words, unreviewed, and not for clinical use.
"""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable

__all__ = ["documents", "guidelines", "patients"]


def patients() -> tuple[Traversable, ...]:
    """The patients' FHIR R4 bundles, by name; the file's stem is the FHIR Patient id."""
    return _files("patients", ".json")


def guidelines() -> tuple[Traversable, ...]:
    """The guidelines, Markdown with YAML front matter, by name; an older edition comes first."""
    return _files("guidelines", ".md")


def documents() -> tuple[tuple[str, Traversable], ...]:
    """Files to attach to a patient (scanned pages): the FHIR Patient id, and the file."""
    folders = sorted(
        (files("bedside.demo") / "documents").iterdir(), key=lambda folder: folder.name
    )
    return tuple(
        (folder.name, file)
        for folder in folders
        if folder.is_dir()
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
    )


def _files(folder: str, suffix: str) -> tuple[Traversable, ...]:
    found = (files("bedside.demo") / folder).iterdir()
    return tuple(sorted((f for f in found if f.name.endswith(suffix)), key=lambda f: f.name))
