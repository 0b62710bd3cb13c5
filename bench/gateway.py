#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a gateway adds to a call: mcpac serve beside mcp-proxy and mcp-remote, in one run.

    python3 bench/gateway.py --bin build/release/bin [--rounds 5] [--calls 3000]

Method. Two set-ups, each with the same upstream, a plain Node program of tests/servers, and the same client:

  HTTP door, server on standard input:  client -> (mcpac serve --http | mcp-proxy | cat) -> server; direct: client -> server
  stdio door, server behind HTTP:       client -> (mcpac serve | mcp-remote) -> server;       direct: client -> server

N clients are N connections over HTTP, and N calls in flight over standard input. Each round measures every way in turn; a
row is the median of the rounds' p50 and p99 with the least and the most, and what is added is a way's p50 less the direct
one's of the same round. A round has thousands of small calls: the first hundreds after a pause measure the pause (caches,
the scheduler, the other way's garbage). All processes share the machine, as they would. mcpac decides, validates, locks
and audits; the others pass on. The client is a small program (gateway_client.cpp): its own share is in every row, the
direct one's too. And cat on both sides of the server shows what any process between costs that reads nothing.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shlex
import socket
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / "bench/peers/node_modules"
SERVERS = ROOT / "tests/servers"


class Failed(Exception):
    """What a way could not do."""


class Client:
    """One way to the server, measured by gateway_client: over HTTP, or a program's standard input and output."""

    def __init__(self, tool, words, **options):
        self.tool = tool
        self.words = words
        self.options = options

    def measure(self, client, size, clients, calls):
        work = [self.tool, size, clients, max(clients, min(calls, 30)), calls]
        words = [client, *self.words]
        environment = dict(self.options.get("env", os.environ))
        if self.words[0] == "stdio":
            environment["CALLS"] = " ".join(str(word) for word in work)
        else:
            words += work
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **{**self.options, "env": environment})
        if done.returncode != 0:
            raise Failed(done.stdout.strip()[-300:] or f"the client ended with {done.returncode}")
        return [wait / 1e6 for wait in json.loads(done.stdout)]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def wait_for(port):
    for _ in range(500):
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
            return
        time.sleep(0.02)
    raise SystemExit("a program did not listen")


class Folder:
    """A project of mcpac with one server, and what is started in it."""

    def __init__(self, mcpac, server):
        self.folder = tempfile.TemporaryDirectory(prefix="mcpac-bench-")
        path = self.folder.name
        self.mcpac = mcpac
        self.environment = dict(os.environ, XDG_STATE_HOME=f"{path}/.state", XDG_CACHE_HOME=f"{path}/.cache", XDG_RUNTIME_DIR=f"{path}/run", MCPAC_ALONE="1")
        pathlib.Path(path, "mcpac.json").write_text(json.dumps({"mcpServers": {"fixture": server}}))
        subprocess.run([mcpac, "generate"], check=True, capture_output=True, **self.options())
        self.started = []

    def options(self):
        return {"cwd": self.folder.name, "env": self.environment}

    def start(self, words, **options):
        self.started.append(subprocess.Popen(words, stderr=subprocess.DEVNULL, **options))
        return self.started[-1]

    def close(self):
        for process in self.started:
            process.terminate()
        for process in self.started:
            process.wait()
        self.folder.cleanup()


def http_doors(mcpac):
    """Ways to a server on standard input: direct, and through doors over HTTP."""
    command = ["node", str(SERVERS / "fixture.mjs"), "plain"]
    folder = Folder(mcpac, {"command": command[0], "args": command[1:]})
    serving = folder.start([mcpac, "serve", "--http", "127.0.0.1:0", "--grant", "fixture.*"], stdout=subprocess.PIPE, **folder.options())
    said = json.loads(serving.stdout.readline())
    port = int(said["http"].split(":")[2].split("/")[0])
    proxy = free_port()
    folder.start(["node", str(PEERS / "mcp-proxy/dist/bin/mcp-proxy.mjs"), "--host", "127.0.0.1", "--port", str(proxy), "--server", "stream", "--", *command],
                 stdout=subprocess.DEVNULL)
    wait_for(proxy)
    return folder, {
        "direct": Client("big", ["stdio", *command]),
        "mcpac serve --http": Client("fixture.big", ["http", port, "/mcp", f"Authorization: Bearer {said['token']}\r\n"]),
        "mcp-proxy": Client("big", ["http", proxy, "/mcp", ""]),
        "only copied": Client("big", ["stdio", "sh", "-c", f"cat | {shlex.join(command)} | cat"]),
    }


def stdio_doors(mcpac):
    """Ways to a server behind HTTP: direct, and through programs on standard input."""
    server = subprocess.Popen(["node", str(SERVERS / "http_fixture.mjs"), "initialize"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    port = int(server.stdout.readline().split()[1])
    url = f"http://127.0.0.1:{port}/json"
    folder = Folder(mcpac, {"url": url})
    folder.started.append(server)
    return folder, {
        "direct": Client("big", ["http", port, "/json", ""]),
        "mcpac serve": Client("fixture.big", ["stdio", mcpac, "serve", "--grant", "fixture.*"], **folder.options()),
        "mcp-remote": Client("big", ["stdio", "node", PEERS / "mcp-remote/dist/proxy.js", url, "--transport", "http-only", "--allow-http"],
                             cwd=folder.folder.name, env=dict(folder.environment, HOME=folder.folder.name)),
    }


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def shown(values):
    return f"{statistics.median(values) * 1e6:9.0f} ({min(values) * 1e6:.0f}..{max(values) * 1e6:.0f})"


def compare(client, title, ways, size, clients, calls, rounds):
    p50 = {way: [] for way in ways}
    p99 = {way: [] for way in ways}
    added = {way: [] for way in ways}
    failed = {}
    for _ in range(rounds):
        for way, connection in ways.items():
            if way in failed:
                continue
            try:
                waits = connection.measure(client, size, clients, calls)
            except (Failed, OSError) as error:
                failed[way] = error
                continue
            p50[way].append(quantile(waits, 0.5))
            p99[way].append(quantile(waits, 0.99))
            added[way].append(p50[way][-1] - p50["direct"][-1])
    print(f"\n{title}, {clients} client{'s' if clients > 1 else ''}, {size} bytes, {calls} calls a round, {rounds} rounds; microseconds")
    for way in ways:
        if way in failed:
            print(f"  {way:20} failed: {failed[way]}")
            continue
        more = "" if way == "direct" else f"   added {shown(added[way])}"
        print(f"  {way:20} p50 {shown(p50[way])}   p99 {shown(p99[way])}{more}")


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--bin", default="build/release/bin")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--calls", type=int, default=3000)
    options = options.parse_args()
    mcpac = str(pathlib.Path(options.bin).resolve() / "mcpac")
    client = str(pathlib.Path(options.bin).resolve() / "gateway_client")
    for title, doors in (("HTTP door, server on standard input", http_doors), ("stdio door, server behind HTTP", stdio_doors)):
        folder, ways = doors(mcpac)
        try:
            for size, share in ((1 << 10, 1.0), (100 << 10, 0.5), (10 << 20, 0.02)):
                for clients in (1, 10, 100):
                    if size * clients > 128 << 20:
                        continue  # 1 GiB in flight is a test of something else
                    compare(client, title, ways, size, clients, max(clients * 2, int(options.calls * share), 5), options.rounds)
        finally:
            folder.close()


if __name__ == "__main__":
    main()
