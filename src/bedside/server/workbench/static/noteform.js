// Paste or upload a note; the page of its summary opens when it is made.
import { call, plural } from "/static/api.js";

const form = document.getElementById("summarise");
const status = form.querySelector(".status");
const files = form.querySelector(".files");
let title = "Note";

function say(words) { status.textContent = words; status.hidden = !words; }

form.file.addEventListener("change", async () => {
  const file = form.file.files[0];
  if (!file) return;
  files.textContent = file.name;
  say("Reading the file…");
  try {
    const body = new FormData();
    body.append("file", file);
    const found = await call("/v1/notes/text", { method: "POST", form: body });
    form.text.value = found.text;
    title = found.title;
    say(`${plural(Array.from(found.text).length, "character")} read from ${file.name}. Look at them before you go on.`);
  } catch (error) {
    files.textContent = "";
    form.file.value = "";
    say(`The file was not read: ${error.message}`);
  }
});

form.text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(); }
});

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button.primary");
  button.disabled = true;
  say("Reading the note…");
  try {
    const turn = await call("/v1/notes/summarise", {
      method: "POST", headers: { "Idempotency-Key": crypto.randomUUID() },
      body: { text: form.text.value, title, patient: form.dataset.patient || null, date: form.date.value || null },
    });
    if (turn.status === "complete" && turn.summary) { location.href = `/notes/${encodeURIComponent(turn.turn_id)}`; return; }
    say(`No summary: ${turn.why ?? (turn.missing.concat(turn.degraded).join("; ") || turn.status)}`);
  } catch (error) { say(`No summary: ${error.message}`); }
  button.disabled = false;
});
