#!/usr/bin/env bash
# Runs each fuzz target for SECONDS (default 60) on its seed corpus, fuzz/corpus/TARGET where there is one.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
found=0
for target in build/fuzz/bin/fuzz_*; do
  [ -x "$target" ] || continue
  name=$(basename "$target")
  found=1
  mkdir -p "$work/$name"
  seeds=(); [ -d "fuzz/corpus/$name" ] && seeds=("fuzz/corpus/$name")
  printf '== %s for %s s\n' "$name" "$seconds" >&2
  if ! "$target" -max_total_time="$seconds" -rss_limit_mb=4096 -timeout=20 -print_final_stats=1 \
      -artifact_prefix="$work/" "$work/$name" "${seeds[@]}" >"$work/$name.log" 2>&1; then
    tail -40 "$work/$name.log"
    for crash in "$work"/crash-* "$work"/oom-* "$work"/timeout-*; do
      [ -f "$crash" ] && { echo "input (base64):"; head -c 4096 "$crash" | base64; }
    done
    exit 1
  fi
  grep -E 'stat::number_of_executed_units' "$work/$name.log" || true
done
# What is fuzzed from outside, as a process of its own; a seed and a number make an input again.
if [ -x build/release/libexec/mcpac/mcpac-analyzer ]; then
  printf '== worker_fuzz for %s s\n' "$seconds" >&2
  python3 fuzz/worker_fuzz.py --seconds "$seconds"
fi
[ "$found" = 1 ] || { echo "no fuzz target was built" >&2; exit 1; }
