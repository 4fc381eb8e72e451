// One person's space: their words, what they may share, what the other shared. Nothing else of the other.
import "/static/leave.js";
import { call, make } from "/static/api.js";

const root = document.getElementById("spaces");
const template = document.getElementById("space");
const STAGES = ["Beginning", "Being heard", "The other side", "What each needs", "One thing to try"];
const CONSENTS = { recall: "The guide may use my earlier conversations", profile: "The guide may keep a few facts across my conversations" };
const KIND = { statement: "What I understand of you", need: "What I need", agreement: "What I propose", invitation: "An invitation" };
let session = root.dataset.session;
const people = root.dataset.people.split(",").filter(Boolean);
const spaces = [];

const DONE = {
  invite: "You invited somebody.", draft: "You wrote something to share later.", edit: "You changed your text.",
  approve: "You approved your text.", share: "You shared your text.", acknowledge: "You said that you read it.",
  withdraw: "You took your text back.", consent: "You changed what may be kept.", prefer: "You asked to have something kept.",
  forget: "You had something taken out.", link: "You linked this space.", unlink: "You unlinked this space.", resume: "You went on.",
};

// A deed stands in the conversation as its name in brackets.
const deedOf = (one) => (one.role === "user" ? /^\[([a-z]+)\]$/.exec(one.text)?.[1] : undefined);

function mount(person) {
  const node = template.content.firstElementChild.cloneNode(true);
  root.append(node);
  const find = (selector) => node.querySelector(selector);
  const status = find(".status");
  const asked = person ? `?person=${encodeURIComponent(person)}` : "";
  let view = null;
  let busy = false;

  function tell(text) { status.textContent = text; status.hidden = !text; }

  async function load() {
    const known = spaces.map((one) => one.members()).find((one) => one);
    if (!session || (person && known && !known.includes(person))) { empty(); return; }
    try {
      view = await call(`/v1/companion/${encodeURIComponent(session)}${asked}`);
      draw();
    } catch (error) {
      if (error.status === 404 && person) empty();
      else tell(`This space could not be opened: ${error.message}`);
    }
  }

  function empty() { find(".think").hidden = true; find(".whose").textContent = person || "You"; find(".stage").textContent = "Not begun"; find(".sharing").hidden = true; find(".consents").hidden = true; }

  // `clear` empties the box as soon as the words arrived: what is typed after that stays.
  async function turn(body, clear = () => {}) {
    if (busy) return false;
    busy = true;
    tell("One moment…");
    for (const button of node.querySelectorAll("button")) button.disabled = true;
    let done = false;
    try {
      const path = session ? `/v1/companion/${encodeURIComponent(session)}/turns` : "/v1/companion";
      const made = await call(path, { method: "POST", body: { ...body, ...(person ? { person } : {}) }, headers: { "Idempotency-Key": crypto.randomUUID() } });
      session = made.session_id;
      tell("");
      done = true;
      clear();
      find(".halt").hidden = !made.halted;
    } catch (error) { tell(`That did not arrive: ${error.message.replace(/\.$/, "")}. What you wrote is still here.`); }
    busy = false;
    for (const button of node.querySelectorAll("button")) button.disabled = false;
    if (done) {
      for (const space of spaces) await space.load();
      node.querySelector(".talk li:last-child")?.scrollIntoView({ block: "nearest" });
    }
    return done;
  }
  const act = (name, more = {}, clear = undefined) => turn({ act: { do: name, ...more } }, clear);

  function draw() {
    const shared = view.shared;
    const other = [...shared.people, ...shared.invited].find((one) => one !== view.person);
    find(".whose").textContent = `${view.person}, your space`;
    const alone = view.space === "inner";
    find(".stage").textContent = alone ? "A space of your own" : `Step ${view.stage + 1} of 5: ${STAGES[view.stage] ?? view.stage_name}`;
    find(".alone").hidden = !alone;
    find(".wall").hidden = alone;
    find(".sharing").hidden = alone;
    find(".think").hidden = alone || Boolean(person);
    find(".think a").href = `/companion?link=${encodeURIComponent(session)}`;
    find(".linking").hidden = !alone || !view.link;
    if (view.link) find(".linked").replaceChildren("Linked to ", make("a", { href: `/companion/${encodeURIComponent(view.link)}` }, "your conversation"), ". The guide may keep in mind there what you write here. ", make("button", { type: "button", onclick: () => act("unlink") }, "Unlink"));
    find(".consents").hidden = false;
    find(".halt").hidden = !view.halted;
    find(".talk").replaceChildren(...view.messages.map((one) => deedOf(one) ? make("li", { class: "deed quiet" }, DONE[deedOf(one)] ?? `You: ${deedOf(one)}`) : make("li", { class: one.role === "user" ? "me" : "guide" }, make("b", {}, one.role === "user" ? "You" : "Guide"), make("p", { dir: "auto" }, one.text))));
    find(".invite").hidden = Boolean(other);
    find(".theirs").replaceChildren(...shared.shares.filter((one) => one.author !== view.person).map((one) => make("li", { class: "share" },
      make("b", {}, `${one.author} shared: ${KIND[one.kind] ?? one.kind}`),
      one.state === "withdrawn" ? make("p", { class: "quiet" }, "Taken back by its author.") : make("blockquote", { dir: "auto" }, one.text),
      one.state === "delivered" ? make("button", { type: "button", onclick: () => act("acknowledge", { id: one.id }) }, "I have read it") : one.state === "acknowledged" ? make("span", { class: "quiet" }, "You have read it.") : null)));
    find(".drafts").replaceChildren(...view.drafts.map((one) => draft(one, other)));
    find(".gaps").replaceChildren(...shared.gaps.filter((one) => one.between.every((name) => one.cleared.includes(name))).map((one) => make("li", { class: "share" }, make("b", {}, "What one names and the other does not"), make("blockquote", { dir: "auto" }, one.text))));
    find(".consents ul").replaceChildren(...Object.entries(CONSENTS).map(([name, words]) => {
      const given = view.consents.includes(name);
      return make("li", {}, make("span", {}, `${words}: `), make("b", {}, given ? "yes" : "no"), " ", make("button", { type: "button", "aria-label": `${given ? "Take back" : "Allow"}: ${words}`, onclick: () => act("consent", { id: name, given: !given }) }, given ? "Take back" : "Allow"));
    }));
    lines(".facts", view.facts, (one) => one.text);
    lines(".kept", view.kept, (one) => one.line);
    lines(".people", view.people, (one) => one.relation && !one.name.endsWith(one.relation) ? `${one.name} (${one.relation})` : one.name);
    find(".thoughts").hidden = !view.reflections.length;
    find(".thoughts ul").replaceChildren(...view.reflections.map((one) => make("li", { dir: "auto" }, one.text)));
  }

  // What is kept, line by line; any of it can be taken out.
  function lines(where, found, words) {
    find(where).replaceChildren(...(found.length ? found.map((one) => make("li", {}, make("span", { dir: "auto" }, words(one)), " ", make("button", { type: "button", "aria-label": `Take out: ${words(one)}`, onclick: () => act("forget", { id: one.id }) }, "Take out"))) : [make("li", { class: "quiet" }, "Nothing.")]));
  }

  function draft(one, other) {
    const row = make("li", { class: `share own ${one.state}` }, make("b", {}, `Yours: ${KIND[one.kind] ?? one.kind}`), make("blockquote", { dir: "auto" }, one.text));
    const bar = make("p", { class: "bar" });
    row.append(bar);
    const standing = view.shared.shares.find((share) => share.id === one.id && share.author === view.person);
    if (one.state === "shared") {
      const state = standing?.state === "acknowledged" ? `${other} has read it.` : `${other} can read it.`;
      bar.append(make("span", { class: "quiet" }, state), " ", make("button", { type: "button", onclick: () => act("withdraw", { id: one.id }) }, "Take it back"));
    } else if (one.state === "withdrawn") bar.append(make("span", { class: "quiet" }, "Taken back; it is nowhere else any more."));
    else {
      bar.append(make("span", { class: "quiet" }, "Nobody else has seen this. "),
        make("button", { type: "button", onclick: () => edit(row, one) }, "Edit"), " ",
        make("button", { type: "button", onclick: () => preview(row, one, other) }, "Share…"));
    }
    return row;
  }

  function edit(row, one) {
    const area = make("textarea", { rows: 4, maxlength: 2000, required: true, "aria-label": "Your text" });
    area.value = one.text;
    row.replaceChildren(make("form", { onsubmit: (event) => { event.preventDefault(); act("edit", { id: one.id, text: area.value }); } }, area, make("button", { type: "submit" }, "Keep"), " ", make("button", { type: "button", onclick: draw }, "Cancel")));
    area.focus();
  }

  // The exact text, and whom it goes to, before anything goes.
  function preview(row, one, other) {
    const yes = make("button", { type: "button", class: "go", onclick: async () => { if (one.state === "approved" || await act("approve", { id: one.id })) await act("share", { id: one.id }); } }, "Share exactly this");
    row.replaceChildren(make("div", { class: "preview", role: "group", "aria-label": "Before you share" },
      make("b", {}, other ? `${other} will read exactly this, and nothing else:` : "There is nobody to share with yet: invite somebody first."),
      make("blockquote", { dir: "auto" }, one.text),
      make("p", { class: "quiet" }, "You can take it back later. What the other person remembers of it, nobody can take back."),
      make("p", { class: "bar" }, other ? yes : null, " ", make("button", { type: "button", onclick: draw }, "Not now"))));
    row.querySelector("button").focus();
  }

  const say = find(".say");
  say.addEventListener("submit", async (event) => { event.preventDefault(); if (say.text.value.trim()) await turn({ text: say.text.value }, () => { say.text.value = ""; }); });
  say.text.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); say.requestSubmit(); } });
  const invite = find(".invite form");
  invite.addEventListener("submit", async (event) => { event.preventDefault(); await act("invite", { id: invite.who.value.trim() }, () => invite.reset()); });
  const write = find(".write form");
  write.addEventListener("submit", async (event) => { event.preventDefault(); await act("draft", { text: write.text.value }, () => write.reset()); });
  const prefer = find(".prefer");
  prefer.addEventListener("submit", async (event) => { event.preventDefault(); await act("prefer", { text: prefer.text.value }, () => prefer.reset()); });
  find(".resume").addEventListener("click", () => act("resume"));
  spaces.push({ load, members: () => view && [...view.shared.people, ...view.shared.invited] });
}

for (const person of people.length ? people : [""]) mount(person);
for (const space of spaces) await space.load();
