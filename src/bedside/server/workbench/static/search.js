// Searches the guidelines and lists the passages.
const form = document.getElementById("search");
const hits = document.getElementById("hits");
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const answer = await fetch("/v1/search", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ query: form.query.value }) });
  const found = await answer.json();
  hits.replaceChildren();
  const lines = answer.ok ? found.hits : [];
  for (const hit of lines) {
    const row = document.createElement("li");
    const head = document.createElement("b");
    head.textContent = `${hit.rank}. ${hit.document}`;
    const where = document.createElement("span");
    where.className = "meta";
    where.textContent = ` ${hit.section}`;
    const text = document.createElement("p");
    text.textContent = hit.text;
    row.append(head, where, text);
    hits.append(row);
  }
  if (!lines.length) {
    const row = document.createElement("li");
    row.textContent = answer.ok ? found.why_empty || "No relevant guideline was found." : found.detail;
    hits.append(row);
  }
});
