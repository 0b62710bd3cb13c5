// SPDX-License-Identifier: Apache-2.0

// mcpac up, down and ps: the optional resident host of a user (docs/resident.md).
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/tree_memory.h"
#include "core/file.h"
#include "core/printable.h"
#include "resident/client.h"
#include "resident/host.h"
#include "resident/worker.h"

namespace mcpac::cli {
namespace {

struct UpOptions {
  std::int64_t idle_seconds = 1'800;
  bool foreground = false;
};

void block_ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

std::filesystem::path log_file(const Context& context) {
  return context.folders.state / "resident.log";
}

void serve(const Context& context, resident::Door door, const UpOptions& options) {
  resident::HostOptions host;
  host.folders = context.folders;
  host.idle = std::chrono::seconds(options.idle_seconds);
  resident::ResidentHost(std::move(door), std::move(host)).serve();
}

// In a process of its own: no terminal, nothing open but the log, no folder held.
bool become_background(int log, int ready) {
  const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  return ::setsid() >= 0 && ::chdir("/") == 0 && nothing && ::dup2(nothing.get(), 0) == 0 &&
         ::dup2(nothing.get(), 1) == 1 && ::dup2(log, 2) == 2 && ready > 2;
}

// The numbers of what our caller has closed: the next thing that we open would be taken for it.
void open_standard_descriptors() {
  int fd = 0;
  do {
    fd = ::open("/dev/null", O_RDWR);  // not closed on exec: it stands for one of the three
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) ::close(fd);
}

Error not_started(std::string why) {
  return {ErrorId::kRunUnreachable, "the resident host did not start", "", std::move(why),
          "mcpac up --foreground shows what it says; everything works without it"};
}

void up_in_background(Context& context, resident::Door door, const UpOptions& options) {
  const auto file = log_file(context);
  std::error_code made;
  std::filesystem::create_directories(file.parent_path(), made);
  const UniqueFd log(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!log) {
    const int reason = made ? made.value() : errno;
    Error error = not_started(std::system_category().message(reason));
    error.where = file.string();
    error.fix = remedy_of(reason, file);
    return context.fail(error);
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return context.fail(not_started(std::system_category().message(errno)));
  UniqueFd ready(ends[0]);
  UniqueFd says(ends[1]);
  std::fflush(nullptr);
  const pid_t process = ::fork();
  if (process < 0) return context.fail(not_started(std::system_category().message(errno)));
  if (process == 0) {
    ready.reset();
    block_ending_signals();
    const bool listens = become_background(log.get(), says.get()) && door.listen().has_value();
    if (!listens || ::write(says.get(), "+", 1) != 1) ::_exit(1);
    says.reset();
    serve(context, std::move(door), options);
    ::_exit(0);
  }
  says.reset();
  door.leave();
  char said = 0;
  ssize_t n = 0;
  do {
    n = ::read(ready.get(), &said, 1);
  } while (n < 0 && errno == EINTR);
  if (n != 1) return context.fail(not_started("see " + file.string()));
  if (context.json) return context.print({{"process", process}, {"log", file.string()}});
  context.say(fmt::format("up: process {}; mcpac ps shows it, mcpac down ends it", process));
}

void up(Context& context, const UpOptions& options) {
  if (options.idle_seconds < 1 || options.idle_seconds > 86'400 * 7)
    return context.fail(
        {ErrorId::kUsage, "--idle-timeout wants seconds, from 1 to a week", "", "", ""});
  // Its host would be up, and each command refuse it: mcpac ps says "other conditions".
  if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
    return context.fail(
        {ErrorId::kRunUnreachable, "a resident host that is started here would serve no command",
         "NoNewPrivs in /proc/self/status",
         "under no_new_privs a Landlock domain may hold a process, and the kernel shows those to "
         "nobody: such a one shares nothing with others (docs/resident.md)",
         "start it from a shell without no_new_privs (a container without --security-opt "
         "no-new-privileges, a unit without NoNewPrivileges=); everything works without it"});
  open_standard_descriptors();
  // What our caller has open is nothing that a process may keep that outlives it.
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  const auto folder = resident::door_folder(context.folders);
  const auto shown = resident::ask_host(folder, {{"do", "show"}});
  if (!shown) return context.fail(shown.error());
  if (*shown) {
    if (context.json) return context.print(**shown);
    return context.say("up already; mcpac ps shows it");
  }
  auto door = resident::Door::open(folder);
  if (!door) return context.fail(door.error());
  if (!options.foreground) return up_in_background(context, std::move(*door), options);
  block_ending_signals();
  if (auto listens = door->listen(); !listens) return context.fail(listens.error());
  serve(context, std::move(*door), options);
}

void down(Context& context) {
  const auto ended = resident::end_host(resident::door_folder(context.folders));
  if (!ended) return context.fail(ended.error());
  if (context.json) return context.print({{"ended", *ended}});
  context.say(*ended ? "down: nothing of it is left" : "no resident host is up");
}

std::uint64_t number_of(const Json& json, const char* name) {
  const Json* value = find_member(json, name);
  return value != nullptr && value->is_number_unsigned() ? value->get<std::uint64_t>() : 0;
}

std::string time_in_words(std::uint64_t seconds) {
  if (seconds < 2) return "a moment";
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7'200) return fmt::format("{} min", seconds / 60);
  return fmt::format("{} h", seconds / 3'600);
}

std::string worker_line(const Json& worker) {
  std::string servers;
  if (const Json* names = find_member(worker, "servers"); names != nullptr && names->is_array()) {
    for (const Json& name : *names) {
      if (name.is_string()) servers += " " + printable(name.get<std::string>(), 80);
    }
  }
  return fmt::format(
      "{:>8}  {:5} for {}  {:>4} MiB  {}{}", number_of(worker, "process"),
      printable(string_member(worker, "state")), time_in_words(number_of(worker, "seconds")),
      number_of(worker, "held_memory") >> 20U, printable(string_member(worker, "project")),
      servers.empty() ? "" : ":" + servers);
}

// "memory" is the worker's own process; beside it, what waits with it: its servers, the tools that
// have read ahead, a runner.
void add_held_memory(Json& host) {
  const auto workers = host.find("workers");
  if (workers == host.end() || !workers->is_array()) return;
  for (Json& worker : *workers) {
    const auto process = number_of(worker, "process");
    if (process > 0) worker["held_memory"] = tree_memory(static_cast<pid_t>(process));
  }
}

void show(Context& context) {
  auto shown = resident::ask_host(resident::door_folder(context.folders), {{"do", "show"}});
  if (!shown) return context.fail(shown.error());
  if (*shown) add_held_memory(**shown);
  if (context.json) return context.print(*shown ? **shown : Json(nullptr));
  if (!*shown) return context.say("no resident host is up");
  const Json& host = **shown;
  fmt::print("host {} since {}, {} MiB, ends after {} without a request\n",
             number_of(host, "process"), printable(string_member(host, "started")).substr(0, 19),
             number_of(host, "memory") >> 20U, time_in_words(number_of(host, "idle_seconds")));
  if (const Json* workers = find_member(host, "workers"); workers != nullptr) {
    for (const Json& worker : *workers) fmt::print("{}\n", worker_line(worker));
  }
  if (const Json* alone = find_member(host, "others"); alone != nullptr) {
    for (const Json& one : *alone)
      fmt::print("{:>8}  alone  {}\n", number_of(one, "process"),
                 printable(string_member(one, "project")));
  }
}

}  // namespace

void add_resident(CLI::App& app, Context& context) {
  auto options = std::make_shared<UpOptions>();
  auto* start = app.add_subcommand(
      "up", "keep the next run prepared: execute and run use the resident host where it is up");
  add_common_options(*start, context);
  start
      ->add_option("--idle-timeout", options->idle_seconds,
                   "seconds without a request, then it ends")
      ->capture_default_str();
  start->add_flag("--foreground", options->foreground, "stay, and log to standard error");
  start->callback([&context, options] { up(context, *options); });

  auto* end = app.add_subcommand("down", "end the resident host, its workers and what they run");
  add_common_options(*end, context);
  end->callback([&context] { down(context); });

  auto* list = app.add_subcommand("ps", "the resident host, its workers and what they run");
  add_common_options(*list, context);
  list->callback([&context] { show(context); });

  auto* worker = app.add_subcommand("resident-worker", "started by the resident host");
  worker->group("");  // not shown
  worker->callback([&context] {
    WorkerCommandLine line;
    context.exit_code = resident::serve_one(
        context.folders,
        [&line](const std::vector<std::string>& arguments, run::PrewarmedRun* standby,
                const resident::ServersUsed& used) { return line.run(arguments, standby, used); });
  });
}

}  // namespace mcpac::cli
