#!/usr/bin/env bash
# Runs Envoy under valgrind, which counts its instructions: `ENVOY=under-callgrind.sh CALLGRIND_DUMP=FILE envoy-overhead`.
set -euo pipefail
envoy=$(env --unset=ENVOY "$(dirname "${BASH_SOURCE[0]}")/../../envoy/fetch-envoy.sh")
# Its VMs compile code while they run.
exec valgrind --tool=callgrind --smc-check=all-non-file --callgrind-out-file="$CALLGRIND_DUMP" "$envoy" "$@"
