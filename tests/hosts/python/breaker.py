"""A breaker in a Python host: it opens, rejects, probes and closes.

    python breaker.py breakerbox-component.wasm
"""

import sys

from wasmtime import Engine, Store
from wasmtime.component import Component, Linker

SECOND = 1_000_000_000  # marks and durations are nanoseconds

store = Store(Engine())
component = Component.from_file(store.engine, sys.argv[1])
instance = Linker(store.engine).instantiate(store, component)


def function(interface, name):
    """The exported function, as a callable."""
    found = instance.get_export_index(store, f"breakerbox:breaker/{interface}@0.1.0")
    exported = instance.get_func(store, instance.get_export_index(store, name, found))

    def call(*arguments):
        answer = exported(store, *arguments)
        exported.post_return(store)
        return answer

    return call


parse_settings = function("settings", "parse-settings")
new_breaker = function("breakers", "[constructor]breaker")
acquire = function("breakers", "[method]breaker.acquire")
record = function("breakers", "[method]breaker.record")
snapshot = function("breakers", "[method]breaker.snapshot")
take_events = function("breakers", "[method]breaker.take-events")

# Python tells the cases of a result apart by their types: problems are a list, settings a record.
settings = parse_settings('{"window_size": 2, "wait_in_open": "5s", "half_open_calls": 1}')
assert not isinstance(settings, list), [vars(problem) for problem in settings]
now = 100 * SECOND
breaker = new_breaker(settings, now)

for _ in range(2):
    decision = acquire(breaker, now)
    assert decision.tag == "admitted"
    # Here the call is made, and fails.
    assert record(breaker, decision.payload, "failure", now) == "counted"
assert snapshot(breaker, now).state == "open"

decision = acquire(breaker, now + SECOND)
assert decision.tag == "rejected" and decision.payload.reason == "open"
assert getattr(decision.payload, "retry-after") == 4 * SECOND

now += 5 * SECOND
probe = acquire(breaker, now)
assert probe.tag == "admitted" and probe.payload.ticket == 1
assert record(breaker, probe.payload, "success", now) == "counted"
assert snapshot(breaker, now).state == "closed"

kinds = [event.kind for event in take_events(breaker).events]
assert kinds == ["opened", "half-opened", "closed"], kinds
breaker.drop(store)
print("opened, rejected, probed, closed")
