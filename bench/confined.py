#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a sandbox around a server costs: its start, and a call.

    confined.py --bin build/release/bin [--rounds R] [--calls N]

Method: one project whose servers are the same three programs, each bare and with a "sandbox": the filesystem server (Node),
one in python3 and one in bash. A start is `mcpac server test NAME`, from fork to exit: mcpac, the server up to its list of tools,
and its end. Rounds take all in turn, so that the machine's moods meet all alike; one round before is thrown away. Where there
is bubblewrap, the bare entry is also started by it, with the same places. Medians and minima, with their differences to the bare
entry's, and the median of the differences within a round, which a load that lasts longer than a round does not move.

The server in python3 also gets places to write that hold much: 200 folders beside a node_modules of 500 packages, and the same
with a name that tools obey (.vscode) in 40 and in 150 of the folders. Each such name is a mount, and so is the folder above it.

A call is one `tools/call` of one `mcpac serve` with both entries of the server in Python, over its standard streams, one after
the other in blocks of 50 calls in turn; the tool does next to nothing. Medians of the blocks' medians.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import time

from project import FILESYSTEM_SERVER, project

SERVERS = pathlib.Path(__file__).resolve().parent.parent / "tests/servers"
PROGRAMS = {
    "node": {"command": "node", "args": [FILESYSTEM_SERVER, "."]},
    "python": {"command": "/usr/bin/python3", "args": [str(SERVERS / "attempts.py")], "era": "initialize"},
    "bash": {"command": str(SERVERS / "hello.sh"), "era": "initialize"},
}


def wrapped(entry, folder):
    """By bubblewrap, as its manual has it for a program without network."""
    words = ["--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib",
             "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", str(SERVERS),
             str(SERVERS), "--bind", str(folder), str(folder), entry["command"], *entry.get("args", [])]
    return {**entry, "command": "bwrap", "args": words}


def many_folders(folder, held):
    """A project whose first `held` folders have a name that tools obey."""
    for number in range(200):
        here = folder / f"part{number}"
        here.mkdir(parents=True)
        (here / "code.py").write_text("pass\n")
        if number < held:
            (here / ".vscode").mkdir()
            (here / ".vscode/settings.json").write_text("{}\n")
    for number in range(500):
        package = folder / f"node_modules/package{number}/lib"
        package.mkdir(parents=True)
        for name in ("../package.json", "../README.md", "index.js", "index.d.ts"):
            (package / name).write_text("{}\n")


class Gateway:
    """An MCP client of `mcpac serve`, whose rules admit all."""

    def __init__(self, here, *servers):
        words = [here.mcpac, "serve", *[word for name in servers for word in ("--grant", f"{name}.*")]]
        self.process = subprocess.Popen(words, cwd=here.folder, env={**here.environment, "MCPAC_ALONE": "1"}, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.next = 0
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}})
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.names = {tool["name"] for tool in self.ask("tools/list", {})["tools"]}

    def write(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method, parameters):
        self.next += 1
        self.write({"jsonrpc": "2.0", "id": self.next, "method": method, "params": parameters})
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.next:
                return answer["result"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def calls(here, count):
    """Microseconds of a call, bare and confined, in blocks by turns."""
    here.run("generate")
    gateway = Gateway(here, "python", "python-confined")
    times = {"python": [], "python-confined": []}
    block = 50
    for turn in range(count // block + 1):
        for server in times:
            name = next(name for name in gateway.names if name in (f"{server}.attempt", f"{server}_attempt"))
            found = []
            for _ in range(block):
                begun = time.perf_counter_ns()
                said = gateway.ask("tools/call", {"name": name, "arguments": {"what": "list", "on": "/"}})
                found.append((time.perf_counter_ns() - begun) / 1000)
                assert not said.get("isError"), said
            if turn:
                times[server].append(statistics.median(found))
    gateway.close()
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--calls", type=int, default=2000)
    options = parser.parse_args()
    with project(options.bin) as here:
        servers = {}
        for name, entry in PROGRAMS.items():
            servers[name] = entry
            servers[f"{name}-confined"] = {**entry, "sandbox": {"files": ["./data:rw"]}}
            if shutil.which("bwrap"):
                servers[f"{name}-bwrap"] = wrapped(entry, here.folder)
        for held in (0, 40, 150):
            many_folders(here.folder / f"work{held}", held)
            servers[f"python-{held}-held"] = {**PROGRAMS["python"], "sandbox": {"files": [f"./work{held}:rw"]}}
        here.write("mcpac.json", json.dumps({"mcpServers": servers}))
        times = {name: [] for name in servers}
        for turn in range(options.rounds + 1):
            for name in servers:
                wall, _ = here.run("server", "test", name)
                if turn:
                    times[name].append(wall)
        here.write("mcpac.json", json.dumps({"mcpServers": {name: servers[name] for name in ("python", "python-confined")}}))
        called = calls(here, options.calls)
    for name, entry in times.items():
        base = statistics.median(times[name.split("-")[0]])
        middle = statistics.median(entry)
        bare = times[name.split("-")[0]]
        paired = statistics.median(one - other for one, other in zip(entry, bare))
        more = "" if "-" not in name else (f"   more: medians {middle - base:+6.1f}, minima {min(entry) - min(bare):+6.1f}, "
                                           f"in a round {paired:+6.1f} ms")
        print(f"{name:<16} start to end: median {middle:7.1f}   least {min(entry):7.1f}   "
              f"p90 {sorted(entry)[len(entry) * 9 // 10]:7.1f} ms{more}")
    base = statistics.median(called["python"])
    least = min(called["python"])
    for name, blocks in called.items():
        middle = statistics.median(blocks)
        more = "" if "-" not in name else f"   more: medians {middle - base:+6.1f}, minima {min(blocks) - least:+6.1f} us"
        print(f"{name:<16} one call: median {middle:8.1f} us   blocks {min(blocks):7.1f} to {max(blocks):7.1f} us{more}")
    print("load of the machine, over 1, 5 and 15 minutes:", *(f"{load:.1f}" for load in os.getloadavg()))


if __name__ == "__main__":
    main()
