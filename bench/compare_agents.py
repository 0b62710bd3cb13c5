#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ways to start a program, and ways to run an agent that calls three tools, in one run.

    compare_agents.py --bin build/release/bin [--runs N] [--rounds N] [--python PYTHON]

Method, starts: bench_sandbox: in each of N rounds every way once; spawn to the first byte of a static C program (node: of
a script that writes one), microseconds. bwrap and firejail are compared where PATH has them.

Method, agents: the pinned filesystem server, started by each agent for itself; list a folder, read two files, print a
number. In each of N rounds every way once, after one round that does not count; wall time from fork to exit of the
whole process, medians with the 10th and 90th percentile. "unseen" changes a number in the source before every run. The
server's own start, which is in every row, is measured beside them (`mcpac server test`: start, list, stop). mcpac and
the two SDKs do not do the same: the first analyses, checks, compiles, decides and records, in a sandbox; the others
run with all rights of the user.
"""
import argparse
import os
import pathlib
import subprocess
import sys

from project import FILESYSTEM_SERVER, MODULES, project
from spread import spread

AGENT = """#include <mcpac.hpp>
#include <print>
#include <string>
using namespace mcp;
constexpr int kSalt = SALT;
std::string read(mcpac::Requires<filesystem::read_text_file> rt, const std::string& path) {
  return rt.filesystem.read_text_file({.path = path}).text();
}
int agent_main(mcpac::Requires<filesystem::read_text_file, filesystem::list_directory> rt) {
  rt.filesystem.list_directory({.path = "data"});
  std::println("{}", read(rt, "data/a.txt").size() + read(rt, "data/b.txt").size() + kSalt - kSalt);
  return 0;
}
"""
ANSWER = "11\n"
AGENTS = pathlib.Path(__file__).resolve().parent / "agents"


def has_sdk(python):
    try:
        return subprocess.run([python, "-c", "import mcp"], capture_output=True).returncode == 0
    except OSError:
        return False


def agents(options, here):
    here.write("data/b.txt", "beta\n")
    grants = ("--grant", "filesystem.read_text_file,filesystem.list_directory")
    salt = 0

    def checked(*words):
        wall, answer = here.time(*words)
        if answer != ANSWER:
            raise SystemExit(f"{words[:3]}: another answer: {answer}")
        return wall

    def unseen():
        nonlocal salt
        salt += 1
        here.write("new.cpp", AGENT.replace("SALT", str(salt)))
        return checked(here.mcpac, "execute", "-f", "new.cpp", *grants)

    here.write("old.cpp", AGENT.replace("SALT", "0"))
    ways = {
        "the server alone (server test)": lambda: here.run("server", "test", "filesystem")[0],
        "node -e 0": lambda: here.time("node", "-e", "0")[0],
        "mcpac execute, never seen": unseen,
        "mcpac execute, seen": lambda: checked(here.mcpac, "execute", "-f", "old.cpp", *grants),
        "TypeScript SDK, node": lambda: checked("node", str(AGENTS / "three_calls.mjs"), str(MODULES), FILESYSTEM_SERVER, str(here.folder)),
    }
    if has_sdk(options.python):
        ways["Python SDK"] = lambda: checked(options.python, str(AGENTS / "three_calls.py"), FILESYSTEM_SERVER, str(here.folder))
    else:
        print(f"({options.python} has no package mcp: the Python SDK is not compared)")
    here.run("generate")
    unseen()  # precompiles, once
    times = {name: [] for name in ways}
    for i in range(options.runs + 1):
        for name, run in ways.items():
            wall = run()
            if i > 0:
                times[name].append(wall)
    for name, values in times.items():
        print(f"{name:32} {spread(values)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    print(f"load when it began: {' '.join(f'{load:.1f}' for load in os.getloadavg())} on {os.cpu_count()} processors", flush=True)
    subprocess.run([pathlib.Path(options.bin).resolve() / "bench_sandbox", str(options.rounds)], check=True)
    sys.stdout.flush()
    with project(options.bin) as here:
        agents(options, here)


if __name__ == "__main__":
    main()
