#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every claim of docs/threat-model.md names the test that shows it: here each named test must exist.

A name is written as `tests/FOLDER/FILE "name of the case"`; below `docs/` no other form counts."""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
DOCUMENT = ROOT / "docs/threat-model.md"
NAMED = re.compile(r"`(tests/[\w./-]+)\s+\"([^\"`]+)\"`")
CASE = re.compile(r"TEST_CASE\(\s*((?:\"(?:[^\"\\]|\\.)*\"\s*)+)\)")
PART = re.compile(r"\"((?:[^\"\\]|\\.)*)\"")


def cases_of(path: pathlib.Path) -> set[str]:
    """Names of doctest cases; a long one is written as several literals."""
    text = path.read_text(encoding="utf-8")
    return {"".join(PART.findall(found)).replace('\\"', '"') for found in CASE.findall(text)}


def main() -> int:
    text = DOCUMENT.read_text(encoding="utf-8")
    named = [(file, " ".join(name.split())) for file, name in NAMED.findall(text)]
    wrong = []
    for file, name in named:
        path = ROOT / file
        if not path.is_file():
            wrong.append(f"{file} does not exist")
        elif name not in cases_of(path):
            wrong.append(f'{file} has no test "{name}"')
    # A name in another form would be checked by nobody.
    if text.count("`tests/") != len(named):
        wrong.append("a test is named in a form that is not `tests/FILE \"name\"`")
    if not named:
        wrong.append("no test is named")
    for line in wrong:
        print(f"docs/threat-model.md: {line}", file=sys.stderr)
    if not wrong:
        print(f"threat model: ok ({len(named)} claims have their test)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
