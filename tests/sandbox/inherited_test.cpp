// What a program has from the host that started its warden: nothing but niceness and processors.
// Hosts that are odd in every way that a process can hand down, and what the child then has.
#include <doctest/doctest.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sandbox/support_sandbox.h"

namespace mcpac::sandbox::test {
namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  return std::string((std::istreambuf_iterator<char>(file)), {});
}

// The process whose only argument is `stay` and this mark, as the host sees it.
std::filesystem::path find_process(const std::string& mark) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    if (content(entry.path() / "cmdline") == std::string("hostile\0stay\0", 13) + mark + '\0')
      return entry.path();
  }
  return {};
}

std::string line_of(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name)) return line;
  }
  return name + " is not there";
}

// `odd` makes the host odd; `look` says what its child has, from /proc/PID.
std::string child_of(const std::function<bool()>& odd,
                     const std::function<std::string(const std::filesystem::path&)>& look) {
  return in_child([&]() -> std::string {
    if (!odd()) return "cannot be made odd";
    auto warden = Warden::start(warden_program());
    if (!warden) return warden.error().to_text();
    const std::string mark = "inherits" + std::to_string(::getpid());
    const auto child = warden->spawn(hostile({"stay", mark}));
    if (!child) return child.error().to_text();
    const auto process = find_process(mark);
    return process.empty() ? "not found" : look(process);
  });
}

// Field `number` of stat, counted as proc(5) does; the name of the program has no spaces here.
std::string stat_field(const std::filesystem::path& process, int number) {
  std::istringstream fields(content(process / "stat"));
  std::string field;
  for (int i = 0; i < number; ++i) fields >> field;
  return field;
}

// How many hold this process' session keyring, as the kernel counts them.
std::string keyring_users() {
  const long id = ::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0);
  char name[16];
  std::snprintf(name, sizeof name, "%08lx", static_cast<unsigned long>(id));
  std::istringstream fields(line_of(content("/proc/keys"), name));
  std::string count;
  for (int i = 0; i < 3; ++i) fields >> count;
  return count;
}

bool is_root() {
  if (::geteuid() == 0) return true;
  MESSAGE("skipped: needs root");
  return false;
}

}  // namespace

TEST_SUITE("sandbox/inherited") {
  TEST_CASE("signals that the host ignores or blocks are as new, and so is its umask") {
    const auto odd = [] {
      ::signal(SIGUSR1, SIG_IGN);
      ::signal(SIGTERM, SIG_IGN);
      sigset_t blocked;
      ::sigfillset(&blocked);
      ::umask(0777);
      return ::sigprocmask(SIG_SETMASK, &blocked, nullptr) == 0;
    };
    CHECK(child_of(odd,
                   [](const auto& process) {
                     const std::string status = content(process / "status");
                     return line_of(status, "SigBlk") + " " + line_of(status, "SigIgn") + " " +
                            line_of(status, "SigCgt") + " " + line_of(status, "Umask");
                   }) ==
          "SigBlk:\t0000000000000000 SigIgn:\t0000000000000000 SigCgt:\t0000000000000000 "
          "Umask:\t0022");
  }

  TEST_CASE("an odd personality is not handed down") {
    CHECK(child_of([] { return ::personality(ADDR_NO_RANDOMIZE | READ_IMPLIES_EXEC) >= 0; },
                   [](const auto& process) { return content(process / "personality"); }) ==
          "00000000\n");
  }

  TEST_CASE("a session and terminal of its own, whatever the host's") {
    CHECK(child_of([] { return true; },
                   [](const auto& process) {
                     const bool leads = stat_field(process, 6) == stat_field(process, 1);
                     return std::string(leads ? "leads" : "follows") + ", terminal " +
                            stat_field(process, 7);
                   }) == "leads, terminal 0");
  }

  TEST_CASE("a priority above the ordinary ends with the warden; being held back does not") {
    if (!is_root()) return;
    const auto niceness = [](const auto& process) {
      return stat_field(process, 19) + " policy " + stat_field(process, 41);
    };
    CHECK(child_of([] { return ::setpriority(PRIO_PROCESS, 0, -5) == 0; }, niceness) ==
          "0 policy 0");
    CHECK(child_of([] { return ::setpriority(PRIO_PROCESS, 0, 7) == 0; }, niceness) ==
          "7 policy 0");
    const auto real_time = [] {
      const sched_param first{.sched_priority = 1};
      return ::sched_setscheduler(0, SCHED_FIFO, &first) == 0;
    };
    CHECK(child_of(real_time, niceness) == "0 policy 0");
  }

  TEST_CASE("limits of the host hold where they are lower, and its timers are slack again") {
    const auto odd = [] {
      const rlimit few{40, 40};
      return ::setrlimit(RLIMIT_NPROC, &few) == 0 && ::prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0) == 0;
    };
    CHECK(child_of(odd, [](const auto& process) {
            const std::string limits = content(process / "limits");
            std::istringstream processes(line_of(limits, "Max processes").substr(13));
            std::istringstream nice(line_of(limits, "Max nice priority").substr(17));
            std::string most;
            std::string above;
            processes >> most;
            nice >> above;
            return most + " " + above;
          }) == "40 0");
  }

  TEST_CASE("the host's session keyring is held by nobody but the host") {
    if (::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0) < 0 &&
        errno == ENOSYS) {
      MESSAGE("skipped: this kernel has no keys");
      return;
    }
    CHECK(in_child([]() -> std::string {
            if (::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) < 0)
              return "no keyring";
            const std::string alone = keyring_users();
            if (in_child(keyring_users) == alone) return "processes are not counted";
            auto warden = Warden::start(warden_program());
            if (!warden) return warden.error().to_text();
            const auto first = warden->spawn(hostile({"stay"}));
            // The kernel lets go of what ended processes held a little later. One may remain for
            // good: the file that the warden was started with as its input.
            const auto settles = [&alone] {
              for (int i = 0; i < 300; ++i) {
                if (std::stoi(keyring_users()) <= std::stoi(alone) + 1) return true;
                ::usleep(10'000);
              }
              return false;
            };
            if (!settles()) return "the warden or its child holds it";
            const auto second = warden->spawn(hostile({"stay"}));
            const auto third = warden->spawn(hostile({"stay"}));
            return first && second && third && settles() ? "nobody else" : "children hold it";
          }) == "nobody else");
  }

  TEST_CASE("the program dies with its warden, dumps no memory, and is the first to go") {
    CHECK(child_of([] { return true; },
                   [](const auto& process) {
                     const std::string limits = content(process / "limits");
                     std::istringstream cores(line_of(limits, "Max core file size").substr(18));
                     std::string soft;
                     cores >> soft;
                     return soft + " " + content(process / "oom_score_adj");
                   }) == "1 1000\n");
  }

  TEST_CASE("of descriptors and environment of the host nothing arrives") {
    CHECK(in_child([]() -> std::string {
            ::setenv("MCPAC_TEST_SECRET", "s", 1);
            for (int fd = 10; fd < 40; ++fd) ::dup2(2, fd);
            auto warden = Warden::start(warden_program());
            if (!warden) return warden.error().to_text();
            return describe(run(*warden, hostile({"descriptors"}))) + "; " +
                   describe(run(*warden, hostile({"environment"})));
          }) == "exit 0 0 1 2 ; exit 0");
  }
}

}  // namespace mcpac::sandbox::test
