#!/usr/bin/env bash
# Every test: the release build whole (through the real binary, with real servers), the host's own suites
# again under address/undefined and thread sanitizers, and a short run of each fuzz target.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\033[1m== %s\033[0m\n' "$*" >&2; }
build() {
  [ -f "build/$1/build.ninja" ] || cmake --preset "$1" >/dev/null
  say "building $1"
  cmake --build --preset "$1" -- --quiet
}

failed=0
run() { # run PRESET [ctest arguments]
  say "testing $1"
  ctest --preset "$@" || failed=1
}

build release
run release
# Children run without sanitizers (a sanitizer runtime and a seccomp filter do not live together), so
# these suites are the ones of the host's own code.
HOST_SUITES='^(core|policy|audit|ipc|codegen|mcp|gate|execute)$'
build asan
run asan -R "$HOST_SUITES"
build tsan
run tsan -R "$HOST_SUITES"
build fuzz
tools/fuzz.sh 15 || failed=1

[ "$failed" = 0 ] && say "all tests passed" || { say "some tests failed"; exit 1; }
