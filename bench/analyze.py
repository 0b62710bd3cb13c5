#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `mcpac permissions analyze` costs as a whole process.

    analyze.py --bin build/release/bin [--runs N] [--against OTHER/bin]

Method: the recorded listings of tests/codegen/data as a project; headers are precompiled before. The ten agents
of bench/agents (25 to 42 lines), a program of 1,000 lines made of one of them, and that one with 14, with 1,000 and
with 2,700 tools in the project are each analysed N times after one warm-up, all of them in turn, with wall clock and
processor time (user + system) of the process and what it waits for. With --against the same is done with
another build in the same turns, and the ratio of the medians is printed.
"""
import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
LISTINGS = HERE.parent / "tests/codegen/data"


def make_project(build, folder, extent, servers=None):
    """A project as `mcpac generate` leaves it, with all listings or some; `extent` is --once or --tools N."""
    listings = LISTINGS
    if servers:
        listings = folder.with_name(folder.name + "-listings")
        listings.mkdir()
        for server in servers:
            (listings / f"{server}.json").write_bytes((LISTINGS / f"{server}.json").read_bytes())
    folder.mkdir()
    (folder / "mcpac.json").write_text('{"mcpServers": {}}')
    words = [str(build / "bench_codegen"), "--project", str(folder), *extent, str(listings)]
    subprocess.run(words, check=True)
    for agent in (HERE / "agents").glob("*.cpp"):
        (folder / agent.name).write_bytes(agent.read_bytes())


def long_program(text):
    """One agent's work again and again, until there are 1,000 lines."""
    start = text.index("int agent_main(")
    head, body = text[:start], text[start:]
    parameter = body[body.index("(") + 1:body.index(" rt)")]
    copies = []
    while sum(copy.count("\n") for copy in copies) + text.count("\n") < 1000:
        copies.append(body.replace("int agent_main(", f"static int part_{len(copies)}(", 1))
    calls = "".join(f"  sum += part_{i}(rt);\n" for i in range(len(copies)))
    return f"{head}{''.join(copies)}int agent_main({parameter} rt) {{\n  int sum = 0;\n{calls}  return sum;\n}}\n"


def measure(build, environment, project, file):
    """Wall clock and processor time of one analysis, in milliseconds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([str(build / "mcpac"), "permissions", "analyze", "--json", file], cwd=project,
                          env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{file}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall * 1e3, cpu * 1e3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--against", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=11)
    options = parser.parse_args()
    builds = [build.resolve() for build in (options.bin, options.against) if build]
    with tempfile.TemporaryDirectory(prefix="mcpac-bench-") as folder:
        root = pathlib.Path(folder)
        environments = {}
        projects = {}
        for build in builds:
            home = root / f"build-{len(projects)}"
            home.mkdir()
            environments[build] = dict(os.environ, XDG_STATE_HOME=f"{home}/state", XDG_CACHE_HOME=f"{home}/cache")
            projects[build] = {name: home / name for name in ("all", "few", "thousand", "many")}
            make_project(build, projects[build]["all"], ["--once"])
            make_project(build, projects[build]["few"], ["--once"], servers=["filesystem"])
            make_project(build, projects[build]["thousand"], ["--tools", "1000"])
            make_project(build, projects[build]["many"], ["--tools", "2700"])
            for project in projects[build].values():
                (project / "long.cpp").write_text(long_program((project / "find_todos.cpp").read_text()))
        rows = [(agent.stem, "all", agent.name) for agent in sorted((HERE / "agents").glob("*.cpp"))]
        rows += [("1,000 lines", "all", "long.cpp"), ("14 tools", "few", "find_todos.cpp"),
                 ("1,000 tools", "thousand", "find_todos.cpp"), ("2,700 tools", "many", "find_todos.cpp")]
        samples = {(row[0], build): [] for row in rows for build in builds}
        for run in range(options.runs + 1):
            for name, project, file in rows:
                for build in builds:
                    sample = measure(build, environments[build], projects[build][project], file)
                    if run:
                        samples[name, build].append(sample)
        agents = {build: [] for build in builds}
        for name, project, _ in rows:
            line = f"{name:14}"
            for build in builds:
                wall = sorted(sample[0] for sample in samples[name, build])
                cpu = statistics.median(sample[1] for sample in samples[name, build])
                line += f"   {statistics.median(wall):7.1f} ms ({wall[0]:.0f} to {wall[-1]:.0f}), cpu {cpu:7.1f} ms"
                if project == "all" and name != "1,000 lines":
                    agents[build].append(statistics.median(wall))
            if len(builds) > 1:
                first, second = (statistics.median(s[0] for s in samples[name, build]) for build in builds)
                line += f"   x {first / second:.2f}"
            print(line)
        for build in builds:
            few, thousand, many = (statistics.median(s[0] for s in samples[name, build])
                                   for name in ("14 tools", "1,000 tools", "2,700 tools"))
            print(f"{build}: median of ten agents {statistics.median(agents[build]):.1f} ms; against 14 tools:"
                  f" 1,000 tools x {thousand / few:.2f}, 2,700 tools x {many / few:.2f}")


if __name__ == "__main__":
    main()
