#include "faults/support_scene.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "audit/chain.h"
#include "core/file.h"
#include "places.h"

namespace faults {
namespace {

namespace fs = std::filesystem;

// One server ends when its input does, the other has to be ended.
std::string config() {
  const auto server = mcpac::testing::in_source("tests/servers/fixture.mjs");
  const auto entry = [&server](const char* name, const char* mode) {
    return fmt::format(
        R"("{}": {{"command": "node", "args": ["{}", "{}"], "env": {{"FIXTURE_CALLS": "${{env:FAULT_CALLS}}"}}}})",
        name, server, mode);
  };
  return fmt::format(R"({{"mcpServers": {{{}, {}}}}})", entry("fixture", "plain"),
                     entry("stubborn", "ignores-eof"));
}

constexpr const char* kShort = R"(#include <mcpac.hpp>
#include <print>
int agent_main(mcpac::Requires<mcp::fixture::echo, mcp::fixture::slow> rt) {
  for (int i = 0; i < 3; ++i) {
    rt.fixture.echo({.zebra = std::to_string(i)});
    rt.fixture.slow({.ms = 10});
  }
  std::println("done SALT");
  return 0;
}
)";

constexpr const char* kCalls = R"(#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::fixture::hang, mcp::fixture::slow, mcp::stubborn::hang> rt) {
  auto one = rt.fixture.hang.async({});
  auto other = rt.stubborn.hang.async({});
  while (rt.fixture.slow.try_call({.ms = 3})) {
  }
  return 0;
}
)";

constexpr const char* kPrebuiltProgram = R"(#include <mcpac.hpp>
int main() {
  auto rt = mcpac::connect<mcpac::Requires<mcp::fixture::echo, mcp::fixture::slow>>();
  for (int i = 0; i < 3; ++i) {
    rt.fixture.echo({.zebra = "prebuilt"});
    rt.fixture.slow({.ms = 10});
  }
}
)";

constexpr const char* kGrants = "fixture.echo,fixture.slow";

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::string salted(int salt) {
  std::string text = kShort;
  text.replace(text.find("SALT"), 4, std::to_string(salt));
  return text;
}

}  // namespace

std::string_view to_string(Way way) {
  switch (way) {
    case Way::kUnseen: return "execute, never seen";
    case Way::kSeen: return "execute, seen";
    case Way::kCalling: return "execute, calls in flight";
    case Way::kPrebuilt: break;
  }
  return "run";
}

Scene::Scene() : workspace_(config()) {}

fs::path Scene::calls_file() const {
  return workspace_.folder() / ".state" / "calls";
}

void Scene::prepare() {
  forget_calls();
  const auto generated = mcpac({"generate"});
  INFO(generated.err);
  REQUIRE(generated.exit_code == 0);
  workspace_.write("prebuilt.cpp", kPrebuiltProgram);
  const auto built = e2e::run_program(
      {"g++", "-std=c++20", "-O0", "-static", "-Iservers", "prebuilt.cpp", "-o", "prebuilt"}, {},
      {.folder = workspace_.folder()});
  INFO(built.err);
  REQUIRE(built.exit_code == 0);
  workspace_.write("said", "");
  project_entries_ = names_in(workspace_.folder());
}

std::vector<std::string> Scene::words_of(Way way) {
  switch (way) {
    case Way::kUnseen: return {"execute", "-c", salted(++salt_), "--grant", kGrants};
    case Way::kSeen: return {"execute", "-c", salted(0), "--grant", kGrants};
    case Way::kCalling:
      return {"execute", "-c", kCalls, "--grant", "fixture.hang,fixture.slow,stubborn.hang"};
    case Way::kPrebuilt: break;
  }
  return {"run", "--grant", kGrants, "--", (workspace_.folder() / "prebuilt").string()};
}

pid_t Scene::start(Way way) {
  auto words = words_of(way);
  words.insert(words.begin(), mcpac::testing::in_build("bin/mcpac"));
  auto environment = workspace_.environment();
  environment.push_back("XDG_RUNTIME_DIR=" + (workspace_.folder() / ".run").string());
  environment.push_back("FAULT_CALLS=" + calls_file().string());
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid != 0) return pid;
  ::setpgid(0, 0);
  const int said =
      ::open((workspace_.folder() / "said").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, 0);
  ::dup2(said, 1);
  ::dup2(said, 2);
  if (::chdir(workspace_.folder().c_str()) != 0) ::_exit(126);
  for (const auto& item : environment) ::putenv(const_cast<char*>(item.c_str()));
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

std::string Scene::said() const {
  return workspace_.read("said");
}

e2e::Outcome Scene::mcpac(const std::vector<std::string>& words) const {
  return workspace_.mcpac(
      words, {.environment = {"XDG_RUNTIME_DIR=" + (workspace_.folder() / ".run").string(),
                              "FAULT_CALLS=" + calls_file().string()}});
}

e2e::Outcome Scene::run_short(Way way) {
  return mcpac(words_of(way));
}

std::vector<std::string> Scene::runs() const {
  std::vector<std::string> ids;
  for (const auto& name : names_in(audit())) {
    constexpr std::string_view kEnding = ".jsonl";
    // A run's id has 36 characters; the index of runs has another name.
    if (name.ends_with(kEnding) && name.size() == 36 + kEnding.size())
      ids.push_back(name.substr(0, 36));
  }
  return ids;
}

std::size_t Scene::calls_that_arrived() const {
  const auto text = mcpac::read_file(calls_file());
  return text ? static_cast<std::size_t>(std::ranges::count(*text, '\n')) : 0;
}

void Scene::forget_calls() const {
  fs::create_directories(calls_file().parent_path());
  REQUIRE(mcpac::write_file_atomic(calls_file(), ""));
}

std::vector<std::string> Scene::left_behind() const {
  std::vector<std::string> left;
  const auto expect_only = [&left](const fs::path& folder, const auto& is_expected) {
    for (const auto& name : names_in(folder)) {
      if (!is_expected(name)) left.push_back((folder / name).string());
    }
  };
  const auto nothing = [](const std::string&) { return false; };
  expect_only(workspace_.folder() / "tmp", nothing);
  expect_only(workspace_.folder() / ".run/mcpac/runs", nothing);
  expect_only(e2e::Workspace::shared_cache() / "mcpac/prepared", [](const std::string& name) {
    return name == "lock" || name.starts_with("runtime-") || name.starts_with("servers-");
  });
  expect_only(e2e::Workspace::shared_cache() / "mcpac/programs",
              [](const std::string& name) { return name.ends_with(".program"); });
  expect_only(workspace_.state() / "audit-key",
              [](const std::string& name) { return name == "secret" || name == "public"; });
  expect_only(workspace_.state(), [](const std::string& name) { return !name.ends_with(".tmp"); });
  expect_only(workspace_.folder(), [this](const std::string& name) {
    return name == ".run" || std::ranges::binary_search(project_entries_, name);
  });
  return left;
}

// An entry begins with the digest of all that follows (src/toolchain/seen_programs.cpp).
std::vector<std::string> Scene::broken_programs() const {
  std::vector<std::string> broken;
  const fs::path folder = e2e::Workspace::shared_cache() / "mcpac/programs";
  for (const auto& name : names_in(folder)) {
    const auto text = mcpac::read_file(folder / name);
    const auto end = text ? text->find('\n') : std::string::npos;
    const bool whole =
        end != std::string::npos &&
        mcpac::audit::hex(mcpac::audit::blake2b(std::string_view(*text).substr(end + 1))) ==
            text->substr(0, end);
    if (!whole) broken.push_back(name);
  }
  return broken;
}

}  // namespace faults
