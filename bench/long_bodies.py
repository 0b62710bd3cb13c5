#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What another client's small calls wait while one client sends long bodies on 16 connections.

    python3 bench/long_bodies.py --bin build/release/bin [--beside OTHER/bin] [--seconds 8] [--rounds 3]

Method. One `mcpac serve --http` with two tokens and a plain Node server. Client A has 16 connections; on each it sends one
call after another whose arguments are a list of a million small numbers (2 MiB, which costs more to read than any text of
that size). Client B makes one small call after another, over one connection, a fresh one each round. Each round measures B
alone for a second, and B beside A for `--seconds`; with `--beside` both programs in turn, in the same run. Printed are the
medians over the rounds of p50, p99 and the longest wait, and how many bodies of A were answered.
"""

import argparse
import json
import pathlib
import socket
import statistics
import subprocess
import tempfile
import threading
import time

from gateway import Folder, SERVERS

CONNECTIONS = 16


def request(port, token, body):
    return (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
        f"Mcp-Name: fixture.echo\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def call(arguments):
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    head = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "fixture.echo", "_meta": meta}})
    return head[:-2].encode() + b', "arguments": ' + arguments + b"}}"


def read_answer(connection):
    """One answer, whole; its status. The connection is kept."""
    received = b""
    while b"\r\n\r\n" not in received:
        more = connection.recv(65536)
        if not more:
            raise OSError("the door closed the connection")
        received += more
    head, _, body = received.partition(b"\r\n\r\n")
    length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), None)
    while length is None and not body.endswith(b"0\r\n\r\n") or length is not None and len(body) < length:
        body += connection.recv(65536)
    return int(head.split(b" ")[1])


def send_long(port, token, stop, answered):
    body = request(port, token, call(b'{"zebra": [0' + b",0" * 1_000_000 + b"]}"))
    while not stop.is_set():
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
                while not stop.is_set():
                    connection.sendall(body)
                    read_answer(connection)
                    answered.append(1)
        except OSError:
            pass


def waits(port, token, seconds):
    body = request(port, token, call(b'{"apple": "a"}'))
    measured = []
    end = time.monotonic() + seconds
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while time.monotonic() < end:
            begun = time.monotonic()
            connection.sendall(body)
            if read_answer(connection) != 200:
                raise SystemExit("a small call was not answered")
            measured.append(time.monotonic() - begun)
    return sorted(measured)


class Door:
    def __init__(self, programs):
        mcpac = str(pathlib.Path(programs).resolve() / "mcpac")
        self.folder = Folder(mcpac, {"command": "node", "args": [str(SERVERS / "fixture.mjs"), "plain"]})
        pathlib.Path(self.folder.folder.name, "all.policy").write_text("allow fixture.echo\n")
        self.tokens = []
        for name in ("a", "b"):
            made = subprocess.run([mcpac, "token", "create", name, "--policy", "all.policy", "--json"], check=True, capture_output=True, **self.folder.options())
            self.tokens.append(json.loads(made.stdout)["token"])
        serving = self.folder.start([mcpac, "serve", "--http", "127.0.0.1:0", "--tokens", "--grant", "fixture.echo"], stdout=subprocess.PIPE, **self.folder.options())
        self.port = int(json.loads(serving.stdout.readline())["http"].split(":")[2].split("/")[0])

    def measure(self, seconds):
        alone = waits(self.port, self.tokens[1], 1)
        stop, answered = threading.Event(), []
        senders = [threading.Thread(target=send_long, args=(self.port, self.tokens[0], stop, answered)) for _ in range(CONNECTIONS)]
        for sender in senders:
            sender.start()
        time.sleep(1)
        beside = waits(self.port, self.tokens[1], seconds)
        stop.set()
        for sender in senders:
            sender.join()
        return alone, beside, len(answered)


def quantile(values, share):
    return values[min(len(values) - 1, int(len(values) * share))] * 1e3


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--bin", default="build/release/bin")
    options.add_argument("--beside")
    options.add_argument("--seconds", type=float, default=8)
    options.add_argument("--rounds", type=int, default=3)
    options = options.parse_args()
    programs = [options.bin] + ([options.beside] if options.beside else [])
    results = {one: [] for one in programs}
    for _ in range(options.rounds):
        for one in programs:
            door = Door(one)
            try:
                results[one].append(door.measure(options.seconds))
            finally:
                door.folder.close()
    for one, rounds in results.items():
        print(one)
        for title, index in (("alone", 0), ("beside 16 senders of long bodies", 1)):
            p50, p99, most = (statistics.median(quantile(r[index], share) for r in rounds) for share in (0.5, 0.99, 1))
            count = statistics.median(len(r[index]) for r in rounds)
            print(f"  {title:34} p50 {p50:9.2f} ms   p99 {p99:9.2f} ms   longest {most:9.2f} ms   {count:.0f} calls")
        print(f"  long bodies answered                {statistics.median(r[2] for r in rounds):.0f}")


if __name__ == "__main__":
    main()
