"""The evaluation as one self-contained HTML page. Pure.

No script runs from elsewhere and none is needed: hovering or focusing an item marks its source in
the note beside it by a few lines of script in the page. Every text is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from bedside.grounding.evaluate.facts import FACT_KINDS

if TYPE_CHECKING:
    from bedside.grounding.evaluate.result import EvaluatedItem, NoteEvaluation

__all__ = ["page"]

_NAMES = {
    "section_mismatch": "Wrong section",
    "span_error": "Wrong place",
    "bad_id": "No such chunk",
    "format_error": "Citation format",
    "orphan_claim": "No source",
    "numbers": "Figure",
    "units": "Unit",
    "doses": "Dose",
    "dates": "Date",
    "medicines": "Medicine",
    "negation": "Yes or no",
    "laterality": "Side",
    "subject": "Whose",
    "support": "Not in the source",
    "duplicate": "Said twice",
}
_CLASSES = ("grave", "wrong", "untidy", "fine")

_STYLE = """
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--soft:#5b6570;--line:#d8dde3;--card:#f6f8fa;
--red:#b3261e;--redbg:#fdecea;--amber:#8a5a00;--amberbg:#fff4dc;--green:#1a6b3c;--mark:#cfe4ff;--hot:#ffd54a}
@media(prefers-color-scheme:dark){:root{--bg:#14171b;--fg:#e6e9ed;--soft:#9aa5b1;--line:#333b44;--card:#1d2228;
--red:#ff8a80;--redbg:#3a1d1b;--amber:#ffc766;--amberbg:#38290d;--green:#7fd6a2;--mark:#1f3b5c;--hot:#d9b13b}}
*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif}
header{padding:16px 24px;border-bottom:1px solid var(--line)}h1{font-size:20px;margin:0 0 4px}h2{font-size:16px;margin:20px 0 8px}
header p{margin:4px 0;color:var(--soft)}main{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr)}
section.items{padding:8px 24px 40px;border-right:1px solid var(--line)}
section.note pre{padding-bottom:60vh}section.note{padding:8px 24px;position:sticky;top:0;height:100vh;overflow:auto}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font:14px/1.55 ui-monospace,monospace;margin:0}
pre span.s{background:var(--mark);border-radius:2px}pre span.hot{background:var(--hot);color:#000;outline:2px solid var(--hot)}
article{border:1px solid var(--line);border-left:5px solid var(--line);border-radius:6px;background:var(--card);padding:8px 12px;margin:8px 0}
article:focus,article:hover{outline:2px solid var(--hot);outline-offset:1px}
article.grave{border-left-color:var(--red);background:var(--redbg)}article.wrong{border-left-color:var(--amber);background:var(--amberbg)}
article.fine{border-left-color:var(--green)}article p{margin:2px 0}.where,.from{color:var(--soft);font-size:13px}
ul{margin:6px 0 2px;padding-left:18px}li b{margin-right:4px}article.grave li b{color:var(--red)}article.wrong li b{color:var(--amber)}
q{quotes:none;font-style:italic}table{border-collapse:collapse;font-size:14px;margin:4px 24px 4px 0}td,th{padding:2px 12px 2px 0;text-align:left;vertical-align:top}
td.n{text-align:right;font-variant-numeric:tabular-nums}.bad{color:var(--red);font-weight:600}.warn{color:var(--amber)}
details{margin:12px 0}summary{cursor:pointer}.figures{display:flex;flex-wrap:wrap}
@media(max-width:900px){section.note pre{padding:0}main{grid-template-columns:1fr}section.note{position:static;height:auto;border-top:1px solid var(--line)}section.items{border:0}}
@media print{section.note pre{padding:0}section.note{position:static;height:auto;overflow:visible}main{display:block}}
"""
_SCRIPT = """
(function(){var hot=[];function off(){hot.forEach(function(e){e.classList.remove('hot')});hot=[]}
function on(a){off();(a.dataset.at||'').split(' ').forEach(function(r){if(!r)return;var p=r.split('-'),s=+p[0],e=+p[1];
document.querySelectorAll('pre span.s').forEach(function(n){if(+n.dataset.a<e&&+n.dataset.b>s){n.classList.add('hot');hot.push(n)}})});
var n=hot[0]&&hot[0].closest('section.note');if(n&&n.scrollHeight>n.clientHeight){
var v=n.getBoundingClientRect();n.scrollTop+=hot[0].getBoundingClientRect().top-(Math.max(v.top,0)+Math.min(v.bottom,innerHeight))/2;
return true}return false}
document.querySelectorAll('article').forEach(function(a){a.addEventListener('mouseenter',function(){on(a)});
a.addEventListener('focus',function(){on(a)});
a.addEventListener('click',function(){if(!on(a)&&hot[0])hot[0].scrollIntoView({block:'center'})})})})();
"""


def page(found: NoteEvaluation) -> str:
    """The whole page, errors first."""
    wrong = found.wrong
    fine = [one for one in found.items if one.ok]
    share = found.citation_coverage
    headline = (
        "No item was found in the file."
        if not found.items
        else f"{len(wrong)} of {len(found.items)} items need a look."
        if wrong
        else f"All {len(found.items)} items hold against the note."
    )
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n',
        "<title>Summary against its note</title>\n<style>", _STYLE, "</style>\n</head>\n<body>\n<header>\n",
        f"<h1>{headline}</h1>\n",
        (f"<p>Citations that hold: {'no items' if share is None else f'{share:.0%}'}. "
        "Compared by rule: words, figures and places. It does not judge medicine.</p>\n"),
        *(f'<p class="warn">{escape(one)}</p>\n' for one in (*found.warnings, *found.problems)),
        *_figures(found),
        '</header>\n<main>\n<section class="items">\n',
    ]  # fmt: skip
    if wrong:
        parts.append("<h2>To look at, gravest first</h2>\n")
        parts += [piece for one in wrong for piece in _article(found, one)]
    parts += _missing(found)
    if fine:
        parts.append(
            f"<details{'' if wrong else ' open'}><summary>{len(fine)} items in which nothing was found</summary>\n"
        )
        parts += [piece for one in fine for piece in _article(found, one)]
        parts.append("</details>\n")
    parts += [
        '</section>\n<section class="note">\n<h2>The note</h2>\n<pre>', *_marked(found), "</pre>\n</section>\n</main>\n",
        "<script>", _SCRIPT, "</script>\n</body>\n</html>\n",
    ]  # fmt: skip
    return "".join(parts)


def _figures(found: NoteEvaluation) -> Iterator[str]:
    yield '<details><summary>Figures</summary><div class="figures">\n<table><tr><th>Citations</th><th></th></tr>'
    for name in ("section_mismatches", "span_errors", "bad_ids", "format_errors", "orphan_claims"):
        yield _row(name.replace("_", " "), str(getattr(found, name)), bad=getattr(found, name) > 0)
    yield _row("said twice", str(found.count("duplicate")))
    yield "</table>\n<table><tr><th>Words</th><th>checked</th><th>wrong</th></tr>"
    for name, tally in found.faithfulness:
        yield _row(name, str(tally.checked), str(tally.wrong), bad=tally.wrong > 0)
    yield "</table>\n<table><tr><th>Facts of the note</th><th>found</th><th>said</th></tr>"
    full = found.completeness()
    for kind in FACT_KINDS:
        yield _row(kind, str(full[kind]["found"]), str(full[kind]["covered"]))
    yield f"</table></div>\n<p>Chunks: {found.chunks}, from the {escape(found.chunks_from)}.</p></details>\n"


def _row(name: str, *cells: str, bad: bool = False) -> str:
    mark = ' class="n bad"' if bad else ' class="n"'
    return (
        f"<tr><td>{escape(name)}</td>"
        + "".join(f"<td{mark}>{cell}</td>" for cell in cells)
        + "</tr>"
    )


def _article(found: NoteEvaluation, one: EvaluatedItem) -> Iterator[str]:
    at = " ".join(f"{place.start}-{place.end}" for place in one.places)
    yield f'<article class="{_CLASSES[one.rank]}" tabindex="0" data-at="{at}">\n'
    where = one.item.section.replace("_", " ") or one.item.part
    yield f'<p class="where">{escape(where)}</p><p>{escape(one.item.text)}</p>\n'
    if one.findings:
        yield "<ul>"
        for finding in one.findings:
            said = (
                ""
                if finding.said in {"", one.item.text}
                else f" Said: <q>{escape(finding.said)}</q>"
            )
            written = f" Note: <q>{escape(finding.written)}</q>" if finding.written else ""
            yield f"<li><b>{_NAMES[finding.kind]}</b>{escape(finding.detail)}.{said}{written}</li>"
        yield "</ul>\n"
    for place in one.places:
        lead = "Nearest words" if one.by == "words" else place.section or "Source"
        yield f'<p class="from">{escape(lead)}: <q>{escape(found.note[place.start : place.end])}</q></p>\n'
    yield "</article>\n"


def _missing(found: NoteEvaluation) -> Iterator[str]:
    missing = [fact for fact, said in found.facts if not said]
    if not missing:
        return
    yield f"<details><summary>{len(missing)} facts of the note that no item says</summary>\n"
    for fact in missing:
        yield (
            f'<article tabindex="0" data-at="{fact.start}-{fact.end}"><p class="where">{escape(fact.kind)}</p>'
            f"<p>{escape(fact.text)}</p></article>\n"
        )
    yield "</details>\n"


def _marked(found: NoteEvaluation) -> Iterator[str]:
    """The note with a span wherever the set of citing items changes."""
    spans = {(p.start, p.end) for one in found.items for p in one.places}
    spans |= {(fact.start, fact.end) for fact, said in found.facts if not said}
    cuts = sorted({0, len(found.note), *(n for span in spans for n in span)})
    depth: dict[int, int] = {}
    for start, end in spans:
        depth[start] = depth.get(start, 0) + 1
        depth[end] = depth.get(end, 0) - 1
    level = 0
    for start, end in pairwise(cuts):
        level += depth.get(start, 0)
        piece = escape(found.note[start:end])
        yield f'<span class="s" data-a="{start}" data-b="{end}">{piece}</span>' if level else piece
