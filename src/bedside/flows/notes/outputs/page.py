"""A summarised note as one page: the note on the left, the summary on the right.

Each item is lit up in the note under the pointer or the keyboard. Self-contained: no script from
elsewhere, no link out.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from itertools import pairwise
from typing import Any

from bedside.flows.notes.summary import PARTS, TITLES, to_check
from bedside.grounding.cite import parse_chunk

__all__ = ["to_page"]

_STYLE = """
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;margin:0;background:#fff;color:#1a1d21}
header{padding:12px 20px;border-bottom:1px solid #d5d9de}
h1{font-size:18px;margin:0}h2{font-size:14px;margin:18px 0 6px;color:#3c4650}
p.by{margin:2px 0 0;color:#515c66;font-size:13px}
main{display:grid;grid-template-columns:1fr 1fr;height:calc(100vh - 76px)}
section{overflow:auto;padding:12px 20px}#note{border-right:1px solid #d5d9de;white-space:pre-wrap;
font-family:ui-monospace,monospace;font-size:13px;overflow-wrap:anywhere}
li{margin:3px 0}a.item{color:inherit;text-decoration:none;border-bottom:1px dotted #6b7680;cursor:pointer}
a.item:hover,a.item:focus{background:#fff1b8;color:#1a1d21;outline:2px solid #c28f00}
small{color:#515c66}mark{background:none;color:inherit}mark.on{background:#ffe28a;color:#1a1d21}
.guard{color:#7a3e00}
@media(max-width:760px){main{display:block;height:auto}#note{border:0}}
@media(prefers-color-scheme:dark){body{background:#15181b;color:#e6e9ec}h2,p.by,small{color:#a9b4bd}.guard{color:#f0b679}}
@media print{main{display:block;height:auto}}
"""
_SCRIPT = """
const marks=[...document.querySelectorAll('#note mark')];
function light(a,on){const s=+a.dataset.s,e=+a.dataset.e;let first=null;
for(const m of marks){if(+m.dataset.s<e&&s<+m.dataset.e){m.classList.toggle('on',on);first=first||m}}
if(on&&first)first.scrollIntoView({block:'center'})}
for(const a of document.querySelectorAll('a.item')){
for(const [n,on] of [['mouseenter',true],['focus',true],['mouseleave',false],['blur',false]])
a.addEventListener(n,()=>light(a,on));a.addEventListener('click',e=>e.preventDefault())}
"""


def to_page(turn: Mapping[str, Any], text: str) -> str:
    """The page. Everything from the note or a model is escaped."""
    title = escape(str((turn.get("note") or {}).get("title") or "Note"))
    spans = sorted({(cite["start"], cite["end"]) for cite in turn["citations"]})
    items: list[str] = []
    for part in PARTS:
        found = turn["summary"][part]
        if found:
            items.append(f"<h2>{TITLES[part]}</h2>\n<ul>")
            items += [f"<li>{_about(one)}{_item(one['text'], one['source'])}</li>" for one in found]
            items.append("</ul>")
    plan = turn["plan"]["recommendations"]
    if plan:
        items.append("<h2>Plan</h2>\n<ol>")
        for one in plan:
            guard = one["hallucination_guard_note"]
            note = f' <span class="guard">Look twice: {escape(guard)}</span>' if guard else ""
            items.append(
                f"<li>{_about(one)}{_item(one['recommendation'], one['source'])}{note}</li>"
            )
        items.append("</ol>")
    if not items:
        items.append("<p>Nothing could be taken from this note.</p>")
    items += _apart("To check", to_check(turn))
    items += _apart("Removed", [f"{one['claim']} ({one['why']})" for one in turn["removed"]])
    items += _apart("Missing", [str(one) for one in turn.get("missing") or []])
    by = (
        "Extracted word for word from the note by rule; no model wrote any of it."
        if turn.get("extractive")
        else f"Written by {escape(str(turn['answered_by']))}, each item held to the note."
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>{_STYLE}</style></head>\n<body>\n"
        f'<header><h1>{title}</h1><p class="by">{by} A draft for a clinician to check. '
        "Point at an item to see its source.</p></header>\n"
        f'<main><section id="note" aria-label="The note" tabindex="0">{_marked(text, spans)}</section>\n'
        f'<section id="summary" aria-label="Summary and plan" tabindex="0">\n{chr(10).join(items)}\n</section></main>\n'
        f"<script>{_SCRIPT}</script>\n</body></html>\n"
    )


def _about(one: Mapping[str, Any]) -> str:
    return f"<b>{escape(one['about'])}:</b> " if one.get("about") else ""


def _item(text: str, source: str) -> str:
    cited = parse_chunk(source)
    return (
        f'<a class="item" href="#note" data-s="{cited.start}" data-e="{cited.end}">{escape(text)}</a> '
        f"<small>{escape(source)}</small>"
    )


def _apart(title: str, lines: list[str]) -> list[str]:
    if not lines:
        return []
    return [f"<h2>{title}</h2>\n<ul>", *(f"<li>{escape(line)}</li>" for line in lines), "</ul>"]


def _marked(text: str, spans: list[tuple[int, int]]) -> str:
    """The note, cut at every border of a span, so that spans may overlap."""
    borders = sorted({0, len(text), *(at for span in spans for at in span)})
    cited: list[tuple[int, int]] = []
    for start, end in spans:
        if cited and start <= cited[-1][1]:
            cited[-1] = (cited[-1][0], max(end, cited[-1][1]))
        else:
            cited.append((start, end))
    parts: list[str] = []
    k = 0
    for start, end in pairwise(borders):
        while k < len(cited) and cited[k][1] <= start:
            k += 1
        piece = escape(text[start:end])
        inside = k < len(cited) and cited[k][0] <= start
        parts.append(f'<mark data-s="{start}" data-e="{end}">{piece}</mark>' if inside else piece)
    return "".join(parts)
