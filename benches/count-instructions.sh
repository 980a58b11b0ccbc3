#!/usr/bin/env bash
# Instructions for one pass of each hot path, counted by valgrind: the same on a busy machine as on a quiet one.
# Prints `path instructions`, one line each. $1 is the binary fixed-loop.
set -euo pipefail
loop=$1
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$loop" "$1" "$2" 2>&1 |
        awk '/Collected/ { found = 1; print $4 } END { exit !found }'
}
nothing=$(( $(count nothing 101000) - $(count nothing 1000) ))
for path in clean-success one-in-ten-fails time-window-success rejected; do
    total=$(( $(count $path 101000) - $(count $path 1000) ))
    printf '%s %d\n' "$path" $(( (total - nothing + 50000) / 100000 ))
done
