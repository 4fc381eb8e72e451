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
    throw new Error("the server did not answer: check that it still runs, then try again");
  }
  const found = await answer.json().catch(() => null);
  if (!answer.ok) {
    const error = new Error(found?.detail || found?.title || `the server said ${answer.status}`);
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

export function severity(word) {
  return make("span", { class: `sev ${word}` }, word);
}

export function plural(n, one, many = `${one}s`) {
  return `${n} ${n === 1 ? one : many}`;
}

export function when(iso) {
  if (!iso) return "not known";
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? iso : date.toLocaleString("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
}
