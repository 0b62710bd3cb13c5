#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a revocation of a live run takes.

    revoke.py --bin build/release/bin [--tools N] [--rounds R]

Method: a server with N tools that never answer; a program that has one call of each in flight. For every tool, in turn,
the time from connecting to the run's socket and sending {"do":"revoke"} to (a) the run's answer: from then on every call
is refused, and the pending one is cancelled, both recorded in the audit log, and (b) the line by which the program, in its
sandbox, says that its call ended with Revoked. `mcpac runs revoke` adds the start of a process, which is measured beside it.
R rounds, each a run of its own; all samples together; median, p99 and the longest.
"""
import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import tempfile
import threading
import time


def agent(tools):
    names = [f"hang{i}" for i in range(tools)]
    requires = ", ".join(f"mcp::fixture::{name}" for name in names)
    starts = "\n".join(f"  auto call{i} = rt.fixture.{name}.async({{}});" for i, name in enumerate(names))
    waits = "\n".join(
        f'  try {{ call{i}.get(); }} catch (const mcpac::Revoked&) {{ std::println("{name}"); std::fflush(stdout); }}'
        for i, name in enumerate(names))
    return f"#include <mcpac.hpp>\n#include <cstdio>\n#include <print>\nint agent_main(mcpac::Requires<{requires}> rt) {{\n{starts}\n{waits}\n  return 0;\n}}\n"


def ask(path, request):
    with socket.socket(socket.AF_UNIX) as run:
        run.connect(path)
        run.sendall(json.dumps(request).encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            piece = run.recv(65536)
            if not piece:
                raise SystemExit("the run hung up")
            answer += piece
    return json.loads(answer)


def spread(values):
    values = sorted(values)
    p99 = values[min(len(values) - 1, round(0.99 * (len(values) - 1)))]
    return f"median {statistics.median(values):7.3f} ms   p99 {p99:7.3f} ms   longest {values[-1]:7.3f} ms   n={len(values)}"


def one_run(mcpac, work, environment, tools, answered, heard, commands):
    grants = ",".join(f"fixture.hang{i}" for i in range(tools))
    said, arrived = {}, threading.Condition()
    run = subprocess.Popen([mcpac, "execute", "-f", "agent.cpp", "--grant", grants], cwd=work, env=environment,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)

    def listen():
        for line in run.stdout:
            with arrived:
                said[line.strip()] = time.monotonic()
                arrived.notify_all()

    listener = threading.Thread(target=listen)
    listener.start()
    folder = pathlib.Path(environment["XDG_RUNTIME_DIR"]) / "mcpac/runs"
    path = None
    while path is None or ask(path, {"do": "show"})["in_flight"] < tools:
        if run.poll() is not None:
            raise SystemExit("the program did not come to its calls")
        path = next((str(p) for p in folder.glob("*.sock")), None)
        time.sleep(0.05)
    for i in range(tools):
        name = f"hang{i}"
        start = time.monotonic()
        if i % 10 == 9:
            subprocess.run([mcpac, "runs", "revoke", pathlib.Path(path).stem, f"fixture.{name}"], cwd=work, env=environment,
                           check=True, capture_output=True)
            commands.append((time.monotonic() - start) * 1000)
        else:
            answer = ask(path, {"do": "revoke", "permission": f"fixture.{name}"})
            answered.append((time.monotonic() - start) * 1000)
            assert answer["cancelled_calls"] == 1, answer
        with arrived:
            arrived.wait_for(lambda: name in said, timeout=30)
        if i % 10 != 9:
            heard.append((said[name] - start) * 1000)
    run.wait()
    listener.join()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--tools", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    mcpac = str(pathlib.Path(options.bin).resolve() / "mcpac")
    server = pathlib.Path(__file__).resolve().parent.parent / "tests/servers/fixture.mjs"
    answered, heard, commands = [], [], []
    with tempfile.TemporaryDirectory(prefix="mcpac-bench-") as folder:
        work = pathlib.Path(folder)
        (work / "tools.json").write_text(json.dumps(
            {"tools": [{"name": f"hang{i}", "inputSchema": {"type": "object"}} for i in range(options.tools)]}))
        (work / "mcpac.json").write_text(json.dumps(
            {"mcpServers": {"fixture": {"command": "node", "args": [str(server), "scripted", str(work / "tools.json")]}}}))
        (work / "agent.cpp").write_text(agent(options.tools))
        environment = dict(os.environ, XDG_STATE_HOME=folder + "/.state", XDG_CACHE_HOME=folder + "/.cache",
                           XDG_RUNTIME_DIR=folder + "/.run")
        subprocess.run([mcpac, "generate"], cwd=work, env=environment, check=True, capture_output=True)
        for _ in range(options.rounds):
            one_run(mcpac, work, environment, options.tools, answered, heard, commands)
    print(f"revoked, answered by the run     {spread(answered)}")
    print(f"the program hears of it          {spread(heard)}")
    print(f"mcpac runs revoke (a process)    {spread(commands)}")


if __name__ == "__main__":
    main()
