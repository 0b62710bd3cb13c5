// What the analyzer says a program uses, against what the gate sees it call: programs of the
// construct suite and of tests/e2e/programs run in observe mode against real servers, and every
// permission that the audit records must be among the uses.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/file.h"
#include "e2e/workspace.h"
#include "places.h"

using e2e::Workspace;
using mcpac::Json;

namespace {

namespace fs = std::filesystem;

std::set<std::string> used(const Json& report) {
  std::set<std::string> permissions;
  for (const auto& use : report["uses"]) permissions.insert(use["permission"].get<std::string>());
  return permissions;
}

// What the gate was asked for in this run.
std::set<std::string> called(const Workspace& workspace, const std::string& run_id) {
  const auto events =
      workspace.mcpac({"audit", "list", "--json", "--run", run_id, "--kind", "CapabilityCheck"})
          .json();
  std::set<std::string> permissions;
  for (const auto& event : events)
    permissions.insert(event["payload"]["capability"].get<std::string>());
  return permissions;
}

// Files that the programs read, so that they get further than their first call.
void lay_out(const Workspace& workspace) {
  for (const char* name :
       {"a",      "b",      "c",      "d",      "e",      "f",     "g",    "h",      "i",
        "in",     "l",      "m",      "n",      "o",      "p",     "q",    "r",      "s",
        "t",      "u",      "v",      "w",      "co",     "op",    "init", "member", "friend",
        "go",     "call",   "ready",  "catch",  "case",   "if",    "do",   "base",   "notes.txt",
        "data/a", "data/b", "data/c", "data/d", "data/e", "data/f"})
    workspace.write(name, "one\ntwo\n");
}

// The permissions that all programs of a folder called, for the test to see that they ran at all.
std::set<std::string> compare(const Workspace& workspace, const fs::path& folder,
                              const std::vector<std::string>& names) {
  std::set<std::string> all;
  for (const std::string& name : names) {
    CAPTURE(name);
    const std::string file = name + ".cpp";
    workspace.write(file, mcpac::read_file(folder / file).value());
    const auto report = workspace.mcpac({"permissions", "analyze", "--json", file}).json();
    CHECK(report["verdict"] == "ok");
    const auto run = workspace.mcpac({"execute", "--no-permission-check", "--json", file});
    const auto outcome = run.json();
    INFO(run.out, run.err);
    REQUIRE(outcome.contains("run_id"));
    const auto uses = used(report);
    const auto calls = called(workspace, outcome["run_id"].get<std::string>());
    CHECK_MESSAGE(!calls.empty(), "the program called nothing, so it shows nothing");
    for (const std::string& permission : calls)
      CHECK_MESSAGE(uses.contains(permission), permission, " was called and is not among the uses");
    all.insert(calls.begin(), calls.end());
  }
  return all;
}

}  // namespace

TEST_SUITE("e2e/differential") {
  TEST_CASE("every permission that a construct calls at run time is among its uses") {
    const Workspace& workspace = Workspace::shared();
    if (!workspace.allow_off_switch()) return;
    lay_out(workspace);
    const fs::path cases = std::filesystem::path(mcpac::testing::in_source("tests/analyzer/cases"));
    workspace.write("local_capability.hpp",
                    mcpac::read_file(cases / "local_capability.hpp").value());
    const std::vector<std::string> names{"declared_base_class",
                                         "declared_optional_and_variant",
                                         "declared_tuple_and_pair",
                                         "use_copied_group",
                                         "use_in_coroutine",
                                         "use_in_default_argument",
                                         "use_in_explicit_instantiation",
                                         "use_in_fold_expression",
                                         "use_in_local_header",
                                         "use_in_operator",
                                         "use_in_own_higher_order",
                                         "use_in_thread",
                                         "use_in_virtual_function",
                                         "use_loop_in_lambda",
                                         "use_operator_by_name",
                                         "use_pointer_to_member",
                                         "use_stored_in_function",
                                         "use_structured_binding",
                                         "use_three_forms",
                                         "use_through_apply",
                                         "use_through_bind_front",
                                         "use_through_views_transform"};
    const auto all = compare(workspace, cases, names);
    CHECK(all.contains("filesystem.read_text_file"));
    CHECK(all.contains("filesystem.write_file"));
    CHECK(all.contains("memory.read_graph"));
  }

  TEST_CASE("so it is with tools that are reached in roundabout ways, of all three servers") {
    const Workspace& workspace = Workspace::shared();
    if (!workspace.allow_off_switch()) return;
    lay_out(workspace);
    const auto all =
        compare(workspace, std::filesystem::path(mcpac::testing::in_source("tests/e2e/programs")),
                {"dispatch_table", "indirect_members", "visitor_of_servers"});
    CHECK(all == std::set<std::string>{"everything.echo", "everything.get-sum",
                                       "filesystem.list_directory", "filesystem.read_text_file",
                                       "memory.read_graph", "memory.search_nodes"});
  }
}
