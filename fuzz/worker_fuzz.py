#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fuzzes the analyzer's worker with mutated and woven programs, and holds its answers against the compiler's.

The sources of tests/analyzer/cases are changed token by token (deleted, doubled, swapped, spliced from
another file, keywords put in) and given to the real worker process under the limits of the sandbox.
Whatever the text: the worker answers with a report, or with an error, or dies alone within its limits.
A program with verdict ok is compiled; the object file then shows which tags the type of its entry names
and of which tools it holds a call. The first must all be in `declared`, the second all in `used`.

A third of the programs are not mutants but woven (woven_programs.py): honest, and what they call with which value
is known. Those must be analysed as just that.

Every program follows from the seed and its number: `worker_fuzz.py --seed S --only N` makes it again.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import woven_programs

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLANG = "/usr/lib/llvm-19/bin/clang++"
NM = "nm"
CASES = ROOT / "tests/analyzer/cases"
HEADERS = ROOT / "tests/templates/headers"
# Those of src/toolchain/toolchain.cpp.
FLAGS = ["--no-default-config", "-std=c++23", "-stdlib=libc++", "-O0", "-ferror-limit=20",
         "-ftemplate-depth=256", "-fbracket-depth=256", "-fconstexpr-steps=4000000", "-Werror=return-type"]
# Those of compiler_limits() in src/toolchain/child/stage.cpp, in seconds and bytes. The wall limit is longer:
# a busy machine is no hang, and what computes ends at the other limit.
WALL, CPU, MEMORY = 180, 16, 4 << 30
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#[^\n]*|'
                   r"\w+|::|->|<<|>>|##|[^\w\s]|\s+", re.S | re.M)
WORDS = ("const static inline constexpr template typename class struct namespace using auto decltype "
         "extern friend virtual mutable volatile operator return if for while goto try catch throw new "
         "delete this sizeof alignas noexcept requires concept co_await co_yield asm union enum "
         "mcpac::Requires mcp::filesystem::write_file mcp::filesystem::read_text_file rt.filesystem "
         "agent_main main runtime . :: < > ( ) { } [ ] ; , & && * #").split(" ")
METHOD = re.compile(r"mcpac::Method<mcp::(\w+)::(\w+)>::(?:operator\(\)|async|try_call)")
ENTRY = re.compile(r"run_agent_main<.*mcpac::Requires<(.*?)> ?>")
TAG = re.compile(r"mcp::(\w+)::(\w+)")
# Tags of the sample headers whose tool has another name.
RENAMED = {("forms", "everything"): "forms.every/thing"}


class Broken(Exception):
    """What must not be; the text says what."""


def permission(server, tool):
    return RENAMED.get((server, tool), f"{server}.{tool}")


def tags_of_headers():
    tags = {}
    for server in ("filesystem", "memory", "forms"):
        text = (HEADERS / f"{server}.hpp").read_text()
        for tool in re.findall(r'permission = "' + server + r'\.([^"]+)"', text):
            tags[f"mcp::{server}::{tool}".replace("every/thing", "everything")] = f"{server}.{tool}"
    return tags


class Ground:
    """Headers and the precompiled header, made once."""

    def __init__(self, folder, worker, woven_every):
        self.folder, self.worker, self.woven_every = folder, worker, woven_every
        self.headers = folder / "headers"
        shutil.copytree(HEADERS, self.headers)
        shutil.copytree(ROOT / "templates/mcpac", self.headers / "mcpac", dirs_exist_ok=True)
        self.pch = folder / "agent.pch"
        subprocess.run([CLANG, "-xc++-header", *FLAGS, f"-isystem{self.headers}", self.headers / "mcpac.hpp",
                        "-o", self.pch], check=True)
        self.permissions = tags_of_headers()
        assert len(self.permissions) > 5, "the sample headers name no tools"
        self.sources = {p.name: TOKEN.findall(p.read_text()) for p in sorted(CASES.glob("*.cpp"))}

    def request(self, source):
        return json.dumps({
            "file": "main.cpp", "source_path": str(source), "further": [], "source_dir": "",
            "headers_dir": str(self.headers),
            "arguments": [*FLAGS, f"-isystem{self.headers}", "-include-pch", str(self.pch), "-xc++"],
            "permissions": self.permissions})


HONEST = ("use_", "declared_", "honest_", "narrow")


def gentle(ground, chance):
    """A change by lines, after which a program is often still one: verdict ok must not be rare."""
    honest = [name for name in ground.sources if name.startswith(HONEST)]
    lines = "".join(ground.sources[chance.choice(honest)]).split("\n")
    for number in range(chance.choice((1, 2, 3))):
        at, to = chance.randrange(len(lines)), chance.randrange(len(lines))
        kind = chance.randrange(4)
        if kind == 0:
            lines.insert(to, lines[at])
        elif kind == 1:
            del lines[at]
        elif kind == 2:
            lines[at], lines[to] = lines[to], lines[at]
        else:  # another program behind this one, its entry an ordinary function
            other = "".join(ground.sources[chance.choice(honest)])
            lines += other.replace("agent_main", f"other{number}").split("\n")
        lines = lines or [""]
    return "\n".join(lines)


def mutant(ground, chance):
    if chance.random() < 0.6:
        return gentle(ground, chance)
    names = list(ground.sources)
    tokens = list(ground.sources[chance.choice(names)])
    other = ground.sources[chance.choice(names)]
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        at, to = chance.randrange(len(tokens)), chance.randrange(len(tokens))
        kind = chance.randrange(6)
        if kind == 0:
            del tokens[at:at + chance.choice((1, 1, 3))]
        elif kind == 1:
            tokens[to:to] = tokens[at:at + chance.choice((1, 4, 30))]
        elif kind == 2:
            tokens[at], tokens[to] = tokens[to], tokens[at]
        elif kind == 3:
            start = chance.randrange(len(other))
            tokens[at:at] = other[start:start + chance.choice((1, 6, 40))]
        elif kind == 4:
            tokens.insert(at, " " + chance.choice(WORDS) + " ")
        else:
            tokens[at] = chance.choice(other)
        if not tokens:
            return " ;"
    return "".join(tokens)


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def report_of(ground, source):
    """The worker's report; None where it gave an error or died."""
    try:
        run = subprocess.run([ground.worker], input=ground.request(source), capture_output=True, text=True,
                             env={}, timeout=WALL, preexec_fn=limited, errors="replace")
    except subprocess.TimeoutExpired:
        raise Broken(f"the worker still ran after {WALL} s") from None
    if run.returncode < 0:
        return None
    try:
        answer = json.loads(run.stdout)
    except ValueError:
        raise Broken(f"exit {run.returncode} with something that is no JSON: {run.stdout[:200]!r}") from None
    if run.returncode == 0 and "verdict" in answer:
        return answer
    if run.returncode != 0 and "error" in answer:
        return None
    raise Broken(f"exit {run.returncode} with neither a report nor an error")


def symbols_of(ground, source, entry):
    """The demangled names in the object of the program; None where it does not compile."""
    text = source.read_text()
    if entry == "agent_main":
        text += "\nint main() { return ::mcpac::detail::run_agent_main(&::agent_main); }\n"
    whole, out = source.with_name("whole.cpp"), source.with_name("whole.o")
    whole.write_text(text)
    done = subprocess.run([CLANG, *FLAGS, "-w", f"-isystem{ground.headers}", "-include-pch", ground.pch, "-c", whole,
                           "-o", out], capture_output=True, timeout=120)
    if done.returncode != 0:
        return None
    return subprocess.run([NM, "-C", out], capture_output=True, text=True, check=True).stdout


def check(report, symbols):
    declared = {item["permission"] for item in report["declared_at"]}
    used = {item["permission"] for item in report["uses"]}
    called = {permission(*tag) for tag in METHOD.findall(symbols)}
    named = {permission(*tag) for entry in ENTRY.findall(symbols) for tag in TAG.findall(entry)}
    if not called <= used:
        raise Broken(f"the object calls {sorted(called - used)}, `used` is {sorted(used)}")
    if not named <= declared:
        raise Broken(f"the entry names {sorted(named - declared)}, `declared` is {sorted(declared)}")
    return bool(called)


def check_woven(report, units):
    if report["verdict"] != "ok":
        raise Broken(f"an honest program is {report['verdict']}: {report['findings']}")
    for unit in units:
        uses = [use for use in report["uses"]
                if use["permission"] == unit.permission and unit.first_line <= use["line"] <= unit.last_line]
        paths = [use["arguments"].get("path", {}).get("value") for use in uses]  # None: only the run tells
        if not set(paths) <= unit.possible | {None}:
            raise Broken(f"lines {unit.first_line} to {unit.last_line} call with {unit.actual}, the report says {paths}")
        if unit.actual not in paths and None not in paths:
            raise Broken(f"lines {unit.first_line} to {unit.last_line} call with {unit.actual}: not among {paths}")


def one(ground, seed, number):
    """What became of one program, and, where that must not be, its text."""
    chance = random.Random(f"{seed}:{number}")
    units = []
    if number % ground.woven_every == 0:
        text, units = woven_programs.woven(chance)
    else:
        text = mutant(ground, chance)
    with tempfile.TemporaryDirectory(dir=ground.folder) as folder:
        source = pathlib.Path(folder) / "main.cpp"
        source.write_text(text)
        shutil.copy(CASES / "local_header.hpp", folder)
        try:
            report = report_of(ground, source)
            if units and report is None:
                raise Broken("the worker gave no report of an honest program")
            if report is None:
                return "error", None
            if units:
                check_woven(report, units)
            if report["verdict"] != "ok":
                return report["verdict"], None
            symbols = symbols_of(ground, source, report["entry"])
            if symbols is None:
                return "ok, but does not compile", None
            if units:
                check(report, symbols)
                return "woven, calls and values compared", None
            return ("ok, calls compared" if check(report, symbols) else "ok, calls nothing"), None
        except Broken as broken:
            return "broken", f"program {number} of seed {seed}: {broken}\n{text}"


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--seed", type=int, default=20)
    options.add_argument("--only", type=int, help="this program alone")
    options.add_argument("--worker", default=ROOT / "build/release/libexec/mcpac/mcpac-analyzer")
    options.add_argument("--woven-every", type=int, default=3, help="each program so many is woven; 1: all of them")
    given = options.parse_args()
    print(f"seed {given.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="mcpac-worker-fuzz-") as folder:
        ground = Ground(pathlib.Path(folder), given.worker, given.woven_every)
        ends, broken = {}, []
        end = time.monotonic() + given.seconds
        jobs = os.cpu_count() or 1
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            number = 0
            while not broken and (time.monotonic() < end or number == 0):
                batch = [given.only] if given.only is not None else range(number, number + 4 * jobs)
                for what, text in pool.map(lambda n: one(ground, given.seed, n), batch):
                    ends[what] = ends.get(what, 0) + 1
                    broken += [text] if text else []
                number += len(batch)
                if given.only is not None:
                    break
    for what, count in sorted(ends.items()):
        print(f"{count:6} {what}")
    for text in broken:
        print(text)
    # A run that compared nothing proves nothing.
    compared = sum(count for what, count in ends.items() if what.endswith("compared"))
    if not broken and given.only is None and compared == 0:
        sys.exit("no program was compiled and compared")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
