// A summarised note: the note left, items right, what is wrong or left out first.
import { call, make, plural, severity, when, writer } from "/static/api.js";
import { PARTS, findingLines, levelOf, link, placesOf, unsaid } from "/static/linked.js";

const root = document.getElementById("noteview");
const id = encodeURIComponent(root.dataset.turn);
const status = root.querySelector(".status");
const bar = root.querySelector(".actions");
const said = bar.querySelector(".said");
const report = root.querySelector("form.report");
let turn = null;

try {
  turn = await call(`/v1/turns/${id}`);
  if (turn.status !== "complete" || !turn.summary) throw new Error(turn.why ?? "it has no complete summary");
  const note = await call(`/v1/sources/${encodeURIComponent(turn.note.id)}?revision=${turn.note.revision}`);
  show(note.text);
} catch (error) { status.textContent = `This summary cannot be shown: ${error.message}`; }

async function show(text) {
  root.querySelector(".pagehead").textContent = turn.note.title;
  document.title = `${turn.note.title} · Bedside`;
  root.querySelector(".how").textContent = (turn.extractive ? "Extracted word for word by rule; no model wrote any of it. " : `Written by ${writer(turn)}, each item held to the note. `) + (turn.egress === "none" ? "Nothing left this machine." : turn.egress);
  const items = [];
  const blocks = [];
  for (const [part, name] of Object.entries(PARTS)) {
    const rows = turn.summary[part] ?? [];
    if (!rows.length) continue;
    blocks.push(make("h3", {}, name), make("ul", { class: "rows" }, ...rows.map((row, index) => item(items, `summary.${part}[${index}]`, worded(row, row.text), row.source))));
  }
  const plan = turn.plan.recommendations ?? [];
  if (plan.length) {
    blocks.push(make("h3", {}, "Plan"), make("ol", { class: "rows" }, ...plan.map((row, index) => {
      const made = item(items, `plan.recommendations[${index}]`, worded(row, row.recommendation), row.source);
      if (row.hallucination_guard_note) made.append(make("p", { class: "guard" }, severity("warning"), ` Look twice: ${row.hallucination_guard_note}`));
      return made;
    })));
  }
  if (!blocks.length) blocks.push(make("p", { class: "meta" }, "Nothing could be taken from this note."));
  root.querySelector(".items").replaceChildren(...blocks);
  root.querySelector(".sides").hidden = false;
  bar.hidden = false;
  for (const link of bar.querySelectorAll("[data-format]")) link.href = `/v1/notes/${id}/file?format=${link.dataset.format}`;
  bar.querySelector('[data-do="inspect"]').href = `/inspect/${id}`;
  status.hidden = true;
  reviewed(turn.review);
  await first(text, items);
}

// The note's own heading over an item that does not say what it is about.
function worded(row, text) { return row.about ? `${row.about}: ${text}` : text; }

function item(items, where, text, source) {
  const node = make("li", { class: "fact" }, make("span", { class: "words" }, text), make("span", { class: "cite c from", title: source }, `C ${source.replace(/ section, chunk_\d+:.*/, "")}`));
  items.push({ node, where, places: placesOf(source) });
  return node;
}

// Errors first: our own summary is held to the note by the evaluator that judges anybody's.
async function first(text, items) {
  const box = root.querySelector(".first");
  const parts = [];
  for (const why of [...turn.missing, ...turn.degraded]) parts.push(make("p", { class: "alert" }, severity("warning"), " ", why));
  const linked = items.map((one) => ({ node: one.node, places: one.places }));
  try {
    const report = await call("/v1/notes/evaluate", { method: "POST", body: { note: text, summary: { summary: turn.summary, plan: { recommendations: turn.plan.recommendations ?? [] }, chunks: turn.chunks } } });
    const wrong = report.items.filter((one) => !one.ok);
    for (const one of wrong) {
      const own = items.find((it) => it.where === one.where);
      own?.node.classList.add("wrong", levelOf(one));
      const row = make("li", { class: `fact wrong ${levelOf(one)}` }, severity(levelOf(one)), " ", make("span", { class: "words" }, one.text), findingLines(one));
      linked.push({ node: row, places: own?.places ?? [] });
      parts.push(row);
    }
    if (wrong.length) parts.unshift(make("h3", {}, `To look at: ${wrong.length} of ${plural(report.n_items, "item")}`));
    else parts.unshift(make("p", { class: "held" }, `${plural(report.n_items, "item")}, each held against its source. This compares words; it does not judge medicine.`));
    const left = unsaid(report);
    if (left.length) {
      const list = make("ul", { class: "rows" });
      for (const one of left) {
        const row = make("li", { class: "fact" }, make("span", { class: "words" }, one.text), make("span", { class: "meta" }, ` ${one.kind}`));
        linked.push({ node: row, places: [one] });
        list.append(row);
      }
      parts.push(make("details", { class: "apart" }, make("summary", {}, `${plural(left.length, "fact")} of the note that no item says`), list));
    }
  } catch (error) { parts.push(make("p", { class: "alert" }, severity("warning"), ` Not checked against the note: ${error.message}`)); }
  const flagged = turn.guardrails.filter((one) => one.outcome === "flagged" && one.detail);
  for (const one of flagged) parts.unshift(make("p", { class: "alert" }, severity("warning"), ` To check: ${one.detail}`));
  if (turn.removed.length) parts.push(make("details", { class: "apart", open: true }, make("summary", {}, `${plural(turn.removed.length, "item")} removed`), make("ul", { class: "rows" }, ...turn.removed.map((one) => make("li", {}, one.claim, make("span", { class: "why" }, ` ${one.why.replaceAll("_", " ")}`))))));
  box.replaceChildren(...group(parts));
  link(root.querySelector(".notetext"), text, linked);
}

function group(parts) {
  const list = make("ul", { class: "rows" });
  const out = [];
  for (const part of parts) {
    if (part.tagName === "LI") { if (!list.children.length) out.push(list); list.append(part); } else out.push(part);
  }
  return out;
}

function reviewed(review) {
  const accepted = review.state === "accepted";
  root.classList.toggle("is-accepted", accepted);
  root.classList.toggle("is-draft", !accepted);
  bar.querySelector('[data-do="accept"]').disabled = accepted;
  said.textContent = accepted ? `Accepted by ${review.by ?? "you"}, ${when(review.at)}` : "Draft until accepted";
}

bar.querySelector('[data-do="accept"]').addEventListener("click", async () => {
  try { reviewed(await call(`/v1/turns/${id}/review`, { method: "POST", body: { state: "accepted" } })); }
  catch (error) { said.textContent = `Not accepted: ${error.message}`; }
});
bar.querySelector('[data-do="report"]').addEventListener("click", () => { report.hidden = !report.hidden; if (!report.hidden) report.note.focus(); });
report.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await call(`/v1/turns/${id}/reports`, { method: "POST", body: { target: "answer", kind: report.kind.value, note: report.note.value } });
    said.textContent = "Reported to safety";
    report.hidden = true;
    report.reset();
  } catch (error) { said.textContent = `Not reported: ${error.message}`; }
});
