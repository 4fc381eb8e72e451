// The ask box and its answers. Text appears sentence by checked sentence; nothing shown is recalled.
import "/static/drawer.js";
import { ENDED, SILENT, call, make, plural, writer } from "/static/api.js";
import { events } from "/static/stream.js";
import { plainWithSources, renderSources, removal, renderText, shortfalls } from "/static/render.js";

const form = document.getElementById("ask");
const answers = document.getElementById("answers");
const template = document.getElementById("answer");
const patient = form.dataset.patient || null;
let session = null;

form.question.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(); }
});
form.file?.addEventListener("change", () => {
  form.querySelector(".files").textContent = [...form.file.files].map((file) => file.name).join(", ");
});

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const question = form.question.value.trim();
  if (!question) return;
  const card = template.content.firstElementChild.cloneNode(true);
  card.querySelector(".asked").textContent = question;
  const stop = new AbortController();
  card.querySelector('[data-do="stop"]').addEventListener("click", () => stop.abort());
  answers.prepend(card);
  const button = form.querySelector("button.primary");
  button.disabled = true;
  const slow = setTimeout(() => { if (!card.querySelector(".text").textContent) say(card, "Still working…", true); }, 8000);
  try {
    const documents = await attach(card, stop.signal);
    await ask(card, question, documents, stop.signal);
    form.question.value = "";
  } catch (error) {
    fail(card, stop.signal.aborted ? "you stopped it" : error.message);
  } finally {
    clearTimeout(slow);
    card.setAttribute("aria-busy", "false");
    button.disabled = false;
    form.question.focus({ preventScroll: true });
  }
});

// The server's answer, or an Error that says in words what happened.
async function send(path, options) {
  let answer;
  try {
    answer = await fetch(path, { method: "POST", ...options });
  } catch (error) {
    throw new Error(options.signal?.aborted ? error.message : SILENT);
  }
  if (answer.ok) return answer;
  const found = await answer.json().catch(() => null);
  throw new Error(answer.status === 401 ? ENDED : found?.detail || found?.title || `the server said ${answer.status}`);
}

async function attach(card, signal) {
  if (!form.file?.files.length) return [];
  say(card, "Reading the documents…", true);
  const body = new FormData();
  for (const file of form.file.files) body.append("files", file);
  const found = await (await send(`/v1/patients/${encodeURIComponent(patient)}/documents`, { body, signal })).json();
  form.file.value = "";
  form.querySelector(".files").textContent = "";
  return found.map((item) => item.document_id);
}

async function ask(card, question, documents, signal) {
  say(card, patient ? "Reading the record…" : "Searching the guidelines…", true);
  const select = [...document.querySelectorAll('input[name="select"]:checked')].map((box) => box.value);
  const key = { "Idempotency-Key": crypto.randomUUID() };
  // The server goes on where a page only leaves, so it is told; a turn that has just ended is kept.
  signal.addEventListener("abort", () => call("/v1/turns", { method: "DELETE", headers: key }).catch(() => {}));
  const response = await send("/v1/ask", {
    signal,
    headers: { "Content-Type": "application/json", Accept: "text/event-stream", ...key },
    body: JSON.stringify({ question, patient, session, documents, select, mode: form.mode.value || null }),
  });
  const text = card.querySelector(".text");
  let ended = false;
  for await (const [name, body] of events(response)) {
    if (name === "delta") { say(card, "Writing…", true); text.append(body.text); }
    else if (name === "done") { ended = true; finish(card, body); }
    else if (name === "error") throw new Error(body.detail || body.title);
  }
  if (!ended) throw new Error("the connection ended before the answer did");
}

function say(card, words, working = false) {
  const status = card.querySelector(".status");
  const said = status.querySelector(".words");
  if (said.textContent !== words) said.textContent = words;
  status.querySelector('[data-do="stop"]').hidden = !working;
  status.hidden = !words;
}

// Text that was shown stays, and is named for what it is.
function fail(card, why) {
  const begun = card.querySelector(".text").textContent !== "";
  card.classList.toggle("cut", begun);
  say(card, begun ? `This answer broke off (${why}). It is not whole: ask again.` : `No answer: ${why}`);
}

function list(section, lines) {
  section.hidden = lines.length === 0;
  const ul = section.querySelector("ul");
  ul.replaceChildren(...lines.map((line) => { const li = document.createElement("li"); li.textContent = line; return li; }));
}

function finish(card, turn) {
  session = turn.session_id;
  card.classList.add("draft");
  const whole = turn.status === "complete";
  if (whole) say(card, turn.answer ? "" : "Nothing that could be supported was found.");
  renderText(card.querySelector(".text"), turn);
  const sources = card.querySelector(".sourcelist");
  const cited = new Set(turn.citations.map((item) => item.n)).size;
  renderSources(sources.querySelector("ol"), turn);
  sources.hidden = cited === 0;
  sources.open = cited <= 6;
  sources.querySelector("summary").textContent = plural(cited, "source");
  list(card.querySelector(".notfound"), turn.missing);
  list(card.querySelector(".contra"), turn.contradictions.map((item) => item.text));
  const removed = card.querySelector(".removed");
  removed.querySelector("summary").textContent = `${plural(turn.removed.length, "line")} removed, for lack of support`;
  list(removed, turn.removed.map(removal));
  const degraded = card.querySelector(".degraded");
  degraded.hidden = turn.degraded.length === 0;
  degraded.textContent = `Not everything was at hand: ${shortfalls(turn.degraded).join("; ")}.`;
  if (!whole) fail(card, "the model stopped");
  actions(card, turn);
}

function actions(card, turn) {
  const bar = card.querySelector(".actions");
  bar.hidden = false;
  const said = bar.querySelector(".said");
  const by = turn.answered_by === "rules" ? "answered by rules" : turn.answered_by === "extractive" ? "extracted from the sources, no model" : `written by ${writer(turn)}`;
  said.textContent = `Draft, ${by}; ${turn.egress === "none" ? "nothing left this machine" : turn.egress}`;
  bar.querySelector('[data-do="inspect"]').href = `/inspect/${turn.turn_id}`;
  bar.querySelector('[data-do="copy"]').addEventListener("click", async () => {
    await navigator.clipboard.writeText(plainWithSources(turn));
    said.textContent = "Copied with sources";
  });
  bar.querySelector('[data-do="accept"]').disabled = turn.status !== "complete";
  bar.querySelector('[data-do="accept"]').addEventListener("click", async (event) => {
    try { await call(`/v1/turns/${turn.turn_id}/review`, { method: "POST", body: { state: "accepted" } }); }
    catch (error) { said.textContent = `Not accepted: ${error.message}`; return; }
    card.classList.replace("draft", "accepted");
    said.textContent = "Accepted";
    event.target.disabled = true;
  });
  const report = card.querySelector("form.report");
  report.target.replaceChildren(make("option", { value: "answer" }, "the whole answer"), ...turn.claims.map((claim, index) => make("option", { value: `claim:${index}` }, `sentence ${index + 1}: ${short(claim.text)}`)));
  bar.querySelector('[data-do="report"]').addEventListener("click", () => { report.hidden = !report.hidden; if (!report.hidden) report.note.focus(); });
  report.addEventListener("submit", async (event) => {
    event.preventDefault();
    try { await call(`/v1/turns/${turn.turn_id}/reports`, { method: "POST", body: { target: report.target.value, kind: report.kind.value, note: report.note.value } }); }
    catch (error) { said.textContent = `Not reported: ${error.message}`; return; }
    said.textContent = "Reported to safety";
    report.hidden = true;
  });
}

function short(text) {
  const points = Array.from(text.replace(/\s*\[\d+\]/g, ""));
  return points.length > 48 ? `${points.slice(0, 47).join("")}…` : points.join("");
}
