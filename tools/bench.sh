#!/usr/bin/env bash
# Every benchmark program, one after another; each prints its method. Figures are for docs/benchmarks.md.
set -euo pipefail
cd "$(dirname "$0")/.."
for program in build/release/bin/bench_*; do
  [ -x "$program" ] || continue
  printf '\n== %s\n' "$(basename "$program")"
  "$program"
done
printf '\n== end to end\n'
python3 bench/end_to_end.py --bin build/release/bin "$@"
printf '\n== agents, compared\n'
python3 bench/compare_agents.py --bin build/release/bin
printf '\n== analyze\n'
python3 bench/analyze.py --bin build/release/bin
printf '\n== many tools\n'
python3 bench/many_tools.py --bin build/release/bin
printf '\n== tokens\n'
node bench/tokens.mjs
