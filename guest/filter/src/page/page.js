// The page: asks the proxy every second and shows what it says.

const POLL_MS = 1_000;
/** Several hundred breakers are much to send; a page must not be a burden to its proxy. */
const POLL_MANY_MS = 3_000;
const MANY = 300;
const SHOWN_AT_ONCE = 120;
const LONGEST_PAUSE_MS = 10_000;
/** How long the pointer must rest before cards change places under it. */
const REST_MS = 2_500;

const at = (id) => document.getElementById(id);
const cards = new Map();
const order = Object.keys(STATES);
let chosen = null; // a state, or all
let showAll = false;
let failures = 0;
let readAt = null;
let timer = null;
let pointerMovedAt = -REST_MS;

async function poll() {
  clearTimeout(timer);
  let pause;
  try {
    const views = await proxy.breakers();
    readAt = Date.now();
    failures = 0;
    take(views, readAt);
    pause = views.length > MANY ? POLL_MANY_MS : POLL_MS;
    link("live", "Live");
    at("trouble").hidden = true;
  } catch (error) {
    failures += 1;
    pause = Math.min(POLL_MS * 2 ** Math.min(failures - 1, 4), LONGEST_PAUSE_MS);
    if (error.status === 401) {
      askForToken();
      return;
    }
    fail(error);
  }
  // A page that nobody looks at asks nothing.
  if (!document.hidden) timer = setTimeout(poll, pause);
}

function take(views, now) {
  const ids = new Set();
  for (const view of views) {
    ids.add(view.id);
    showOne(view, now);
  }
  for (const [id, card] of cards) {
    if (!ids.has(id)) {
      card.node.remove();
      cards.delete(id);
    }
  }
  arrange();
}

function showOne(view, now) {
  let card = cards.get(view.id);
  if (!card) {
    card = new Card(view, control);
    cards.set(view.id, card);
  }
  if (card.show(view, now)) {
    card.node.classList.remove("moved");
    void card.node.offsetWidth; // so that the animation begins anew
    card.node.classList.add("moved");
  }
}

/** Those in trouble first, then by name. Cards keep their places while somebody is about to use one. */
function arrange() {
  const text = at("filter").value.trim().toLowerCase();
  const counts = new Map();
  const shown = [];
  for (const card of cards.values()) {
    if (text && !card.id.toLowerCase().includes(text)) continue;
    const { state } = card.view;
    counts.set(state, (counts.get(state) ?? 0) + 1);
    if (chosen === null || chosen === state) shown.push(card);
  }
  const rank = (card) => order.indexOf(card.view.state);
  shown.sort((a, b) => rank(a) - rank(b) || (a.id < b.id ? -1 : 1));
  const visible = showAll ? shown : shown.slice(0, SHOWN_AT_ONCE);
  place(visible.map((card) => card.node));
  showChips(counts);
  showEmpty(shown.length, text);
  at("more").hidden = visible.length === shown.length;
  setText(at("more-button"), `Show all ${NUMBER.format(shown.length)}`);
  const troubled = ["open", "forced_open", "half_open"].map((state) => counts.get(state) ?? 0);
  const sum = troubled.reduce((a, b) => a + b);
  document.title = sum ? `(${sum}) breakerbox` : "breakerbox";
}

function place(nodes) {
  const list = at("breakers");
  const isBusy = performance.now() - pointerMovedAt < REST_MS || list.contains(document.activeElement);
  const same = nodes.length === list.children.length && nodes.every((node, index) => node === list.children[index]);
  if (same) return;
  const sameCards = nodes.length === list.children.length && nodes.every((node) => node.parentNode === list);
  if (sameCards && isBusy) return;
  const focused = list.contains(document.activeElement) ? document.activeElement : null;
  list.replaceChildren(...nodes);
  if (focused?.isConnected) focused.focus({ preventScroll: true });
}

function showChips(counts) {
  const group = at("states");
  if (!group.children.length) {
    for (const state of [null, ...order]) {
      const chip = document.createElement("button");
      chip.type = "button";
      chip.dataset.state = state ?? "all";
      chip.append(state ? STATES[state].name : "All", document.createElement("b"));
      chip.addEventListener("click", () => {
        chosen = chosen === state ? null : state;
        arrange();
      });
      group.append(chip);
    }
  }
  const all = [...counts.values()].reduce((a, b) => a + b, 0);
  for (const chip of group.children) {
    const state = chip.dataset.state === "all" ? null : chip.dataset.state;
    const count = state ? (counts.get(state) ?? 0) : all;
    setText(chip.lastChild, NUMBER.format(count));
    chip.classList.toggle("none", count === 0);
    chip.setAttribute("aria-pressed", String(chosen === state));
  }
}

function showEmpty(shown, text) {
  at("empty").hidden = shown > 0 || readAt === null;
  if (shown > 0) return;
  const [title, more] = cards.size
    ? ["None of these", text ? "No breaker’s name holds this text." : "No breaker is in this state."]
    : ["No breakers yet", "A breaker comes into being with the first request that needs it."];
  setText(at("empty-title"), title);
  setText(at("empty-text"), more);
}

function link(state, text) {
  at("link").dataset.link = state;
  setText(at("link-text"), text);
}

function fail(error) {
  const isAnswer = error instanceof Refusal;
  link("lost", isAnswer ? "Refused" : "Not reachable");
  setText(at("trouble-title"), isAnswer ? "The proxy refuses." : "The proxy does not answer.");
  fail.text = isAnswer ? `It says: ${error.message}.` : "";
  at("trouble").hidden = false;
  tick();
}
fail.text = "";

function tick() {
  const now = Date.now();
  const isLive = failures === 0;
  document.body.classList.toggle("stale", !isLive);
  if (isLive) {
    for (const card of cards.values()) if (card.node.isConnected) card.tick(now);
  } else {
    const age = readAt === null ? "" : ` What is below is ${duration(now - readAt)} old.`;
    setText(at("trouble-text"), `${fail.text}${age} Trying again.`.trim());
  }
}

async function control(card, name, button) {
  const { title, yes, done } = CONTROLS[name];
  if (title && !(await confirmed(title, card.id, consequence(name, card.view), yes))) return;
  button.classList.add("busy");
  try {
    showOne(await proxy.control(card.id, name), Date.now());
    arrange();
    toast(`${card.id} ${done}.`);
  } catch (error) {
    if (error.status === 401) askForToken();
    else toast(`That did not work: ${error instanceof Refusal ? error.message : "the proxy does not answer"}.`, true);
  } finally {
    button.classList.remove("busy");
  }
}

function confirmed(title, id, text, yes) {
  setText(at("confirm-title"), title);
  setText(at("confirm-id"), id);
  setText(at("confirm-text"), text);
  setText(at("confirm-yes"), yes);
  at("confirm").showModal();
  at("confirm-no").focus();
  return new Promise((resolve) => (confirmed.answer = resolve));
}

function answer(isYes) {
  at("confirm").close();
  confirmed.answer(isYes);
}

function askForToken() {
  at("ask-wrong").hidden = !proxy.token;
  link("waiting", "Token needed");
  if (!at("ask").open) at("ask").showModal();
  at("token").select();
}

function toast(text, isBad = false) {
  const node = at("toast");
  node.textContent = text;
  node.classList.toggle("bad", isBad);
  node.hidden = false;
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => (node.hidden = true), isBad ? 8_000 : 3_500);
}

at("confirm").addEventListener("submit", (event) => {
  event.preventDefault();
  answer(true);
});
at("confirm").addEventListener("cancel", (event) => {
  event.preventDefault();
  answer(false);
});
at("confirm-no").addEventListener("click", () => answer(false));
at("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  proxy.token = at("token").value;
  at("token").value = "";
  at("ask").close();
  poll();
});
// Without a token there is nothing behind the dialog.
at("ask").addEventListener("cancel", (event) => event.preventDefault());
at("filter").addEventListener("input", arrange);
at("retry").addEventListener("click", poll);
at("more-button").addEventListener("click", () => {
  showAll = true;
  arrange();
});
at("breakers").addEventListener("pointermove", () => (pointerMovedAt = performance.now()));
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) poll();
});
document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLInputElement;
  if (event.key === "/" && !isTyping && !document.querySelector("dialog[open]")) {
    event.preventDefault();
    at("filter").focus();
  } else if (event.key === "Escape" && event.target === at("filter")) {
    at("filter").value = "";
    arrange();
  }
});
setInterval(tick, 200);
poll();
