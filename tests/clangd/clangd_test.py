#!/usr/bin/env python3
"""What an editor shows of a project that `mcpac generate` wrote, asked of clangd itself over its protocol.

    clangd_test.py MCPAC CLANGD SERVERS     SERVERS: the folder with node_modules/

One project with two real servers; every check is a question at a place in a program that does not stand on
disk. Completion must offer what the program declares and nothing else.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lsp import Clangd  # noqa: E402

HEAD = """#include <mcpac.hpp>
#include <print>
using namespace mcp;

int agent_main(mcpac::Requires<filesystem::read_text_file, filesystem::list_directory, everything::get_sum> rt) {
"""
TAIL = "\n  return 0;\n}\n"
failures = []


def check(what, is_so, shown=""):
    print(("ok    " if is_so else "FAILED ") + what, flush=True)
    if not is_so:
        failures.append(what)
        print(f"       {shown}")


def make_project(folder, mcpac, servers):
    modules = servers / "node_modules/@modelcontextprotocol"
    config = {"mcpServers": {
        name: {"command": "node", "args": [str(modules / f"server-{name}/dist/index.js"), *more]}
        for name, more in (("filesystem", ["."]), ("everything", []))}}
    (folder / "mcpac.json").write_text(json.dumps(config))
    environment = dict(os.environ, XDG_STATE_HOME=str(folder / ".state"), XDG_CACHE_HOME=str(folder / ".cache"))
    subprocess.run([mcpac, "generate"], cwd=folder, env=environment, check=True, stderr=subprocess.DEVNULL)


def names(items):
    """What the editor would insert, without what it says about types."""
    return sorted({item["filterText"] for item in items})


def documentation(items, name):
    found = [item for item in items if item["filterText"] == name]
    text = found[0].get("documentation", "") if found else ""
    return text["value"] if isinstance(text, dict) else text


def documented(editor, body, name):
    """clangd reads comments of headers into its index beside the answers, so the first ones may lack them."""
    for _ in range(5):
        if text := documentation(editor.complete(body), name):
            return text
        time.sleep(1)
    return ""


class Editor:
    def __init__(self, clangd):
        self.clangd = clangd
        self.files = 0

    def name(self):
        self.files += 1
        return f"agent_{self.files}.cpp"  # a file of its own for every question

    def complete(self, body, tail=TAIL):
        return self.clangd.complete(self.name(), HEAD + body + tail)

    def hover(self, body):
        answer, _ = self.clangd.at("textDocument/hover", self.name(), HEAD + body + TAIL)
        return answer["contents"]["value"] if answer else ""

    def signatures(self, body):
        answer, _ = self.clangd.at("textDocument/signatureHelp", self.name(), HEAD + body + TAIL)
        return [signature["label"] for signature in answer["signatures"]]

    def errors(self, body, head=HEAD):
        return [item["message"] for item in self.clangd.open(self.name(), head + body + TAIL) if item["severity"] <= 2]


def check_completion(editor):
    offered = names(editor.complete("  rt.@"))
    check("after `rt.` stand the declared servers, has and permissions",
          offered == ["everything", "filesystem", "has", "permissions"], offered)
    items = editor.complete("  rt.filesystem.@")
    check("after `rt.filesystem.` stand the declared tools", names(items) == ["list_directory", "read_text_file"], names(items))
    items = editor.complete("  rt.filesystem.read_text_file({.@")
    check("after `({.` stand the arguments of the tool", names(items) == ["head", "path", "tail"], names(items))
    # Of members that stand in headers clangd 19 gives no documentation with the offer, only on hovering.
    text = documented(editor, "  using Tool = filesystem::@", "read_text_file")
    check("a tool is offered with its documentation", "complete contents of a file" in text, text)
    offered = names(editor.complete("  rt.filesystem.read_text_file.@"))
    check("after a tool's name stand the ways to call it",
          [name for name in offered if not name.startswith("operator")] == ["async", "try_call"], offered)
    # A part of the authority shows its part.
    narrow = "  return 0;\n}\nvoid part(mcpac::Requires<filesystem::read_text_file> files) {\n  files.filesystem.@"
    offered = names(editor.complete(narrow, "\n}\n"))
    check("a function with less is offered less", offered == ["read_text_file"], offered)


def check_help(editor):
    text = editor.hover("  rt.filesystem.read_text@_file({.path = \"a\"});")
    check("hovering over a call shows which tool it is", "Method<read_text_file>" in text, text)
    text = editor.hover("  using Tool = filesystem::read_text@_file;")
    check("hovering over a tool's name shows its documentation", "complete contents of a file" in text, text)
    text = editor.hover("  rt.filesystem.read_text_file({.path = \"a\", .he@ad = 1});")
    check("hovering over an argument shows its documentation", "first N lines" in text, text)
    labels = editor.signatures("  rt.filesystem.read_text_file(@);")
    check("the signature of a call names its arguments and its result",
          labels == ["operator()(const Args &args) -> Result"], labels)


def check_diagnostics(editor):
    body = '  std::println("{}", rt.filesystem.read_text_file({.path = "a"}).text());'
    errors = editor.errors(body)
    check("a right program has no error, also without a main", errors == [], errors)
    errors = editor.errors('  rt.filesystem.write_file({.path = "a", .content = "b"});')
    check("a tool that is not declared is an error that names it", len(errors) == 1 and "write_file" in errors[0], errors)
    errors = editor.errors("  rt.filesystem.read_text_file({.head = 1});")
    check("a required argument that is missing is an error", len(errors) >= 1, errors)
    errors = editor.errors("  rt.filesystem.read_text_file({.path = \"a\", .lines = 1});")
    check("an argument that the tool does not have is an error", len(errors) >= 1 and "Args" in errors[0], errors)


def check_flags(folder, mcpac, servers):
    flags = folder / "compile_flags.txt"
    check("generate writes compile_flags.txt beside mcpac.json", "-Iservers" in flags.read_text(), flags)
    flags.write_text("-DMINE\n")
    make_project(folder, mcpac, servers)
    check("generate leaves the user's own compile_flags.txt alone", flags.read_text() == "-DMINE\n", flags.read_text())
    flags.unlink()
    (folder / ".clangd").write_text("CompileFlags:\n  Add: [-DMINE]\n")
    make_project(folder, mcpac, servers)
    check("generate writes no flags where .clangd says them", not flags.exists())


def main():
    mcpac, program, servers = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
    with tempfile.TemporaryDirectory(prefix="mcpac-clangd-") as name:
        folder = pathlib.Path(name).resolve()
        make_project(folder, mcpac, servers)
        clangd = Clangd(program, folder)
        editor = Editor(clangd)
        check_completion(editor)
        check_help(editor)
        check_diagnostics(editor)
        clangd.close()
        check_flags(folder, mcpac, servers)
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
