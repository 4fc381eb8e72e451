// Begins a conversation; its own page opens with the guide's first words.
import "/static/leave.js";
import { call } from "/static/api.js";

const form = document.getElementById("begin");
// "Think about this alone" comes here from a conversation, which the new space is then linked to.
const link = new URLSearchParams(location.search).get("link");
if (link) {
  form.querySelector(".what").textContent = "A space of your own, linked to your conversation: what do you want to think about?";
  form.querySelector("button.go").remove();
  form.querySelector("button").className = "go";
  form.querySelector("button").textContent = "Begin";
  form.querySelector(".how").textContent = "Only you see it. The guide may keep in mind there what you write here; you can unlink it at any time.";
}
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const status = form.querySelector(".status");
  const space = event.submitter?.value ?? (link ? "inner" : "");
  for (const one of form.querySelectorAll("button")) one.disabled = true;
  status.hidden = true;
  try {
    const turn = await call("/v1/companion", { method: "POST", body: { text: form.text.value, ...(space ? { space } : {}), ...(link ? { link } : {}) }, headers: { "Idempotency-Key": crypto.randomUUID() } });
    location.href = `/companion/${encodeURIComponent(turn.session_id)}`;
  } catch (error) {
    status.textContent = `It was not begun: ${error.message}`;
    status.hidden = false;
    for (const one of form.querySelectorAll("button")) one.disabled = false;
  }
});
