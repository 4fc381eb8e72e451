// Searches the guidelines and lists the passages.
import { call, make, plural } from "/static/api.js";

const form = document.getElementById("search");
const hits = document.getElementById("hits");
const said = document.getElementById("found");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  said.textContent = "Searching…";
  try {
    const found = await call("/v1/search", { method: "POST", body: { query: form.query.value } });
    hits.replaceChildren(...found.hits.map((hit) => make("li", {},
      make("p", { class: "hithead" }, make("b", {}, hit.document), make("span", { class: "meta" }, ` ${hit.section}`)),
      make("p", {}, hit.text))));
    const count = found.hits.length ? plural(found.hits.length, "passage") : found.why_empty || "No relevant guideline was found.";
    const read = found.read_as.map((one) => `“${one.written}” was read as “${one.read}”`);
    const lost = found.hits.length && found.in_no_passage.length ? [`in no passage: ${found.in_no_passage.join(", ")}`] : [];
    said.textContent = [count, ...read, ...lost].join("; ");
  } catch (error) {
    hits.replaceChildren();
    said.textContent = `Not searched: ${error.message}`;
  }
});
