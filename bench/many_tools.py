#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What 2,700 tools cost a program that uses three of them.

    many_tools.py --bin build/release/bin [--listings FOLDER] [--runs N]

Method: two projects, one with the recorded listings (default: tests/codegen/data) repeated up to 2,700 tools,
one with the filesystem server's 14 alone. The precompiled headers are made with empty caches: the runtime, then
the headers of the one server that the program names, then (for a program that pastes tokens, and so gets
every server) all of them. Then one program with three tools, its source changed before every run, is built in
both projects in turn, N times after one warm-up; the figures are the stages that `execute --dry-run` reports,
and the ratio is of the medians.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

AGENT = """#include <mcpac.hpp>
using namespace mcp;
constexpr int kSalt = SALT;
EXTRA
int agent_main(mcpac::Requires<filesystem::read_text_file, filesystem::list_directory, filesystem::write_file> rt) {
  for (const auto& line : rt.filesystem.list_directory({.path = "data"}).lines()) {
    const auto text = rt.filesystem.read_text_file({.path = line}).text();
    rt.filesystem.write_file({.path = line, .content = text});
  }
  return kSalt;
}
"""
GRANTS = "filesystem.read_text_file,filesystem.list_directory,filesystem.write_file"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--listings", default=str(pathlib.Path(__file__).resolve().parent.parent / "tests/codegen/data"))
    parser.add_argument("--runs", type=int, default=11)
    options = parser.parse_args()
    programs = pathlib.Path(options.bin).resolve()
    with tempfile.TemporaryDirectory(prefix="mcpac-bench-") as folder:
        root = pathlib.Path(folder)
        few = root / "listings"
        few.mkdir()
        (few / "filesystem.json").write_bytes((pathlib.Path(options.listings) / "filesystem.json").read_bytes())
        projects = {"14 tools": (root / "few", str(few), []), "2,700 tools": (root / "many", options.listings, [])}
        environment = dict(os.environ, XDG_STATE_HOME=folder + "/state", XDG_CACHE_HOME=folder + "/cache")

        def build(project, salt, extra=""):
            (project / "agent.cpp").write_text(AGENT.replace("SALT", str(salt)).replace("EXTRA", extra))
            done = subprocess.run([str(programs / "mcpac"), "execute", "-f", "agent.cpp", "--grant", GRANTS, "--dry-run", "--json"],
                                  cwd=project, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.returncode != 0:
                raise SystemExit(f"exit {done.returncode}\n{done.stdout}{done.stderr}")
            return {stage["name"]: stage["ms"] for stage in json.loads(done.stdout)["stages"]}

        for name, (project, listings, _) in projects.items():
            project.mkdir()
            (project / "mcpac.json").write_text('{"mcpServers": {}}')
            # one server alone stays one: the listings are repeated under other names up to 2,700 tools
            words = [str(programs / "bench_codegen"), "--project", str(project), *(["--once"] if project.name == "few" else []), listings]
            subprocess.run(words, check=True)
        few_project, many_project = projects["14 tools"][0], projects["2,700 tools"][0]
        first = build(few_project, 0)["prepare"]
        print(f"precompile the runtime and 14 tools, empty cache    {first:9.1f} ms")
        print(f"precompile the named server out of 2,700 tools      {build(many_project, 0)['prepare']:9.1f} ms")
        every = build(many_project, 0, "#define JOIN(a, b) a##b")["prepare"]
        print(f"precompile every server of 2,700 tools              {every:9.1f} ms")
        for run in range(options.runs + 1):
            for name, (project, _, samples) in projects.items():
                stages = build(project, run + 1)
                if run:
                    samples.append(stages)
        medians = {}
        for name, (_, _, samples) in projects.items():
            for stage in ("prepare", "analyse", "compile"):
                values = sorted(sample[stage] for sample in samples)
                medians[name, stage] = statistics.median(values)
                print(f"{name:12} {stage:8} median {medians[name, stage]:8.1f} ms   min {values[0]:8.1f}   max {values[-1]:8.1f}   n={len(values)}")
        for stage in ("analyse", "compile"):
            print(f"{stage}: 2,700 tools / 14 tools = {medians['2,700 tools', stage] / medians['14 tools', stage]:.3f}")


if __name__ == "__main__":
    main()
