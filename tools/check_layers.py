#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a file includes a module that its floor may not see.

FLOORS is the same table as docs/architecture.md; change both in one commit.
"""
import pathlib
import re
import sys

LIBRARY_OF_RUNS = {"project", "network", "toolchain", "servers", "history"}
FLOORS = {
    "templates": set(),
    "src/core": set(),
    "src/policy": {"core"},
    "src/audit": {"core"},
    "src/sandbox": {"core"},
    "ipc": {"core"},
    "codegen": {"core"},
    "analyzer": {"core"},
    "src/mcp": {"core", "ipc"},
    "src/gate": {"core", "policy", "audit", "ipc"},
    "src/project": {"core", "policy", "audit", "sandbox", "codegen", "mcp"},
    "src/network": {"core", "policy", "ipc", "mcp", "gate"},
    "src/toolchain": {"core", "audit", "sandbox", "codegen", "analyzer", "project"},
    "src/servers": {"core", "policy", "audit", "sandbox", "ipc", "codegen", "mcp", "gate", "project", "network"},
    "src/history": {"core", "policy", "audit", "sandbox", "codegen", "mcp", "gate", "project", "servers"},
    "src/run": {"core", "policy", "audit", "sandbox", "ipc", "codegen", "analyzer", "mcp", "gate"} | LIBRARY_OF_RUNS,
    "src/resident": {"core", "mcp", "run"} | LIBRARY_OF_RUNS,
    "src/gateway": {"core", "policy", "audit", "ipc", "codegen", "mcp", "gate", "run"} | LIBRARY_OF_RUNS,
    "src/cli": {"core", "policy", "audit", "sandbox", "codegen", "analyzer", "mcp", "run", "resident", "gateway"} | LIBRARY_OF_RUNS,
}
# Corners of one room, in the order in which they stand on each other; files of the room itself are its face:
# headers there are words for all corners, but for those in TOPS and of the rooms in WIRED, which wire the corners.
CORNERS = {
    "src/core": ["schema"],
    "src/policy": ["text", "match", "rules", "decide", "sets", "compare", "explain"],
    "src/mcp": ["oauth"],
    "src/project": ["files", "clients"],
    "src/toolchain": ["child"],
    "src/servers": ["confine"],
    "src/history": ["records", "recording", "changes"],
    "src/run": ["live", "check", "asking"],
    "src/gateway": ["tracing", "lists", "http", "oauth", "code_mode"],
}
WIRED = {"toolchain", "servers", "run"}
TOPS = {"policy/authority", "policy/load", "policy/policy_record", "policy/policy_digest"}
# Third-party headers that only one room may see.
OWNERS = {
    "clang-c/": "analyzer/clang",
    "seccomp.h": "src/sandbox",
    "linux/landlock.h": "src/sandbox",
    "CLI/": "src/cli",
    "sqlite3.h": "codegen",
}
SOURCES = {".h", ".hpp", ".cpp"}  # all of templates/ is .hpp
MODULES = {pathlib.PurePath(floor).name for floor in FLOORS}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([a-z_]+)/')
WITHIN = re.compile(r'^\s*#\s*include\s*"((?:[a-z_]+/)+[a-z_0-9]+)\.h(?:pp)?"')
ANGLED = re.compile(r"^\s*#\s*include\s*<([^>]+)>")


def violations(root: pathlib.Path):
    for floor, allowed in FLOORS.items():
        own = pathlib.PurePath(floor).name
        for path in sorted((root / floor).rglob("*")):
            if path.suffix not in SOURCES:
                continue
            for number, line in enumerate(path.read_text().splitlines(), start=1):
                angled = ANGLED.match(line)
                for header, owner in OWNERS.items():
                    if angled and angled[1].startswith(header) and not str(path.relative_to(root)).startswith(owner):
                        yield f"{path.relative_to(root)}:{number}: only {owner} may include <{angled[1]}>"
                match = INCLUDE.match(line)
                if match and match[1] in MODULES and match[1] not in allowed | {own}:
                    yield f"{path.relative_to(root)}:{number}: {own} may not include {match[1]}/"


def corner_violations(root: pathlib.Path):
    for room, corners in CORNERS.items():
        own = pathlib.PurePath(room).name
        for path in sorted((root / room).glob("*/*")):
            here = path.parent.name
            if here not in corners:
                yield f"{path.relative_to(root)}: {here} is no corner of {room} in tools/check_layers.py"
                continue
            for number, line in enumerate(path.read_text().splitlines(), start=1):
                match = WITHIN.match(line)
                parts = match[1].split("/") if match else []
                if parts[:1] != [own]:
                    continue
                above = len(parts) == 3 and corners.index(parts[1]) > corners.index(here)
                wires = (len(parts) == 2 and own in WIRED) or any(match[1].startswith(top) for top in TOPS)
                if above or wires:
                    yield f"{path.relative_to(root)}:{number}: {own}/{here} stands below {match[1]}.h"


if __name__ == "__main__":
    found = [*violations(pathlib.Path(sys.argv[1])), *corner_violations(pathlib.Path(sys.argv[1]))]
    print("\n".join(found) or "layers: ok")
    sys.exit(1 if found else 0)
