// A finished turn as text with provenance: underline, letter and hue, never hue alone.
import { day, severity, writer } from "/static/api.js";

const LETTER = { record: "C", document: "C", note: "C", guideline: "G", message: "P" };
const CLASS = { record: "c", document: "c", note: "c", guideline: "g", message: "p" };
const SAYS = { record: "from the chart", guideline: "from a guideline", inference: "an inference", said: "said by the person" };

export function citeButton(cited) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = `cite ${CLASS[cited.source.kind] ?? "c"}`;
  button.textContent = `${LETTER[cited.source.kind] ?? "C"} ${cited.n}`;
  button.title = `${cited.source.title}${cited.source.date ? `, ${day(cited.source.date)}` : ""}`;
  button.setAttribute("aria-label", `Source ${cited.n}: ${button.title}`);
  Object.assign(button.dataset, {
    source: cited.source.id, revision: cited.source.revision, start: cited.start, end: cited.end,
  });
  return button;
}

// Lines as paragraphs, lines that begin with "- " as lists; claims and citations inside them.
class Lines {
  constructor(target) { this.target = target; this.line = null; this.span = null; this.claim = null; this.gap = false; }

  open(claim, title) { this.claim = { className: claim, title }; this.span = null; }

  close() { this.claim = null; this.span = null; }

  end() {
    if (!this.line) this.gap = true;
    this.line = null;
    this.span = null;
  }

  begin(text) {
    const last = this.target.lastElementChild;
    if (text.startsWith("- ")) {
      const list = last?.tagName === "UL" && !this.gap ? last : document.createElement("ul");
      if (list !== last) this.target.append(list);
      this.line = document.createElement("li");
      list.append(this.line);
    } else {
      this.line = document.createElement("p");
      this.target.append(this.line);
    }
    if (this.gap) (this.line.tagName === "LI" ? this.line.parentElement : this.line).classList.add("apart");
    this.gap = false;
  }

  text(words, tag = "") {
    for (const [index, part] of words.split("\n").entries()) {
      if (index > 0) this.end();
      if (!part) continue;
      const fresh = !this.line;
      if (fresh) this.begin(part);
      const shown = fresh && part.startsWith("- ") ? part.slice(2) : part;
      if (!shown) continue;
      if (!tag) this.put(shown);
      else { const node = document.createElement(tag); node.textContent = shown; this.put(node); }
    }
  }

  put(node) {
    if (!this.line) this.begin("");
    if (this.claim && !this.span) {
      this.span = document.createElement("span");
      Object.assign(this.span, this.claim);
      this.line.append(this.span);
    }
    const home = this.span ?? this.line;
    home.append(typeof node === "string" ? beside(home, node) : node);
  }
}

// What is left of `words` once their first point or comma stands in one piece with the citation before it.
function beside(home, words) {
  let last = home.lastChild;
  while (last?.classList?.contains("claim")) last = last.lastChild;
  if (!/^[.,;:)]/.test(words) || !last?.classList?.contains("cite")) return words;
  const whole = document.createElement("span");
  whole.className = "nowrap";
  last.replaceWith(whole);
  whole.append(last, words[0]);
  return words.slice(1);
}

export function renderText(target, turn) {
  const points = Array.from(turn.answer);
  const claims = [...turn.claims].sort((a, b) => a.answer_start - b.answer_start);
  target.replaceChildren();
  const lines = new Lines(target);
  let at = 0;
  for (const claim of claims) {
    if (claim.answer_start < at) continue;
    appendPlain(lines, points.slice(at, claim.answer_start).join(""), turn, at);
    const first = points.slice(0, claim.answer_start).join("").trim() === "";
    lines.open(`claim ${claim.basis}${first ? " headline" : ""}`, `${SAYS[claim.basis] ?? claim.basis}; support: ${claim.support}`);
    appendPlain(lines, points.slice(claim.answer_start, claim.answer_end).join(""), turn, claim.answer_start);
    lines.close();
    at = claim.answer_end;
  }
  appendPlain(lines, points.slice(at).join(""), turn, at);
}

function appendPlain(lines, text, turn, offset) {
  let last = 0;
  for (const marker of text.matchAll(/\[(\d{1,4})\]/g)) {
    append(lines, text.slice(last, marker.index));
    const place = offset + Array.from(text.slice(0, marker.index)).length;
    const all = turn.citations.filter((item) => item.n === Number(marker[1]));
    const cited = all.find((item) => item.answer_start <= place && place <= item.answer_end + 6) ?? all[0];
    if (cited) lines.put(citeButton(cited));
    else append(lines, marker[0]);
    last = marker.index + marker[0].length;
  }
  append(lines, text.slice(last));
}

function append(lines, text) {
  for (const [index, part] of text.split("**").entries()) if (part) lines.text(part, index % 2 === 1 ? "strong" : "");
}

export function renderSources(list, turn) {
  list.replaceChildren();
  const seen = new Set();
  for (const cited of turn.citations) {
    const key = `${cited.n}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const row = document.createElement("li");
    const text = document.createElement("span");
    const parts = [cited.source.title, cited.source.section, day(cited.source.date)];
    text.textContent = parts.filter(Boolean).join(" · ");
    row.append(citeButton(cited), text);
    if (cited.source.superseded) row.append(severity("warning", "superseded"));
    list.append(row);
  }
}

export function plainWithSources(turn) {
  const seen = new Map(turn.citations.map((cited) => [cited.n, cited]));
  const sources = [...seen.values()].map((cited) =>
    `[${cited.n}] ${cited.source.title}${cited.source.date ? `, ${cited.source.date}` : ""}: "${cited.quote}"`);
  const missing = turn.missing.length ? `\n\nNot found: ${turn.missing.join("; ")}` : "";
  return `${turn.answer}${missing}\n\nSources\n${sources.join("\n")}\n\nDraft by Bedside (${writer(turn)}); check before use.`;
}

// A removed line and why, without the marks of a model's own writing.
export const removal = (item) => `${item.claim.replaceAll("**", "")} (${item.why.replaceAll("_", " ")})`;

// What was not at hand, in a clinician's words; the names of searches and blocks are the engineer's.
const SHORT = [
  [/vectors not ready/, "some texts are searched by their words only, until their vectors are made"],
  [/dense search is off/, "search by meaning is off here, so texts were found by their words alone"],
];

export function shortfalls(lines) {
  const once = SHORT.filter(([kind]) => lines.some((line) => kind.test(line))).map(([, words]) => words);
  const others = lines.filter((line) => !SHORT.some(([kind]) => kind.test(line))).map((line) => {
    const model = /^model: no model answered: (.*)$/.exec(line);
    return model ? `no model answered (${model[1]}), so this is put together from the sources` : line;
  });
  return [...others, ...once];
}
