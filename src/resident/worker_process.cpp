// SPDX-License-Identifier: Apache-2.0

#include "resident/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>

#include "mcp/spawn.h"
#include "resident/wire.h"

namespace mcpac::resident {

Result<WorkerProcess> WorkerProcess::start(const std::filesystem::path& program, const Plan& plan,
                                           int log) {
  auto pair = make_socket_pair();
  if (!pair) return pass_on(pair);
  const mcp::SpawnOptions options{.program = program.string(),
                                  .arguments = {"mcpac", "resident-worker"},
                                  .environment = plan.environment};
  const auto started = mcp::spawn_child(options, pair->theirs.get(), log, log);
  if (!started)
    return fail(
        ErrorId::kInternal, "a worker of the resident host cannot be started",
        {.where = program.string(), .why = std::system_category().message(started.error())});
  // No other code reaps our children, so the number still means this one.
  auto process = Process::of(*started);
  if (!process) {
    ::kill(*started, SIGKILL);
    ::waitpid(*started, nullptr, 0);
    return fail(ErrorId::kInternal, "a worker of the resident host cannot be watched");
  }
  ::fcntl(pair->ours.get(), F_SETFL, O_NONBLOCK);
  WorkerProcess worker(std::move(*process), std::move(pair->ours));
  const std::array<int, 1> folder{plan.folder->get()};
  const bool told = send_message(worker.channel(),
                                 {{"do", "prepare"},
                                  {"config", plan.config_file},
                                  {"servers", plan.servers},
                                  {"umask", plan.umask}},
                                 folder);
  // A path that is not text, say. It sees the end of its input, and ends.
  if (!told) worker.channel_.reset();
  return worker;
}

bool WorkerProcess::give(const Json& body, const std::vector<UniqueFd>& descriptors) const {
  std::vector<int> numbers;
  numbers.reserve(descriptors.size());
  for (const UniqueFd& descriptor : descriptors) numbers.push_back(descriptor.get());
  return channel_ && send_message(channel_.get(), body, numbers);
}

std::optional<int> WorkerProcess::ended() const {
  siginfo_t info{};
  const auto handle = static_cast<id_t>(process_.descriptor());
  if (::waitid(P_PIDFD, handle, &info, WEXITED | WNOHANG) != 0 || info.si_pid == 0)
    return std::nullopt;
  return info.si_code == CLD_EXITED ? info.si_status : -info.si_status;
}

std::uint64_t memory_of(pid_t process) {
  const auto text = read_file(fmt::format("/proc/{}/statm", process), 4096);
  const auto blank = text ? text->find(' ') : std::string::npos;
  if (blank == std::string::npos) return 0;
  std::uint64_t pages = 0;
  std::from_chars(text->data() + blank + 1, text->data() + text->size(), pages);
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace mcpac::resident
