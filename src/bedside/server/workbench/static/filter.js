// Narrows a list while somebody types. Nothing leaves the page.
const box = document.querySelector("[data-filter]");
if (box) {
  const rows = [...document.querySelectorAll(box.dataset.filter)];
  const none = document.querySelector(".none");
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.dataset.text.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    none.hidden = shown > 0;
  });
}
