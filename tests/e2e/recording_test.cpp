// Record once with real servers, replay without them.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/json.h"
#include "e2e/workspace.h"

using e2e::has;
using e2e::Workspace;
namespace fs = std::filesystem;

namespace {

// Reads and writes, one after another and from several threads; prints what came.
std::string program(const std::string& file, const std::string& head = "1") {
  return R"(#include <mcpac.hpp>
#include <print>
using namespace mcp;
int agent_main(mcpac::Requires<filesystem::read_text_file, filesystem::write_file> rt) {
  std::println("{}", rt.filesystem.read_text_file({.path = ")" +
         file + R"(", .head = )" + head + R"(}).text());
  rt.filesystem.write_file({.path = "data/written.txt", .content = "new"});
  std::println("{}", rt.filesystem.read_text_file({.path = "data/written.txt"}).text());
  auto gone = rt.filesystem.read_text_file.try_call({.path = "data/none.txt"});
  std::println("{}", gone ? gone->text().starts_with("alpha") : true);
  return 7;
}
)";
}

const std::string kFileGrants = "filesystem.read_text_file,filesystem.write_file";

// The real servers, of which the one for files is confined.
std::string with_confined_files() {
  auto config = mcpac::Json::parse(Workspace::real_servers());
  config["mcpServers"]["filesystem"]["sandbox"] = {{"files", {"./data:rw"}}};
  return config.dump();
}

// A project of its own, recorded and then left without its servers: what starts them is gone.
struct Recorded {
  Workspace workspace{with_confined_files()};
  e2e::Outcome first;

  explicit Recorded(const std::string& source) {
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    first = workspace.execute(source, kFileGrants, {"--record", "run.rec"});
    INFO(first.err);
    REQUIRE(first.exit_code == 7);
  }
  e2e::Outcome replay(const std::string& source, std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--replay", "run.rec"});
    // No node anywhere, and nothing that the servers' secrets are read from.
    std::vector<std::string> words{"execute", "-c", source, "--grant", kFileGrants};
    words.insert(words.end(), more.begin(), more.end());
    return workspace.mcpac(words, {.environment = {"PATH=/usr/sbin:/sbin", "E2E_MEMORY="}});
  }
};

}  // namespace

TEST_SUITE("e2e/recording") {
  TEST_CASE("a recorded run is replayed without servers: same output, same exit code") {
    const Recorded here(program("data/a.txt"));
    struct stat facts {};
    REQUIRE(::stat((here.workspace.folder() / "run.rec").c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777) == 0600);
    // What the servers would say by now is another thing.
    here.workspace.write("data/a.txt", "changed\n");
    fs::remove(here.workspace.folder() / "data/written.txt");
    const auto again = here.replay(program("data/a.txt"));
    INFO(again.err);
    CHECK(again.exit_code == 7);
    CHECK(again.out == here.first.out);
    CHECK(has(again.out, "alpha"));
    CHECK_FALSE(fs::exists(here.workspace.folder() / "data/written.txt"));
    // The log of the run says that no server was there.
    const auto started =
        here.workspace.mcpac({"audit", "list", "--json", "--kind", "RunStarted"}).json();
    REQUIRE(started.size() == 2);
    CHECK_FALSE(started[0].at("payload").contains("replayed"));
    CHECK(started[1].at("payload").at("replayed").get<std::string>().size() == 64);
    CHECK(here.workspace.mcpac({"audit", "replay", started[1].at("run_id")}).exit_code == 0);
  }

  TEST_CASE("a changed argument fails the run and is shown; so do calls more and fewer") {
    const Recorded here(program("data/a.txt"));
    const auto changed = here.replay(program("data/a.txt", "2"));
    CHECK(changed.exit_code == 77);
    CHECK(has(changed.err, "MCPAC-E0742"));
    CHECK(has(changed.err, "/arguments/head"));
    CHECK(has(changed.err, "/head is 2, recorded 1"));
    const auto fewer = here.replay(
        "#include <mcpac.hpp>\n"
        "int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {\n"
        "  rt.filesystem.read_text_file({.path = \"data/a.txt\", .head = 1});\n  return 7;\n}\n");
    CHECK(fewer.exit_code == 77);
    CHECK(has(fewer.err, "a recorded call was not made: call 2 of 4, filesystem.write_file"));
    // A program that catches what a call throws passes no test by that.
    const auto more = here.replay(
        "#include <mcpac.hpp>\n"
        "int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {\n"
        "  (void)rt.filesystem.read_text_file.try_call({.path = \"data/b.txt\"});\n"
        "  return 0;\n}\n");
    CHECK(more.exit_code == 77);
    CHECK(has(more.err, "a call that the recording does not have"));
  }

  TEST_CASE("calls of several threads are replayed, whatever their order is this time") {
    const std::string source = R"(#include <mcpac.hpp>
#include <atomic>
#include <print>
#include <string>
#include <thread>
#include <vector>
using namespace mcp;
int agent_main(mcpac::Requires<filesystem::read_text_file, filesystem::write_file> rt) {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&rt, &good, i] {
    for (int k = 0; k < 5; ++k) {
      const std::string path = "data/t" + std::to_string(i) + ".txt";
      rt.filesystem.write_file({.path = path, .content = std::to_string(k)});
      if (rt.filesystem.read_text_file({.path = path}).text() == std::to_string(k)) ++good;
    }
  });
  for (auto& thread : threads) thread.join();
  std::println("{}", good.load());
  return 7;
}
)";
    const Recorded here(source);
    CHECK(here.first.out == "20\n");
    for (int i = 0; i < 5; ++i) {
      const auto again = here.replay(source);
      INFO(again.err);
      CHECK(again.exit_code == 7);
      CHECK(again.out == "20\n");
    }
  }

  TEST_CASE("policy decides as always, and other locks, torn files and no recordings are refused") {
    const Recorded here(program("data/a.txt"));
    const auto denied =
        here.replay(program("data/a.txt"), {"--deny", "filesystem.write_file", "--expect-denials"});
    CHECK(denied.exit_code != 0);
    CHECK(has(denied.err, "filesystem.write_file"));
    const std::string text = here.workspace.read("run.rec");
    const auto with = [&](const std::string& bytes) {
      here.workspace.write("run.rec", bytes);
      return here.replay(program("data/a.txt"));
    };
    const auto torn = with(text.substr(0, text.size() - 20));
    CHECK(torn.exit_code == 65);
    CHECK(has(torn.err, "MCPAC-E0740"));
    CHECK(with("no recording\n").exit_code == 65);
    CHECK(here.workspace.mcpac({"execute", "-c", program("data/a.txt"), "--replay", "none.rec"})
              .exit_code == 66);
    // As if the tool's definition had been another one.
    const auto at = text.find("\"filesystem.write_file\":\"") + 25;
    std::string other = text;
    other[at] = other[at] == '0' ? '1' : '0';
    other.replace(other.find("\"lock\":\"") + 8, 4, "ffff");
    const auto refused = with(other);
    CHECK(refused.exit_code == 77);
    CHECK(has(refused.err, "MCPAC-E0741"));
    CHECK(has(refused.err, "filesystem.write_file (changed)"));
  }

  TEST_CASE("what is no recording is never overwritten, and both options at once are wrong") {
    const Workspace& workspace = Workspace::shared();
    workspace.write("precious.txt", "my words\n");
    const std::string source =
        "#include <mcpac.hpp>\nint agent_main(mcpac::Requires<>) { return 0; }\n";
    CHECK(workspace.execute(source, "", {"--record", "precious.txt"}).exit_code == 64);
    CHECK(workspace.read("precious.txt") == "my words\n");
    CHECK(workspace.execute(source, "", {"--record", "no/such/folder.rec"}).exit_code == 64);
    CHECK(workspace.execute(source, "", {"--record", "a", "--replay", "b"}).exit_code == 64);
    CHECK(workspace.execute(source, "", {"--record", "a", "--dry-run"}).exit_code == 64);
    // A run without calls has a recording, too, and may write it again.
    CHECK(workspace.execute(source, "", {"--record", "empty.rec"}).exit_code == 0);
    CHECK(workspace.execute(source, "", {"--record", "empty.rec"}).exit_code == 0);
    CHECK(workspace.execute(source, "", {"--replay", "empty.rec"}).exit_code == 0);
  }
}
