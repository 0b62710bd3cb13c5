#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every test: the release build whole (through the real binary, with real servers), the host's own suites
# again under address/undefined and thread sanitizers, and a short run of each fuzz target.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\033[1m== %s (after %d s)\033[0m\n' "$*" "$SECONDS" >&2; }
build() { # build PRESET [TARGET...]
  local preset=$1
  shift
  cmake --preset "$preset" >/dev/null  # always: a folder from before a change of the preset would keep its flags
  say "building $preset"
  cmake --build --preset "$preset" ${1:+--target "$@"} -- --quiet
}

failed=0
run() { # run PRESET [ctest arguments]
  say "testing $1"
  ctest --preset "$@" --parallel "$(nproc)" || failed=1
}

build release
run release
# Children run without sanitizers (a sanitizer runtime and a seccomp filter do not live together), so
# these suites are the ones of the host's own code; threads matter in those that have an event loop.
suites() { local IFS='|'; echo "^($*)(_beside)?\$"; }
ASAN=(core policy audit ipc codegen mcp gate project network toolchain servers history run)
TSAN=(audit ipc mcp gate network servers history run)
build asan "${ASAN[@]/#/test_}" fuzz_targets
run asan -R "$(suites "${ASAN[@]}")"
tools/fuzz.sh 15 || failed=1
build tsan "${TSAN[@]/#/test_}"
run tsan -R "$(suites "${TSAN[@]}")"

say "what this machine did not let us test"
grep -ohE 'skipped[:,] .*' build/release/Testing/Temporary/LastTest.log | sort | uniq -c >&2 || echo "  nothing" >&2

[ "$failed" = 0 ] && say "all tests passed" || { say "some tests failed"; exit 1; }
