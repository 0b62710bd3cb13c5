#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole-process times of mcpac, with the stages that it reports itself.

    end_to_end.py --bin build/release/bin [--runs N]

Method: a fresh project with the pinned filesystem server; headers prepared once before. For each row N runs
after one warm-up, wall time around the whole process (fork to exit), medians with the 10th and 90th
percentile. "unseen" changes a number in the source before every run, "seen" runs the same again. The server's own start is measured in the
same loop (spawn to the answer of `initialize`, by the same client: `mcpac server test`), because every run
waits for it.
"""
import argparse
import json

from project import project
from spread import spread

AGENT = """#include <mcpac.hpp>
#include <algorithm>
#include <map>
#include <print>
#include <string>
#include <vector>
using namespace mcp;
constexpr int kSalt = SALT;
std::string read(mcpac::Requires<filesystem::read_text_file> rt, const std::string& path) {
  return rt.filesystem.read_text_file({.path = path}).text();
}
int agent_main(mcpac::Requires<filesystem::read_text_file, filesystem::list_directory> rt) {
  std::map<std::string, std::size_t> sizes;
  for (const auto& line : rt.filesystem.list_directory({.path = "data"}).lines()) {
    const auto name = line.substr(line.find(' ') + 1);
    sizes[name] = read(rt, "data/" + name).size();
  }
  for (const auto& [name, size] : sizes) std::println("{} {}", name, size + kSalt - kSalt);
  return 0;
}
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    with project(options.bin) as here:
        run = here.run

        def source(salt):
            here.write("agent.cpp", AGENT.replace("SALT", str(salt)))

        run("generate")
        source(0)
        grants = ("--grant", "filesystem.read_text_file,filesystem.list_directory")
        print(f"first use of a lock (headers precompiled, once): {run('execute', '-f', 'agent.cpp', *grants, '--dry-run')[0]:.0f} ms")
        rows = {name: [] for name in ("mcpac --version", "server test filesystem", "permissions analyze", "execute --dry-run, unseen", "execute, unseen", "execute --dry-run, seen", "execute, seen")}
        stages = {}
        for i in range(options.runs + 1):
            source(i + 1)
            sample = {
                "mcpac --version": run("--version")[0],
                "server test filesystem": run("server", "test", "filesystem")[0],
                "permissions analyze": run("permissions", "analyze", "agent.cpp")[0],
                "execute --dry-run, unseen": run("execute", "-f", "agent.cpp", *grants, "--dry-run")[0],
            }
            source(-i - 1)
            sample["execute, unseen"], text = run("execute", "-f", "agent.cpp", *grants, "--json")
            sample["execute --dry-run, seen"] = run("execute", "-f", "agent.cpp", *grants, "--dry-run")[0]
            sample["execute, seen"] = run("execute", "-f", "agent.cpp", *grants)[0]
            if i == 0:
                continue  # warm-up
            for name, value in sample.items():
                rows[name].append(value)
            for stage in json.loads(text)["stages"]:
                stages.setdefault(stage["name"], []).append(stage["ms"])
        for name, values in rows.items():
            print(f"{name:28} {spread(values)}")
        print("stages of `execute, unseen`:")
        for name, values in stages.items():
            print(f"  {name:26} {spread(values)}")


if __name__ == "__main__":
    main()
