// The ask box and its answers. Text appears sentence by checked sentence; nothing shown is recalled.
import "/static/drawer.js";
import { events } from "/static/stream.js";
import { plainWithSources, renderSources, renderText } from "/static/render.js";

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
  answers.prepend(card);
  form.querySelector("button.primary").disabled = true;
  try {
    const documents = await attach(card);
    await ask(card, question, documents);
    form.question.value = "";
  } catch (error) {
    fail(card, error.message);
  } finally {
    form.querySelector("button.primary").disabled = false;
    form.question.focus();
  }
});

async function attach(card) {
  if (!form.file?.files.length) return [];
  say(card, "Reading the documents…");
  const body = new FormData();
  for (const file of form.file.files) body.append("files", file);
  const answer = await fetch(`/v1/patients/${encodeURIComponent(patient)}/documents`, { method: "POST", body });
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.detail || found.title);
  form.file.value = "";
  form.querySelector(".files").textContent = "";
  return found.map((item) => item.document_id);
}

async function ask(card, question, documents) {
  say(card, patient ? "Reading the record…" : "Searching the guidelines…");
  const select = [...document.querySelectorAll('input[name="select"]:checked')].map((box) => box.value);
  const response = await fetch("/v1/ask", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream", "Idempotency-Key": crypto.randomUUID() },
    body: JSON.stringify({ question, patient, session, documents, select, mode: form.mode.value || null }),
  });
  if (!response.ok) { const found = await response.json(); throw new Error(found.detail || found.title); }
  const text = card.querySelector(".text");
  let ended = false;
  for await (const [name, body] of events(response)) {
    if (name === "delta") { say(card, ""); text.append(body.text); }
    else if (name === "done") { ended = true; finish(card, body); }
    else if (name === "error") throw new Error(body.detail || body.title);
  }
  if (!ended) throw new Error("the connection ended before the answer did");
}

function say(card, words) { const status = card.querySelector(".status"); status.textContent = words; status.hidden = !words; }

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
  renderSources(card.querySelector(".sources"), turn);
  list(card.querySelector(".notfound"), turn.missing);
  list(card.querySelector(".contra"), turn.contradictions.map((item) => item.text));
  const removed = card.querySelector(".removed");
  removed.querySelector("summary").textContent = `${turn.removed.length} line${turn.removed.length === 1 ? "" : "s"} removed, for lack of support`;
  list(removed, turn.removed.map((item) => `${item.claim} (${item.why.replaceAll("_", " ")})`));
  const degraded = card.querySelector(".degraded");
  degraded.hidden = turn.degraded.length === 0;
  degraded.textContent = `Not everything could be read: ${turn.degraded.join("; ")}`;
  if (!whole) fail(card, "the model stopped");
  actions(card, turn);
}

function actions(card, turn) {
  const bar = card.querySelector(".actions");
  bar.hidden = false;
  const said = bar.querySelector(".said");
  const by = turn.answered_by === "rules" ? "answered by rules" : turn.answered_by === "extractive" ? "extracted from the sources, no model" : turn.answered_by;
  said.textContent = `Draft, ${by}; ${turn.egress === "none" ? "nothing left this machine" : turn.egress}`;
  bar.querySelector('[data-do="inspect"]').href = `/inspect/${turn.turn_id}`;
  bar.querySelector('[data-do="copy"]').addEventListener("click", async () => {
    await navigator.clipboard.writeText(plainWithSources(turn));
    said.textContent = "Copied with sources";
  });
  bar.querySelector('[data-do="accept"]').disabled = turn.status !== "complete";
  bar.querySelector('[data-do="accept"]').addEventListener("click", async (event) => {
    const answer = await post(`/v1/turns/${turn.turn_id}/review`, { state: "accepted" });
    if (!answer.ok) { said.textContent = "Not accepted: try again"; return; }
    card.classList.replace("draft", "accepted");
    said.textContent = "Accepted";
    event.target.disabled = true;
  });
  const report = card.querySelector("form.report");
  bar.querySelector('[data-do="report"]').addEventListener("click", () => { report.hidden = !report.hidden; if (!report.hidden) report.note.focus(); });
  report.addEventListener("submit", async (event) => {
    event.preventDefault();
    const answer = await post(`/v1/turns/${turn.turn_id}/reports`, { target: "answer", kind: report.kind.value, note: report.note.value });
    said.textContent = answer.ok ? "Reported to safety" : "Not reported: try again";
    report.hidden = answer.ok;
  });
}

function post(path, body) {
  return fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}
