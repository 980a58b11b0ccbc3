// The proxy, as this page talks to it.

const PATIENCE_MS = 5_000;
const TOKEN = "breakerbox-token";

/** The proxy answered, and the answer is no. */
class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const proxy = {
  /** In this tab only: a token in the address would end up in logs. */
  get token() {
    return sessionStorage.getItem(TOKEN);
  },

  set token(token) {
    sessionStorage.setItem(TOKEN, token);
  },

  async breakers() {
    return (await this.ask("GET", "breakers")).breakers;
  },

  async control(id, control) {
    return this.ask("POST", `breakers/${encodeURIComponent(id)}/${control}`);
  },

  async ask(method, path) {
    // No other site's page can send this header unless the proxy agrees, which it never does.
    const headers = { "x-breakerbox": "1" };
    if (this.token) headers.authorization = `Bearer ${this.token}`;
    const options = { method, headers, cache: "no-store", redirect: "error", signal: AbortSignal.timeout(PATIENCE_MS) };
    const reply = await fetch(path, options);
    const body = await reply.json().catch(() => null);
    if (reply.ok && body) return body;
    throw new Refusal(reply.status, body?.error ?? `it answered ${reply.status} instead of what was asked for`);
  },
};
