// The source drawer: the very words, highlighted where they stand. Esc returns.
import { call, day } from "/static/api.js";

const KIND = { record: "Chart", document: "Document", guideline: "Guideline", note: "Note", message: "Message" };
const drawer = document.getElementById("drawer");
let opener = null;
let asked = 0;

export async function openSource({ id, revision, start, end, from }) {
  const query = revision ? `?revision=${revision}` : "";
  const mine = (asked += 1);
  let source = null;
  let why = "";
  try {
    source = await call(`/v1/sources/${encodeURIComponent(id)}${query}`);
  } catch (error) { why = error.message; }
  if (mine !== asked) return; // another citation was clicked meanwhile
  const title = drawer.querySelector("h3");
  const meta = drawer.querySelector(".meta");
  const text = drawer.querySelector(".sourcetext");
  text.replaceChildren();
  drawer.querySelector(".old").hidden = !source?.superseded;
  if (!source) {
    title.textContent = "This source cannot be shown";
    meta.textContent = why;
  } else {
    title.textContent = source.title;
    meta.textContent = source.id.startsWith("pack:")
      ? "Rule of a table that ships with Bedside"
      : [KIND[source.kind], source.kind === "guideline" ? `edition of ${day(source.date)}` : day(source.date), source.revision > 1 ? `revision ${source.revision}` : ""].filter(Boolean).join(" · ");
    // Offsets count code points, not UTF-16 units.
    const points = Array.from(source.text);
    const mark = document.createElement("mark");
    mark.textContent = points.slice(start, end).join("");
    text.append(points.slice(0, start).join(""));
    if (end > start) text.append(mark);
    text.append(points.slice(Math.max(start, end)).join(""));
  }
  if (opener) opener.removeAttribute("aria-expanded");
  opener = from ?? null;
  opener?.setAttribute("aria-expanded", "true");
  drawer.hidden = false;
  drawer.querySelector("mark")?.scrollIntoView({ block: "center" });
  text.focus({ preventScroll: true });
}

export function closeDrawer() {
  if (drawer.hidden) return;
  drawer.hidden = true;
  opener?.removeAttribute("aria-expanded");
  opener?.focus();
  opener = null;
}

// Tab goes round inside the drawer, for what is behind it cannot be seen; Esc goes back there.
function stayInside(event) {
  if (event.key !== "Tab" || drawer.hidden || !drawer.contains(document.activeElement)) return;
  const stops = [...drawer.querySelectorAll("button, a[href], [tabindex]")];
  const [first, last] = event.shiftKey ? [stops.at(-1), stops[0]] : [stops[0], stops.at(-1)];
  if (document.activeElement !== last) return;
  event.preventDefault();
  first.focus();
}

if (drawer) {
  drawer.querySelector('[data-do="close"]').addEventListener("click", closeDrawer);
  drawer.querySelector('[data-do="print"]').addEventListener("click", () => window.print());
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") closeDrawer(); });
  document.addEventListener("keydown", stayInside);
  document.addEventListener("click", (event) => {
    const cite = event.target.closest("button[data-source]");
    if (!cite) return;
    openSource({
      id: cite.dataset.source, revision: cite.dataset.revision,
      start: Number(cite.dataset.start), end: Number(cite.dataset.end), from: cite,
    });
  });
}
