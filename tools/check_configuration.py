#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/configuration.md names the members and variables that the code reads: all of them, and no others."""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
PAGE = "docs/configuration.md"
ROW = re.compile(r"^\| `([^`]+)` \|", re.M)
WORD = re.compile(r"`([$A-Za-z]+)`")
# OTEL_ names are put together from parts; docs/gateway.md has them.
VARIABLE = re.compile(r'(?:getenv|environment|variable|variables|base_folder)\("([A-Z][A-Z_]+)"')


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def listed(path: str, name: str) -> set[str]:
    """The texts in the array NAME of a source file."""
    found = re.search(rf"\b{name}(?:\[\])? = \{{([^}}]*)\}}", read(path))
    return set(re.findall(r'"([^"]+)"', found[1])) if found else set()


def compared(path: str) -> set[str]:
    """What the reader compares the name of a member with."""
    return set(re.findall(r'\bname == "([^"]+)"', read(path)))


def section(title: str) -> str:
    found = re.search(rf"^(#+) {re.escape(title)}\n(.*?)(?=^#|\Z)", read(PAGE), re.M | re.S)
    return found[2] if found else ""


def variables() -> set[str]:
    files = [*(ROOT / "src").rglob("*.cpp"), *(ROOT / "src").rglob("*.h"), *(ROOT / "templates").rglob("*.hpp")]
    names = set()
    for file in files:
        names |= set(VARIABLE.findall(file.read_text(encoding="utf-8")))
    return {name for name in names if not name.startswith("OTEL_")}


def differences(what: str, code: set[str], page: set[str]) -> list[str]:
    if not code:
        return [f"{what}: tools/check_configuration.py finds none in the source"]
    return [f"{what}: {name} is read and not on the page" for name in sorted(code - page)] + [
        f"{what}: {name} is on the page and not read" for name in sorted(page - code)
    ]


def main() -> int:
    known = listed("src/mcp/server_config.cpp", "kKnown")
    wrong = [
        *differences("a server's member", known | compared("src/mcp/server_config.cpp"),
                     set(ROW.findall(section("Members of a server")))),
        *differences("a member that is read over", listed("src/mcp/server_config.cpp", "kTolerated"),
                     set(WORD.findall(section("Members of other clients")))),
        *differences("a member of auth", listed("src/mcp/auth_config.cpp", "kKnown")
                     | compared("src/mcp/auth_config.cpp"), set(ROW.findall(section("Members of `auth`")))),
        *differences("a member of sandbox", listed("src/mcp/server_config.cpp", "kKnownOfSandbox"),
                     set(ROW.findall(section("`sandbox`: what a server reaches")))),
        *differences("a variable", variables(), {name for name in ROW.findall(section("Environment variables"))
                                                 if not name.startswith("OTEL_")}),
    ]
    for line in wrong:
        print(f"{PAGE}: {line}", file=sys.stderr)
    if not wrong:
        print("configuration: ok (the page has what is read)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
