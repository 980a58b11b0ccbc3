// One breaker on the page.

const CARD = document.getElementById("card");

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

class Card {
  #view;
  #readAt; // when the view was true
  #history = new History();
  #moved = null; // the history's length when its list was drawn last

  constructor(view, onControl) {
    this.id = view.id;
    this.node = CARD.content.firstElementChild.cloneNode(true);
    this.find = (selector) => this.node.querySelector(selector);
    // Long names break where their parts end.
    this.find(".id").append(...view.id.split(/(?<=[/.:_-])/).flatMap((part) => [part, document.createElement("wbr")]));
    for (const button of this.node.querySelectorAll("[data-control]")) {
      button.setAttribute("aria-label", `${button.textContent}: ${view.id}`);
      button.addEventListener("click", () => onControl(this, button.dataset.control, button));
    }
  }

  get view() {
    return this.#view;
  }

  /** Shows a view that was true at `now`; whether the breaker has moved since the one before. */
  show(view, now) {
    const moved = this.#history.take(view, now);
    this.#view = view;
    this.#readAt = now;
    const { name, icon } = STATES[view.state];
    this.node.dataset.state = view.state;
    setText(this.find(".state"), name);
    this.find(".badge path").setAttribute("d", icon);
    this.#showCounts(view);
    this.#showMeters(view);
    this.#showPast(now);
    this.find(".mode").hidden = view.mode !== "shadow";
    this.find(".mode").title = SHADOW.title;
    const touched = byHand(view);
    this.find(".by-hand").hidden = !touched;
    setText(this.find(".by-hand"), touched);
    this.find('[data-control="force-open"]').disabled = view.state === "forced_open";
    this.find('[data-control="disable"]').disabled = view.state === "disabled";
    this.find('[data-control="reset"]').classList.toggle("primary", touched !== "");
    this.tick(now);
    return moved;
  }

  /** What changes by itself between two views. */
  tick(now) {
    const view = this.#view;
    const passed = Math.max(0, now - this.#readAt);
    const again = view.reopens > 0 ? `, opened again ${view.reopens === 1 ? "once" : `${NUMBER.format(view.reopens)} times`}` : "";
    const left = view.state === "open" ? Math.max(0, view.retry_after_ms - passed) : null;
    setText(this.find(".since"), `${meaning(view, left === 0)} · for ${duration(view.state_age_ms + passed)}${again}`);
    this.#showWait(view, left);
  }

  #showWait(view, left) {
    const wait = this.find(".wait");
    const probes = view.settings.half_open_calls;
    if (view.state === "open") {
      const whole = view.last_transition?.wait_ms || left || 1;
      setText(this.find(".wait-label"), left > 0 ? "Next probe in" : "Its wait is over, after");
      setText(this.find(".wait-time"), duration(left || whole, true));
      this.find(".wait .fill").style.width = `${Math.min(100, (100 * left) / whole)}%`;
    } else if (view.state === "half_open") {
      setText(this.find(".wait-label"), "Probes ended");
      setText(this.find(".wait-time"), `${view.calls} of ${probes} · ${view.probes_out} under way`);
      this.find(".wait .fill").style.width = `${Math.min(100, (100 * view.calls) / probes)}%`;
    }
    wait.hidden = view.state !== "open" && view.state !== "half_open";
  }

  #showCounts(view) {
    setText(this.find(".calls-label"), countsProbes(view) ? "Probes" : "Calls");
    for (const [selector, count] of [
      [".calls", view.calls],
      [".failed", view.failed],
      [".slow-calls", view.settings.slow_call_rate_threshold === null ? null : view.slow],
    ]) {
      setText(this.find(selector), count === null ? "–" : NUMBER.format(count));
    }
    const row = view.settings.consecutive_failures;
    this.find(".row").title = row === null ? "" : `It opens at ${row} in a row.`;
    setText(this.find(".row"), inARow(view));
  }

  #showMeters(view) {
    const { settings } = view;
    const counts = view.state === "closed" || view.state === "open" || view.state === "half_open";
    this.find(".meters").hidden = !counts;
    this.find(".counts").hidden = !counts;
    if (!counts) return;
    const needed = view.state === "half_open" ? settings.half_open_calls : settings.minimum_calls;
    this.#showMeter(".failure", "failed", view.failure_rate, view.failed, settings.failure_rate_threshold, needed);
    this.#showMeter(".slow", "slow", view.slow_call_rate, view.slow, settings.slow_call_rate_threshold, needed);
  }

  /**
   * A rate that is not judged yet is shown as it would be, pale, with what is missing. In open nothing is missing:
   * where something else opened it, the rate is that of so many calls. Where all probes must succeed no rate is judged.
   */
  #showMeter(selector, kind, rate, part, threshold, needed) {
    const meter = this.find(selector);
    meter.hidden = threshold === null;
    if (threshold === null) return;
    const { calls, state, settings } = this.#view;
    const shown = rate ?? (calls > 0 ? (100 * part) / calls : 0);
    const judged = rate !== null;
    meter.classList.toggle("unjudged", !judged);
    meter.classList.toggle("reached", judged && shown >= threshold);
    const unit = countsProbes(this.#view) ? "probe" : "call";
    const missing = Math.max(0, needed - calls);
    let text = `judged after ${plural(missing, `more ${unit}`, `more ${unit}s`)}`;
    if (state === "half_open" && settings.half_open_policy === "all_must_succeed") {
      text = `one ${kind} probe opens it`;
    } else if (judged || missing === 0) {
      text = `${percent(shown)} · ${state === "closed" ? "opens at" : "threshold"} ${percent(threshold)}`;
    } else if (state === "open") {
      text = `${percent(shown)} of ${plural(calls, unit, `${unit}s`)}`;
    }
    setText(meter.querySelector(".reading"), text);
    meter.querySelector(".fill").style.width = `${Math.min(100, shown)}%`;
    meter.querySelector(".mark").style.left = `${threshold}%`;
    const track = meter.querySelector(".track");
    track.setAttribute("aria-valuenow", shown.toFixed(1));
    track.setAttribute("aria-valuetext", text);
  }

  #showPast(now) {
    const { moves } = this.#history;
    setText(this.find(".why"), moves.length ? `${TIME.format(moves[0].at)}  ${moves[0].text}` : "It has not moved yet.");
    const pieces = this.#history.pieces(this.#view, now);
    const stops = pieces.map(([state, from, to]) =>
      `var(--${state ?? "unknown"}) ${(100 * from).toFixed(2)}% ${(100 * to).toFixed(2)}%`);
    const strip = this.find(".strip");
    strip.style.backgroundImage = `linear-gradient(to right, ${stops.reverse().join(", ")})`;
    const seen = [...pieces].reverse().map(([state]) => (state ? STATES[state].name : "unknown")).join(", then ");
    strip.setAttribute("aria-label", `The last 5 minutes: ${seen}`);
    this.find("details").hidden = moves.length < 2;
    const drawn = moves[0];
    if (drawn === this.#moved) return;
    this.#moved = drawn;
    setText(this.find("summary"), plural(moves.length, "move", "moves"));
    this.find("ol").replaceChildren(...moves.flatMap(itemsOf));
  }
}

/** A move in the list, and below it how many came before it that nobody saw. */
function itemsOf(move) {
  const item = document.createElement("li");
  const states = document.createElement("b");
  states.textContent = `${STATES[move.from].name} → ${STATES[move.to].name}`;
  const time = document.createElement("time");
  time.textContent = TIME.format(move.at);
  time.dateTime = new Date(move.at).toISOString();
  const text = document.createElement("span");
  text.textContent = move.text;
  item.dataset.state = move.to;
  item.append(time, states, text);
  if (!move.missed) return [item];
  const gap = document.createElement("li");
  gap.className = "gap";
  gap.textContent = `${plural(move.missed, "move", "moves")} before that came too quickly to be seen`;
  return [item, gap];
}
