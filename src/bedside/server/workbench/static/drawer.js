// The source drawer: the very words, highlighted where they stand. Esc returns.
const drawer = document.getElementById("drawer");
let opener = null;

export async function openSource({ id, revision, start, end, from }) {
  const query = revision ? `?revision=${revision}` : "";
  const answer = await fetch(`/v1/sources/${encodeURIComponent(id)}${query}`);
  const title = drawer.querySelector("h3");
  const meta = drawer.querySelector(".meta");
  const text = drawer.querySelector(".sourcetext");
  text.replaceChildren();
  if (!answer.ok) {
    title.textContent = "This source cannot be shown";
    meta.textContent = (await answer.json()).detail ?? "";
  } else {
    const source = await answer.json();
    title.textContent = source.title;
    const rule = source.id.startsWith("pack:");
    meta.textContent = [
      rule ? "Rule of a table that ships with Bedside" : { record: "Chart", document: "Document", guideline: "Guideline", note: "Note", message: "Message" }[source.kind],
      rule ? "" : source.date ?? "undated",
      rule ? "" : `revision ${source.revision}`,
      source.superseded ? "SUPERSEDED by a newer edition" : "",
      end > start ? `characters ${start} to ${end}` : "",
    ].filter(Boolean).join(" · ");
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

if (drawer) {
  drawer.querySelector('[data-do="close"]').addEventListener("click", closeDrawer);
  drawer.querySelector('[data-do="print"]').addEventListener("click", () => window.print());
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") closeDrawer(); });
  document.addEventListener("click", (event) => {
    const cite = event.target.closest("button[data-source]");
    if (!cite) return;
    openSource({
      id: cite.dataset.source, revision: cite.dataset.revision,
      start: Number(cite.dataset.start), end: Number(cite.dataset.end), from: cite,
    });
  });
}
