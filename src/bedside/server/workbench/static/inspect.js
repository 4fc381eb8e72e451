// The receipt as a picture: one bar of the whole budget, a part per block, zones by place and letter.
const root = document.getElementById("inspect");
const picture = document.getElementById("picture");
const NS = "http://www.w3.org/2000/svg";
const COLOUR = { primacy: "var(--primacy)", middle: "var(--middle)", recency: "var(--recency)" };

function add(parent, name, attributes, text) {
  const node = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

function draw(receipt, before) {
  const width = 1200;
  const blocks = receipt.blocks.filter((block) => block.given > 0);
  const scale = (tokens) => (tokens / receipt.limit) * width;
  const rowHeight = 22;
  const svg = add(picture, "svg", { viewBox: `0 0 ${width} ${86 + blocks.length * rowHeight}` });
  add(svg, "rect", { x: 0, y: 4, width, height: 34, rx: 5, fill: "var(--raised)", stroke: "var(--line)" });
  let x = 0;
  for (const block of blocks) {
    const part = add(svg, "rect", { x, y: 4, width: Math.max(1, scale(block.given) - 1), height: 34, fill: COLOUR[block.zone], opacity: block.stability === "turn" ? 0.65 : 1 });
    add(part, "title", {}, `${block.name}: ${block.given} tokens (${block.zone}, ${block.stability})`);
    x += scale(block.given);
  }
  const cache = scale(receipt.cacheable);
  if (cache > 0) {
    add(svg, "line", { x1: cache, y1: 0, x2: cache, y2: 48, stroke: "var(--text)", "stroke-width": 2 });
    add(svg, "text", { x: Math.min(cache + 4, width - 150), y: 52, class: "q" }, `cacheable: ${receipt.cacheable}`);
  }
  add(svg, "text", { x: width, y: 56, "text-anchor": "end", class: "q" }, `${receipt.limit - receipt.total} of ${receipt.limit} free`);
  const most = Math.max(...blocks.map((block) => Math.max(block.wanted, block.given)));
  blocks.forEach((block, index) => {
    const y = 72 + index * rowHeight;
    const old = before?.blocks.find((item) => item.name === block.name);
    const change = old && old.given !== block.given ? ` (${block.given > old.given ? "+" : ""}${block.given - old.given})` : "";
    add(svg, "text", { x: 0, y: y + 13 }, block.name);
    add(svg, "rect", { x: 190, y: y + 2, width: (block.wanted / most) * 620, height: 13, fill: "none", stroke: "var(--line)" });
    add(svg, "rect", { x: 190, y: y + 2, width: Math.max(1, (block.given / most) * 620), height: 13, fill: COLOUR[block.zone], opacity: block.stability === "turn" ? 0.65 : 1 });
    add(svg, "text", { x: 830, y: y + 13, class: "q" }, `${block.given}${change} · ${block.zone} · ${block.stability}${block.dropped.length ? ` · ${block.dropped.length} left out` : ""}`);
  });
}

if (picture) {
  const answer = await fetch(`/v1/turns/${root.dataset.turn}`);
  const turn = await answer.json();
  let before = null;
  if (turn.previous_turn) {
    const older = await fetch(`/v1/turns/${turn.previous_turn}`);
    if (older.ok) before = (await older.json()).receipt;
  }
  if (turn.receipt) draw(turn.receipt, before);
}
