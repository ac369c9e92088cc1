// Calls of the service. Every error is a problem with a title and a detail.
export class ProblemError extends Error {
  constructor(status, title, detail) {
    super(detail || title);
    this.status = status;
  }
}

async function call(method, path, body) {
  const options = { method, headers: {}, credentials: "same-origin" };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new ProblemError(0, "No answer", "the service does not answer");
  }
  const data = await answer.json().catch(() => ({}));
  // The session has ended: the page asks for the token again.
  if (answer.status === 401 && !path.startsWith("/v1/me") && !path.startsWith("/v1/session")) window.dispatchEvent(new Event("ended"));
  if (!answer.ok) throw new ProblemError(answer.status, data.title || "Error", data.detail || `status ${answer.status}`);
  return data;
}

export const get = (path) => call("GET", path);
export const post = (path, body) => call("POST", path, body);
export const remove = (path) => call("DELETE", path);
export const place = (name, rest = "") => `/v1/studies/${encodeURIComponent(name)}${rest}`;
