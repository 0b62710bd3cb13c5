#!/usr/bin/env python3
"""What a sandbox around a server costs: its start, and a call.

    confined.py --bin build/release/bin [--rounds R]

Method: one project whose servers are the same three programs, each bare and with a "sandbox": the filesystem server (Node),
one in python3 and one in bash. A start is `mcpac server test NAME`, from fork to exit: mcpac, the server up to its list of tools,
and its end. Rounds take all six in turn, so that the machine's moods meet all alike; one round before is thrown away. Where there
is bubblewrap, the bare entry is also started by it, with the same places. Medians, and the difference of the medians.
"""
import argparse
import json
import pathlib
import shutil
import statistics

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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    with project(options.bin) as here:
        servers = {}
        for name, entry in PROGRAMS.items():
            servers[name] = entry
            servers[f"{name}-confined"] = {**entry, "sandbox": {"files": ["./data:rw"]}}
            if shutil.which("bwrap"):
                servers[f"{name}-bwrap"] = wrapped(entry, here.folder)
        here.write("mcpac.json", json.dumps({"mcpServers": servers}))
        times = {name: [] for name in servers}
        for turn in range(options.rounds + 1):
            for name in servers:
                wall, _ = here.run("server", "test", name)
                if turn:
                    times[name].append(wall)
    for name, entry in times.items():
        base = statistics.median(times[name.split("-")[0]])
        middle = statistics.median(entry)
        more = "" if "-" not in name else f"   {middle - base:+6.1f} ms"
        print(f"{name:<16} start to end: median {middle:7.1f} ms   p90 {sorted(entry)[len(entry) * 9 // 10]:7.1f} ms{more}")


if __name__ == "__main__":
    main()
