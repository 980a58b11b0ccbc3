# What people type. Each target does its own set-up: the Rust toolchain, the wasm guests (built by host-test/build.rs)
# and Envoy (fetched by envoy/fetch-envoy.sh). ENVOY=/path/to/envoy uses another Envoy.
# The demo needs no wasmtime, which takes longer to build than everything else: --no-default-features leaves it out.

.DEFAULT_GOAL := help
.PHONY: help demo test lint soak bench bench-envoy toolchain envoy browser hosts

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: toolchain envoy ## Watch a breaker open, probe and close in a real Envoy; KEEP=1 leaves it running
	@cargo build --package breakerbox-host --no-default-features
	@cargo run --quiet --package breakerbox-host --no-default-features -- demo $(if $(KEEP),--keep)

test: lint envoy browser hosts ## Formatting, clippy and all tests, among them those in a real Envoy
	cargo test --workspace

lint: toolchain ## Formatting and clippy, warnings denied
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

# SOAK=20 is twenty times as much as in `make test`, a million requests in the test of memory among it: about 15 minutes.
SOAK ?= 20

soak: toolchain envoy ## Long versions of the tests under load and of the search; SOAK=60 is three times as long
	INTERLEAVINGS=$$((100000 * $(SOAK))) cargo test --package breakerbox-core --test interleavings
	SOAK=$(SOAK) cargo test --package breakerbox-host --no-default-features --test load -- --nocapture --test-threads 1

bench: toolchain ## Benches as one table of ratios, and instruction counts against the committed ones
	cargo bench --package breakerbox-benches
	cargo build --release --package breakerbox-benches --bin fixed-loop --bin ratios
	@target/release/ratios target/criterion
	@benches/compare-instructions.sh target/release/fixed-loop

bench-envoy: toolchain envoy ## CPU a request in Envoy, each chain between two slices of the bare one
	cargo rustc --quiet --release --package breakerbox-empty-filter --target wasm32-wasip1 --crate-type cdylib
	cargo build --release --package breakerbox-benches --bin envoy-overhead
	@target/release/envoy-overhead target/wasm32-wasip1/release/breakerbox_empty_filter.wasm

toolchain: ## Install the toolchain that rust-toolchain.toml pins
	@rustup --quiet toolchain install

envoy: ## Fetch Envoy into target/envoy
	@envoy/fetch-envoy.sh >/dev/null

# CHROMIUM=/path/to/chromium uses another one.
browser: ## Install Chromium, which tests the page, with apt-get if there is none
	@for name in $(CHROMIUM) chromium chromium-browser google-chrome google-chrome-stable; do \
		if command -v "$$name" >/dev/null; then exit 0; fi; \
	done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update --quiet=2 && apt-get install --quiet=2 --yes --no-install-recommends chromium >/dev/null; \
	else \
		echo "No Chromium, so the tests of the page will fail: install it, or set CHROMIUM=/path/to/chromium"; \
	fi

hosts: target/hosts/python/set-up tests/hosts/javascript/node_modules/set-up ## Fetch what the hosts in tests/hosts need

target/hosts/python/set-up: tests/hosts/python/requirements.txt
	@rm -rf $(@D)
	@python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --target $(@D) --requirement $<
	@touch $@

tests/hosts/javascript/node_modules/set-up: tests/hosts/javascript/package.json
	@if ! command -v npm >/dev/null; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			apt-get update --quiet=2 && apt-get install --quiet=2 --yes --no-install-recommends nodejs npm >/dev/null; \
		else \
			echo "No npm, which the example in JavaScript needs: install Node.js 20 or newer"; exit 1; \
		fi; \
	fi
	@npm install --prefix $(<D) --loglevel error --no-audit --no-fund
	@touch $@
