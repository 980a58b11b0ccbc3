// The moves of each breaker that the page has seen, and the one before them. The proxy keeps only the last one.

const LONGEST_HISTORY = 30;
const STRIP_MS = 5 * 60_000;

class History {
  #moves = []; // latest first: { at, from, to, why, missed }
  #generation = null;

  /** Takes a breaker's view, which was true at `now`; whether it has moved since the view before. */
  take(view, now) {
    if (view.generation === this.#generation) return false;
    const isFirst = this.#generation === null;
    const missed = isFirst ? 0 : Math.max(0, view.generation - this.#generation - 1);
    this.#generation = view.generation;
    const last = view.last_transition;
    if (!last) {
      // It began afresh, as when its stored state was lost.
      if (!isFirst) this.#moves = [];
      return !isFirst;
    }
    this.#moves.unshift({ at: now - view.state_age_ms, from: last.from, to: last.to, text: reason(last), missed });
    this.#moves.length = Math.min(this.#moves.length, LONGEST_HISTORY);
    return !isFirst;
  }

  get moves() {
    return this.#moves;
  }

  /**
   * What the last minutes looked like up to `now`, when `view` was true: [state, from, to] in shares of the whole,
   * latest first. Where it is not known what was, the state is null.
   */
  pieces(view, now) {
    const share = (at) => Math.min(1, Math.max(0, 1 - (now - at) / STRIP_MS));
    const known = this.#moves.map((move) => [move.to, move.at, move.missed]);
    if (!known.length) known.push([view.state, now - view.state_age_ms, 0]);
    const pieces = [];
    let end = 1;
    let isKnown = true;
    for (const [state, at, missed] of known) {
      const start = share(at);
      pieces.push([isKnown ? state : null, start, end]);
      // Before it were moves that nobody saw, so that the one before did not last until here.
      isKnown = missed === 0;
      end = start;
    }
    if (end > 0) pieces.push([null, 0, end]);
    return pieces;
  }
}
