// Accept, edit or dismiss with a reason. What is shown as decided is what the server said it kept.
import { call, make } from "/static/api.js";

const VERB = { accepted: "Accept", edited: "Edit", dismissed: "Dismiss" };

export function decidable({ turn, target, words, verbs, stands }) {
  const box = make("div", { class: "decide" });
  let current = stands ?? null;

  function draw(focus = false) {
    box.className = `decide is-${current?.state ?? "open"}`;
    if (current) {
      const what = { accepted: "Accepted", edited: `Edited: ${current.text}`, dismissed: `Dismissed: ${current.reason}` }[current.state];
      const change = make("button", { type: "button", class: "plain", onclick: () => choose(true) }, "Change");
      box.replaceChildren(make("span", { class: "outcome" }, what), make("span", { class: "meta" }, ` ${current.by}`), change);
      if (focus) change.focus();
    } else choose(focus);
  }

  function choose(focus = false) {
    const buttons = verbs.map((state) => make("button", {
      type: "button", "aria-label": `${VERB[state]}: ${words}`,
      onclick: () => (state === "accepted" ? keep({ state }) : form(state)),
    }, VERB[state] + (state === "accepted" ? "" : "…")));
    if (current) buttons.push(make("button", { type: "button", class: "plain", onclick: () => draw(true) }, "Cancel"));
    box.replaceChildren(...buttons);
    if (focus) buttons[0].focus();
  }

  function form(state) {
    const editing = state === "edited";
    const input = editing
      ? make("textarea", { rows: 3, maxlength: 2000, required: true, "aria-label": "The option in your words" })
      : make("input", { maxlength: 2000, required: true, list: "reasons", placeholder: "Reason", "aria-label": "Why it is dismissed" });
    input.value = editing ? current?.text ?? words : "";
    const made = make("form", {
      onsubmit: (event) => {
        event.preventDefault();
        keep(editing ? { state, text: input.value } : { state, reason: input.value });
      },
      onkeydown: (event) => { if (event.key === "Escape") { event.stopPropagation(); draw(true); } },
    }, input, make("button", { type: "submit", class: "primary" }, editing ? "Keep" : "Dismiss"), make("button", { type: "button", onclick: () => draw(true) }, "Cancel"));
    box.replaceChildren(made);
    input.focus();
  }

  async function keep(decision) {
    for (const button of box.querySelectorAll("button")) button.disabled = true;
    try {
      current = await call(`/v1/turns/${encodeURIComponent(turn)}/decisions`, { method: "POST", body: { target, ...decision } });
      draw(true);
    } catch (error) {
      for (const button of box.querySelectorAll("button")) button.disabled = false;
      box.querySelector(".failed")?.remove();
      box.append(make("p", { class: "failed", role: "alert" }, `Not kept: ${error.message}`));
    }
  }

  draw();
  return box;
}
