#!/usr/bin/env bash
# Counts instructions and compares them with the committed ones: `compare-instructions.sh FIXED_LOOP [--write]`.
# Another compiler counts differently; with --write the counts become the committed ones.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
committed=$here/instructions.txt
if ! command -v valgrind >/dev/null; then
    echo "valgrind is not installed, so instructions were not counted: install it to have them compared" >&2
    exit 0
fi
counts=$("$here/count-instructions.sh" "$1")
if [ "${2-}" = --write ]; then
    printf '%s\n' "$counts" >"$committed"
fi
printf '| hot path | instructions | committed |\n|---|---|---|\n'
join <(sort <<<"$counts") <(sort "$committed") | sed 's/^\([^ ]*\) \([^ ]*\) \([^ ]*\)$/| \1 | \2 | \3 |/'
