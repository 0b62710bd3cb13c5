#!/usr/bin/env python3
"""Fails on documents with lines of more than 120 columns.

Tables, fenced code and the threat model are left out: a row is one line, and names of tests do not break.
"""
import pathlib
import subprocess
import sys

MOST_COLUMNS = 120
WITHOUT = {"docs/threat-model.md"}


def long_lines(path: pathlib.Path):
    fenced = False
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if not fenced and not line.lstrip().startswith("|") and len(line) > MOST_COLUMNS:
            yield number, len(line)


def main(root: pathlib.Path) -> int:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=root, check=True, capture_output=True, text=True)
    found = [
        f"{name}:{number}: {columns} columns, of at most {MOST_COLUMNS}"
        for name in listed.stdout.splitlines()
        if name not in WITHOUT and not name.startswith("tests/")
        for number, columns in long_lines(root / name)
    ]
    print("\n".join(found) or "prose: ok")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
