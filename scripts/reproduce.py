"""Measures what docs/results.md states, and writes it anew: each figure beside its command.

    python scripts/reproduce.py                 # everything (hours on two cores)
    python scripts/reproduce.py --quick         # a small run, marked as such
    python scripts/reproduce.py --only context  # that suite anew, the others as last measured

A suite that fails is written as failed, and the others go on. Nothing in the page is typed by hand: what
every suite printed is kept in docs/results.json with its day, commit and load, and the page is made of it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

__all__ = ["Done", "Suite", "Target", "main", "page", "run_command"]

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "results.md"
Sense = Literal["at least", "at most", "is"]


@dataclass(frozen=True, slots=True)
class Target:
    """A figure that a target was set for. `at` and `n` are paths in the suite's JSON."""

    label: str
    at: str
    n: str = ""
    sense: Sense | None = None
    want: float | None = None
    note: str = ""

    def wanted(self) -> str:
        """The target in words."""
        return "" if self.want is None else f"{self.sense} {self.want:g}"

    def verdict(self, found: object) -> str:
        """Whether it was met; empty where there is no target or no figure."""
        if self.want is None or not isinstance(found, int | float):
            return ""
        met = {
            "at least": found >= self.want,
            "at most": found <= self.want,
            "is": found == self.want,
        }[self.sense or "is"]
        return "met" if met else "**not met**"


@dataclass(frozen=True, slots=True)
class Suite:
    """A command, its shorter form (`None`: left out of a quick run), and its targets."""

    name: str
    command: tuple[str, ...]
    quick: tuple[str, ...] | None
    targets: tuple[Target, ...]
    python: str = ""
    """The interpreter below the project's root, where another environment is needed."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a command did. `figures` is `None` where it failed, and `why` says how."""

    command: tuple[str, ...]
    seconds: float
    figures: Mapping[str, Any] | None
    why: str = ""
    when: str = ""
    """Day, commit and load when it ran."""


def _retrieval() -> tuple[Target, ...]:
    floors = {
        "med": ("0.696", "0.792", "0.794"),
        "cran": ("0.374", "0.375", "0.416"),
    }
    targets: list[Target] = []
    for name, want in (("med", 0.82), ("cran", 0.44)):
        for which, floor in zip(("lexical", "dense", "hybrid"), floors[name], strict=True):
            base = f"collections/{name}"
            hybrid = which == "hybrid"
            targets += [
                Target(f"{name}, {which}: nDCG@10", f"{base}/{which}/ndcg_at_10", f"{base}/queries",
                       "at least" if hybrid else None, want if hybrid else None, f"plain: {floor}"),
                Target(f"{name}, {which}: recall@100", f"{base}/{which}/recall_at_100", f"{base}/queries"),
            ]  # fmt: skip
    for name in ("medquad", "pubmedqa"):
        for which in ("lexical", "dense", "hybrid"):
            base = f"collections/{name}"
            targets += [
                Target(f"{name}, {which}: hit@1", f"{base}/{which}/hit_at_1", f"{base}/queries"),
                Target(f"{name}, {which}: MRR@10", f"{base}/{which}/mrr_at_10", f"{base}/queries"),
            ]
    return tuple(targets)


SUITES = (
    Suite(
        "copilot",
        ("eval", "copilot", "--json"),
        ("eval", "copilot", "--json"),
        (
            Target("questions answered with no model", "all/share_answered", "all/n"),
            Target("accuracy of those", "all/accuracy", "all/answered_by_rules", "at least", 0.99),
            Target("the same, a wrong answer counted twice", "all/accuracy_wrong_twice", "all/answered_by_rules"),
            Target("abstention where the record has nothing", "all/abstention", "all/abstention_n", "is", 1),
            Target("recall of gold facts in the context", "all/recall", "all/recall_n", "at least", 0.98),
            Target("the record's tokens in the context, share of fetch-all", "all/context_share", "all/n", "at most", 0.15),
            Target("largest context, in tokens", "all/tokens_max", "all/n", "at most", 6000),
        ),
    ),
    Suite("retrieval", ("eval", "retrieval", "--json"), None, _retrieval()),
    Suite(
        "grounding",
        ("eval", "grounding", "--compare", "--json"),
        ("eval", "grounding", "--cases", "2000", "--json"),
        (
            Target("fuzzed quotes resolved exactly or refused", "quotes/right_or_refused", "quotes/n", "is", 1),
            Target("fuzzed quotes resolved wrongly", "quotes/wrong", "quotes/n", "is", 0),
            Target("falsified doses that passed", "doses/mutants_passed", "doses/n_mutants", "is", 0),
            Target("true doses that passed", "doses/valid_passed", "doses/n_valid", "at least", 0.98),
            Target("false alarms of the guards on benign turns", "guards/false_alarms", "guards/n", "at most", 0.01),
            Target("guards, milliseconds a turn, p95", "guards/ms_p95", "guards/n", "at most", 5),
            Target("injected orders blocked", "injection/blocked", "injection/n", "is", 1),
        ),
    ),
    Suite(
        "context",
        ("bench", "context", "--json"),
        ("bench", "context", "--assemblies", "500", "--no-compare", "--json"),
        (
            Target("random assemblies over budget", "bounds/overruns", "bounds/n", "is", 0),
            Target("protected blocks evicted", "bounds/protected_evictions", "bounds/n", "is", 0),
            Target("more unused than the cut-off unit", "bounds/unused_more_than_the_cut_off_unit", "bounds/n", "is", 0),
            Target("budget used below 98 % where the unit could be shortened", "bounds/cut_at_a_word/below_98_percent", "bounds/cut_at_a_word/n", "is", 0),
            Target("1,000 items into 6,000 tokens, milliseconds, p50", "latency/p50_ms", "latency/n"),
            Target("the same, p95", "latency/p95_ms", "latency/n", "at most", 10),
        ),
    ),
    Suite(
        "ingest",
        ("bench", "ingest", "--json"),
        None,
        (
            Target("parse and chunk, times LangChain's splitters", "times_faster/langchain_markdown_header_and_recursive", "files", "at least", 5),
            Target("parse and chunk, times LlamaIndex's node parser", "times_faster/llama_index_markdown_node_parser", "files", "at least", 5),
            Target("embedding, share of raw onnxruntime", "embedding/share_of_raw", "embedding/texts", "at least", 0.9),
        ),
    ),
    Suite(
        "search",
        ("bench", "search", "--json"),
        None,
        (
            Target("search among 10,000 chunks, milliseconds, p50", "10000/p50_ms", "10000/n", "at most", 15),
            Target("search among 100,000 chunks, milliseconds, p50", "100000/p50_ms", "100000/n", "at most", 40),
        ),
    ),
    Suite(
        "briefing",
        ("eval", "briefing", "--json"),
        None,
        (
            Target("briefings that are complete and valid, no model", "complete", "patients", "is", 1),
            Target("their sentences that carry a citation", "cited", "patients", "is", 1),
            Target("abnormal flags right by the raw JSON", "abnormal/precision", "abnormal/n_flagged"),
            Target("values outside published limits that are flagged", "abnormal/recall", "abnormal/n_outside"),
            Target("rule flags kept under a model that denies them", "hostile_model/kept", "hostile_model/n_flags", "is", 1),
            *(
                Target(f"situation to section, {which}{'' if path else ', no heading path'}: failure@{k}",
                       f"retrieval/{'with' if path else 'without'}_heading_path/{which}/all/failure_at_{k}",
                       f"retrieval/{'with' if path else 'without'}_heading_path/{which}/all/n",
                       "at most" if (which, k, path) == ("hybrid", 20, True) else None,
                       0.019 if (which, k, path) == ("hybrid", 20, True) else None)
                for path in (True, False) for which in ("lexical", "dense", "hybrid") for k in (5, 20)
            ),
        ),
    ),
    Suite(
        "notes",
        ("eval", "notes", "--compare", "--json"),
        None,
        (
            *(
                Target(f"sections, {name}, {finder}: boundary F1", f"sections/sets/{name}/{finder}/boundary_f1", f"sections/sets/{name}/n_headings")
                for name in ("mtsamples, as written", "mtsamples, headings lower-cased", "aci_bench, as written",
                             "mts_dialog, labelled sections under usual names")
                for finder in ("bedside", "medspacy sectionizer")
            ),
            Target("extracted items that are cited, ACI-Bench valid", "extractive/valid/items_cited", "extractive/valid/n_items"),
        ),
        python=".venv-notes/bin/python",
    ),
    Suite(
        "evaluator",
        ("eval", "evaluator", "--json"),
        None,
        (
            Target("seeded structural errors found", "structural/found", "structural/n", "at least", 0.99),
            Target("seeded dose, negation, side and medicine errors found", "dose_negation_side_drug/found", "dose_negation_side_drug/n", "at least", 0.97),
            Target("false alarms on correct items", "false_alarms/share", "false_alarms/n", "at most", 0.02),
        ),
    ),
    Suite(
        "evaluator speed",
        ("bench", "evaluator", "--json"),
        None,
        (Target("claims a second on one core", "claims_per_second", "n", "at least", 1000),),
    ),
    Suite(
        "deid",
        ("eval", "deid", "--json"),
        None,
        (
            Target("planted identifiers that would leave", "n_left", "n_planted", "is", 0),
            Target("texts that come back exactly", "reversed_exactly", "n_texts"),
            Target("clinical terms hidden in vain, ACI-Bench and MTS-Dialog", "over_redaction/aci_bench and mts_dialog/share", "over_redaction/aci_bench and mts_dialog/n_terms", "at most", 0.01),
            Target("the same, mtsamples", "over_redaction/mtsamples/share", "over_redaction/mtsamples/n_terms", "at most", 0.01),
        ),
    ),
    Suite(
        "companion",
        ("eval", "companion", "--json"),
        None,
        (
            Target("private canaries that reached the other person", "wall/leaked", "wall/canaries", "is", 0),
            Target("withdrawn texts left with the other person", "wall/withdrawn_text_left_with_the_other", "wall/texts_inspected", "is", 0),
            Target("tagged answers that leaked under some chunking", "tags/leaked", "tags/chunkings", "is", 0),
            Target("conversations that reached the last stage, no model", "stages/ended_in_stage/4", "stages/conversations"),
            Target("gates opened by pushing", "stages/gates_opened_by_pushes", "stages/pushes_at_gates", "is", 0),
            Target("share of turns routed to the large model", "router/share", "router/turns"),
            Target("tokens of a turn, most", "budget/tokens_most", "budget/turns", "at most", 8000),
        ),
    ),
    Suite(
        "intake",
        ("eval", "intake", "--cases", "300", "--json"),
        None,
        (
            Target("no model: slots that the person knows, filled right", "without_a_model/slots_right_share", "without_a_model/slots", "is", 1),
            Target("no model: facts asked again", "without_a_model/asked_again", "without_a_model/turns", "is", 0),
            Target("no model: more than one question", "without_a_model/more_than_one_question", "without_a_model/turns", "is", 0),
            Target("scripted model: slots filled right", "scripted_model/slots_right_share", "scripted_model/slots", "is", 1),
            Target("scripted model: facts asked again", "scripted_model/asked_again", "scripted_model/turns", "is", 0),
            Target("promises found", "promises/recall", "promises/offers", "at least", 0.98),
            Target("advice of an obedient model that leaked", "advice/leaks", "advice/messages", "is", 0),
            Target("the same on wordings held out", "advice_held_out/leaks", "advice_held_out/messages", "is", 0),
            Target("one prefix hash a contract", "cost/prefix_constant", "cost/cases"),
        ),
    ),
    Suite(
        "memory",
        ("eval", "memory", "--json"),
        None,
        (
            Target("LoCoMo, session MRR", "all/session_mrr", "all/n", "at least", 0.82, "plain BM25: 0.735"),
            Target("LoCoMo, turn recall@10", "all/turn_recall_at_10", "all/n", "at least", 0.75, "plain BM25: 0.538"),
            Target("LoCoMo, turn MRR", "all/turn_mrr", "all/n", "at least", 0.55, "plain BM25: 0.385"),
            Target("the same on conversations not chosen on, session MRR", "held_out/session_mrr", "held_out/n"),
            Target("the same, turn recall@10", "held_out/turn_recall_at_10", "held_out/n"),
            Target("tokens of memory a turn, most", "tokens_a_turn/most", "all/n", "at most", 700),
            Target("model calls to read", "model_calls_to_read", "all/n", "is", 0),
        ),
    ),
    Suite(
        "dispatch",
        ("bench", "dispatch", "--json"),
        None,
        (
            Target("cases whose architecture changed under them", "stickiness_violations", "dispatches", "is", 0),
            Target("outages that left the safe default", "unsafe_defaults", "dispatches_in_outage", "is", 0),
            Target("flag edits not seen at another process's next turn", "two_processes/stale_at_next_turn", "two_processes/edits", "is", 0),
        ),
    ),
    Suite("memory speed", ("bench", "memory", "--json"), None, ()),
    Suite(
        "soak",
        ("scripts/soak.py",),
        None,
        (
            Target("mixed requests at their rate: p95, ms", "mixed/answer_ms_p95", "mixed/n", "at most", 250),
            Target("of them not answered 200", "mixed/errors", "mixed/n", "is", 0),
            Target("open streams: added to the first released sentence, p95, ms", "streams/added_ms_p95", "streams/open_at_once", "at most", 300),
            Target("at twice the capacity: refusals within, p95, ms", "beyond/refusal_ms_p95", "beyond/n", "at most", 100),
            Target("of them without Retry-After", "beyond/refusals_without_retry_after", "beyond/n", "is", 0),
        ),
    ),
    Suite(
        "context, a million",
        ("bench", "context", "--assemblies", "1000000", "--no-compare", "--json"),
        None,
        (
            Target("random assemblies over budget", "bounds/overruns", "bounds/n", "is", 0),
            Target("protected blocks evicted", "bounds/protected_evictions", "bounds/n", "is", 0),
            Target("budget used below 98 % where the unit could be shortened", "bounds/cut_at_a_word/below_98_percent", "bounds/cut_at_a_word/n", "is", 0),
        ),
    ),
)  # fmt: skip


def run_command(command: Sequence[str], *, timeout: float, python: str = "") -> Done:
    """Run `bedside` with these arguments, or a script, and read the JSON document that it prints."""
    began = time.monotonic()
    try:
        done = subprocess.run(
            [str(ROOT / python) if python else sys.executable, *_program(command)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=None,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        return Done(tuple(command), time.monotonic() - began, None, f"no end after {timeout:g} s")
    seconds = time.monotonic() - began
    found = _last_json(done.stdout)
    if found is None:
        return Done(tuple(command), seconds, None, f"exit {done.returncode}, no JSON document")
    if "error" in found and set(found) == {"error"}:
        error = found["error"]
        return Done(tuple(command), seconds, None, f"{error.get('title')}: {error.get('detail')}")
    if done.returncode:
        return Done(tuple(command), seconds, None, f"exit {done.returncode}")
    return Done(tuple(command), seconds, found)


def _program(command: Sequence[str]) -> list[str]:
    """What the interpreter is given: a script of ours, or `bedside` with its arguments."""
    return [*command] if command[0].endswith(".py") else ["-m", "bedside", *command]


def _last_json(text: str) -> dict[str, Any] | None:
    """The last line that is a JSON object: a suite may tell how far it is before it."""
    for line in reversed(text.splitlines()):
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            return found
    return None


def _at(figures: Mapping[str, Any], path: str) -> object:
    found: Any = figures
    for name in path.split("/"):
        if not isinstance(found, Mapping) or name not in found:
            return None
        found = found[name]
    return found


def _flat(figures: object, prefix: str = "") -> list[tuple[str, object]]:
    """Every figure with its path; lists and long texts are left to the command itself."""
    if isinstance(figures, Mapping):
        return [
            row
            for name, inner in figures.items()
            for row in _flat(inner, f"{prefix}/{name}" if prefix else str(name))
        ]
    return [] if isinstance(figures, list) else [(prefix, figures)]


def _shown(figure: object) -> str:
    if figure is None:
        return "not measured"
    if isinstance(figure, bool):
        return "yes" if figure else "no"
    if isinstance(figure, int):
        return f"{figure:,}"
    if isinstance(figure, float):
        return f"{figure:,.4f}".rstrip("0").rstrip(".")
    return str(figure).replace("|", "\\|").replace("\n", " ")


def page(
    ran: Sequence[tuple[Suite, Done | None]], *, machine: Mapping[str, str], quick: bool
) -> str:
    """The page: a table of targets, then every figure of every suite beside its command."""
    lines = ["# Results", ""]
    lines += ["Written by `make reproduce` (`scripts/reproduce.py`); do not edit by hand.", ""]
    if quick:
        lines += ["**This is a quick run: smaller samples, and suites left out.**", ""]
    lines += ["| | |", "| --- | --- |", *(f"| {k} | {v} |" for k, v in machine.items()), ""]
    lines += ["## Targets", ""]
    lines += ["| suite | figure | measured | target | | n | note |"]
    lines += ["| --- | --- | --- | --- | --- | --- | --- |"]
    for suite, done in ran:
        for target in suite.targets:
            found = _at(done.figures, target.at) if done and done.figures else None
            n = _at(done.figures, target.n) if done and done.figures and target.n else None
            lines.append(
                f"| {suite.name} | {target.label} | {_shown(found)} | {target.wanted()} | "
                f"{target.verdict(found)} | {'' if n is None else _shown(n)} | {target.note} |"
            )
    lines.append("")
    for suite, done in ran:
        lines += _section(suite, done)
    return "\n".join(lines).rstrip("\n") + "\n"


def _section(suite: Suite, done: Done | None) -> list[str]:
    if done is None:
        return [f"## {suite.name}", "", "Not measured yet, or left out of a quick run.", ""]
    command = shlex.join(("bedside", *done.command))
    when = f"; {done.when}" if done.when else ""
    lines = [f"## {suite.name}", "", f"`{command}`, {done.seconds:,.0f} s{when}", ""]
    if done.figures is None:
        return [*lines, f"**Failed:** {done.why}", ""]
    lines += ["| figure | measured |", "| --- | --- |"]
    lines += [f"| {name} | {_shown(figure)} |" for name, figure in _flat(done.figures)]
    return [*lines, ""]


def _machine() -> dict[str, str]:
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [s for s in info.read_text(encoding="utf-8").splitlines() if "model name" in s]
        model = names[0].partition(":")[2].strip() if names else model
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cores": str(os.cpu_count()),
        "processor": model,
        "load when it began": "not known" if load is None else f"{load:.1f}",
        "Python": platform.python_version(),
        "version": _version(),
    }


def _version() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "not in a repository"


def _when() -> str:
    load = f", load {os.getloadavg()[0]:.1f} at its end" if hasattr(os, "getloadavg") else ""
    return f"{datetime.now(UTC).date().isoformat()}, {_version()}{load}"


def _read(path: Path) -> dict[str, Done]:
    """What every suite printed when it last ran; nothing where there is no file yet."""
    if not path.exists():
        return {}
    rows = json.loads(path.read_text(encoding="utf-8"))
    return {name: Done(**{**row, "command": tuple(row["command"])}) for name, row in rows.items()}


def _as_json(known: Mapping[str, Done]) -> str:
    rows = {name: {**asdict(done), "figures": _plain(done.figures)} for name, done in known.items()}
    return json.dumps(rows, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _plain(figures: object) -> object:
    """Figures without lists: those hold examples of the measured data, which is not ours to ship."""
    if isinstance(figures, Mapping):
        return {name: _plain(one) for name, one in figures.items() if not isinstance(one, list)}
    return figures


def main(
    arguments: Sequence[str] | None = None,
    *,
    run: Callable[..., Done] = run_command,
    suites: Sequence[Suite] = SUITES,
) -> int:
    """Measure and write. 0 when every suite ran, 3 when one failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="a small run")
    parser.add_argument("--only", action="append", choices=[s.name for s in suites])
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--timeout", type=float, default=4 * 3600, help="seconds for each suite")
    asked = parser.parse_args(arguments)
    machine = _machine()
    kept = asked.out.with_suffix(".json")
    known = {} if asked.quick else _read(kept)
    for suite in suites:
        command = suite.quick if asked.quick else suite.command
        if command is None or (asked.only and suite.name not in asked.only):
            continue
        sys.stderr.write(f"bedside {shlex.join(command)}\n")
        extra = {"python": suite.python} if suite.python else {}
        done = run(command, timeout=asked.timeout, **extra)
        known[suite.name] = replace(done, when=_when())
        # Written after every suite, so that a run that is stopped keeps what it measured.
        if not asked.quick:
            kept.write_text(_as_json(known), encoding="utf-8")
        ran = [(suite, known.get(suite.name)) for suite in suites]
        asked.out.write_text(page(ran, machine=machine, quick=asked.quick), encoding="utf-8")
    ran = [(suite, known.get(suite.name)) for suite in suites]
    asked.out.write_text(page(ran, machine=machine, quick=asked.quick), encoding="utf-8")
    failed = [suite.name for suite, done in ran if done is not None and done.figures is None]
    if failed:
        sys.stderr.write(f"failed: {', '.join(failed)}\n")
    return 3 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
