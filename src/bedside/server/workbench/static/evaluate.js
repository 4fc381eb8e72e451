// Anybody's summary against its note: errors first, gravest first, linked to the note.
import { call, make, plural, severity } from "/static/api.js";
import { PARTS, findingLines, levelOf, link, placesOf, unsaid } from "/static/linked.js";

const root = document.getElementById("evaluate");
const form = root.querySelector("form");
const status = form.querySelector(".status");
const result = root.querySelector(".result");
const RANK = { critical: 0, warning: 1, info: 2 };
let last = null;

function say(words) { status.textContent = words; status.hidden = !words; }

form.notefile.addEventListener("change", async () => {
  const file = form.notefile.files[0];
  if (!file) return;
  try {
    const body = new FormData();
    body.append("file", file);
    form.note.value = (await call("/v1/notes/text", { method: "POST", form: body })).text;
    say(`The note was read from ${file.name}.`);
  } catch (error) { say(`The file was not read: ${error.message}`); }
});
form.summaryfile.addEventListener("change", async () => {
  const file = form.summaryfile.files[0];
  if (file) form.summary.value = await file.text();
});

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  let summary;
  try {
    summary = JSON.parse(form.summary.value);
  } catch (error) { say(`The summary is not valid JSON: ${error.message}`); form.summary.focus(); return; }
  if (summary === null || typeof summary !== "object" || Array.isArray(summary)) { say("The summary is no JSON object: it begins with { and ends with }."); form.summary.focus(); return; }
  const button = form.querySelector("button.primary");
  button.disabled = true;
  say("Comparing…");
  try {
    last = await call("/v1/notes/evaluate", { method: "POST", body: { note: form.note.value, summary, html: true } });
    say("");
    show(form.note.value);
  } catch (error) { say(`Not checked: ${error.message}`); result.hidden = true; }
  button.disabled = false;
});

function show(text) {
  const linked = [];
  const wrong = last.items.filter((one) => !one.ok).sort((a, b) => RANK[levelOf(a)] - RANK[levelOf(b)]);
  const fine = last.items.filter((one) => one.ok);
  const headline = root.querySelector(".headline");
  headline.textContent = !last.items.length ? "No item was found in the file." : wrong.length ? `${wrong.length} of ${plural(last.items.length, "item")} to look at` : `All ${plural(last.items.length, "item")} hold against the note`;
  const figures = Object.entries(last.faithfulness).filter(([, tally]) => tally.wrong).map(([name, tally]) => `${name} ${tally.wrong} of ${tally.checked}`);
  root.querySelector(".figures").textContent = [
    last.citation_coverage === null ? "" : `Citations that hold: ${Math.round(last.citation_coverage * 100)} %.`,
    figures.length ? `Wrong: ${figures.join(", ")}.` : "",
    `Chunks from the ${last.chunks.from}.`,
  ].filter(Boolean).join(" ");
  root.querySelector(".alerts").replaceChildren(...[...last.problems, ...last.warnings].map((why) => make("p", { class: "alert" }, severity("warning"), " ", why)));
  root.querySelector(".first").replaceChildren(
    ...(wrong.length ? [make("h3", {}, "To look at, gravest first"), make("ul", { class: "rows" }, ...wrong.map((one) => row(one, linked)))] : []),
    ...missing(linked),
  );
  root.querySelector(".items").replaceChildren(...(fine.length ? [make("h3", {}, `${plural(fine.length, "item")} in which nothing was found`), make("ul", { class: "rows" }, ...fine.map((one) => row(one, linked)))] : []));
  result.hidden = false;
  link(root.querySelector(".notetext"), text, linked);
  headline.focus();
}

function row(one, linked) {
  const bad = !one.ok;
  const node = make("li", { class: `fact ${bad ? `wrong ${levelOf(one)}` : ""}` }, bad ? severity(levelOf(one)) : null, bad ? " " : null, make("span", { class: "words" }, one.text), make("span", { class: "meta" }, ` ${PARTS[one.section] ?? one.section.replaceAll("_", " ")}`), bad ? findingLines(one) : null);
  linked.push({ node, places: one.citations.length ? one.citations.map(({ start, end }) => ({ start, end })) : placesOf(one.source) });
  return node;
}

function missing(linked) {
  const left = unsaid(last);
  if (!left.length) return [];
  return [make("details", { class: "apart" }, make("summary", {}, `${plural(left.length, "fact")} of the note that no item says`), make("ul", { class: "rows" }, ...left.map((one) => {
    const node = make("li", { class: "fact" }, make("span", { class: "words" }, one.text), make("span", { class: "meta" }, ` ${one.kind}`));
    linked.push({ node, places: [one] });
    return node;
  })))];
}

function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const anchor = make("a", { href: url, download: name });
  anchor.click();
  URL.revokeObjectURL(url);
}
root.querySelector('[data-do="html"]').addEventListener("click", () => save("evaluation.html", "text/html", last.html));
root.querySelector('[data-do="json"]').addEventListener("click", () => { const { html, ...rest } = last; save("evaluation.json", "application/json", JSON.stringify(rest, null, 1)); });
