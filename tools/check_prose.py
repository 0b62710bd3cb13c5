#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on documents with lines of more than 120 columns, and on sources without their licence line.

Tables, fenced code and the threat model are left out: a row is one line, and names of tests do not break.
"""
import pathlib
import subprocess
import sys

MOST_COLUMNS = 120
WITHOUT = {"docs/threat-model.md"}
MARK = "SPDX-License-Identifier: Apache-2.0"
MARKED = ("src", "analyzer", "codegen", "ipc", "bench", "fuzz", "tools")


def long_lines(path: pathlib.Path):
    fenced = False
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if not fenced and not line.lstrip().startswith("|") and len(line) > MOST_COLUMNS:
            yield number, len(line)


def listed(root: pathlib.Path, *patterns: str) -> list[str]:
    files = subprocess.run(["git", "ls-files", *patterns], cwd=root, check=True, capture_output=True, text=True)
    return [name for name in files.stdout.splitlines() if (root / name).is_file()]


def unmarked(root: pathlib.Path):
    for name in listed(root, *(f"{room}/*.{kind}" for room in MARKED for kind in ("h", "cpp", "py", "sh"))):
        if MARK not in (root / name).read_text()[:200]:
            yield f"{name}: no line `{MARK}`"


def main(root: pathlib.Path) -> int:
    found = [*unmarked(root)]
    found += [
        f"{name}:{number}: {columns} columns, of at most {MOST_COLUMNS}"
        for name in listed(root, "*.md")
        if name not in WITHOUT and not name.startswith("tests/")
        for number, columns in long_lines(root / name)
    ]
    print("\n".join(found) or "prose: ok")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
