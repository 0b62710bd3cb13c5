// What people and programs get wrong: a clear error with its number, the documented exit code,
// nothing lost and nothing left behind.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "e2e/workspace.h"

using e2e::has;
using e2e::Workspace;

namespace {

namespace fs = std::filesystem;

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

// Processes whose command line holds `text`.
int processes_with(const std::string& text) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos ||
        name == std::to_string(::getpid()))
      continue;
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    const std::string line((std::istreambuf_iterator<char>(file)), {});
    if (has(line, text)) ++count;
  }
  return count;
}

const std::string kNothing =
    "#include <mcpac.hpp>\nint agent_main(mcpac::Requires<>) { return 0; }\n";

}  // namespace

TEST_SUITE("e2e/bad input") {
  TEST_CASE("a source that is missing, empty, or not text") {
    auto& workspace = Workspace::shared();
    auto run = workspace.mcpac({"execute", "-f", "nowhere.cpp"});
    CHECK(run.exit_code == 66);
    CHECK(has(run.err, "MCPAC-E0500"));
    workspace.write("empty.cpp", " \n");
    run = workspace.mcpac({"execute", "-f", "empty.cpp"});
    CHECK(run.exit_code == 65);
    CHECK(has(run.err, "MCPAC-E0501"));
    workspace.write("binary.cpp", std::string("\x7f"
                                              "ELF\0\0\xff",
                                              7));
    run = workspace.mcpac({"execute", "-f", "binary.cpp"});
    CHECK(run.exit_code == 65);
    CHECK(has(run.err, "MCPAC-E0502"));
    workspace.write("prose.cpp", "Dear compiler, please do what I mean.\n");
    run = workspace.mcpac({"execute", "-f", "prose.cpp"});
    CHECK(run.exit_code == 65);
  }

  TEST_CASE("a configuration with a syntax error names line and column") {
    Workspace workspace("{\n  \"mcpServers\": {\n    \"a\": }\n}\n");
    const auto run = workspace.mcpac({"generate"});
    CHECK(run.exit_code == 78);
    CHECK(has(run.err, "MCPAC-E0110"));
    CHECK(has(run.err, "mcpac.json:3:"));
  }

  TEST_CASE("no configuration, no lock, unknown server, unknown tool in a grant") {
    Workspace workspace("{\"mcpServers\": {}}");
    fs::remove(workspace.folder() / "mcpac.json");
    CHECK(has(workspace.mcpac({"generate"}).err, "mcpac init"));
    CHECK(workspace.mcpac({"generate"}).exit_code == 78);
    REQUIRE(workspace.mcpac({"init"}).exit_code == 0);
    CHECK(workspace.mcpac({"server", "test", "nobody"}).exit_code == 78);
    REQUIRE(workspace.mcpac({"server", "add", "idle", "--", "sleep", "1"}).exit_code == 0);
    CHECK(has(workspace.execute(kNothing, "").err, "MCPAC-E0400"));
    const auto run = Workspace::shared().execute(kNothing, "filesystem.read_txt_file");
    CHECK(run.exit_code == 78);
    CHECK(has(run.err, "MCPAC-E0201"));
    CHECK(has(run.err, "read_text_file"));
  }

  TEST_CASE("an import takes what it can, and says of the rest why not") {
    const Workspace workspace(R"({"mcpServers": {"mine": {"command": "s"}}})");
    workspace.write("theirs.json", R"({
      // of an editor
      "servers": {
        "asks": {"command": "s", "args": ["${input:key}"]},
        "good": {"command": "s", "args": ["x"],},
        "mine": {"command": "theirs"},
      }
    })");
    auto run = workspace.mcpac({"server", "add", "--import", "theirs.json"});
    CHECK(run.exit_code == 78);
    CHECK(has(run.err, "added good"));
    CHECK(has(run.err, "asks is not imported"));
    CHECK(has(run.err, "mine is not imported"));
    auto servers = mcpac::parse_json(workspace.read("mcpac.json")).value()["mcpServers"];
    CHECK(servers.size() == 2);
    CHECK(servers["good"]["args"][0] == "x");
    CHECK(servers["mine"]["command"] == "s");
    run = workspace.mcpac({"server", "add", "--force", "--import", "theirs.json"});
    CHECK(run.exit_code == 78);
    servers = mcpac::parse_json(workspace.read("mcpac.json")).value()["mcpServers"];
    CHECK(servers["mine"]["command"] == "theirs");
    CHECK(workspace.mcpac({"server", "add", "--import", "theirs.json", "--cwd", "x"}).exit_code ==
          64);
    // By hand it is the same: refused by its name, or said.
    run = workspace.mcpac({"server", "add", "one", "--env", "K=${API_KEY}", "--", "s"});
    CHECK(run.exit_code == 78);
    CHECK(has(run.err, "env.K holds ${API_KEY}"));
    CHECK(has(run.err, "write ${env:API_KEY}"));
    run = workspace.mcpac({"server", "add", "one", "--", "s", "~/notes"});
    CHECK(run.exit_code == 0);
    CHECK(has(run.err, "one: args[0]: ~ goes to the server as it stands"));
  }

  TEST_CASE(
      "folders that the environment names in an odd way are no bug, and named where they fail") {
    const auto& workspace = Workspace::shared_fixture();
    const std::string folder = workspace.folder().string();
    for (const std::string& odd :
         {std::string(), std::string("relative"), folder + "/tmp/../tmp", folder + "/made/of/it"}) {
      CAPTURE(odd);
      const auto doctor = workspace.mcpac({"doctor", "--json"}, {.environment = {"TMPDIR=" + odd}});
      CHECK(doctor.json().at("checks").at(0).at("works") == true);
      CHECK_FALSE(has(doctor.err, "MCPAC-E0100"));
    }
    // A name need not be UTF-8.
    const fs::path odd = workspace.folder() / "od\xff";
    fs::create_directories(odd);
    for (const char* variable : {"TMPDIR", "HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"}) {
      CAPTURE(variable);
      const e2e::RunOptions there{.environment = {std::string(variable) + "=" + odd.native()}};
      const auto doctor = workspace.mcpac({"doctor", "--json"}, there);
      CHECK(doctor.json().at("checks").at(0).at("works") == true);
      const auto called = workspace.mcpac(
          {"tools", "call", "fixture.echo", R"({"zebra": "z"})", "--grant", "fixture.echo"}, there);
      CHECK_MESSAGE(called.exit_code == 0, called.err);
    }
    const auto call = [&](std::vector<std::string> environment) {
      return workspace.mcpac({"tools", "call", "fixture.echo", "--grant", "fixture.echo"},
                             {.environment = std::move(environment)});
    };
    CHECK(call({"HOME=relative", "XDG_STATE_HOME=" + folder + "/.state/../.state"}).exit_code == 0);
    // A home that can be read alone, as some containers have it.
    const fs::path home = workspace.folder() / "read-only";
    fs::create_directories(home);
    e2e::RunOptions reads;
    reads.environment = {"HOME=" + home.native(), "XDG_STATE_HOME=" + home.native() + "/state"};
    reads.enter = [home = home.native()] {
      return ::unshare(CLONE_NEWNS) == 0 &&
             ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
             ::mount(home.c_str(), home.c_str(), nullptr, MS_BIND, nullptr) == 0 &&
             ::mount(nullptr, home.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) ==
                 0;
    };
    if (::geteuid() == 0) {
      CHECK(workspace.mcpac({"doctor", "--json"}, reads).json().at("checks").at(0).at("works") ==
            true);
      for (const std::vector<std::string>& command :
           {std::vector<std::string>{"tools", "call", "fixture.echo", "--grant", "fixture.echo"},
            std::vector<std::string>{"up"}}) {
        const auto unrecorded = workspace.mcpac(command, reads);
        CAPTURE(unrecorded.err);
        CHECK(unrecorded.exit_code != 0);
        CHECK(has(unrecorded.err, "Read-only file system"));
        CHECK(has(unrecorded.err, "fix: its file system is read-only: point XDG_STATE_HOME at a "));
      }
    } else {
      MESSAGE("skipped: only root mounts a home that can be read alone");
    }
    const auto unwritable = call({"XDG_STATE_HOME=/proc/none"});
    CHECK(unwritable.exit_code != 0);
    CHECK(
        has(unwritable.err, "cannot record in /proc/none/mcpac/audit: No such file or directory"));
    CHECK(has(unwritable.err,
              "fix: point XDG_STATE_HOME at a folder that you can write "
              "(XDG_STATE_HOME=/proc/none leads there now)"));
    const auto missing = [&](const std::string& place) {
      return workspace
          .mcpac({"run", "--files", place, "--", "/bin/true"}, {.folder = workspace.folder()})
          .err;
    };
    CHECK(has(missing("./notes.txt"), "name what is there: touch "));
    CHECK(has(missing("./none"), "name what is there: mkdir "));
    CHECK(has(missing("./no/such/notes.txt"), "/no/such && touch "));
  }

  TEST_CASE("secrets that are written into mcpac.json as they are do not go there without a word") {
    const Workspace workspace(R"({"mcpServers": {}})");
    workspace.write("theirs.json", R"({"servers": {
      "github": {"command": "s", "args": ["--token", "hunter2"], "env": {"GITHUB_TOKEN": "hunter2"}},
      "quiet": {"command": "s", "env": {"TOKEN": "${env:TOKEN}"}}
    }})");
    for (const auto& run :
         {workspace.mcpac({"server", "add", "--import", "theirs.json"}),
          workspace.mcpac({"server", "add", "github", "--force", "--env", "GITHUB_TOKEN=hunter2",
                           "--", "s", "--token", "hunter2"})}) {
      CHECK(run.exit_code == 0);
      CHECK(has(run.err, "github: env.GITHUB_TOKEN looks like a secret"));
      CHECK(has(run.err, "github: args[1] (--token) looks like a secret"));
      CHECK(has(run.err, "${env:NAME} or ${file:PATH}"));
      CHECK_FALSE(has(run.err, "quiet: "));
      CHECK_FALSE(has(run.out + run.err, "hunter2"));
    }
  }

  TEST_CASE("a wrong command line is exit 64, as JSON when asked") {
    auto run = Workspace::shared().mcpac({"execute", "--no-such-option"});
    CHECK(run.exit_code == 64);
    run = Workspace::shared().mcpac({"frobnicate", "--json"});
    CHECK(run.exit_code == 64);
    auto error = mcpac::parse_json(run.err);
    REQUIRE(error.has_value());
    CHECK((*error)["error"]["id"] == "MCPAC-E1000");
  }

  TEST_CASE("a mistyped command is answered with the one that was meant") {
    const auto& workspace = Workspace::shared();
    CHECK(has(workspace.mcpac({"exec", "x.cpp"}).err, "did you mean 'execute'?"));
    CHECK(has(workspace.mcpac({"permissions", "analyse"}).err, "did you mean 'analyze'?"));
    CHECK(has(workspace.mcpac({"execute", "--allow", "kv.get", "-c", "int x;"}).err,
              "did you mean '--grant'?"));
    CHECK(has(workspace.mcpac({"execute", "--allow=kv.get", "-c", "int x;"}).err,
              "did you mean '--grant'?"));
    CHECK_FALSE(has(workspace.mcpac({"frobnicate"}).err, "did you mean"));
    CHECK_FALSE(has(workspace.mcpac({"runs"}).err, "did you mean"));
  }

  TEST_CASE("a server that cannot be started is named") {
    Workspace workspace(R"({"mcpServers": {"gone": {"command": "/no/such/program"}}})");
    const auto run = workspace.mcpac({"generate"});
    CHECK(run.exit_code == 69);
    CHECK(has(run.err, "gone"));
    CHECK_FALSE(fs::exists(workspace.folder() / "mcpac.lock"));
  }

  TEST_CASE("a tool that answers isError is an exception with the tool's words") {
    const auto run = Workspace::shared().execute(R"(#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  rt.filesystem.read_text_file({.path = "data/none.txt"});
  return 0;
}
)",
                                                 "filesystem.read_text_file");
    CHECK(run.exit_code == 69);
    CHECK(has(run.err, "filesystem.read_text_file"));
    CHECK(has(run.err, "ENOENT"));
  }

  TEST_CASE("a server that dies in mid-call is a TransportError, and the run goes on") {
    Workspace workspace(Workspace::fixture("dies-in-call"));
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    const auto run = workspace.execute(R"(#include <mcpac.hpp>
#include <print>
int agent_main(mcpac::Requires<mcp::fixture::die> rt) {
  try {
    rt.fixture.die({.say = "the database is locked"});
  } catch (const mcpac::TransportError& error) {
    std::println("transport error");
    std::println("{}", error.what());
    std::println("{} {}", error.was_not_sent(), error.may_have_been_done());
  }
  return 0;
}
)",
                                       "fixture.die");
    INFO(run.err);
    CHECK(
        run.out ==
        "transport error\nserver fixture ended: exit status 3; the call was sent and may have been "
        "done: look before you repeat it\nfalse true\n");
    // The server's last words are its user's, and may say why; they are none of the program's.
    CHECK(has(run.err, "warning: server fixture ended: exit status 3: it last wrote:"));
    CHECK(has(run.err, "\n    the database is locked\n"));
    const auto noted = workspace.mcpac({"audit", "list", "--json", "--kind", "Anomaly"}).json();
    REQUIRE(noted.size() == 1);
    CHECK(noted[0].at("payload").at("what") == "the connection to a server ended during the run");
    CHECK(noted[0].at("payload").at("detail") == "fixture");
    // The same from the command line has the id of a dead server, as everywhere.
    const auto called = workspace.mcpac({"tools", "call", "fixture.die", "--grant", "fixture.die",
                                         "--say", "the database is locked"});
    CHECK(called.exit_code == 69);
    CHECK(has(called.err, "MCPAC-E0301"));
    CHECK(has(called.err, "why: it last wrote:"));
    CHECK(has(called.err, "\n    the database is locked\n"));
  }

  TEST_CASE("secrets from the environment never reach output, errors or the log") {
    Workspace workspace(
        R"({"mcpServers": {"secretive": {"command": "sh", "args": ["-c", "echo $TOKEN >&2; exit 3"], "env": {"TOKEN": "${env:E2E_SECRET}"}}}})");
    const auto run = workspace.mcpac({"generate"}, {.environment = {"E2E_SECRET=canary-90125"}});
    CHECK(run.exit_code == 69);
    CHECK_FALSE(has(run.out + run.err, "canary-90125"));
    CHECK(has(workspace.mcpac({"generate"}).err, "MCPAC-E0114"));
  }

  TEST_CASE("when the log cannot be written, nothing is run") {
    Workspace workspace(Workspace::real_servers());
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    fs::create_directories(workspace.state());
    workspace.write(".state/mcpac/audit", "a file where the folder should be");
    const auto run = workspace.execute(kNothing, "");
    CHECK(run.exit_code == 69);
    CHECK(has(run.err, "MCPAC-E0900"));
  }

  TEST_CASE("Ctrl-C leaves no process and no temporary file") {
    Workspace workspace(Workspace::real_servers());
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    const std::string source = R"(#include <mcpac.hpp>
#include <chrono>
#include <print>
#include <thread>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  std::println("{}", rt.filesystem.read_text_file({.path = "data/a.txt", .head = 1}).text());
  std::this_thread::sleep_for(std::chrono::minutes(2));
  return 0;
}
)";
    const auto run =
        workspace.mcpac({"execute", "-c", source, "--grant", "filesystem.read_text_file"},
                        {.interrupt_at = "alpha\n"});
    INFO(run.err);
    CHECK(run.exit_code == 130);
    CHECK(run.out == "alpha\n");
    CHECK(entries(workspace.folder() / "tmp") == 0);
    CHECK(processes_with(workspace.folder().string()) == 0);
  }
}
