// A finished turn as text with provenance: underline, letter and hue, never hue alone.
const LETTER = { record: "C", document: "C", note: "C", guideline: "G", message: "P" };
const CLASS = { record: "c", document: "c", note: "c", guideline: "g", message: "p" };
const SAYS = { record: "from the chart", guideline: "from a guideline", inference: "an inference", said: "said by the person" };

export function citeButton(cited) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = `cite ${CLASS[cited.source.kind] ?? "c"}`;
  button.textContent = `${LETTER[cited.source.kind] ?? "C"} ${cited.n}`;
  button.title = `${cited.source.title}${cited.source.date ? `, ${cited.source.date}` : ""}`;
  button.setAttribute("aria-label", `Source ${cited.n}: ${button.title}`);
  Object.assign(button.dataset, {
    source: cited.source.id, revision: cited.source.revision, start: cited.start, end: cited.end,
  });
  return button;
}

export function renderText(target, turn) {
  const points = Array.from(turn.answer);
  const claims = [...turn.claims].sort((a, b) => a.answer_start - b.answer_start);
  target.replaceChildren();
  let at = 0;
  claims.forEach((claim, index) => {
    if (claim.answer_start < at) return;
    appendPlain(target, points.slice(at, claim.answer_start).join(""), turn, at);
    const span = document.createElement("span");
    span.className = `claim ${claim.basis}`;
    span.title = `${SAYS[claim.basis] ?? claim.basis}; support: ${claim.support}`;
    if (index === 0) span.classList.add("headline");
    appendPlain(span, points.slice(claim.answer_start, claim.answer_end).join(""), turn, claim.answer_start);
    target.append(span);
    at = claim.answer_end;
  });
  appendPlain(target, points.slice(at).join(""), turn, at);
}

function appendPlain(target, text, turn, offset) {
  let last = 0;
  for (const marker of text.matchAll(/\[(\d{1,4})\]/g)) {
    append(target, text.slice(last, marker.index));
    const place = offset + Array.from(text.slice(0, marker.index)).length;
    const all = turn.citations.filter((item) => item.n === Number(marker[1]));
    const cited = all.find((item) => item.answer_start <= place && place <= item.answer_end + 6) ?? all[0];
    if (cited) target.append(citeButton(cited));
    else append(target, marker[0]);
    last = marker.index + marker[0].length;
  }
  append(target, text.slice(last));
}

function append(target, text) {
  for (const [index, part] of text.split("**").entries()) {
    if (!part) continue;
    if (index % 2 === 1) {
      const strong = document.createElement("strong");
      strong.textContent = part;
      target.append(strong);
    } else target.append(part);
  }
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
    const parts = [cited.source.title, cited.source.section, cited.source.date ?? "undated"];
    text.textContent = parts.filter(Boolean).join(" · ") + (cited.source.superseded ? " · superseded" : "");
    row.append(citeButton(cited), text);
    list.append(row);
  }
}

export function plainWithSources(turn) {
  const seen = new Map(turn.citations.map((cited) => [cited.n, cited]));
  const sources = [...seen.values()].map((cited) =>
    `[${cited.n}] ${cited.source.title}${cited.source.date ? `, ${cited.source.date}` : ""}: "${cited.quote}"`);
  const missing = turn.missing.length ? `\n\nNot found: ${turn.missing.join("; ")}` : "";
  return `${turn.answer}${missing}\n\nSources\n${sources.join("\n")}\n\nDraft by Bedside (${turn.answered_by}); check before use.`;
}
