#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is not a test: formatting, floors, and that pages, comments and settings name what is there.
# With --format it mends the formatting instead, and nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t sources < <(git ls-files '*.h' '*.cpp' '*.hpp' | grep -vE '^tests/(codegen/(golden|data)|analyzer/cases|templates/compile_fail)/')
if [ "${1:-}" = --format ]; then
  exec clang-format-14 -i "${sources[@]}"
fi
clang-format-14 --dry-run --Werror "${sources[@]}"
echo "formatting: ok (${#sources[@]} files)"
python3 tools/check_layers.py .
python3 tools/check_prose.py .
python3 tools/check_references.py .
python3 tools/check_threat_model.py .
python3 tools/check_configuration.py .
grep -q './dev quickstart' README.md
grep -q './dev test' README.md
echo "README: names both commands"
