// Who the program is to the kernel, read from the kernel, and that nothing outlives its host.
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "core/file.h"
#include "sandbox/support_sandbox.h"

namespace mcpac::sandbox::test {
namespace {

std::string first_line_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  return text;
}

// The process whose arguments end in this mark, as the host sees it.
std::filesystem::path find_process(const std::string& mark) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string line = first_line_of(entry.path() / "cmdline");
    if (line.starts_with("hostile") && line.ends_with(mark + std::string(1, '\0')))
      return entry.path();
  }
  return {};
}

std::map<std::string, std::string> status_of(const std::filesystem::path& process) {
  std::map<std::string, std::string> status;
  std::ifstream file(process / "status");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(":\t");
    if (colon != std::string::npos) status[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return status;
}

std::string mark_of(const char* name) {
  return std::string(name) + std::to_string(::getpid());
}

bool gone_soon(const std::string& mark) {
  for (int i = 0; i < 500 && !find_process(mark).empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return find_process(mark).empty();
}

constexpr const char* kNoCapabilities = "0000000000000000";

}  // namespace

TEST_SUITE("sandbox/identity") {
  TEST_CASE("of a root host nothing is left: another id, no capabilities, no way back") {
    if (::geteuid() != 0) {
      MESSAGE("skipped: needs root");
      return;
    }
    auto warden = Warden::start(warden_program());
    REQUIRE(warden);
    // "exit 0 ID ID ID 1"
    const std::string said = describe(run(*warden, hostile({"identity"})));
    const std::string id = said.substr(7, 5);
    CHECK(id.starts_with('9'));
    CHECK(said == "exit 0 " + id + " " + id + " " + id + " 1");
    const std::string mark = mark_of("root");
    auto child = warden->spawn(hostile({"stay", mark}));
    REQUIRE(child);
    CHECK(child->tier() == Tier::kA);
    const auto process = find_process(mark);
    REQUIRE(!process.empty());
    auto status = status_of(process);
    const std::string four_times = id + "\t" + id + "\t" + id + "\t" + id;
    CHECK(status["Uid"] == four_times);
    CHECK(status["Gid"] == four_times);
    CHECK(status["Groups"].find_first_not_of(' ') == std::string::npos);
    for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"})
      CHECK(status[set] == kNoCapabilities);
    CHECK(status["NoNewPrivs"] == "1");
    CHECK(status["Seccomp"] == "2");
    CHECK(status["NSpid"].ends_with("\t1"));
    CHECK(status["NSsid"].ends_with("\t1"));
    for (const char* name : {"mnt", "net", "pid", "ipc", "uts", "cgroup"}) {
      CAPTURE(name);
      CHECK(std::filesystem::read_symlink(process / "ns" / name) !=
            std::filesystem::read_symlink(std::filesystem::path("/proc/self/ns") / name));
    }
  }

  TEST_CASE("two sandboxes of a root host have different ids") {
    if (::geteuid() != 0) {
      MESSAGE("skipped: needs root");
      return;
    }
    auto warden = Warden::start(warden_program());
    REQUIRE(warden);
    const std::string mark = mark_of("first");
    const auto first = warden->spawn(hostile({"stay", mark}));
    REQUIRE(first);
    const std::string first_id = status_of(find_process(mark))["Uid"].substr(0, 5);
    const std::string second_id = describe(run(*warden, hostile({"identity"}))).substr(7, 5);
    CHECK(first_id.starts_with('9'));
    CHECK(second_id.starts_with('9'));
    CHECK(first_id != second_id);
  }

  TEST_CASE("an ordinary user's sandbox is a user namespace without capabilities, tier A") {
    const std::string text = in_child([]() -> std::string {
      if (::geteuid() == 0 && !become_user()) return "no user";
      auto warden = Warden::start(warden_program());
      if (!warden) return warden.error().what;
      const std::string mark = mark_of("user");
      auto child = warden->spawn(hostile({"stay", mark}));
      if (!child) return child.error().to_text();
      auto status = status_of(find_process(mark));
      return describe(run(*warden, hostile({"identity"}))) + "; tier " + to_string(child->tier()) +
             "; " + status["CapEff"] + " " + status["CapBnd"] + "; " + status["NoNewPrivs"] + " " +
             status["Seccomp"];
    });
    CHECK(text == "exit 0 65534 65534 65534 1; tier A; 0000000000000000 0000000000000000; 1 2");
  }

  TEST_CASE("a child that is destroyed is dead") {
    auto warden = Warden::start(warden_program());
    REQUIRE(warden);
    const std::string mark = mark_of("destroyed");
    {
      auto child = warden->spawn(hostile({"ignore-term", mark}));
      REQUIRE(child);
      CHECK(!find_process(mark).empty());
    }
    CHECK(find_process(mark).empty());
    CHECK(describe(run(*warden, hostile({"hello"}))) == "exit 7 hello");
  }

  TEST_CASE("a warden that ends takes its children along, and the host is told") {
    const std::string mark = mark_of("left");
    std::optional<Child> child;
    {
      auto warden = Warden::start(warden_program());
      REQUIRE(warden);
      auto spawned = warden->spawn(hostile({"ignore-term", mark}));
      REQUIRE(spawned);
      child.emplace(std::move(*spawned));
    }
    CHECK(find_process(mark).empty());
    const auto verdict = child->wait();
    REQUIRE(verdict);
    CHECK(verdict->kind == Verdict::Kind::kSignalled);
    CHECK(verdict->code == SIGKILL);
  }

  TEST_CASE("a host that is killed leaves neither warden nor child") {
    const std::string mark = mark_of("orphaned");
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t host = ::fork();
    if (host == 0) {
      auto warden = Warden::start(warden_program());
      auto child = warden->spawn(hostile({"ignore-term", mark}));
      if (::write(ends[1], child ? "y" : "n", 1) < 0) ::_exit(1);
      for (;;) ::pause();
    }
    char started = 0;
    CHECK(::read(ends[0], &started, 1) == 1);
    CHECK(started == 'y');
    CHECK(!find_process(mark).empty());
    ::kill(host, SIGKILL);
    ::waitpid(host, nullptr, 0);
    ::close(ends[0]);
    ::close(ends[1]);
    CHECK(gone_soon(mark));
  }

  TEST_CASE("a warden that is killed takes its children along, and wait() says what happened") {
    const std::string mark = mark_of("widowed");
    auto warden = Warden::start(warden_program());
    REQUIRE(warden);
    auto child = warden->spawn(hostile({"ignore-term", mark}));
    REQUIRE(child);
    const auto parent = status_of(find_process(mark))["PPid"];
    REQUIRE(!parent.empty());
    ::kill(static_cast<pid_t>(std::stol(parent)), SIGKILL);
    const auto verdict = child->wait();
    REQUIRE(!verdict);
    CHECK(verdict.error().id == ErrorId::kWardenFailed);
    CHECK(gone_soon(mark));
    const auto next = warden->spawn(hostile({"hello"}));
    REQUIRE(!next);
    CHECK(next.error().id == ErrorId::kWardenFailed);
  }
}

}  // namespace mcpac::sandbox::test
