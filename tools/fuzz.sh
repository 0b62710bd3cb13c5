#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs each fuzz target for SECONDS (default 60) on its seed corpus, fuzz/corpus/TARGET where there is one;
# as many at a time as there are processors, since each of them uses one.
set -euo pipefail
cd "$(dirname "$0")/.."
export seconds=${1:-60}
work=$(mktemp -d)
export work
trap 'rm -rf "$work"' EXIT

fuzz() { # fuzz PROGRAM: what it did, and of a failure the end of its words and its input
  local name log seeds=() crash
  name=$(basename "$1")
  log=$work/$name.log
  mkdir -p "$work/$name/corpus"
  [ -d "fuzz/corpus/$name" ] && seeds=("fuzz/corpus/$name")
  if "$1" -max_total_time="$seconds" -rss_limit_mb=4096 -timeout=20 -print_final_stats=1 \
      -artifact_prefix="$work/$name/" "$work/$name/corpus" "${seeds[@]}" >"$log" 2>&1; then
    echo "== $name for $seconds s: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
    return
  fi
  echo "== $name failed"
  tail -40 "$log"
  for crash in "$work/$name"/crash-* "$work/$name"/oom-* "$work/$name"/timeout-*; do
    [ -f "$crash" ] && { echo "input (base64):"; head -c 4096 "$crash" | base64; }
  done
  return 1
}
export -f fuzz

shopt -s nullglob
targets=(build/asan/bin/fuzz_*)
[ ${#targets[@]} -gt 0 ] || { echo "no fuzz target was built" >&2; exit 1; }
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I{} bash -c 'set -euo pipefail; fuzz "$1"' fuzz {}

# What is fuzzed from outside, as a process of its own; a seed and a number make an input again.
if [ -x build/release/libexec/mcpac/mcpac-analyzer ]; then
  printf '== worker_fuzz for %s s\n' "$seconds" >&2
  python3 fuzz/worker_fuzz.py --seconds "$seconds"
fi
