# What people type. Each target does its own set-up: the Rust toolchain, the wasm guests (built by host-test/build)
# and Envoy (fetched by envoy/fetch-envoy.sh). ENVOY=/path/to/envoy uses another Envoy.
# The demo needs no wasmtime, which takes longer to build than everything else: --no-default-features leaves it out.

.DEFAULT_GOAL := help
TARGET := $(or $(CARGO_TARGET_DIR),target)
TOOLS := $(TARGET)/tools/bin
.PHONY: help demo test fuzz lint soak deny bench bench-envoy toolchain envoy browser hosts

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: toolchain envoy ## Watch a breaker open, probe and close in a real Envoy; KEEP=1 leaves it running
	@cargo build --package breakerbox-host --no-default-features
	@cargo run --quiet --package breakerbox-host --no-default-features -- demo $(if $(KEEP),--keep)

test: lint envoy browser hosts ## Formatting, clippy and all tests, among them those in a real Envoy
	cargo test --workspace

# Where code is native, its coverage leads to the next input. The guests are wasm, which a fuzzer does not see into: there
# inputs are drawn.
FUZZ_SECONDS ?= 60
CORPUS := $(CURDIR)/tests/fuzz/__fuzz__

fuzz: toolchain $(TOOLS)/cargo-bolero ## Fuzz each target for FUZZ_SECONDS (60)
	@$(call guided,any_calls_on_any_bytes_leave_a_slot,slot)
	@$(call guided,any_bytes_are_read_or_refused,configuration)
	@$(call guided,any_damage_to_a_configuration_is_read_or_refused,damaged_configuration)
	@$(call drawn,fuzz_component)
	@$(call drawn,fuzz_filter)

define guided
	mkdir -p $(TARGET)/fuzz/corpus/$(2)
	$(TOOLS)/cargo-bolero test --package breakerbox-fuzz --target-dir $(TARGET)/fuzz --engine libfuzzer --sanitizer NONE \
		--corpus-dir $(TARGET)/fuzz/corpus/$(2) $(addprefix --engine-args=,$(wildcard $(CORPUS)/$(2)/corpus)) -T $(FUZZ_SECONDS)s $(1)
endef

define drawn
	BOLERO_RANDOM_ITERATIONS=1000000000 BOLERO_RANDOM_TEST_TIME_MS=$(FUZZ_SECONDS)000 \
		cargo test --quiet --package breakerbox-host --test $(1) -- --nocapture
endef

lint: toolchain ## Formatting and clippy, warnings denied
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

# SOAK=20 is twenty times as much as in `make test`, a million requests in the test of memory among it: about 15 minutes.
SOAK ?= 20

soak: toolchain envoy ## Long versions of the tests under load and of the search; SOAK=60 is three times as long
	INTERLEAVINGS=$$((100000 * $(SOAK))) cargo test --package breakerbox-core --test interleavings
	SOAK=$(SOAK) cargo test --package breakerbox-host --no-default-features --test load -- --nocapture --test-threads 1

deny: toolchain $(TOOLS)/cargo-deny ## Licences, sources and advisories of everything that is built, with cargo-deny
	$(TOOLS)/cargo-deny check

$(TOOLS)/cargo-bolero: VERSION := 0.13.5
$(TOOLS)/cargo-deny: VERSION := 0.20.2
$(TOOLS)/%: | toolchain
	@cargo install --quiet --locked --root $(TARGET)/tools --version $(VERSION) $*

# cargo builds a package's binaries with its benches, too.
bench: toolchain ## Benches as one table of ratios, memory, conflicts, and instruction counts against the committed ones
	rm -rf $(TARGET)/criterion
	cargo bench --package breakerbox-benches --bench '*'
	@cargo bench --quiet --package breakerbox-benches --bench boundary -- figures
	@echo && $(TARGET)/release/ratios $(TARGET)/criterion
	@echo && benches/compare-instructions.sh $(TARGET)/release/fixed-loop

bench-envoy: toolchain envoy ## CPU and, if there is valgrind, instructions a request in Envoy, beside those of the bare chain
	cargo build --release --package breakerbox-benches --bin envoy-overhead
	@$(TARGET)/release/envoy-overhead
	@if command -v valgrind >/dev/null; then \
		echo && CALLGRIND_DUMP=$(abspath $(TARGET))/callgrind ENVOY=$(CURDIR)/benches/envoy/under-callgrind.sh $(TARGET)/release/envoy-overhead; \
	else \
		echo "valgrind is not installed, so instructions were not counted"; \
	fi

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

tests/hosts/javascript/node_modules/set-up: tests/hosts/javascript/package.json tests/hosts/javascript/package-lock.json
	@if ! command -v npm >/dev/null; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			apt-get update --quiet=2 && apt-get install --quiet=2 --yes --no-install-recommends nodejs npm >/dev/null; \
		else \
			echo "No npm, which the example in JavaScript needs: install Node.js 20 or newer"; exit 1; \
		fi; \
	fi
	@npm ci --prefix $(<D) --loglevel error --no-audit --no-fund
	@touch $@
