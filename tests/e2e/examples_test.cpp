// The examples of the repository, run as their READMEs say, against their expected output.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <fstream>
#include <future>
#include <regex>
#include <sstream>

#include "core/file.h"
#include "e2e/workspace.h"
#include "places.h"

using e2e::Workspace;

namespace {

namespace fs = std::filesystem;

const fs::path kExamples = std::filesystem::path(mcpac::testing::in_source("examples"));

// examples/mcpac.json, for a folder that lies elsewhere.
std::string config() {
  std::ostringstream text;
  text << std::ifstream(kExamples / "mcpac.json").rdbuf();
  const std::string servers = mcpac::testing::in_source("tests/servers");
  return std::regex_replace(text.str(), std::regex("\\.\\./tests/servers"), servers);
}

e2e::Outcome run_words(const Workspace& workspace, std::vector<std::string> words) {
  // As a shell has it, which is where the memory server's file is to lie.
  return workspace.mcpac(std::move(words), {.environment = {"PWD=" + workspace.folder().string()}});
}

// examples/ as a project of its own, in a fresh folder.
Workspace& shared_project() {
  static Workspace workspace(config());
  static const bool ready = [] {
    for (const auto& entry : fs::directory_iterator(kExamples)) {
      if (!entry.is_directory() || entry.path().filename() == "servers") continue;
      fs::copy(entry.path(), workspace.folder() / entry.path().filename(),
               fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    }
    fs::remove(workspace.folder() / "data/a.txt");  // the workspace's own file
    return run_words(workspace, {"generate"}).exit_code == 0;
  }();
  REQUIRE(ready);
  return workspace;
}

void check_example(const std::string& name, const std::string& grants, int exit_code) {
  const auto done =
      run_words(shared_project(), {"execute", "-f", name + "/agent.cpp", "--grant", grants});
  INFO(done.err);
  CHECK(done.exit_code == exit_code);
  CHECK(done.out == shared_project().read(name + "/expected.txt"));
}

// Comes in the place of a program that never did, so that the collector ends.
void end_collector(const std::string& port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  address.sin_port = ::htons(static_cast<std::uint16_t>(std::stoi(port)));
  const mcpac::UniqueFd peer(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  (void)::connect(peer.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

}  // namespace

TEST_SUITE("e2e/examples") {
  TEST_CASE("summary: files to one line each") {
    check_example("summary", "filesystem.list_directory,filesystem.read_text_file", 0);
  }

  TEST_CASE("knowledge_graph: files into server-memory") {
    check_example("knowledge_graph",
                  "filesystem.read_text_file,memory.create_entities,memory.create_relations,memory."
                  "read_graph",
                  0);
  }

  TEST_CASE("concurrent: two hundred calls in flight") {
    check_example("concurrent", "everything.get-sum", 0);
  }

  TEST_CASE("refused: declares more than is granted") {
    check_example("refused", "filesystem.read_text_file", 77);
    CHECK_FALSE(fs::exists(shared_project().folder() / "data/stolen.txt"));
  }

  TEST_CASE("publish: granted files to a granted host") {
    const auto& workspace = shared_project();
    const fs::path folder = workspace.folder() / "publish";
    fs::create_directory(folder / "out");
    const std::string place = (folder / "collector.txt").string();
    auto collector = std::async(std::launch::async, [&] {
      return e2e::run_program({"python3", (folder / "collector.py").string(), place}, {}, {});
    });
    while (!fs::exists(place) &&
           collector.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready) {
    }
    std::string host;
    std::string port;
    std::ifstream(place) >> host >> port;
    const auto done =
        run_words(workspace, {"execute", "-f", "publish/agent.cpp", "--files", "./data", "--files",
                              "./publish/collector.txt", "--files", "./publish/out:rw", "--network",
                              host + ":" + port});
    INFO(done.err);
    CHECK(done.exit_code == 0);
    CHECK(done.out == workspace.read("publish/expected.txt"));
    CHECK(workspace.read("publish/out/receipt.txt") == "3 lines, thank you\n");
    if (done.exit_code != 0 && !port.empty()) end_collector(port);
    CHECK(collector.get().exit_code == 0);
  }
}
