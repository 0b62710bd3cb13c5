#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the console transcripts of a document and holds what they print against what it says.

    replay.py DOCUMENT --bin FOLDER            check: print a diff and fail where they differ
    replay.py DOCUMENT --bin FOLDER --show     run for a person: print commands and output as they come

A transcript is a fenced block marked `console`. A line that begins with "$ " is a command; a here-document
goes on to its end word; everything up to the next command is the expected output of both streams. "…" in
expected text stands for anything on that line, a line "…" for any number of lines. All blocks of a document
run in one shell, in one fresh folder, with FOLDER first in PATH. A command's exit code is said by a
following `$ echo $?`; otherwise it does not matter.
"""
import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def transcripts(text):
    """Yields (command, [expected lines]) in the order of the document."""
    for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
        lines = block.splitlines()
        at = 0
        while at < len(lines):
            if not lines[at].startswith("$ "):
                raise SystemExit(f"a console block must begin with a command, not {lines[at]!r}")
            command = [lines[at][2:]]
            at += 1
            word = re.search(r"<<'?(\w+)'?", command[0])
            while word and command[-1] != word[1]:
                command.append(lines[at])
                at += 1
            expected = []
            while at < len(lines) and not lines[at].startswith("$ "):
                expected.append(lines[at])
                at += 1
            yield "\n".join(command), expected


def matches(expected, actual):
    """Whole-output match, with "…" as the only wildcard."""
    parts = []
    for line in expected:
        parts.append(r"(?:.*\n)*?" if line == "…" else ".*".join(map(re.escape, line.split("…"))) + r"\n")
    return re.fullmatch("".join(parts), "".join(line + "\n" for line in actual)) is not None


class Shell:
    MARK = "--mcpac-replay-end--"

    def __init__(self, folder, bin_folder):
        environment = dict(os.environ, PATH=f"{bin_folder}:{os.environ['PATH']}", NO_COLOR="1", LC_ALL="C.UTF-8",
                           XDG_STATE_HOME=f"{folder}/.state", XDG_CACHE_HOME=f"{folder}/.cache", HOME=os.environ.get("HOME", "/root"))
        work = pathlib.Path(folder) / "work"
        work.mkdir()
        self.process = subprocess.Popen(["bash", "--norc"], cwd=work, env=environment, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, command, show):
        # Commands read nothing of the shell's own input: a question would swallow the next command. The
        # code of each is kept, so that a following `echo $?` sees it through the end mark.
        body = command if "<<" in command else f"{{ (exit $mcpac_code); {command}\n}} </dev/null"
        self.process.stdin.write(f"{body}\nmcpac_code=$?; echo; echo '{self.MARK}'\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            line = line.rstrip("\n")
            if line == self.MARK:
                break
            if show and not (line == "" and lines and lines[-1] == ""):
                print(line, flush=True)
            lines.append(line)
        while lines and lines[-1] == "":
            lines.pop()
        return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("document", type=pathlib.Path)
    parser.add_argument("--bin", required=True, type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    failed = commands = 0
    with tempfile.TemporaryDirectory(prefix="mcpac-replay-") as folder:
        shell = Shell(folder, options.bin)
        for command, expected in transcripts(options.document.read_text()):
            commands += 1
            if options.show:
                print(f"\033[1m$ {command}\033[0m", flush=True)
            actual = shell.run(command, options.show)
            while expected and expected[-1] == "":
                expected.pop()
            if not matches(expected, actual):
                failed += 1
                if not options.show:
                    print(f"$ {command}")
                    print("\n".join(difflib.unified_diff(expected, actual, str(options.document), "what it printed", lineterm="")))
        shell.process.stdin.close()
        shell.process.wait()
    if commands == 0:
        raise SystemExit(f"{options.document} has no transcript")
    if not options.show or failed:
        print(f"{options.document}: {commands - failed} of {commands} commands print what the document says")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
