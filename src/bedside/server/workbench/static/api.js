export const ENDED = "you are no longer signed in: sign in again in another tab, or open your link again, then try again";
export const SILENT = "the server did not answer: check that it still runs, then try again";

// Calls to the API beside this page. A failure is an Error whose message may be shown as text.
export async function call(path, { method = "GET", body, form, headers = {} } = {}) {
  const options = { method, headers: { Accept: "application/json", ...headers } };
  if (form) options.body = form;
  else if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error(SILENT);
  }
  const found = await answer.json().catch(() => null);
  if (!answer.ok) {
    const error = new Error(answer.status === 401 ? ENDED : found?.detail || found?.title || `the server said ${answer.status}`);
    error.status = answer.status;
    throw error;
  }
  return found;
}

export function make(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "class") node.className = value;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "data") Object.assign(node.dataset, value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export function severity(level, word = level) {
  return make("span", { class: `sev ${level}` }, word);
}

export function plural(n, one, many = `${one}s`) {
  return `${n} ${n === 1 ? one : many}`;
}

export function when(iso) {
  if (!iso) return "not known";
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? iso : date.toLocaleString("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
}

// The name of what wrote a turn: "model:some-model" is said as "some-model".
export const writer = (turn) => (turn.answered_by ?? "").replace(/^model:/, "");

// "5 Nov 2026"; a year or a month alone stays what it is.
export function day(iso) {
  if (!iso) return "undated";
  const date = /^\d{4}-\d\d-\d\d/.test(iso) ? new Date(`${iso.slice(0, 10)}T00:00:00Z`) : null;
  return !date || Number.isNaN(date.getTime()) ? iso : date.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
}
