# SPDX-License-Identifier: Apache-2.0
"""A project with the pinned filesystem server in a folder of its own, and mcpac as a user would call it there."""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile
import time

MODULES = pathlib.Path(__file__).resolve().parent.parent / "tests/servers/node_modules"
FILESYSTEM_SERVER = str(MODULES / "@modelcontextprotocol/server-filesystem/dist/index.js")


class Project:
    """The folder, what is set there, and the program. State, cache and runtime folder lie inside: nothing of the user's is used."""

    def __init__(self, folder, programs):
        self.folder = pathlib.Path(folder)
        self.mcpac = str(pathlib.Path(programs).resolve() / "mcpac")
        self.environment = dict(os.environ, XDG_STATE_HOME=f"{folder}/.state", XDG_CACHE_HOME=f"{folder}/.cache",
                                XDG_RUNTIME_DIR=f"{folder}/run")
        self.write("data/a.txt", "alpha\n")
        self.write("mcpac.json", json.dumps({"mcpServers": {"filesystem": {"command": "node", "args": [FILESYSTEM_SERVER, "."]}}}))

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def time(self, *words):
        """Any program, from fork to exit: milliseconds, and what it printed. Another exit than 0 ends the benchmark."""
        start = time.monotonic()
        done = subprocess.run(words, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        wall = (time.monotonic() - start) * 1000
        if done.returncode != 0:
            raise SystemExit(f"{words[:3]}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return wall, done.stdout

    def run(self, *words):
        return self.time(self.mcpac, *words)

    def run_to_lines(self, lines, *words):
        """Milliseconds to each of the first lines on standard output, and to the exit."""
        start = time.monotonic()
        times = []
        with subprocess.Popen([self.mcpac, *words], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            for _ in range(lines):
                process.stdout.readline()
                times.append((time.monotonic() - start) * 1000)
            process.stdout.read()
            said = process.stderr.read()
        if process.returncode != 0:
            raise SystemExit(f"{words[:2]}: exit {process.returncode}\n{said.decode()}")
        return [*times, (time.monotonic() - start) * 1000]


@contextlib.contextmanager
def project(programs):
    with tempfile.TemporaryDirectory(prefix="mcpac-bench-") as folder:
        yield Project(folder, programs)
