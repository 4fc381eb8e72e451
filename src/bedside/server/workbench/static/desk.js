// A case at the desk: where each field is from, and a coordinator's own words for one.
import "/static/drawer.js";
import { call, make } from "/static/api.js";

const id = encodeURIComponent(document.getElementById("case").dataset.case);

document.addEventListener("click", (event) => {
  const button = event.target.closest('[data-do="correct"]');
  if (!button) return;
  const row = button.closest("tr");
  const cell = button.parentElement;
  const field = row.dataset.field;
  const input = make("input", { maxlength: 500, required: true, "aria-label": `${row.querySelector("th").textContent}, in words` });
  const close = () => { cell.replaceChildren(button); button.focus(); };
  const form = make("form", {
    onsubmit: async (submitted) => {
      submitted.preventDefault();
      form.querySelector(".failed")?.remove();
      try {
        await call(`/v1/intake/cases/${id}/fields/${encodeURIComponent(field)}`, { method: "PUT", body: { text: input.value } });
        location.reload();
      } catch (error) { form.append(make("p", { class: "failed", role: "alert" }, `Not kept: ${error.message}`)); }
    },
    onkeydown: (pressed) => { if (pressed.key === "Escape") { pressed.stopPropagation(); close(); } },
  }, input, make("button", { type: "submit" }, "Keep"), make("button", { type: "button", onclick: close }, "Cancel"));
  cell.replaceChildren(form);
  input.focus();
});
