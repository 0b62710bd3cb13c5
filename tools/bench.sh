#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every benchmark there is, one after another; each prints its method. Figures are for docs/benchmarks.md.
# Arguments go to bench/end_to_end.py (--runs N). One that fails does not keep the others from running.
set -uo pipefail
cd "$(dirname "$0")/.."
failed=()
run() { # run NAME COMMAND...
  printf '\n== %s\n' "$1"
  "${@:2}" || failed+=("$1")
}
for program in build/release/bin/bench_*; do
  [ -x "$program" ] || continue
  name=$(basename "$program")
  # It wants images, which bench/slots.py makes.
  [ "$name" = bench_slots ] || run "$name" "$program"
done
for script in bench/*.py; do
  name=$(basename "$script")
  grep -q '__main__' "$script" || continue  # what the others share
  case "$name" in
    slots.py) run "$name" python3 "$script" --build build/release ;;
    end_to_end.py) run "$name" python3 "$script" --bin build/release/bin "$@" ;;
    *) run "$name" python3 "$script" --bin build/release/bin ;;
  esac
done
run tokens.mjs node bench/tokens.mjs
[ ${#failed[@]} = 0 ] || { printf '\nfailed: %s\n' "${failed[*]}" >&2; exit 1; }
