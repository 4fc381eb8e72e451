"""Generated reports and an engine on a store of its own."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest


def _load(name: str):
    known = f"bedside_tests_jobs_{name}"
    if known not in sys.modules:
        spec = importlib.util.spec_from_file_location(known, Path(__file__).parent / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[known] = module
        spec.loader.exec_module(module)
    return sys.modules[known]


@pytest.fixture(scope="session")
def made():
    """The module that makes reports by program."""
    reports, files = _load("reports"), _load("report_files")
    for name in ("as_pdf", "as_scan", "as_docx", "picture"):
        setattr(reports, name, getattr(files, name))
    return reports
