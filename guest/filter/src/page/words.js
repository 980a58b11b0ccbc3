"use strict";

// What the page says. Ids and reasons come from elsewhere and may hold anything: they only ever become text nodes.

const STATES = {
  open: { name: "Open", means: "rejects every call", icon: "M4 4l8 8M12 4l-8 8" },
  forced_open: { name: "Forced open", means: "rejects every call", icon: "M5 7V5.5a3 3 0 0 1 6 0V7M4 7h8v6H4z" },
  half_open: { name: "Half-open", means: "lets a few probes through", icon: "M8 3v6M8 12v.5" },
  disabled: { name: "Disabled", means: "lets every call through", icon: "M4 8h8" },
  closed: { name: "Closed", means: "lets calls through", icon: "M3.5 8.5l3 3 6-7" },
};

// A breaker in shadow mode lives the same life, but every call goes through.
const SHADOW = {
  title: "Every call goes through: what it would have rejected is only counted.",
  means: { open: "would reject every call", forced_open: "would reject every call", half_open: "would let a few probes through" },
  forcedOpen: "It would let nothing reach the upstream until somebody resets it. In shadow mode it rejects nothing.",
  forceOpen: "In shadow mode this rejects nothing: what it would have rejected is counted, until somebody resets the breaker.",
};

// An open breaker whose wait is over stays open until a call arrives.
const WAIT_OVER = {
  enforce: "rejected every call; the next one is a probe",
  shadow: "would have rejected every call; the next one is a probe",
};

const BY_HAND = {
  forced_open: "Nothing reaches the upstream until somebody resets this breaker.",
  disabled: "Nothing is counted and nothing rejected until somebody resets this breaker.",
};

const CONTROLS = {
  "force-open": {
    title: "Force this breaker open?",
    text: "Every call will be rejected, on all workers, until somebody resets the breaker.",
    yes: "Force open",
    done: "is forced open",
  },
  disable: {
    title: "Disable this breaker?",
    text: "Every call will go through, however many fail, until somebody resets the breaker. Its counts are lost.",
    yes: "Disable",
    done: "is disabled",
  },
  reset: { done: "was reset" },
};

/** What a breaker in this state does. */
function meaning({ state, mode }, isWaitOver) {
  if (isWaitOver) return WAIT_OVER[mode];
  return (mode === "shadow" && SHADOW.means[state]) || STATES[state].means;
}

/** Whether what it counts are probes. An open breaker shows what opened it. */
function countsProbes({ state, last_transition: last }) {
  return state === "half_open" || (state === "open" && last?.from === "half_open");
}

/** How many calls have failed in a row, where that is known. */
function inARow({ state, consecutive_failures: failures, settings, last_transition: last }) {
  if (state === "open" && last?.reason === "consecutive_failures") return NUMBER.format(last.threshold);
  if (state !== "closed") return "–";
  const most = settings.consecutive_failures;
  return most === null ? NUMBER.format(failures) : `${failures} of ${most}`;
}

/** What somebody has done to it. */
function byHand({ state, mode }) {
  return mode === "shadow" && state === "forced_open" ? SHADOW.forcedOpen : BY_HAND[state] ?? "";
}

/** What a control would do to it. */
function consequence(name, { mode }) {
  return mode === "shadow" && name === "force-open" ? SHADOW.forceOpen : CONTROLS[name].text;
}

const NUMBER = new Intl.NumberFormat("en");
const TIME = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

function percent(part) {
  return `${part.toFixed(part % 1 ? 1 : 0)} %`;
}

/** A duration for people: 0.4 s, 12 s, 3 min 20 s, 2 h 5 min, 3 d 4 h. */
function duration(ms, tenths = false) {
  if (tenths && ms < 60_000) return `${(Math.ceil(ms / 100) / 10).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1000);
  const pair = (large, unit, small, smallUnit) => (small ? `${large} ${unit} ${small} ${smallUnit}` : `${large} ${unit}`);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return pair(Math.floor(seconds / 60), "min", seconds % 60, "s");
  if (seconds < 86_400) return pair(Math.floor(seconds / 3600), "h", Math.floor((seconds % 3600) / 60), "min");
  return pair(Math.floor(seconds / 86_400), "d", Math.floor((seconds % 86_400) / 3600), "h");
}

/** The reason of a move without the states, which the page shows otherwise; with a capital. */
function reason(move) {
  const prefix = `${move.from} -> ${move.to}: `;
  const text = move.why.startsWith(prefix) ? move.why.slice(prefix.length) : move.why;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function plural(count, one, many) {
  return `${NUMBER.format(count)} ${count === 1 ? one : many}`;
}
