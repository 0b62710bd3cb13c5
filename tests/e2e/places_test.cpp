// Programs that declare files or the network, and what their user granted.
#include <doctest/doctest.h>

#include "e2e/workspace.h"

using e2e::has;
using e2e::Workspace;

namespace {

std::string program_with(const std::string& requires_what) {
  return "#include <mcpac.hpp>\n#include <filesystem>\n#include <print>\n"
         "int agent_main(mcpac::Requires<" +
         requires_what +
         ">) {\n"
         "  std::println(\"data: {}\", std::filesystem::exists(\"data/a.txt\"));\n"
         "  return 0;\n}\n";
}

e2e::Outcome execute(const std::string& requires_what, std::vector<std::string> more) {
  return Workspace::shared().execute(program_with(requires_what), "", std::move(more));
}

}  // namespace

TEST_SUITE("e2e/places") {
  TEST_CASE("declared and not granted, a program is refused with the option that it needs") {
    const auto files = execute("mcpac::files", {});
    INFO(files.err);
    CHECK(files.exit_code == 77);
    CHECK(has(files.err, "MCPAC-E0704"));
    CHECK(has(files.err, "--files ./PATH"));
    CHECK_FALSE(has(files.err, "never used"));
    const auto both = execute("mcpac::files, mcpac::network", {});
    INFO(both.err);
    CHECK(both.exit_code == 77);
    CHECK(has(both.err, "--files ./PATH --network HOST:PORT"));
  }

  TEST_CASE("without checks a program still has no place that was not granted, and that is said") {
    const auto setting =
        Workspace::shared().write(".config/mcpac/no-permission-check", "allowed\n");
    const auto none = execute("mcpac::files, mcpac::network", {"--no-permission-check"});
    INFO(none.err);
    CHECK(none.exit_code != 77);  // it is run, and does not reach them
    CHECK_FALSE(has(none.out, "data: true"));
    CHECK(has(none.err, "the program declares files, and has none"));
    CHECK(has(none.err, "--files ./PATH does"));
    CHECK(has(none.err, "the program declares network, and has none"));
    const auto given = execute("mcpac::files", {"--no-permission-check", "--files", "./data"});
    CHECK(has(given.out, "data: true"));
    CHECK_FALSE(has(given.err, "and has none"));
    std::filesystem::remove(setting);
  }

  TEST_CASE("a grant of one is no grant of the other") {
    const auto run = execute("mcpac::files, mcpac::network", {"--files", "./data"});
    CHECK(run.exit_code == 77);
    CHECK(has(run.err, "mcpac.network"));
    CHECK(has(run.err, "--network HOST:PORT"));
    CHECK_FALSE(has(run.err, "--files ./PATH"));
  }

  TEST_CASE("declared and granted, files are there") {
    const auto run = execute("mcpac::files", {"--files", "./data"});
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(has(run.out, "data: true"));
    CHECK_FALSE(has(run.err, "reaches files"));
  }

  TEST_CASE("granted and not declared, nothing is there, and that is said") {
    const auto run = execute("mcp::filesystem::read_text_file",
                             {"--grant", "filesystem.read_text_file", "--files", "./data"});
    INFO(run.err);
    CHECK(has(run.err, "mcpac.files is granted, but the program does not declare it"));
    CHECK_FALSE(has(run.out, "data: true"));
  }

  TEST_CASE("deny network cannot be granted away") {
    const auto run = execute("mcpac::network", {"--network", "any", "--deny", "network"});
    INFO(run.err);
    CHECK(run.exit_code == 77);
    CHECK(has(run.err, "denied by --deny"));
    CHECK_FALSE(has(run.err, "--network HOST:PORT"));
  }

  TEST_CASE("the network among denied tools is an error that says how it is right") {
    const auto run = Workspace::shared().mcpac(
        {"policy", "print", "--deny", "network, filesystem.write_file(path within ./a, ..)"});
    INFO(run.err);
    CHECK(run.exit_code == 78);
    CHECK(has(run.err, "the network is no tool"));
    CHECK(has(run.err, "--deny network --deny 'filesystem.write_file(path within ./a, ..)'"));
  }

  TEST_CASE("a place that does not hold up is an error before anything is compiled") {
    const auto run = execute("mcpac::files", {"--files", "data"});
    INFO(run.err);
    CHECK(run.exit_code == 78);
    CHECK(has(run.err, "the path 'data' has no anchor"));
    CHECK(execute("mcpac::network", {"--network", "*.com:443"}).exit_code == 78);
    CHECK(execute("mcpac::files", {"--grant", "mcpac.files"}).exit_code == 78);
  }

  TEST_CASE("analyze shows what is declared, and whether it was granted") {
    const auto& workspace = Workspace::shared();
    const auto name = workspace.write("places.cpp", program_with("mcpac::files")).string();
    const auto alone = workspace.mcpac({"permissions", "analyze", "--json", name});
    INFO(alone.out << alone.err);
    CHECK(alone.exit_code == 0);
    CHECK(alone.json().at("declared").at(0) == "mcpac.files");
    CHECK(alone.json().at("unused").empty());
    CHECK(workspace.mcpac({"permissions", "analyze", "--network", "any", name}).exit_code == 77);
    CHECK(workspace.mcpac({"permissions", "analyze", "--files", "./data", name}).exit_code == 0);
  }

  TEST_CASE("explain answers for a connection, print and diff show places") {
    const auto& workspace = Workspace::shared();
    const auto asked = [&](const char* call) {
      return workspace.mcpac(
          {"policy", "explain", "mcpac.network", call, "--network", "*.example.com:443"});
    };
    CHECK(asked(R"({"host":"api.example.com","port":443})").exit_code == 0);
    const auto refused = asked(R"({"host":"api.example.org","port":443})");
    CHECK(refused.exit_code == 77);
    CHECK(has(refused.out, "\nfix: --network api.example.org:443\n"));
    const auto as_json =
        workspace
            .mcpac({"policy", "explain", "mcpac.network", "--json",
                    R"({"host":"api.example.org","port":443})", "--network", "a.example:1"})
            .json();
    CHECK(as_json.at("would_grant") == "--network api.example.org:443");
    CHECK_FALSE(has(as_json.at("reason").get<std::string>(), "--network"));
    CHECK(asked(R"({"host":"api.example.com"})").exit_code != 0);
    const auto printed =
        workspace.mcpac({"policy", "print", "--files", "./data:rw", "--files", "./odd:rw:ro"});
    CHECK(has(printed.out, "files ./data read-write\nfiles ./odd:rw read-only\n"));
    const auto narrow = workspace.write("narrow.policy", "files ./data read-only\n").string();
    const auto wide = workspace.write("wide.policy", "files ./data read-write\n").string();
    const auto more = workspace.mcpac({"policy", "diff", narrow, wide});
    CHECK(more.exit_code == 77);
    CHECK(has(more.out, "+ mcpac.files {"));
    CHECK(workspace.mcpac({"policy", "diff", wide, narrow}).exit_code == 0);
    const auto any = workspace.write("any.policy", "network any\n").string();
    CHECK(has(workspace.mcpac({"policy", "check", any}).out, "anybody"));
  }

  TEST_CASE("the log of a run says which places it was given") {
    const auto run = execute("mcpac::files", {"--files", "./data", "--json"});
    INFO(run.out << run.err);
    REQUIRE(run.exit_code == 0);
    const auto id = run.json().at("run_id").get<std::string>();
    const auto log = Workspace::shared().mcpac({"audit", "list", "--run", id, "--json"});
    CHECK(has(log.out, "read-only"));
    CHECK(Workspace::shared().mcpac({"audit", "replay", id}).exit_code == 0);
  }
}
