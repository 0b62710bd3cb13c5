#include "hostile/support_matrix.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <sstream>

#include "hostile/support_control.h"
#include "hostile/support_victim.h"
#include "places.h"
#include "sandbox/support_sandbox.h"

namespace mcpac::hostile {
namespace {

namespace fs = std::filesystem;
using sandbox::Tier;
using sandbox::Warden;
using sandbox::test::Lacking;

struct Place {
  bool root;
  Tier tier;
};
constexpr std::array kPlaces{Place{true, Tier::kA},  Place{true, Tier::kB},
                             Place{true, Tier::kC},  Place{false, Tier::kA},
                             Place{false, Tier::kB}, Place{false, Tier::kC}};

std::string name_of(const Place& place) {
  return std::string(place.root ? "root" : "user") + ", tier " + to_string(place.tier);
}

// Ids, and the machine that gives this tier and no better.
bool enter(const Place& place) {
  if (!place.root && ::geteuid() == 0 && !sandbox::test::become_user()) return false;
  if (place.tier == Tier::kA) return true;
  return sandbox::test::lack(place.tier == Tier::kB ? Lacking::kNamespaces
                                                    : Lacking::kNamespacesAndLandlock);
}

std::string first_line(const fs::path& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 512> block{};
  const ssize_t size = ::read(file.get(), block.data(), block.size());
  return size > 0 ? std::string(block.data(), static_cast<std::size_t>(size)) : "";
}

std::string one_line(std::string text) {
  constexpr std::size_t kMost = 60;
  if (text.size() > kMost) text.resize(kMost);
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

// "system call 101 (ptrace)…": " ptrace"; without a name " system call 1000"; else nothing.
std::string call_of(const std::string& detail) {
  if (!detail.starts_with("system call ")) return "";
  const auto begin = detail.find('(');
  const auto end = detail.find(')');
  return begin < end && end != std::string::npos ? " " + detail.substr(begin + 1, end - begin - 1)
                                                 : " " + detail;
}

sandbox::Spec spec_of(const Row& row, Victim& victim, pid_t host) {
  sandbox::Spec spec;
  spec.program = cases_program();
  spec.arguments = {"hostile_cases",
                    row.name,
                    victim.folder(),
                    std::to_string(host),
                    std::to_string(victim.port()),
                    victim.place()};
  spec.channel = victim.channel();
  spec.limits.wall = std::chrono::seconds(20);
  spec.limits.cpu = std::chrono::seconds(10);
  spec.limits.memory = std::uint64_t{256} << 20U;
  return spec;
}

void grant(Granted granted, const Victim& victim, sandbox::Spec& spec) {
  using Access = sandbox::Mount::Access;
  if (granted == Granted::kNothing) return;
  sandbox::Mount mount{.host = victim.place(), .inside = victim.place()};
  spec.admits = spec.admits.with(sandbox::ReadsFiles{});
  if (granted != Granted::kReading) {
    spec.admits = spec.admits.with(sandbox::WritesFiles{});
    mount.access = Access::kReadWrite;
    constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;
    spec.limits.file_size = kMebibyte;
  }
  if (granted == Granted::kChanges) mount.changes = victim.new_changes();
  spec.mounts.push_back(std::move(mount));
  if (granted != Granted::kGuarded) return;
  spec.kept_names = {".git", ".envrc", "mcpac.json"};
  spec.kept_places = {victim.place() / "named/hooks", victim.place() / "called.sh"};
  spec.mounts.push_back(
      {.host = victim.place() / "sub/.git", .inside = victim.place() / "sub/.git"});
}

std::string run_row(Warden& warden, const sandbox::Spec& spec, Tier tier) {
  auto outcome = sandbox::test::run(warden, spec);
  if (!outcome) return ending(std::unexpected(outcome.error()), "");
  if (outcome->tier != tier) return "in tier " + to_string(outcome->tier);
  return ending(std::move(outcome->verdict), outcome->output);
}

// The only process that we start ourselves.
pid_t only_child() {
  std::istringstream children(processes_below(::getpid()).parent);
  pid_t child = 0;
  children >> child;
  return child;
}

// In a child of ours: the endings of all rows, a line each.
struct Asked {
  const std::vector<Row>& rows;
  Input input = Input::kNothing;
  Change change;
  Granted granted = Granted::kNothing;
};

std::string run_place(const Place& place, const Asked& asked, Victim& victim) {
  const pid_t host = ::getppid();
  // Whoever loses a parent in here comes to us and is seen.
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 || !enter(place)) return "no place\n";
  const UniqueFd folder(::open(victim.folder().c_str(), O_RDONLY | O_DIRECTORY));
  if (::dup2(folder.get(), kLeaked) != kLeaked) return "nothing to leak\n";
  auto warden = Warden::start(sandbox::test::warden_program());
  if (!warden) return warden.error().what + "\n";
  const pid_t warden_process = only_child();
  const std::string before = victim.state();
  std::string text;
  for (const Row& row : asked.rows) {
    sandbox::Spec spec = spec_of(row, victim, host);
    spec.lowest_tier = place.tier;
    if (asked.input == Input::kTerminal) spec.standard_input = victim.terminal();
    grant(asked.granted, victim, spec);
    if (asked.change) asked.change(spec, victim.folder());
    text += one_line(run_row(*warden, spec, place.tier));
    if (victim.state() != before) text += "; something changed";
    const Below left = processes_below(::getpid(), warden_process);
    if (!left.parent.empty()) text += "; left: " + left.parent;
    if (!left.child.empty()) text += "; left by the warden: " + left.child;
    text += "\n";
  }
  return text;
}

std::string expected_at(const Row& row, const Place& place) {
  if (place.tier == Tier::kC && !row.in_c.empty()) return row.in_c;
  if (place.tier == Tier::kA || row.below.empty()) return row.inside;
  return place.root || row.of_user_below.empty() ? row.below : row.of_user_below;
}

void check_controls(const std::vector<Row>& rows, Input input, Victim& victim) {
  for (const Row& row : rows) {
    CAPTURE(row.name);
    if (row.control == Control::kNone) {
      CHECK_FALSE(row.why.empty());
      continue;
    }
    victim.restore();
    victim.restore_place();
    CHECK(run_control(row, input, victim) == "exit 0");
  }
  victim.restore();
}

}  // namespace

fs::path cases_program() {
  return mcpac::testing::in_build("tests/hostile_cases");
}

std::string ending(const Result<sandbox::Verdict>& verdict, std::string output) {
  using Kind = sandbox::Verdict::Kind;
  if (!verdict) return "error " + to_string(verdict.error().id) + " " + verdict.error().what;
  constexpr int kRefused = 10;
  switch (verdict->kind) {
    case Kind::kExited:
      if (verdict->code == 0) return output.empty() ? "works" : "works " + output;
      if (verdict->code == kRefused) return output;
      return "exit " + std::to_string(verdict->code);
    case Kind::kSignalled: return "signal " + std::to_string(verdict->code);
    case Kind::kViolated: return "violated" + call_of(verdict->detail);
    case Kind::kTimedOut: return "timed out";
    case Kind::kCpuLimit: return "cpu limit";
    case Kind::kMemoryLimit: return "memory limit";
    case Kind::kKilled: return "killed";
  }
  return "?";
}

Below processes_below(pid_t parent, pid_t child) {
  Below below;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string number = entry.path().filename();
    if (number.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string stat = first_line(entry.path() / "stat");
    const auto name_end = stat.rfind(')');  // names may have parentheses of their own
    if (name_end == std::string::npos) continue;
    std::istringstream rest(stat.substr(name_end + 1));
    char state = 0;
    pid_t above = 0;
    rest >> state >> above;
    const std::string process = stat.substr(0, name_end + 1) + " ";
    if (above == parent && number != std::to_string(child)) below.parent += process;
    if (child != 0 && above == child) below.child += process;
  }
  return below;
}

namespace {

void check_everywhere(const Asked& asked) {
  Victim victim;
  for (const Place& place : kPlaces) {
    if (place.root && ::geteuid() != 0) {
      MESSAGE("skipped: ", name_of(place), " needs root");
      continue;
    }
    victim.restore_place();
    const std::string text =
        sandbox::test::in_child([&] { return run_place(place, asked, victim); });
    std::istringstream lines(text);
    for (const Row& row : asked.rows) {
      std::string line;
      std::getline(lines, line);
      INFO(row.name, " as ", name_of(place));
      CHECK(line == expected_at(row, place));
    }
  }
  if (::geteuid() == 0) {
    check_controls(asked.rows, asked.input, victim);
  } else {
    MESSAGE("skipped: the controls need root");
  }
}

}  // namespace

void check(const std::vector<Row>& rows, Input input, const Change& change) {
  check_everywhere({rows, input, change});
}

void check_granted(const std::vector<Row>& rows, Granted granted) {
  check_everywhere({rows, Input::kNothing, {}, granted});
}

}  // namespace mcpac::hostile
