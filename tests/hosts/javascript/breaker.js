// A breaker in a JavaScript host: it opens, rejects, probes and closes.
//
//     npx jco transpile breakerbox-component.wasm --name breakerbox --out-dir generated
//     node breaker.js

import assert from "node:assert/strict";
import { breakers, settings } from "./generated/breakerbox.js";

const SECOND = 1_000_000_000n; // marks and durations are nanoseconds, as BigInt

// A problem in the settings is thrown: `error.payload` lists them all.
const small = settings.parseSettings('{"window_size": 2, "wait_in_open": "5s", "half_open_calls": 1}');
let now = 100n * SECOND;
const breaker = new breakers.Breaker(small, now);

for (let call = 0; call < 2; call += 1) {
  const { tag, val: permit } = breaker.acquire(now);
  assert.equal(tag, "admitted");
  // Here the call is made, and fails.
  assert.equal(breaker.record(permit, "failure", now), "counted");
}
assert.equal(breaker.snapshot(now).state, "open");

const { tag, val: rejection } = breaker.acquire(now + SECOND);
assert.equal(tag, "rejected");
assert.equal(rejection.reason, "open");
assert.equal(rejection.retryAfter, 4n * SECOND);

now += 5n * SECOND;
const probe = breaker.acquire(now);
assert.equal(probe.tag, "admitted");
assert.equal(probe.val.ticket, 1);
assert.equal(breaker.record(probe.val, "success", now), "counted");
assert.equal(breaker.snapshot(now).state, "closed");

const kinds = breaker.takeEvents().events.map((event) => event.kind);
assert.deepEqual(kinds, ["opened", "half-opened", "closed"]);
console.log("opened, rejected, probed, closed");
