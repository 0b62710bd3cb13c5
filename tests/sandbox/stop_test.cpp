// Somebody outside stops a program and lets it go on: nobody who watches it stands in the way.
#include <doctest/doctest.h>
#include <signal.h>

#include <chrono>
#include <string>
#include <thread>

#include "core/file.h"
#include "sandbox/support_sandbox.h"

namespace mcpac::sandbox::test {
namespace {

// "": there is none.
std::string first_child_of(const std::string& process) {
  const auto text = read_file("/proc/" + process + "/task/" + process + "/children");
  return text ? text->substr(0, text->find(' ')) : "";
}

// The letter of proc(5): R, S, T (stopped), t (by a tracer), …
char state_of(const std::string& process) {
  const auto text = read_file("/proc/" + process + "/stat");
  const auto name_end = text ? text->rfind(") ") : std::string::npos;
  return name_end == std::string::npos ? '?' : (*text)[name_end + 2];
}

bool comes_to(const std::string& process, char state) {
  for (int i = 0; i < 200; ++i) {
    if (state_of(process) == state) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// Of a program that would stay for ever.
std::string stopped_and_continued(Tier tier) {
  auto warden = Warden::start(warden_program());
  if (!warden) return warden.error().what;
  Spec spec = hostile({"stay"});
  spec.lowest_tier = tier;
  auto child = warden->spawn(spec);
  if (!child) return child.error().what;
  const std::string program = first_child_of(first_child_of(std::to_string(::getpid())));
  if (program.empty()) return "no program";
  const pid_t pid = std::stoi(program);
  if (!comes_to(program, 'S')) return "does not sleep";
  for (int round = 0; round < 2; ++round) {
    if (::kill(pid, SIGSTOP) != 0 || !comes_to(program, 'T')) return "does not stop";
    if (::kill(pid, SIGCONT) != 0 || !comes_to(program, 'S')) return "does not go on";
  }
  child->kill(Verdict::Kind::kKilled);
  const auto verdict = child->wait();
  return verdict && verdict->kind == Verdict::Kind::kKilled ? "as if nobody watched" : "ended";
}

}  // namespace

TEST_SUITE("sandbox/stop") {
  TEST_CASE("a program can be stopped from outside, and goes on, in every tier") {
    CHECK(in_child([] { return stopped_and_continued(Tier::kA); }) == "as if nobody watched");
    CHECK(in_child([]() -> std::string {
            if (!lack(Lacking::kNamespaces)) return "no filter";
            return stopped_and_continued(Tier::kB);
          }) == "as if nobody watched");
  }
}

}  // namespace mcpac::sandbox::test
