// The briefing: three priorities, options to decide about, the rest folded, what was checked.
import "/static/drawer.js";
import { call, day, make, plural, severity, when, writer } from "/static/api.js";
import { citeButton, plainWithSources, removal, renderSources, shortfalls } from "/static/render.js";
import { decidable } from "/static/decide.js";

const root = document.getElementById("briefing");
const patient = root.dataset.patient;
const status = root.querySelector(".status");
const bar = root.querySelector(".actions");
const said = bar.querySelector(".said");
const report = root.querySelector("form.report");
const KINDS = [["medications", "Medicines"], ["labs", "Results"], ["conditions", "Problems"], ["screening", "Monitoring, screening and prevention"], ["other", "Other findings"]];
const LEVELS = ["critical", "warning", "info"];
let turn = null;

function say(words) { status.textContent = words; status.hidden = !words; }

async function brief() {
  say("Reading the record and checking the rules…");
  bar.querySelector('[data-do="again"]').disabled = true;
  try {
    const made = await call("/v1/brief", { method: "POST", body: { patient }, headers: { "Idempotency-Key": crypto.randomUUID() } });
    await show(made);
  } catch (error) {
    say(`No briefing: ${error.message}`);
  } finally {
    bar.hidden = false;
    bar.querySelector('[data-do="again"]').disabled = false;
  }
}

async function open(id) {
  try {
    await show(await call(`/v1/turns/${encodeURIComponent(id)}`));
  } catch (error) {
    say(`The briefing could not be opened: ${error.message}`);
    bar.hidden = false;
  }
}

async function show(found) {
  turn = found;
  const body = turn.briefing;
  if (!body || turn.status !== "complete") {
    say(turn.answer || `No briefing: ${turn.why ?? turn.degraded.join("; ")}`);
    bar.hidden = false;
    return;
  }
  let decided = [];
  let undecided = "";
  try {
    decided = await call(`/v1/turns/${encodeURIComponent(turn.turn_id)}/decisions`);
  } catch (error) { undecided = error.message; }
  const standing = new Map(decided.map((item) => [item.target, item]));
  say("");
  cited(root.querySelector(".oneliner"), body.summary.one_liner);
  const by = turn.answered_by === "rules" ? "by rules, no model" : `by rules and ${writer(turn)}, each sentence checked`;
  root.querySelector(".how").textContent = `Made ${by}; ${turn.egress === "none" ? "nothing left this machine" : turn.egress}; record as of ${when(turn.basis.record_as_of)}. `;
  alerts(body, undecided);
  flags(body, standing);
  options(body, standing);
  for (const list of root.querySelectorAll("[data-part]")) {
    const lines = body.summary[list.dataset.part] ?? body[list.dataset.part] ?? [];
    list.replaceChildren(...lines.map((line) => { const row = make("li"); cited(row, line); return row; }));
    const empty = { changes: "No earlier visit to compare with, or nothing has changed.", conditions: "No open problem is recorded.", guidelines: "", checked: "It is not stated what was checked." }[list.dataset.part];
    if (!lines.length && empty) list.append(make("li", { class: "meta" }, empty));
  }
  const none = root.querySelector(".noguides");
  none.hidden = (body.guidelines ?? []).length > 0;
  none.textContent = turn.degraded.some((why) => /guideline|search/i.test(why)) ? "The guidelines could not be searched: that is not the same as none found." : "No guideline passage is quoted here.";
  apart();
  root.querySelector(".brief").hidden = false;
  bar.hidden = false;
  bar.querySelector('[data-do="inspect"]').href = `/inspect/${encodeURIComponent(turn.turn_id)}`;
  reviewed(turn.review);
}

// ---- sentences with their sources

function cited(target, text, evidence = []) {
  target.replaceChildren();
  const at = turn.answer.indexOf(text.replace(/(\s*\[\d+\])+\.?$/, ""));
  const place = at < 0 ? 0 : Array.from(turn.answer.slice(0, at)).length;
  let last = 0;
  for (const marker of text.matchAll(/\[(\d{1,4})\]/g)) {
    target.append(text.slice(last, marker.index));
    const source = pick(Number(marker[1]), evidence, place);
    target.append(source ? citeButton(source) : marker[0]);
    last = marker.index + marker[0].length;
  }
  target.append(text.slice(last));
}

function pick(n, evidence, place) {
  const own = evidence.find((item) => item.n === n);
  const all = turn.citations.filter((item) => item.n === n);
  const near = all.filter((item) => item.answer_start >= place).sort((a, b) => a.answer_start - b.answer_start)[0] ?? all[0];
  if (!own) return near ?? null;
  return { ...own, source: { ...own.source, revision: own.source.revision ?? all[0]?.source.revision } };
}

// ---- parts

function alerts(body, undecided) {
  const box = root.querySelector(".alerts");
  const rows = [];
  const asOf = turn.basis.record_as_of;
  if (root.dataset.asOf && asOf && new Date(root.dataset.asOf) > new Date(asOf)) rows.push(["warning", "The record is newer than this briefing: brief again."]);
  for (const why of shortfalls(turn.degraded)) rows.push(["warning", `Not everything was at hand: ${why}.`]);
  for (const item of turn.contradictions) rows.push(["warning", `The record contradicts itself: ${item.text}`]);
  for (const line of body.notes ?? []) rows.push(["info", line]);
  for (const item of body.sources.filter((source) => source.superseded)) rows.push(["warning", `Rests on a superseded edition: ${item.title}${item.date ? ` (${day(item.date)})` : ""}`]);
  if (turn.missing.length) rows.push(["info", `Not found: ${turn.missing.join("; ")}`]);
  if (undecided) rows.push(["warning", `Earlier decisions could not be read: ${undecided}`]);
  box.replaceChildren(...rows.map(([level, text]) => { const row = make("p", { class: "alert" }, severity(level), " "); const words = make("span"); cited(words, text); row.append(words); return row; }));
}

function flags(body, standing) {
  const first = body.flags.filter((flag) => flag.priority !== null);
  const nothing = root.querySelector(".nothing");
  root.querySelector("ol.flags").replaceChildren(...first.map((flag) => card(flag, body.flags.indexOf(flag), standing)));
  nothing.hidden = first.length > 0;
  nothing.textContent = "No rule raised a flag. That is no statement that all is well: see what was checked.";
  const rest = body.flags.filter((flag) => flag.priority === null);
  const folds = root.querySelector(".folds");
  root.querySelector(".rest").hidden = rest.length === 0;
  const grave = rest.filter((flag) => flag.severity === "critical").length;
  root.querySelector("#b-rest").replaceChildren("Also flagged", ...(grave ? [" ", make("span", { class: "sev critical more" }, `${grave} more critical`)] : []));
  folds.replaceChildren(...KINDS.map(([kind, title]) => [title, rest.filter((flag) => flag.category === kind)])
    .filter(([, some]) => some.length)
    .map(([title, some]) => {
      const counts = LEVELS.map((level) => [level, some.filter((flag) => flag.severity === level).length]).filter(([, n]) => n);
      return make("details", { class: "fold" },
        make("summary", {}, make("b", {}, title), ...counts.flatMap(([level, n]) => [" ", make("span", { class: `sev ${level}` }, `${n} ${level}`)])),
        make("ol", { class: "flags" }, ...some.map((flag) => card(flag, body.flags.indexOf(flag), standing))));
    }));
  const target = report.target;
  target.replaceChildren(make("option", { value: "answer" }, "the whole briefing"), ...body.flags.map((flag, index) => make("option", { value: `flag:${index}` }, flag.title)));
}

// The option stands once: among the options where it is listed there, else under its flag.
const listed = (flag) => turn.briefing.suggested_actions.some((item) => item.text === flag.suggested_action);

function card(flag, index, standing) {
  const words = make("p");
  const plain = flag.description.startsWith(`${flag.title}: `) ? flag.description.slice(flag.title.length + 2) : flag.description;
  cited(words, plain, flag.evidence);
  const row = make("li", { class: `flag ${flag.severity}`, id: `flag-${index}` },
    make("h3", {}, severity(flag.severity), " ", flag.title, flag.source === "ai" ? make("span", { class: "said-by", title: "added by the model; its sentence was checked against its source" }, "model") : null),
    words,
    make("ul", { class: "evidence" }, ...flag.evidence.map((item) => make("li", {}, evidence(item)))));
  if (flag.suggested_action && !listed(flag)) { const option = make("p", { class: "consider" }); cited(option, flag.suggested_action); row.append(option); }
  row.append(decidable({ turn: turn.turn_id, target: `flag:${index}`, words: flag.title, verbs: ["dismissed"], stands: standing.get(`flag:${index}`) }));
  return row;
}

function evidence(item) {
  const own = pick(item.n, [item], 0);
  const button = citeButton(own);
  const date = item.source.date ? `, ${day(item.source.date)}` : "";
  const old = item.source.superseded ? " · superseded" : "";
  button.textContent = `${button.textContent} ${item.source.title}${date}${old}`;
  return button;
}

function options(body, standing) {
  const list = root.querySelector(".actions-list");
  list.replaceChildren(...body.suggested_actions.map((item, index) => {
    const words = make("p");
    cited(words, item.text);
    const about = body.flags.findIndex((flag) => flag.suggested_action === item.text);
    const row = make("li", { class: "option" }, make("span", { class: "level" }, item.priority), words);
    if (about >= 0) row.append(make("a", { class: "about", href: `#flag-${about}`, onclick: () => { document.getElementById(`flag-${about}`)?.closest("details")?.setAttribute("open", ""); } }, `for: ${body.flags[about].title}`));
    row.append(decidable({ turn: turn.turn_id, target: `action:${index}`, words: item.text.replace(/\s*\[\d+\]/g, ""), verbs: ["accepted", "edited", "dismissed"], stands: standing.get(`action:${index}`) }));
    return row;
  }));
  if (!body.suggested_actions.length) list.append(make("li", { class: "meta" }, "No option is offered."));
}

function apart() {
  const removed = root.querySelector("details.removed");
  removed.hidden = turn.removed.length === 0;
  removed.querySelector("summary").textContent = `${plural(turn.removed.length, "line")} removed, for lack of support`;
  removed.querySelector("ul").replaceChildren(...turn.removed.map((item) => make("li", {}, removal(item))));
  const sources = root.querySelector("details.sourcelist");
  renderSources(sources.querySelector("ol"), turn);
  const n = new Set(turn.citations.map((item) => item.n)).size;
  sources.hidden = n === 0;
  sources.querySelector("summary").textContent = plural(n, "source");
}

// ---- deeds

function reviewed(review) {
  const accepted = review.state === "accepted";
  root.classList.toggle("is-accepted", accepted);
  bar.querySelector('[data-do="accept"]').disabled = accepted;
  said.textContent = accepted ? `Accepted by ${review.by ?? "you"}, ${when(review.at)}` : "Draft until accepted";
}

bar.querySelector('[data-do="again"]').addEventListener("click", brief);
bar.querySelector('[data-do="accept"]').addEventListener("click", async () => {
  try { reviewed(await call(`/v1/turns/${encodeURIComponent(turn.turn_id)}/review`, { method: "POST", body: { state: "accepted" } })); }
  catch (error) { said.textContent = `Not accepted: ${error.message}`; }
});
bar.querySelector('[data-do="copy"]').addEventListener("click", async () => {
  await navigator.clipboard.writeText(plainWithSources(turn));
  said.textContent = "Copied with sources";
});
bar.querySelector('[data-do="report"]').addEventListener("click", () => { report.hidden = !report.hidden; if (!report.hidden) report.note.focus(); });
report.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await call(`/v1/turns/${encodeURIComponent(turn.turn_id)}/reports`, { method: "POST", body: { target: report.target.value, kind: report.kind.value, note: report.note.value } });
    said.textContent = "Reported to safety";
    report.hidden = true;
    report.reset();
  } catch (error) { said.textContent = `Not reported: ${error.message}`; }
});

if (root.dataset.turn) open(root.dataset.turn);
else brief();
