#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole-process times of `execute` with a resident host and without, in turn.

    resident.py --bin build/release/bin [--runs N]

Method: a fresh project with the pinned filesystem server, as in end_to_end.py; one host (`mcpac up`). In each round
`execute` runs a source that was never seen and the same source again, once with --alone and once in a prepared worker;
before a worker's turn the round waits until it is prepared (`mcpac ps`, the server's start included), as it is when a
person or a model thinks between two runs. Wall time from fork to three moments: the program writes a line before its first
tool call (to the first call), one when that is answered (to its answer), and ends (to exit).
"""
import argparse
import json
import statistics
import time

from end_to_end import AGENT
from project import project
from spread import spread

SOURCE = AGENT.replace("std::map<std::string, std::size_t> sizes;", """std::map<std::string, std::size_t> sizes;
  std::println("calls");
  std::fflush(stdout);
  std::println("first {}", rt.filesystem.list_directory({.path = "data"}).lines().size());
  std::fflush(stdout);""").replace("#include <map>", "#include <cstdio>\n#include <map>")
MOMENTS = ("to the first call", "to its answer", "to exit")
GRANTS = ("--grant", "filesystem.read_text_file,filesystem.list_directory")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    with project(options.bin) as here:
        def prepared():
            for _ in range(600):
                host = json.loads(here.run("ps", "--json")[1])
                if any(worker["state"] == "waits" and worker.get("servers") for worker in host["workers"]):
                    time.sleep(1)  # the server's own start
                    return
                time.sleep(0.05)
            raise SystemExit("no worker came to wait")

        here.run("generate")
        here.run("up")
        try:
            rows = {}
            for i in range(options.runs + 1):
                for way in ("alone", "worker") if i % 2 else ("worker", "alone"):
                    here.write("agent.cpp", SOURCE.replace("SALT", str(2 * i + (way == "alone") + 1)))
                    for seen in ("unseen", "seen"):
                        if way == "worker" and i > 0:
                            prepared()
                        more = ("--alone",) if way == "alone" else ()
                        times = here.run_to_lines(2, "execute", "-f", "agent.cpp", *GRANTS, *more)
                        if i > 0:  # the first round warms up
                            for moment, passed in zip(MOMENTS, times):
                                rows.setdefault(f"{seen}, {way}, {moment}", []).append(passed)
            log = (here.folder / ".state/mcpac/resident.log").read_text()
            if log.count(" serves ") < 2 * options.runs:
                raise SystemExit("not every run was a worker's:\n" + log)
        finally:
            here.run("down")
        for seen in ("seen", "unseen"):
            for way in ("alone", "worker"):
                for moment in MOMENTS:
                    name = f"{seen}, {way}, {moment}"
                    print(f"{name:34} {spread(rows[name])}")
        for seen in ("seen", "unseen"):
            for what in MOMENTS:
                ratio = statistics.median(rows[f"{seen}, alone, {what}"]) / statistics.median(rows[f"{seen}, worker, {what}"])
                print(f"{seen}, {what}: {ratio:.2f} times as fast in a worker")


if __name__ == "__main__":
    main()
