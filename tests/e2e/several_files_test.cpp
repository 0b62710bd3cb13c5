// Programs of several files, and what the compiled program shows, through the whole pipeline.
#include <doctest/doctest.h>

#include "e2e/workspace.h"

using e2e::Workspace;

namespace {

const Workspace& with_agent() {
  static const bool written = [] {
    const auto& workspace = Workspace::shared();
    workspace.write("agent/head.hpp",
                    "#pragma once\n#include <mcpac.hpp>\n#include <string>\n"
                    "std::string head(mcpac::Requires<mcp::filesystem::read_text_file> rt);\n");
    workspace.write("agent/lib/head.cpp",
                    "#include \"../head.hpp\"\n"
                    "std::string head(mcpac::Requires<mcp::filesystem::read_text_file> rt) {\n"
                    "  return rt.filesystem.read_text_file({.path = \"data/a.txt\"}).text();\n}\n");
    workspace.write("agent/main.cpp",
                    "#include \"head.hpp\"\n#include <print>\n"
                    "int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {\n"
                    "  std::print(\"{}\", head(rt));\n  return 0;\n}\n");
    workspace.write("agent/build/junk.cpp", "this is no C++\n");
    return true;
  }();
  (void)written;
  return Workspace::shared();
}

}  // namespace

TEST_SUITE("e2e/several_files") {
  TEST_CASE("a folder and a list of files are the same program, and it runs") {
    const auto& workspace = with_agent();
    for (const std::vector<std::string>& sources :
         {std::vector<std::string>{"-f", "agent"},
          {"-f", "agent/lib/head.cpp", "-f", "agent/main.cpp"}}) {
      std::vector<std::string> words{"execute", "--grant", "filesystem.read_text_file"};
      words.insert(words.end(), sources.begin(), sources.end());
      const auto run = workspace.mcpac(words);
      INFO(run.err);
      CHECK(run.exit_code == 0);
      CHECK(run.out == "alpha\nbeta\n");
    }
    const auto report = workspace.mcpac({"permissions", "analyze", "--json", "agent"}).json();
    CHECK(report["verdict"] == "ok");
    CHECK(report["file"] == "agent/main.cpp");
    CHECK(report["uses"][0]["file"] == "agent/lib/head.cpp");
  }

  TEST_CASE("an error in one of the files is said with its name and its line") {
    const auto& workspace = with_agent();
    workspace.write("broken/main.cpp", workspace.read("agent/main.cpp"));
    workspace.write("broken/head.hpp", workspace.read("agent/head.hpp"));
    workspace.write("broken/lib.cpp", "#include \"head.hpp\"\nint x = ;\n");
    const auto run = workspace.mcpac({"execute", "-f", "broken"});
    CHECK(run.exit_code != 0);
    CHECK(run.err.contains("broken/lib.cpp:2:9"));
    CHECK(run.err.contains("    2 | int x = ;\n"));
  }

  TEST_CASE("a function that takes the place of a library's is refused before anything is linked") {
    const auto run = Workspace::shared().execute(
        "#include <mcpac.hpp>\nextern \"C\" long write(int, const void*, unsigned long n) "
        "{ return static_cast<long>(n); }\nint agent_main(mcpac::Requires<>) { return 0; }\n",
        "");
    CHECK(run.exit_code == 77);
    CHECK(run.err.contains("write"));
  }

  TEST_CASE(
      "a function of C that no program needs is refused where it is named, and nothing is "
      "compiled") {
    const auto run = Workspace::shared().execute(
        "#include <mcpac.hpp>\n#include <sys/resource.h>\n"
        "int agent_main(mcpac::Requires<>) { rusage u{}; return ::getrusage(0, &u) == 0 ? 0 : 1; "
        "}\n",
        "", {"--json", "--dry-run"});
    INFO(run.err);
    CHECK(run.exit_code == 77);
    CHECK(run.out.contains("`getrusage`"));
    CHECK(run.out.contains("unknown-function"));
  }
}
