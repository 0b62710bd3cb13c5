// Faults: each of the processes of a run is killed at a random moment, again and again.
//
//   MCPAC_FAULT_KILLS  how many (200), MCPAC_FAULT_SEED  which (printed; another one every time)
//
// After each kill no process of the run may live, no call may have reached a server that the record
// does not have, and the record must verify. What lies about in folders is the next run's to sweep.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "faults/support_descendants.h"
#include "faults/support_records.h"
#include "faults/support_scene.h"

using namespace faults;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::microseconds;

enum class Victim : std::uint8_t { kHost, kProgram, kServer, kCompiler, kWarden };

std::string_view to_string(Victim victim) {
  switch (victim) {
    case Victim::kHost: return "host";
    case Victim::kProgram: return "program";
    case Victim::kServer: return "server";
    case Victim::kCompiler: return "compiler or analyzer";
    case Victim::kWarden: break;
  }
  return "warden";
}

Victim role_of(const Process& process) {
  const auto is = [&process](std::string_view start) { return process.name.starts_with(start); };
  if (process.command.find("fixture.mjs") != std::string::npos) return Victim::kServer;
  if (is("mcpac-warden")) return Victim::kWarden;
  if (is("mcpac-analyzer") || is("clang") || is("ld.lld") || is("lld")) return Victim::kCompiler;
  return Victim::kProgram;
}

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::set<std::string> mounts() {
  std::set<std::string> lines;
  std::ifstream file("/proc/self/mounts");
  for (std::string line; std::getline(file, line);) lines.insert(line);
  return lines;
}

struct Attempt {
  Way way;
  Victim victim;
  Microseconds moment;  // after the start; then the first of its kind that lives
};

class Faults {
 public:
  explicit Faults(std::uint64_t seed) : random_(seed) {}

  void prepare() {
    killed_while_precompiling();
    scene_.prepare();
    for (const Way way : {Way::kUnseen, Way::kSeen}) lasts_[way] = time_of(way);
    lasts_[Way::kPrebuilt] = time_of(Way::kPrebuilt);
    lasts_[Way::kCalling] = 2 * lasts_[Way::kSeen];
    mounts_ = mounts();
    records_.skip();
  }

  // False: nothing of that kind lived at the moment or later, so nothing was killed.
  bool once() {
    const Attempt attempt = draw();
    INFO(to_string(attempt.way), ": ", to_string(attempt.victim), " killed ",
         attempt.moment.count(), " us after the start");
    scene_.forget_calls();
    const pid_t host = scene_.start(attempt.way);
    const bool killed = kill_at(host, attempt);
    if (attempt.way == Way::kCalling) let_go(host, attempt, killed);
    const int status = end_of(host);
    INFO(scene_.said());
    const bool host_was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    // Whoever else dies, the host says what happened.
    CHECK((WIFEXITED(status) || host_was_killed));
    if (killed && attempt.victim != Victim::kHost && attempt.way != Way::kCalling)
      CHECK(WIFEXITED(status));
    for (const Process& left : wait_for_all_descendants()) {
      FAIL_CHECK("still alive: ", left.name, " ", left.pid, " ", left.command);
      ::kill(left.pid, SIGKILL);
    }
    records_.check_new(host_was_killed ? Ended::kKilled : Ended::kByItself);
    if (killed) ++kills_[attempt.victim];
    return killed;
  }

  // A run that nobody disturbs: works, and leaves nothing of those before it.
  void next_run(Way way) {
    const auto outcome = scene_.run_short(way);
    INFO(outcome.out, outcome.err);
    CHECK(outcome.exit_code == 0);
    CHECK(e2e::has(outcome.out, "done "));
    for (const auto& left : scene_.left_behind()) FAIL_CHECK("left behind: ", left);
    for (const auto& name : scene_.broken_programs()) FAIL_CHECK("not whole: ", name);
    for (const auto& line : mounts()) {
      const bool is_ours = e2e::has(line, "mcpac") || line.starts_with("sandbox ");
      if (is_ours && !mounts_.contains(line)) FAIL_CHECK("still mounted: ", line);
    }
    const auto verified = scene_.mcpac({"audit", "verify", "--json"});
    const auto verdict = verified.json().at("verdict");
    INFO(verified.out.substr(0, 2'000));
    CHECK((verdict == "proven" || verdict == "unfinished"));
    CHECK(verified.exit_code == (verdict == "proven" ? 0 : 65));
    records_.skip();
  }

  void report() const {
    for (const auto& [victim, count] : kills_)
      fmt::print("  {} kills of the {}\n", count, to_string(victim));
    fmt::print("  records: {} unfinished, {} proven; {} calls reached a server\n",
               records_.unfinished(), records_.proven(), records_.calls());
  }
  [[nodiscard]] const Records& records() const { return records_; }
  [[nodiscard]] const std::map<Victim, int>& kills() const { return kills_; }

 private:
  // The cache is empty: the first run of a machine builds for many seconds.
  void killed_while_precompiling() {
    for (int i = 0; i < 2; ++i) {
      const auto generated = scene_.mcpac({"generate"});
      REQUIRE(generated.exit_code == 0);
      const pid_t host = scene_.start(Way::kSeen);
      std::this_thread::sleep_for(between(0us, 3'000'000us));
      ::kill(host, SIGKILL);
      end_of(host);
      CHECK(wait_for_all_descendants().empty());
    }
  }

  Microseconds time_of(Way way) {
    end_of(scene_.start(way));  // builds what is built once
    const auto start = Clock::now();
    CHECK(WEXITSTATUS(end_of(scene_.start(way))) == 0);
    INFO(scene_.said());
    CHECK(wait_for_all_descendants().empty());
    return std::chrono::duration_cast<Microseconds>(Clock::now() - start);
  }

  Microseconds between(Microseconds least, Microseconds most) {
    return Microseconds(
        std::uniform_int_distribution<std::int64_t>(least.count(), most.count())(random_));
  }

  Attempt draw() {
    constexpr std::array kWays = {Way::kUnseen, Way::kSeen, Way::kCalling, Way::kPrebuilt};
    const Way way = kWays.at(random_() % kWays.size());
    std::vector<Victim> kinds{Victim::kHost, Victim::kHost, Victim::kProgram, Victim::kServer,
                              Victim::kWarden};
    if (way == Way::kUnseen) kinds.insert(kinds.end(), {Victim::kCompiler, Victim::kCompiler});
    const Victim victim = kinds.at(random_() % kinds.size());
    return {way, victim, between(0us, lasts_.at(way))};
  }

  // The moment first, then the first of the kind that lives, some time into its life.
  bool kill_at(pid_t host, const Attempt& attempt) {
    std::this_thread::sleep_for(attempt.moment);
    if (attempt.victim == Victim::kHost) return !has_ended(host) && ::kill(host, SIGKILL) == 0;
    const auto patience = Clock::now() + 10s;
    while (Clock::now() < patience) {
      if (has_ended(host)) return false;
      std::vector<pid_t> found;
      for (const Process& process : descendants_of(host))
        if (role_of(process) == attempt.victim) found.push_back(process.pid);
      if (!found.empty()) {
        std::this_thread::sleep_for(between(0us, 10'000us));
        if (::kill(found.at(random_() % found.size()), SIGKILL) == 0) return true;
      }
      std::this_thread::sleep_for(2ms);
    }
    return false;
  }

  // It may be reaped by whoever waits for its end.
  static bool has_ended(pid_t host) {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(host), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid == host;
  }

  // A run that has no end of its own.
  void let_go(pid_t host, const Attempt& attempt, bool killed) {
    // A server goes on without another one.
    if (killed && attempt.victim == Victim::kHost) return;
    if (killed && attempt.victim == Victim::kProgram) return kill_until_the_end(host);
    std::this_thread::sleep_for(between(0us, 100'000us));
    ::kill(host, SIGKILL);
  }

  // What was killed may have been a runner that waited for the program: another one runs it then.
  static void kill_until_the_end(pid_t host) {
    const auto patience = Clock::now() + 60s;
    while (!has_ended(host) && Clock::now() < patience) {
      for (const Process& process : descendants_of(host))
        if (role_of(process) == Victim::kProgram) ::kill(process.pid, SIGKILL);
      std::this_thread::sleep_for(20ms);
    }
  }

  static int end_of(pid_t host) {
    const auto patience = Clock::now() + 120s;
    int status = 0;
    while (::waitpid(host, &status, WNOHANG) == 0) {
      if (Clock::now() > patience) {
        FAIL_CHECK("the host does not end");
        ::kill(host, SIGKILL);
        ::waitpid(host, &status, 0);
        break;
      }
      std::this_thread::sleep_for(1ms);
    }
    return status;
  }

  Scene scene_;
  Records records_{scene_};
  std::mt19937_64 random_;
  std::map<Way, Microseconds> lasts_;
  std::set<std::string> mounts_;
  std::map<Victim, int> kills_;
};

}  // namespace

TEST_SUITE("faults") {
  TEST_CASE(
      "whoever is killed at whatever moment: nothing lives on, no record is lost, the next run "
      "works") {
    const std::uint64_t seed = number_of("MCPAC_FAULT_SEED", std::random_device()());
    const std::uint64_t wanted = number_of("MCPAC_FAULT_KILLS", 200);
    fmt::print("MCPAC_FAULT_SEED={} MCPAC_FAULT_KILLS={}\n", seed, wanted);
    INFO("MCPAC_FAULT_SEED=", seed);
    adopt_orphans();
    Faults faults(seed);
    faults.prepare();
    std::uint64_t killed = 0;
    for (std::uint64_t i = 0; killed < wanted && i < 3 * wanted; ++i) {
      killed += faults.once() ? 1 : 0;
      if (i % 10 == 9) faults.next_run(i % 20 == 9 ? Way::kSeen : Way::kUnseen);
    }
    faults.next_run(Way::kUnseen);
    faults.report();
    CHECK(killed == wanted);
    if (wanted >= 100) {
      CHECK(faults.kills().size() == 5);
      CHECK(faults.records().unfinished() > 0);
      CHECK(faults.records().calls() > 0);
    }
  }
}
