// Programs that claim authority they were not given, in the source and at run time.
#include <doctest/doctest.h>

#include <algorithm>

#include "e2e/workspace.h"

using e2e::has;
using e2e::Workspace;

namespace {

// The rules of the refusing findings of a program.
std::vector<std::string> refusals(const std::string& source) {
  const auto run =
      Workspace::shared().mcpac({"permissions", "analyze", "-", "--json"}, {.input = source});
  std::vector<std::string> rules;
  const auto report = run.json();
  for (const auto& finding : report["findings"]) {
    if (finding["severity"] == "refuses") rules.push_back(finding["rule"]);
  }
  return rules;
}

bool contains(const std::vector<std::string>& rules, const std::string& rule) {
  return std::ranges::find(rules, rule) != rules.end();
}

}  // namespace

TEST_SUITE("e2e/forgery") {
  TEST_CASE("extracts permissions from Requires") {
    const auto run = Workspace::shared().mcpac({"permissions", "analyze", "-", "--json"},
                                               {.input = R"(#include <mcpac.hpp>
using namespace mcp;
using Both = mcpac::Requires<filesystem::list_directory, filesystem::read_text_file>;
int agent_main(Both rt) {
  rt.filesystem.read_text_file({.path = "data/a.txt"});
  return 0;
}
)"});
    const auto report = run.json();
    INFO(run.out);
    CHECK(report["verdict"] == "ok");
    CHECK(report["declared"] ==
          mcpac::Json::array({"filesystem.list_directory", "filesystem.read_text_file"}));
    CHECK(report["unused"] == mcpac::Json::array({"filesystem.list_directory"}));
    REQUIRE(report["uses"].size() == 1);
    CHECK(report["uses"][0]["permission"] == "filesystem.read_text_file");
    CHECK(report["uses"][0]["line"] == 5);
    CHECK(report["uses"][0]["arguments"]["path"] == mcpac::Json{{"value", "data/a.txt"}});
  }

  TEST_CASE("rejects forged local types") {
    const std::string local_template =
        "#include <mcpac.hpp>\ntemplate <class...> struct Requires {};\n"
        "int agent_main(Requires<mcp::filesystem::write_file>) { return 0; }\n";
    CHECK(contains(refusals(local_template), "forged-type"));
    CHECK(Workspace::shared().execute(local_template, "filesystem.write_file").exit_code == 77);
    // A tag made by hand is no permission, whatever it is called.
    CHECK(contains(refusals("#include <mcpac.hpp>\nnamespace mine { struct write_file : "
                            "mcp::filesystem::write_file {}; }\n"
                            "int agent_main(mcpac::Requires<mine::write_file>) { return 0; }\n"),
                   "unknown-permission"));
    // The real names, declared again: the namespaces are closed.
    CHECK(contains(refusals("namespace mcpac { template <class...> struct Requires {}; }\n"
                            "int agent_main(mcpac::Requires<int>) { return 0; }\n"),
                   "reopened-namespace"));
  }

  TEST_CASE("rejects a reopened namespace") {
    CHECK(contains(refusals("#include <mcpac.hpp>\nnamespace mcp::filesystem { struct anything {}; "
                            "}\nint agent_main(mcpac::Requires<>) { return 0; }\n"),
                   "reopened-namespace"));
  }

  TEST_CASE("rejects what a macro would write into a header of ours") {
    // The text of which the header's is a part: it declares call0, call1, …
    CHECK(contains(
        refusals(
            "#include <mcpac.hpp>\nusing Rt = mcpac::Requires<mcp::filesystem::list_directory>;\n"
            "#define call0 a() {} inline void hidden(Rt& rt) { "
            "rt.filesystem.list_directory({.path = \".\"}); } inline void b\n"
            "#include <mcpac/warm_tools.hpp>\n"
            "int agent_main(Rt rt) { hidden(rt); return 0; }\n"),
        "macro-redefinition"));
  }

  TEST_CASE("rejects foreign import sources") {
    auto& workspace = Workspace::shared();
    workspace.write("foreign/mcpac.hpp",
                    "namespace mcpac { template <class...> struct Requires {}; }\n");
    const auto file = workspace.write(
        "foreign/agent.cpp",
        "#include \"mcpac.hpp\"\nint agent_main(mcpac::Requires<>) { return 0; }\n");
    const auto run = workspace.mcpac({"permissions", "validate", file.string()});
    INFO(run.err);
    CHECK(run.exit_code == 77);
    CHECK(has(run.err, "foreign-header"));
  }

  TEST_CASE("an edited header is refused: the lock names another") {
    Workspace workspace(Workspace::real_servers());
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    workspace.write("servers/filesystem.hpp",
                    workspace.read("servers/filesystem.hpp") + "\n// harmless?\n");
    const auto run = workspace.execute(
        "#include <mcpac.hpp>\nusing namespace mcp::filesystem;\n"
        "int agent_main(mcpac::Requires<>) { return 0; }\n",
        "");
    CHECK(run.exit_code == 77);
    CHECK(has(run.err, "MCPAC-E0403"));
    CHECK(has(run.err, "mcpac generate"));
    // A program is given only the servers that it names, so this header is nothing to it.
    CHECK(
        workspace
            .execute("#include <mcpac.hpp>\nint agent_main(mcpac::Requires<>) { return 0; }\n", "")
            .exit_code == 0);
  }

  TEST_CASE("a program that writes to the channel itself, past every type, is refused") {
    // What the gate does with such a frame is shown in run_test: there nobody reads the source.
    const auto run = Workspace::shared().execute(
        "#include <mcpac.hpp>\n#include <unistd.h>\n"
        "int agent_main(mcpac::Requires<mcp::filesystem::read_text_file>) {\n"
        "  return ::write(3, \"{}\\n\", 3) > 0 ? 0 : 1;\n}\n",
        "filesystem.read_text_file");
    CHECK(run.exit_code == 77);
    CHECK(has(run.err, "[raw-descriptor]"));
  }

  TEST_CASE("grants nested access: a function that asks for less gets less") {
    const auto run =
        Workspace::shared().execute(R"(#include <mcpac.hpp>
#include <print>
using namespace mcp;
std::string inner(mcpac::Requires<filesystem::read_text_file> rt) { return rt.filesystem.read_text_file({.path = "data/a.txt", .head = 1}).text(); }
std::string outer(mcpac::Requires<filesystem::read_text_file, filesystem::list_directory> rt) { return inner(rt); }
int agent_main(mcpac::Requires<filesystem::list_directory, filesystem::read_text_file> rt) { std::println("{}", outer(rt)); return 0; }
)",
                                    "filesystem.read_text_file,filesystem.list_directory");
    INFO(run.err);
    CHECK(run.out == "alpha\n");
  }

  TEST_CASE("the compiler sees nothing of the user's folder") {
    auto& workspace = Workspace::shared();
    workspace.write("secret.env", "TOKEN=canary-5731\n");
    const auto file = workspace.write(
        "embed/agent.cpp",
        "#include <mcpac.hpp>\nconst char secret[] = {\n#embed \"../secret.env\"\n};\n#include "
        "\"../secret.env\"\n#include \"/etc/hostname\"\n"
        "int agent_main(mcpac::Requires<>) { return 0; }\n");
    const auto run = workspace.mcpac({"execute", "-f", file.string()});
    CHECK(run.exit_code != 0);
    CHECK_FALSE(has(run.out + run.err, "canary-5731"));
  }
}
