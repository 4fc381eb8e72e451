// Begins a conversation; its own page opens with the guide's first words.
import "/static/leave.js";
import { call } from "/static/api.js";

const form = document.getElementById("begin");
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const status = form.querySelector(".status");
  form.querySelector("button").disabled = true;
  status.hidden = true;
  try {
    const turn = await call("/v1/companion", { method: "POST", body: { text: form.text.value }, headers: { "Idempotency-Key": crypto.randomUUID() } });
    location.href = `/companion/${encodeURIComponent(turn.session_id)}`;
  } catch (error) {
    status.textContent = `It was not begun: ${error.message}`;
    status.hidden = false;
    form.querySelector("button").disabled = false;
  }
});
