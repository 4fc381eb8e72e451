// A note beside items that point into it: hover and focus light up both ends, in both directions.
import { make } from "/static/api.js";

// `items` are {node, places: [{start, end}]}, offsets in code points, half-open.
export function link(pane, text, items) {
  const points = Array.from(text);
  const borders = new Set([0, points.length]);
  for (const { places } of items) for (const { start, end } of places) { borders.add(start); borders.add(end); }
  const cuts = [...borders].filter((at) => at >= 0 && at <= points.length).sort((a, b) => a - b);
  const opens = new Map();
  for (const item of items) for (const place of item.places) {
    if (!opens.has(place.start)) opens.set(place.start, []);
    opens.get(place.start).push({ item, end: place.end });
  }
  const parts = [];
  let open = [];
  for (let index = 0; index + 1 < cuts.length; index += 1) {
    const [start, end] = [cuts[index], cuts[index + 1]];
    open = open.filter((one) => one.end > start).concat(opens.get(start) ?? []);
    const piece = points.slice(start, end).join("");
    if (!open.length) { parts.push(piece); continue; }
    const owners = [...new Set(open.map((one) => one.item))];
    const begins = opens.has(start);
    const seg = make("span", { class: "seg", tabindex: begins ? "0" : null, role: begins ? "button" : null, "aria-label": begins ? `${piece} (to ${owners.length === 1 ? "its item" : `its ${owners.length} items`})` : null, data: { start, end } }, piece);
    seg.addEventListener("mouseenter", () => light(owners));
    seg.addEventListener("mouseleave", dim);
    seg.addEventListener("focus", () => light(owners, "items"));
    seg.addEventListener("blur", dim);
    const go = () => owners[0].node.focus();
    seg.addEventListener("click", go);
    seg.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); go(); } });
    for (const owner of owners) (owner.segs ??= []).push(seg);
    parts.push(seg);
  }
  pane.replaceChildren(...parts);
  for (const item of items) {
    item.node.tabIndex = 0;
    item.node.addEventListener("mouseenter", () => light([item], "note"));
    item.node.addEventListener("mouseleave", dim);
    item.node.addEventListener("focus", () => light([item], "note"));
    item.node.addEventListener("blur", dim);
  }

  function light(some, scroll = "") {
    dim();
    for (const item of some) {
      item.node.classList.add("on");
      for (const seg of item.segs ?? []) seg.classList.add("on");
    }
    const target = scroll === "note" ? some[0].segs?.[0] : scroll === "items" ? some[0].node : null;
    if (!target) return;
    if (scroll === "note") {
      const box = pane.getBoundingClientRect();
      const at = target.getBoundingClientRect();
      if (at.top < box.top + 8 || at.bottom > box.bottom - 8) pane.scrollTop += at.top - box.top - box.height / 3;
    } else target.scrollIntoView({ block: "nearest" });
  }

  function dim() {
    for (const item of items) {
      item.node.classList.remove("on");
      for (const seg of item.segs ?? []) seg.classList.remove("on");
    }
  }
}

export const PARTS = {
  patient_snapshot: "Patient snapshot", key_problems: "Key problems", pertinent_history: "Pertinent history",
  medicines_allergies: "Medicines and allergies", objective_findings: "Objective findings", labs_imaging: "Labs and imaging", assessment: "Assessment",
};

// The offsets of `SECTION section, chunk_N:start-end`, or none where it says none.
export function placesOf(source) {
  const found = /:(\d+)-(\d+)$/.exec(source ?? "");
  return found ? [{ start: Number(found[1]), end: Number(found[2]) }] : [];
}

export const FINDINGS = {
  section_mismatch: "Wrong section", span_error: "Wrong place", bad_id: "No such chunk", format_error: "Citation format", orphan_claim: "No source",
  numbers: "Figure", units: "Unit", doses: "Dose", dates: "Date", medicines: "Medicine", negation: "Yes or no", laterality: "Side", subject: "Whose", support: "Not in the source", duplicate: "Said twice",
};
const GRAVE = new Set(["doses", "medicines", "negation", "laterality", "numbers", "units", "subject"]);
export const levelOf = (item) => (item.findings.some((one) => GRAVE.has(one.kind)) ? "critical" : item.findings.some((one) => !["duplicate", "format_error"].includes(one.kind)) ? "warning" : "info");

export function findingLines(item) {
  return make("ul", { class: "findings" }, ...item.findings.map((one) => make("li", {}, make("b", {}, FINDINGS[one.kind] ?? one.kind), `: ${one.detail}`, one.said ? ` (says “${one.said}”${one.written ? `, the note “${one.written}”` : ""})` : "")));
}

// What the note holds and no item says.
export function unsaid(report) {
  return Object.entries(report.completeness).flatMap(([kind, found]) => (found?.missing ?? []).map((one) => ({ kind, ...one })));
}
