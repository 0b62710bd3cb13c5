#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Slot to first byte, for a small, a middle and a large agent: builds them as `mcpac execute` does and hands
their images to bench_slots, which says its method.

    slots.py --build build/release [--rounds N]
"""
import argparse
import os
import pathlib
import subprocess
import tempfile

FRAME = """#include <cstdio>
#include <mcpac.hpp>
#include <unistd.h>
{head}
int agent_main(mcpac::Requires<>) {{
  std::fputs("hello\\n", stdout);
  std::fflush(stdout);  // the byte that is waited for
{body}
  return 0;
}}
"""
REGEX = "".join(f'  std::println("{{}}", std::regex_match("a{i}", std::regex("a[0-9]+")));\n' for i in range(3))
# Own types, so that nothing of it lies in the runner.
LARGE_HEAD = "#include <map>\n#include <print>\n#include <regex>\n#include <string>\n" + "".join(
    f"struct T{i} {{ int n; auto operator<=>(const T{i}&) const = default; }};\n" for i in range(24))
LARGE = REGEX + "".join(
    f"  {{ std::map<T{i}, std::vector<T{i}>> m; m[T{i}{{1}}].push_back(T{i}{{2}}); std::println(\"{{}}\", m.size()); }}\n"
    for i in range(24))
AGENTS = {
    "small": FRAME.format(head="#include <print>", body=""),
    "middle": FRAME.format(head="#include <map>\n#include <print>\n#include <regex>\n#include <string>",
                           body=REGEX),
    "large": FRAME.format(head=LARGE_HEAD, body=LARGE),
}


def image_of(entry):
    """The program of a kept entry (src/toolchain/seen_programs.cpp)."""
    _, length, rest = entry.split(b"\n", 2)
    assert rest[:1] == b"i", "the agent is no image"
    return rest[1 + int(length):]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    build = pathlib.Path(options.build).resolve()
    with tempfile.TemporaryDirectory(prefix="mcpac-bench-") as folder:
        work = pathlib.Path(folder)
        (work / "mcpac.json").write_text('{"mcpServers": {}}')
        cache = work / ".cache"
        environment = dict(os.environ, XDG_STATE_HOME=folder + "/.state", XDG_CACHE_HOME=str(cache))

        def run(*words):
            subprocess.run([build / "bin/mcpac", *words], cwd=work, env=environment, check=True, stdout=subprocess.DEVNULL)

        run("generate")
        images = []
        for name, source in AGENTS.items():
            (work / "agent.cpp").write_text(source)
            before = set(cache.glob("mcpac/programs/*"))
            run("execute", "-f", "agent.cpp")
            [kept] = set(cache.glob("mcpac/programs/*")) - before
            image = image_of(kept.read_bytes())
            images.append(f"{name}-{len(image) >> 10}KiB")
            (work / images[-1]).write_bytes(image)
        runner = next(cache.glob("mcpac/prepared/servers-*/runner"))
        subprocess.run([build / "bin/bench_slots", runner, str(options.rounds), *images], cwd=work, check=True)


if __name__ == "__main__":
    main()
