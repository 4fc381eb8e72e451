// The editor of a contract: checked before it is saved, and never saved over somebody else's change.
import { call, make, plural } from "/static/api.js";

const root = document.getElementById("sop");
const text = document.getElementById("yaml");
const said = document.getElementById("said");
const problems = document.getElementById("problems");
const id = encodeURIComponent(root.dataset.sop);
let kept = text.value;

window.addEventListener("beforeunload", (event) => { if (text.value !== kept) event.preventDefault(); });

async function check() {
  said.textContent = "Checking…";
  const found = await call("/v1/sops/lint", { method: "POST", body: { yaml: text.value } });
  problems.replaceChildren(...found.findings.map((one) => make("li", {},
    make("span", { class: `sev ${one.level === "error" ? "warning" : "info"}` }, one.level), " ",
    make("button", { type: "button", class: "plain", onclick: () => find(one.where) }, one.where), ` ${one.text}`)));
  const errors = found.findings.filter((one) => one.level === "error").length;
  said.textContent = found.findings.length ? `${plural(errors, "error")}, ${plural(found.findings.length - errors, "warning")}` : "Nothing was found. This checks the form of the text, not the medicine.";
  return errors === 0;
}

// The last part of "rules.anticoagulation" is an id in the text.
function find(where) {
  const name = where.split(".").at(-1);
  const at = text.value.search(new RegExp(`\\b${name.replace(/[^\w-]/g, ".")}\\b`));
  text.focus();
  if (at >= 0) {
    text.setSelectionRange(at, at + name.length);
    text.scrollTop = (text.value.slice(0, at).split("\n").length - 6) * 19.5;
  }
}

async function keep(path, body) {
  const made = await call(path, { method: "PUT", body: { ...body, expected: Number(root.dataset.saved) } });
  root.dataset.saved = made.version;
  kept = text.value;
  return made.version;
}

function deed(id, work) {
  const button = document.getElementById(id);
  button?.addEventListener("click", async () => {
    button.disabled = true;
    try { await work(); } catch (error) { said.textContent = error.status === 409 ? "Somebody saved another version meanwhile: copy your text, open the page anew." : `Not done: ${error.message}`; }
    button.disabled = false;
  });
}

deed("check", check);
deed("save", async () => {
  if (!(await check())) { said.textContent += ". Not saved: mend the errors first."; return; }
  const version = await keep(`/v1/sops/${id}`, { yaml: text.value });
  said.textContent = `Saved as version ${version}; live at the next turn of every case.`;
  document.getElementById("state").textContent = `Version ${version}, saved here.`;
});
deed("back", async () => { await keep(`/v1/catalogue/sop/${id}`, { body: null }); location.reload(); });
