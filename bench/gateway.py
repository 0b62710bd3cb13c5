#!/usr/bin/env python3
"""What a gateway adds to a call: mcpac serve beside mcp-proxy and mcp-remote, in one run.

    python3 bench/gateway.py --bin build/release/bin [--rounds 5] [--calls 300]

Method. Two set-ups, each with the same upstream, a plain Node program of tests/servers, and the same client, this program:

  HTTP door, server on standard input:  client -> (mcpac serve --http | mcp-proxy) -> server; direct: client -> server
  stdio door, server behind HTTP:       client -> (mcpac serve | mcp-remote) -> server;       direct: client -> server

N clients are N connections over HTTP, and N calls in flight over standard input. Each round measures every way in turn; a
row is the median of the rounds' p50 and p99 with the least and the most, and what is added is a way's p50 less the direct
one's of the same round. All processes share the machine, as they would. mcpac decides, validates, locks and audits; the
others pass on. The client is Python: its own share is in every row, the direct one's too.
"""

import argparse
import contextlib
import json
import os
import pathlib
import selectors
import socket
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / "bench/peers/node_modules"
SERVERS = ROOT / "tests/servers"
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


class Failed(Exception):
    """What a way could not do."""


def message(method, params, number=None):
    body = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(body if number is None else {**body, "id": number})


class Pipe:
    """A client over the standard input and output of a program; several calls may be in flight."""

    def __init__(self, words, **options):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0, **options)
        self.output = self.process.stdout
        self.rest = b""
        self.ask(message("initialize", INITIALIZE, 0))
        self.send(message("notifications/initialized", {}))

    def send(self, text):
        data = memoryview(text.encode() + b"\n")
        while data:
            data = data[self.process.stdin.write(data):]

    def line(self):
        pieces = [self.rest]
        while b"\n" not in pieces[-1]:
            piece = self.output.read(1 << 20)
            if not piece:
                raise Failed("the program hung up")
            pieces.append(piece)
        line, _, self.rest = b"".join(pieces).partition(b"\n")
        return line

    def ask(self, text):
        self.send(text)
        return self.line()

    def measure(self, tool, arguments, clients, calls):
        sent = {}
        waits = []

        def call(number):
            sent[number] = time.perf_counter()
            self.send(message("tools/call", {"name": tool, "arguments": arguments}, number))

        for number in range(1, clients + 1):
            call(number)
        following = clients
        while len(waits) < calls:
            line = self.line()
            now = time.perf_counter()
            head = line if len(line) < 4096 else line[:200] + line[-200:]
            found = json.loads(line)["id"] if len(line) < 4096 else id_in(head)
            if b'"error"' in head or b'"isError":true' in head:
                raise Failed(f"a call failed: {head[:200]}")
            waits.append(now - sent.pop(found))
            if following < calls:
                following += 1
                call(following)
        return waits

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def id_in(head):
    at = head.index(b'"id":') + 5
    end = at
    while head[end:end + 1].isdigit():
        end += 1
    return int(head[at:end])


class Http:
    """Clients over Streamable HTTP, each with a session and a connection that is kept."""

    class Connection:
        def __init__(self, place, path, headers):
            self.socket = socket.create_connection(place)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.head = (f"POST {path} HTTP/1.1\r\nHost: {place[0]}:{place[1]}\r\nContent-Type: application/json\r\n"
                         f"Accept: application/json, text/event-stream\r\n{headers}")
            self.buffer = bytearray()
            first = self.ask(message("initialize", INITIALIZE, 0))
            for line in first.split("\r\n"):
                if line.lower().startswith("mcp-session-id:"):
                    self.head += f"Mcp-Session-Id: {line.split(':', 1)[1].strip()}\r\n"
            self.head += "MCP-Protocol-Version: 2025-11-25\r\n"
            self.ask(message("notifications/initialized", {}))

        def send(self, text):
            body = text.encode()
            self.buffer.clear()
            self.sent = time.perf_counter()
            self.socket.sendall(f"{self.head}Content-Length: {len(body)}\r\n\r\n".encode() + body)

        def take(self):
            """Reads what is there; true when the answer is whole."""
            piece = self.socket.recv(1 << 20)
            if not piece:
                raise Failed("the connection ended")
            self.buffer += piece
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                return False
            head = bytes(self.buffer[:end]).lower()
            if not head.startswith(b"http/1.1 20"):
                raise Failed(f"refused: {bytes(self.buffer[:100])}")
            at = head.find(b"content-length:")
            if at >= 0:
                return len(self.buffer) >= end + 4 + int(head[at + 15:].split(b"\r\n", 1)[0])
            return b"transfer-encoding: chunked" not in head or self.buffer.endswith(b"0\r\n\r\n")

        def ask(self, text):
            self.send(text)
            while not self.take():
                pass
            return self.buffer.decode(errors="replace")

    def __init__(self, place, path, headers, clients):
        self.connections = [Http.Connection(place, path, headers) for _ in range(clients)]

    def measure(self, tool, arguments, clients, calls):
        text = message("tools/call", {"name": tool, "arguments": arguments}, 1)
        waits = []
        following = clients
        with selectors.DefaultSelector() as ready:
            for connection in self.connections:
                ready.register(connection.socket, selectors.EVENT_READ, connection)
                connection.send(text)
            while len(waits) < calls:
                for key, _ in ready.select():
                    connection = key.data
                    if not connection.take():
                        continue
                    waits.append(time.perf_counter() - connection.sent)
                    if b'"error":' in connection.buffer[:2000] or b'"isError":true' in connection.buffer[-300:]:
                        raise Failed(f"a call failed: {bytes(connection.buffer[-200:])}")
                    if following < calls:
                        following += 1
                        connection.send(text)
        return waits

    def close(self):
        for connection in self.connections:
            connection.socket.close()


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
        "direct": ("big", lambda clients: Pipe(command)),
        "mcpac serve --http": ("fixture.big", lambda clients: Http(("127.0.0.1", port), "/mcp", f"Authorization: Bearer {said['token']}\r\n", clients)),
        "mcp-proxy": ("big", lambda clients: Http(("127.0.0.1", proxy), "/mcp", "", clients)),
    }


def stdio_doors(mcpac):
    """Ways to a server behind HTTP: direct, and through programs on standard input."""
    server = subprocess.Popen(["node", str(SERVERS / "http_fixture.mjs"), "initialize"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    port = int(server.stdout.readline().split()[1])
    url = f"http://127.0.0.1:{port}/json"
    folder = Folder(mcpac, {"url": url})
    folder.started.append(server)
    return folder, {
        "direct": ("big", lambda clients: Http(("127.0.0.1", port), "/json", "", clients)),
        "mcpac serve": ("fixture.big", lambda clients: Pipe([mcpac, "serve", "--grant", "fixture.*"], **folder.options())),
        "mcp-remote": ("big", lambda clients: Pipe(["node", str(PEERS / "mcp-remote/dist/proxy.js"), url, "--transport", "http-only", "--allow-http"],
                                                   cwd=folder.folder.name, env=dict(folder.environment, HOME=folder.folder.name))),
    }


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def shown(values):
    return f"{statistics.median(values) * 1e6:9.0f} ({min(values) * 1e6:.0f}..{max(values) * 1e6:.0f})"


def compare(title, ways, size, clients, calls, rounds):
    p50 = {way: [] for way in ways}
    p99 = {way: [] for way in ways}
    added = {way: [] for way in ways}
    failed = {}
    for _ in range(rounds):
        for way, (tool, connect) in ways.items():
            if way in failed:
                continue
            try:
                client = connect(clients)
                client.measure(tool, {"bytes": size}, clients, max(clients, min(calls, 30)))  # warm
                waits = client.measure(tool, {"bytes": size}, clients, calls)
                client.close()
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
    options.add_argument("--calls", type=int, default=300)
    options = options.parse_args()
    mcpac = str(pathlib.Path(options.bin).resolve() / "mcpac")
    for title, doors in (("HTTP door, server on standard input", http_doors), ("stdio door, server behind HTTP", stdio_doors)):
        folder, ways = doors(mcpac)
        try:
            for size, share in ((1 << 10, 1.0), (100 << 10, 0.5), (10 << 20, 0.02)):
                for clients in (1, 10, 100):
                    if size * clients > 128 << 20:
                        continue  # 1 GiB in flight is a test of something else
                    compare(title, ways, size, clients, max(clients * 2, int(options.calls * share), 5), options.rounds)
        finally:
            folder.close()


if __name__ == "__main__":
    main()
