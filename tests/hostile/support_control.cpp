#include "hostile/support_control.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace mcpac::hostile {
namespace {

constexpr unsigned kPatience = 20;  // seconds; a guard against hanging, not a measure

int status_of(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// The first process of namespaces of its own, with all that it starts, ends before this returns.
void enter_namespaces() {
  if (::unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWPID) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    ::_exit(120);
  const pid_t pid = ::fork();
  if (pid == 0) return;
  const int status = status_of(pid);
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

struct Ends {
  pid_t host;
  int output;
  int channel;
  int terminal;  // -1: none
};

[[noreturn]] void run_case(const Row& row, const Victim& victim, const Ends& ends) {
  if (row.control == Control::kApart) enter_namespaces();
  ::setsid();
  ::alarm(kPatience);
  const int folder = ::open(victim.folder().c_str(), O_RDONLY | O_DIRECTORY);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (::dup2(folder, kLeaked) < 0 || ::dup2(ends.terminal >= 0 ? ends.terminal : nothing, 0) < 0 ||
      ::dup2(ends.output, 1) < 0 || ::dup2(ends.channel, 3) < 0 || ::chdir("/") != 0)
    ::_exit(121);
  if (ends.terminal >= 0 && row.name != "take_terminal" && ::ioctl(0, TIOCSCTTY, 0) != 0)
    ::_exit(122);
  const std::string program = cases_program();
  std::array<std::string, 6> words{"hostile_cases",
                                   row.name,
                                   victim.folder(),
                                   std::to_string(ends.host),
                                   std::to_string(victim.port()),
                                   victim.place()};
  std::array<char*, 7> pointers{};
  for (std::size_t i = 0; i < words.size(); ++i) pointers[i] = words[i].data();
  ::execv(program.c_str(), pointers.data());
  ::_exit(123);
}

}  // namespace

std::string run_control(const Row& row, Input input, Victim& victim) {
  const int channel = victim.channel();  // here, as the other end must stay
  const int terminal = input == Input::kTerminal ? victim.terminal() : -1;
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return "no pipe";
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const pid_t host = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) run_case(row, victim, {host, writer.get(), channel, terminal});
  writer.reset();
  const int status = status_of(pid);
  std::string text;
  std::array<char, 64> said{};  // more than an errno's name is no refusal
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) == 0) return "exit 0";
  const ssize_t size = ::read(reader.get(), said.data(), said.size());
  if (size > 0) text.assign(said.data(), static_cast<std::size_t>(size));
  return "exit " + std::to_string(WEXITSTATUS(status)) + " " + text;
}

}  // namespace mcpac::hostile
