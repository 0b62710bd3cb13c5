#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a comment or a page points at a page, or a heading of one, that is not there.

Held are links of pages, `](page.md#heading)`, and what comments say, `docs/page.md, "Heading"`.
Documents of others are named by their own words and not as `docs/…md`.
"""
import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"\]\(([^()\s:]*?)(?:#([^()\s]*))?\)")
SAID = re.compile(r'((?:docs|templates)/[\w/-]+\.md|(?<![\w./-])[\w-]+\.md)(?:, "([^"\n]+)")?')
# Files of test data and of a user's project, which sources write as texts.
OTHERS = re.compile(r"^(tests|bench|fuzz|examples)/")


def anchor(heading: str) -> str:
    """As renderers make it of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def headings(page: pathlib.Path):
    return re.findall(r"^#+ (.+?)\s*$", page.read_text(), re.M)


def wrong_links(path: pathlib.Path, text: str):
    for match in LINK.finditer(text):
        name, part = match.groups()
        page = path.parent / name if name else path
        if not page.exists():
            yield f"{path}: no file {name}"
        elif part and page.suffix == ".md" and part not in map(anchor, headings(page)):
            yield f"{path}: no heading #{part} in {page}"


def wrong_words(path: pathlib.Path, text: str, pages: dict):
    comments = "\n".join(line for line in text.splitlines() if "//" in line)
    for match in SAID.finditer(re.sub(r"\n\s*// ", " ", comments)):
        name, heading = match.groups()
        page = pages.get(name)
        if page is None:
            yield f"{path}: no page {name}"
        elif heading and heading not in headings(page):
            yield f'{path}: no heading "{heading}" in {page}'


def main():
    root = pathlib.Path(sys.argv[1])
    files = subprocess.run(["git", "ls-files"], cwd=root, check=True, capture_output=True, text=True).stdout.split()
    pages = {}
    for name in files:
        if name.endswith(".md"):
            pages[name] = root / name
            pages.setdefault(pathlib.PurePath(name).name, root / name)
    wrong = []
    for name in files:
        path = root / name
        if name.endswith(".md"):
            wrong += wrong_links(path, path.read_text())
        elif path.suffix in {".h", ".hpp", ".cpp"} and not OTHERS.match(name):
            wrong += wrong_words(path, path.read_text(), pages)
    print("\n".join(wrong) or "references: ok")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
