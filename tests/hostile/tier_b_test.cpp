// mcpac on a machine without namespaces (a default container): what it compiles, analyses and runs
// there, once the tier is accepted, and that hostile sources reach no further than in tier A.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/file.h"
#include "e2e/workspace.h"
#include "hostile/support_sources.h"
#include "places.h"
#include "sandbox/support_sandbox.h"

namespace mcpac::hostile {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCanary = "canary-8731";

// The machine of the outcomes.
enum class Machine { kWhole, kWithoutNamespaces };

constexpr unsigned kOrdinary = 4242;  // an id that no account of this machine has

// Whether an ordinary user reads this checkout, its build and its servers.
bool readable_by_all() {
  for (fs::path at = testing::in_build("bin/mcpac"); at != at.root_path(); at = at.parent_path()) {
    if ((fs::status(at).permissions() & fs::perms::others_exec) == fs::perms::none) return false;
  }
  return true;
}

// All that lies below becomes the ordinary user's.
void give_away(const fs::path& folder) {
  REQUIRE(::lchown(folder.c_str(), kOrdinary, kOrdinary) == 0);
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    REQUIRE(::lchown(entry.path().c_str(), kOrdinary, kOrdinary) == 0);
}

e2e::Outcome on(Machine machine, const e2e::Workspace& workspace,
                std::vector<std::string> arguments) {
  e2e::RunOptions options;
  if (machine == Machine::kWithoutNamespaces)
    options.enter = [] { return sandbox::test::lack(sandbox::test::Lacking::kNamespaces); };
  return workspace.mcpac(std::move(arguments), options);
}

constexpr char kReads[] =
    "#include <mcpac.hpp>\n"
    "#include <print>\n"
    "int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {\n"
    "  std::print(\"{}\", rt.filesystem.read_text_file({.path = \"data/a.txt\"}).text());\n"
    "  return 0;\n"
    "}\n";
constexpr char kGrant[] = "filesystem.read_text_file(path within ./data)";

// A program whose text is the source's, about this file.
std::string program(const Source& source, const fs::path& file) {
  std::string text = source.text;
  constexpr std::string_view kMark = "{file}";
  for (auto at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at))
    text.replace(at, kMark.size(), file.native());
  return "#include <mcpac.hpp>\n" + text + "int agent_main(mcpac::Requires<>) { return 0; }\n";
}

std::string without(std::string text, const std::string& name) {
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name))
    text.replace(at, name.size(), "FILE");
  return text;
}

}  // namespace

TEST_SUITE("hostile/tier B") {
  TEST_CASE("a confined server is refused there, with the ways out, and others are not") {
    const std::string server = testing::in_source("tests/servers/hello.sh");
    const e2e::Workspace workspace(fmt::format(
        R"({{"mcpServers": {{
      "bare": {{"command": "{0}", "era": "initialize"}},
      "held": {{"command": "{0}", "era": "initialize", "sandbox": true}}}}}})",
        server));
    const auto held = on(Machine::kWithoutNamespaces, workspace, {"server", "test", "held"});
    CHECK(held.exit_code == 69);
    CHECK(e2e::has(held.err, "MCPAC-E0603"));
    CHECK(e2e::has(held.err, "`mcpac doctor` says what is missing"));
    CHECK(e2e::has(held.err, "without \"sandbox\" in the entry of held"));
    const auto added = on(Machine::kWithoutNamespaces, workspace,
                          {"server", "add", "new", "--confine", "--", server});
    CHECK(added.exit_code == 69);
    CHECK(e2e::has(added.err, "nothing was added"));
    CHECK(on(Machine::kWithoutNamespaces, workspace, {"server", "test", "bare"}).exit_code == 0);
  }

  TEST_CASE(
      "confined servers of others start once a person accepted the tier, and are named by it") {
    if (!sandbox::test::can_serve_in_tier_b()) return;
    const auto entry = [](const std::string& sandbox) {
      return fmt::format(
          R"({{"mcpServers": {{
      "attempts": {{"command": "/usr/bin/python3", "args": ["{}"], "era": "initialize", "sandbox": {}}},
      "everything": {{"command": "node", "args": ["{}"], "sandbox": true}}}}}})",
          testing::in_source("tests/servers/attempts.py"), sandbox,
          testing::in_source("tests/servers/node_modules/@modelcontextprotocol/server-everything/"
                             "dist/index.js"));
    };
    const e2e::Workspace workspace(entry(R"({"files": ["./data:rw"]})"));
    fs::create_directories(workspace.folder() / "beside");
    workspace.write("beside/secret", std::string(kCanary));
    const auto there = [&](std::vector<std::string> words) {
      return on(Machine::kWithoutNamespaces, workspace, std::move(words));
    };
    const auto refused = there({"server", "test", "attempts"});
    CHECK(refused.exit_code == 69);
    CHECK(e2e::has(refused.err, "`mcpac doctor --accept-tier B` accepts"));
    if (!workspace.accept_tier("B")) return;
    const auto made = there({"generate"});
    REQUIRE_MESSAGE(made.exit_code == 0, made.err);
    const auto echo = there({"tools", "call", "everything.echo", R"({"message": "across"})",
                             "--grant", "everything.echo"});
    CHECK_MESSAGE(e2e::has(echo.out, "across"), echo.err);
    const auto secret = (workspace.folder() / "beside/secret").native();
    const auto read = there({"tools", "call", "attempts.attempt",
                             fmt::format(R"({{"what": "read", "on": "{}"}})", secret), "--grant",
                             "attempts.attempt"});
    CHECK_MESSAGE(e2e::has(read.out, "EACCES"), read.err);
    // RunStarted of each call names it beside the server's places.
    std::string records;
    for (const auto& file : fs::directory_iterator(workspace.state() / "audit"))
      if (file.path().extension() == ".jsonl") records += read_file(file.path()).value_or("");
    CHECK(e2e::has(records, "\"server_places\":{\"attempts\""));
    CHECK(e2e::has(records, "\"tier\":\"B\""));
    CHECK(e2e::has(there({"server", "list"}).out, "(sandbox ./data:rw; tier B)"));
    CHECK(e2e::has(there({"doctor"}).out,
                   "confined servers: attempts, everything (tier B: Landlock"));
    CHECK(there({"doctor", "--json"}).json().at("confined_tier") == "B");
    // The same acceptance weakens nothing where tier A is there, and a run can ask for it.
    CHECK(e2e::has(workspace.mcpac({"server", "list"}).out, "(sandbox ./data:rw)"));
    // What Landlock cannot hold, as an entry and as a rule.
    fs::create_directories(workspace.folder() / "data/.git");
    const auto whole = there({"server", "test", "attempts"});
    CHECK(whole.exit_code == 77);
    CHECK(e2e::has(whole.err, "MCPAC-E0720"));
    CHECK(e2e::has(whole.err, "data/.git stays as it is, and lies in"));
    workspace.write("mcpac.json", entry(R"({"network": ["example.com:443"]})"));
    const auto network = there({"server", "test", "attempts"});
    CHECK(network.exit_code == 69);
    CHECK(e2e::has(network.err, "names hosts, which tier B cannot hold"));
    CHECK(fs::is_empty(workspace.folder() / "tmp"));
  }

  TEST_CASE("a program is analysed, compiled and run once the tier is accepted") {
    const e2e::Workspace workspace(e2e::Workspace::real_servers());
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    const auto agent = workspace.write("agent.cpp", kReads).native();
    const std::vector<std::string> execute{"execute", "-f", agent, "--grant", kGrant};
    const auto refused = on(Machine::kWithoutNamespaces, workspace, execute);
    CHECK(refused.exit_code == 69);
    CHECK(e2e::has(refused.err, "MCPAC-E0603"));
    CHECK(e2e::has(refused.err, "--accept-tier B"));
    CHECK_FALSE(e2e::has(refused.err, "precompiling"));
    // A program could have written that command line.
    for (const char* command : {"analyze", "validate"}) {
      const auto unasked = on(Machine::kWithoutNamespaces, workspace,
                              {"permissions", command, agent, "--min-tier", "B"});
      CHECK(unasked.exit_code == 77);
      CHECK(e2e::has(unasked.err, "MCPAC-E0780"));
    }
    if (!workspace.accept_tier("B")) return;
    const auto analysed =
        on(Machine::kWithoutNamespaces, workspace, {"permissions", "analyze", agent});
    CHECK_MESSAGE(analysed.exit_code == 0, analysed.err);
    CHECK(e2e::has(analysed.out, "filesystem.read_text_file(path = \"data/a.txt\")"));
    for (const char* time : {"first", "as one that was seen"}) {
      CAPTURE(time);
      const auto ran = on(Machine::kWithoutNamespaces, workspace, execute);
      CHECK_MESSAGE(ran.exit_code == 0, ran.err);
      CHECK(ran.out == "alpha\nbeta\n");
    }
    CHECK(e2e::has(workspace.mcpac({"audit", "list"}).out, "\"tier\":\"B\""));
    CHECK(fs::is_empty(workspace.folder() / "tmp"));
    const auto doctor = on(Machine::kWithoutNamespaces, workspace, {"doctor"});
    CHECK_MESSAGE(doctor.exit_code == 0, doctor.out);
    CHECK(e2e::has(doctor.out, "sandbox tier: B\naccepted: tier B and better ("));
    CHECK(e2e::has(doctor.out, "MISSING"));
    // A word that others may have written is none: it is named where it would have helped.
    const auto setting = workspace.home() / ".config/mcpac/accepted-tier";
    fs::permissions(setting, fs::perms::group_write, fs::perm_options::add);
    const auto untaken = on(Machine::kWithoutNamespaces, workspace, execute);
    CHECK(untaken.exit_code == 69);
    CHECK(e2e::has(untaken.err, "MCPAC-E0603"));
    CHECK(e2e::has(untaken.err, "the tier that was accepted here is not taken: "));
    CHECK(e2e::has(untaken.err, setting.native()));
    const auto weak = on(Machine::kWithoutNamespaces, workspace, {"doctor", "--json"});
    CHECK(weak.exit_code == 69);
    CHECK(weak.json().at("tier") == "B");
    CHECK(weak.json().at("accepted_tier") == "A");
    CHECK(weak.json().at("ready") == false);
  }

  TEST_CASE("the quick start prints what the README says, for root and for an ordinary user") {
    for (const bool ordinary : {false, true}) {
      CAPTURE(ordinary);
      if (ordinary && (::geteuid() != 0 || !readable_by_all())) {
        MESSAGE("skipped: only root becomes an ordinary user, who must be able to read the build");
        continue;
      }
      const e2e::Workspace workspace("{\"mcpServers\": {}}");
      if (!workspace.accept_tier("B")) return;
      if (ordinary) {
        workspace.write(".passwd", fmt::format("tester:x:{0}:{0}::{1}:/bin/sh\n", kOrdinary,
                                               workspace.home().native()));
        give_away(workspace.folder());
      }
      e2e::RunOptions options;
      options.environment = {fmt::format("HOME={}", workspace.home().native())};
      options.enter = [ordinary] {
        return (!ordinary || sandbox::test::become_user(kOrdinary)) &&
               sandbox::test::lack(sandbox::test::Lacking::kNamespaces);
      };
      const auto run =
          e2e::run_program({"python3", testing::in_source("tools/replay.py"),
                            testing::in_source("README.md"), "--bin", testing::in_build("bin")},
                           workspace.environment(), options);
      INFO(run.err);
      CHECK_MESSAGE(run.exit_code == 0, run.out);
    }
  }

  TEST_CASE("what one tier prepared serves the other, and each says the same of a program") {
    const e2e::Workspace made_in_b(e2e::Workspace::fixture("plain"));
    if (!made_in_b.accept_tier("B")) return;
    REQUIRE(made_in_b.mcpac({"generate"}).exit_code == 0);
    const auto two = made_in_b.write("two.cpp", "int other() { return 7; }\n").native();
    const auto one = made_in_b
                         .write("one.cpp",
                                "#include <mcpac.hpp>\n#include <print>\nint other();\n"
                                "int agent_main(mcpac::Requires<mcp::fixture::echo>) {\n"
                                "  std::print(\"{}\\n\", other());\n  return 0;\n}\n")
                         .native();
    const std::vector<std::string> both{"execute", "-f", one, "-f", two, "--grant", "fixture.echo"};
    for (const Machine machine : {Machine::kWithoutNamespaces, Machine::kWhole}) {
      const auto ran = on(machine, made_in_b, both);
      CHECK_MESSAGE(ran.exit_code == 0, ran.err);
      CHECK(ran.out == "7\n");
      CHECK_FALSE(e2e::has(ran.err, "/tmp/"));
    }
    const auto wrong =
        made_in_b
            .write("wrong.cpp",
                   "#include <mcpac.hpp>\n#include \"none.hpp\"\n"
                   "int agent_main(mcpac::Requires<mcp::fixture::ecko>) { return x; }\n")
            .native();
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"permissions", "validate", wrong},
          std::vector<std::string>{"execute", "-f", wrong}}) {
      const auto in_a = on(Machine::kWhole, made_in_b, command);
      const auto in_b = on(Machine::kWithoutNamespaces, made_in_b, command);
      CHECK(in_a.exit_code != 0);
      CHECK(in_a.exit_code == in_b.exit_code);
      CHECK(in_a.out == in_b.out);
      CHECK(in_a.err == in_b.err);
    }
  }

  TEST_CASE("folders may have any name") {
    const e2e::Workspace workspace("{\"mcpServers\": {}}");
    if (!workspace.accept_tier("B")) return;
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    const auto odd = workspace.folder() / "tmp" / "a%b \"c\\d";
    fs::create_directories(odd);
    const auto agent =
        workspace
            .write("agent.cpp",
                   "#include <mcpac.hpp>\nint agent_main(mcpac::Requires<>) { return 3; }\n")
            .native();
    e2e::RunOptions options;
    options.enter = [] { return sandbox::test::lack(sandbox::test::Lacking::kNamespaces); };
    options.environment = {"TMPDIR=" + odd.native()};
    const auto ran = workspace.mcpac({"execute", "-f", agent}, options);
    CHECK_MESSAGE(ran.exit_code == 3, ran.err);
    CHECK(fs::is_empty(odd));
  }

  TEST_CASE("a source reaches no file outside, and no answer says whether there is one") {
    const e2e::Workspace workspace("{\"mcpServers\": {}}");
    if (!workspace.accept_tier("B")) return;
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    const auto other = TemporaryFolder::create("/tmp", "mcpac-hostile-other");
    REQUIRE(other);
    std::ofstream(other->path() / "secret.txt") << kCanary << "\n";
    const auto validate = [&](const Source& source, const std::string& name) {
      const auto file = workspace.write("agent.cpp", program(source, other->path() / name));
      auto outcome =
          on(Machine::kWithoutNamespaces, workspace, {"permissions", "validate", file.native()});
      outcome.out = without(outcome.out, name);
      outcome.err = without(outcome.err, name);
      return outcome;
    };
    validate(reaching_sources().front(), "absent.txt");  // the first use on a machine is told of
    for (const Source& source : reaching_sources()) {
      CAPTURE(source.name);
      const auto there = validate(source, "secret.txt");
      const auto absent = validate(source, "absent.txt");
      CHECK_FALSE(e2e::has(there.out + there.err, kCanary));
      CHECK(there.exit_code == absent.exit_code);
      CHECK(there.out == absent.out);
      CHECK(there.err == absent.err);
      CHECK(there.exit_code < 128);
    }
    CHECK(fs::is_empty(workspace.folder() / "tmp"));
  }

  TEST_CASE("a source that takes time or memory without an end is ended") {
    const e2e::Workspace workspace("{\"mcpServers\": {}}");
    if (!workspace.accept_tier("B")) return;
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    for (const Source& source : endless_sources()) {
      // Each is ended by another limit; tests/hostile/compiler_test.cpp has them all.
      if (source.name != "a header in itself" && source.name != "a large object" &&
          source.name != "messages")
        continue;
      CAPTURE(source.name);
      const auto file = workspace.write("agent.cpp", program(source, "/absent"));
      const auto outcome =
          on(Machine::kWithoutNamespaces, workspace, {"execute", "-f", file.native()});
      CHECK(outcome.exit_code > 0);
      CHECK(outcome.exit_code < 128);
      CHECK(fs::is_empty(workspace.folder() / "tmp"));
    }
  }

  TEST_CASE("files are granted to read, and what writes is refused with what works") {
    const e2e::Workspace workspace("{\"mcpServers\": {}}");
    if (!workspace.accept_tier("B")) return;
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    const auto agent = workspace
                           .write("agent.cpp",
                                  "#include <mcpac.hpp>\n#include <fstream>\n#include <print>\n"
                                  "int agent_main(mcpac::Requires<mcpac::files>) {\n"
                                  "  std::string line;\n"
                                  "  std::ifstream a(\"data/a.txt\");\n"
                                  "  std::getline(a, line);\n"
                                  "  std::ifstream beside(\"mcpac.json\");\n"
                                  "  std::ofstream b(\"data/b.txt\");\n"
                                  "  std::print(\"{} {} {}\\n\", line, beside.is_open(), "
                                  "b.is_open());\n"
                                  "  return b.is_open() ? 0 : 5;\n}\n")
                           .native();
    const auto read =
        on(Machine::kWithoutNamespaces, workspace, {"execute", "-f", agent, "--files", "./data"});
    CHECK_MESSAGE(read.exit_code == 5, read.err);
    CHECK(e2e::has(read.err, "programs write files in tier A only"));
    CHECK_FALSE(e2e::has(read.err, ":rw"));
    CHECK(read.out == "alpha false false\n");
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{}, std::vector<std::string>{"--changeset"}}) {
      std::vector<std::string> command{"execute", "-f", agent, "--files", "./data:rw"};
      command.insert(command.end(), more.begin(), more.end());
      const auto refused = on(Machine::kWithoutNamespaces, workspace, command);
      CHECK(refused.exit_code == 69);
      CHECK(e2e::has(refused.err, "grant the files read-only (--files DIR)"));
      CHECK_FALSE(e2e::has(refused.err, "--changeset"));
      CHECK_FALSE(e2e::has(refused.err, "--accept-tier"));
    }
  }
}

}  // namespace mcpac::hostile
