// The patient's page: one question at a time. Nothing is sent to a hospital from here without a yes.
import { call, make } from "/static/api.js";
import { RTL, WORDS } from "/static/intakewords.js";

const at = (id) => document.getElementById(id);
const root = at("intake");
const form = at("answer");
const reply = at("reply");
const trouble = at("trouble");
let caseId = root.dataset.case || null;
let language = WORDS[navigator.language?.slice(0, 2)] ? navigator.language.slice(0, 2) : "en";
let last = null;
let busy = false;
let watch = null;
const words = () => WORDS[language];

function speak() {
  document.documentElement.lang = language;
  document.documentElement.dir = RTL.has(language) ? "rtl" : "ltr";
  for (const node of document.querySelectorAll("[data-t]")) node.textContent = words()[node.dataset.t];
  document.title = words().title;
  at("language").value = language;
  const number = root.dataset.emergency;
  const [before, after] = words().call.split("{n}");
  at("call").replaceChildren(before, number ? make("a", { href: `tel:${number.replace(/[^\d+]/g, "")}` }, number) : words().number, after);
  if (last) draw(last, false);
}

at("language").addEventListener("change", () => {
  language = at("language").value;
  speak();
  if (caseId && last) say("", "language");
});

// ---- the conversation

function begin() {
  return deed(async () => {
    const made = await call("/v1/intake/cases", { method: "POST", body: { language } });
    caseId = made.case;
    history.replaceState(null, "", `/intake/${encodeURIComponent(caseId)}`);
    at("keep").hidden = false;
    at("link").value = `${location.origin}${location.pathname}${made.link ? `#link=${made.link}` : ""}`;
    return made.turn;
  }, words().wait);
}

// A link's token stands in the fragment, which no server log sees; it becomes a cookie at once.
async function entered() {
  const token = new URLSearchParams(location.hash.slice(1)).get("link");
  if (!token) return;
  history.replaceState(null, "", location.pathname);
  await fetch("/login", { method: "POST", body: new URLSearchParams({ token }), redirect: "manual" });
}

async function resume() {
  await deed(async () => {
    await entered();
    const kept = await look();
    const messages = kept.conversation ?? [];
    earlier(messages);
    return { answer: messages.findLast((one) => one.role === "assistant")?.text ?? "", state: kept.state, consent: kept.consent, left: kept.checklist?.still_needed?.length ?? null, red_flags: (kept.alerts ?? []).filter((one) => one.turn === kept.turns && one.kind.startsWith("red_flag")) };
  }, words().wait);
}

const look = () => call(`/v1/intake/cases/${encodeURIComponent(caseId)}`);

function say(text, act = "") {
  return deed(() => call(`/v1/intake/cases/${encodeURIComponent(caseId)}/messages`, {
    method: "POST", body: act ? { act, language } : { text, language }, headers: { "Idempotency-Key": crypto.randomUUID() },
  }), words().wait, text);
}

// Runs one deed. Where it fails, what was written stays in its box.
async function deed(work, waiting, text = "") {
  if (busy) return false;
  busy = true;
  trouble.hidden = true;
  at("start").hidden = true;
  at("talk").hidden = false;
  const before = last?.answer ?? "";
  reply.classList.add("waiting");
  reply.textContent = waiting;
  lock(true);
  let done = false;
  try {
    const turn = await work();
    if (text) { note("you", text, before); }
    if (turn) draw(turn, true);
    done = true;
  } catch (error) {
    reply.classList.remove("waiting");
    reply.textContent = before;
    trouble.textContent = words().lost.replace("{why}", error.message.replace(/\.$/, ""));
    trouble.hidden = false;
    if (!caseId) { at("start").hidden = false; at("talk").hidden = true; at("start").append(trouble); }
  }
  busy = false;
  lock(false);
  return done;
}

function lock(on) {
  for (const node of document.querySelectorAll("#answer button, #agree button, #file")) node.disabled = on;
  at("person").disabled = on;
}

function note(who, text, asked) {
  const list = at("earlier").querySelector("ol");
  if (asked) list.append(make("li", {}, make("b", {}, words().us), make("p", {}, asked)));
  list.append(make("li", { class: who }, make("b", {}, words().you), make("p", {}, text)));
  at("earlier").hidden = false;
}

function earlier(messages) {
  const list = at("earlier").querySelector("ol");
  const past = messages.at(-1)?.role === "assistant" ? messages.slice(0, -1) : messages;
  list.replaceChildren(...past.map((item) => make("li", { class: item.role === "user" ? "you" : null }, make("b", {}, item.role === "user" ? words().you : words().us), make("p", {}, item.text))));
  at("earlier").hidden = past.length === 0;
}

function draw(turn, focus) {
  last = turn;
  reply.classList.remove("waiting");
  reply.classList.toggle("urgent", (turn.red_flags ?? []).length > 0);
  reply.textContent = turn.answer;
  const left = at("left");
  left.hidden = turn.left === null || turn.left === undefined;
  if (!left.hidden) left.textContent = turn.left === 0 ? words().left0 : turn.left === 1 ? words().left1 : words().left.replace("{n}", turn.left);
  const consent = turn.consent ?? {};
  const asking = consent.state === "confirming";
  at("agree").hidden = !asking;
  if (asking) {
    at("agree-to").textContent = (consent.recipients ?? []).join(", ") || "–";
    at("agree-what").textContent = (consent.fields ?? []).join(", ");
    at("agree-why").textContent = consent.purpose ?? "";
  }
  papers(turn.state?.documents ?? {});
  noted(turn);
  if (focus) { reply.focus({ preventScroll: true }); window.scrollTo({ top: 0 }); }
}

function noted(turn) {
  const known = Object.entries(turn.state?.fields ?? {}).filter(([, one]) => one.status === "known");
  const labels = turn.labels ?? {};
  at("noted").hidden = known.length === 0;
  at("noted").querySelector("dl").replaceChildren(...known.flatMap(([id, one]) => [
    make("dt", {}, labels[id] ?? id.replaceAll("_", " ")),
    make("dd", {}, one.said && String(one.said) !== shown(one.value) ? `${shown(one.value)} (“${one.said}”)` : shown(one.value)),
  ]));
}

export function shown(value) {
  if (Array.isArray(value)) return value.map(shown).join(", ");
  if (value && typeof value === "object") return value.shown ?? value.said ?? Object.values(value).filter((one) => typeof one !== "object").join(" ");
  return value === true ? "yes" : value === false ? "no" : String(value);
}

// ---- files: each says what is true of it, and is looked at again while it is being read

function papers(documents) {
  at("papers").replaceChildren(...Object.values(documents).map((one) => {
    const state = words()[one.status] ?? one.status;
    const eta = ["queued", "processing"].includes(one.status) && one.eta_seconds ? `, ${words().eta.replace("{n}", one.eta_seconds)}` : "";
    return make("li", { data: { status: one.status } }, make("b", { dir: "auto" }, one.shown ?? one.label), " ", make("span", {}, `${state}${eta}`));
  }));
  clearTimeout(watch);
  if (Object.values(documents).some((one) => ["queued", "processing", "failed_transient"].includes(one.status))) watch = setTimeout(watched, 3000);
}

async function watched() {
  if (busy) { watch = setTimeout(watched, 3000); return; }
  try {
    papers((await look()).state?.documents ?? {});
  } catch { watch = setTimeout(watched, 10000); }
}

at("file").addEventListener("change", async () => {
  const file = at("file").files[0];
  if (!file) return;
  await deed(() => {
    const body = new FormData();
    body.append("file", file);
    return call(`/v1/intake/cases/${encodeURIComponent(caseId)}/documents`, { method: "POST", form: body });
  }, words().adding, file.name);
  at("file").value = "";
});

// ---- deeds

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = at("text").value.trim();
  if (!text) { trouble.textContent = words().empty; trouble.hidden = false; at("text").focus(); return; }
  if (await say(text)) at("text").value = "";
});
at("text").addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(); } });
at("skip").addEventListener("click", () => say(words().skip, "skip"));
at("person").addEventListener("click", async () => { if (caseId || await begin()) await say(words().person, "person"); });
at("yes").addEventListener("click", () => say("Yes, I confirm."));
at("no").addEventListener("click", () => say("No, do not send it."));
at("begin").addEventListener("click", begin);

at("link").addEventListener("focus", (event) => event.target.select());

speak();
if (caseId) resume();
