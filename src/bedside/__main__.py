"""`python -m bedside`: the command line."""

from __future__ import annotations

from bedside.cli import main

raise SystemExit(main())
