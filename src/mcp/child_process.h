// SPDX-License-Identifier: Apache-2.0

// ChildProcess: a server as a process of ours, from its start to the last of its group.
//
// It leads a process group of its own (Ctrl-C at our terminal does not reach it), has three
// descriptors and no other, default signals, and exactly the environment it was given. Its end is
// learned through a pidfd: no SIGCHLD handler, nothing global, no race with a recycled pid.
// Whatever is left of the group is killed before the leader is reaped, while the group's number is
// still ours. With a keeper (src/mcp/keeper_main.cpp) that leads the group, and what left it is
// killed, too, whether the server ended or we did. Without one the kernel kills the leader where we
// are killed (mcp/spawn.h), and what moved into another session escapes. One that is confined is a
// child of the sandbox's warden: its keeper is the first process of a pid namespace, or of a scope
// of signals (tier B), and nothing escapes that.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/error.h"
#include "core/file.h"

namespace mcpac::mcp {

struct SpawnOptions;

// A server in a sandbox, whose parent is not us. Destroying it ends it, with all that it started,
// and waits a moment for that: whose end takes longer, as that of much memory does, keeps no loop.
class ConfinedProcess {
 public:
  ConfinedProcess() = default;
  ConfinedProcess(const ConfinedProcess&) = delete;
  ConfinedProcess& operator=(const ConfinedProcess&) = delete;
  virtual ~ConfinedProcess() = default;
  // Readable when all of it has ended. Owned by it.
  [[nodiscard]] virtual int end_descriptor() const = 0;
  virtual void kill() = 0;
  // Whether its keeper hands over sockets before anything else.
  [[nodiscard]] virtual bool hands_over() const { return false; }
  // Sockets of its network namespace, which its keeper handed over; once at most, before the
  // program starts.
  [[nodiscard]] virtual Result<void> listen_on(std::vector<UniqueFd> /*sockets*/) { return {}; }
  // Which limit of its sandbox ended it, and what to write; nothing where none did. Once, after its
  // end.
  struct LimitHit {
    std::string what;  // "it had 600 MB of memory, and may have 512MB"
    std::string fix;
  };
  [[nodiscard]] virtual std::optional<LimitHit> limit_hit() = 0;
};

// Is told what a server opens, dials and starts, for learning; the floor above knows how.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;
  // In the child, right before its program, in memory that is ours: system calls only. 0 or errno.
  [[nodiscard]] virtual int enter_child() const = 0;
  // For a confiner. Owned by the observer.
  [[nodiscard]] virtual int socket() const = 0;
};

// Of one start of a confined server: what it was refused.
class Refusals : public Observer {
 public:
  // Behind the end of that start: says so in the error of the one before.
  virtual void explain(Error& error) = 0;
};

// Its descriptors. Borrowed: start() duplicates them. `control` is the keeper's (keeper_main.cpp).
struct ConfinedEnds {
  int standard_input = -1;
  int standard_output = -1;
  int standard_error = -1;
  int control = -1;
};

// Starts servers in sandboxes; the floor above knows how. Any thread may call it.
class Confiner {
 public:
  Confiner() = default;
  Confiner(const Confiner&) = delete;
  Confiner& operator=(const Confiner&) = delete;
  virtual ~Confiner() = default;
  // `server`: its configured name, for errors. What runs then is the keeper, which starts the
  // program and tells on `control` what became of that.
  [[nodiscard]] virtual Result<std::unique_ptr<ConfinedProcess>> start(
      const std::string& server, const SpawnOptions& options, const ConfinedEnds& ends) const = 0;
  // One that starts this server with what it may have at this moment, and asks the thread of this
  // call for nothing; null: this one does.
  [[nodiscard]] virtual std::shared_ptr<const Confiner> at_this_moment(
      const std::string& /*server*/) const {
    return nullptr;
  }
  // For one more start of a server whose start failed; null: none can be observed.
  [[nodiscard]] virtual std::shared_ptr<Refusals> look_at_refusals(
      const std::string& server) const = 0;
  // Of a call that failed, what the server said, without secrets: where that is about something
  // that its sandbox does not give, the user of mcpac is told. The answer stays as it is.
  virtual void call_failed(const std::string& server, std::string_view said) const = 0;
};

// How it is confined, for a server that is.
struct ConfinedSpawn {
  std::shared_ptr<const Confiner> confiner;
  std::string server;
  std::vector<std::string> places{};   // of its entry, expanded
  std::vector<std::string> network{};  // likewise
  std::uint64_t memory = 0;            // of its entry; 0: no limit
};

struct SpawnOptions {
  std::string program;                   // absolute, or relative to working_directory
  std::vector<std::string> arguments{};  // argv, the name of the program first
  std::vector<std::string> environment{};
  std::string working_directory{};  // empty: ours
  // mcpac-keeper, absolute; empty: what leaves the child's process group stays when that ends.
  std::string keeper{};
  std::optional<ConfinedSpawn> confined{};
  std::shared_ptr<const Observer> observer{};  // or null
};

class ChildProcess : public std::enable_shared_from_this<ChildProcess> {
 public:
  [[nodiscard]] static Result<std::shared_ptr<ChildProcess>> spawn(
      const boost::asio::any_io_executor& executor, const SpawnOptions& options);
  // The same on a loop. A start in a sandbox has a thread of its own: folders are looked through
  // for it, which may take seconds, and the sandbox's warden is waited for.
  [[nodiscard]] static boost::asio::awaitable<Result<std::shared_ptr<ChildProcess>>> spawn_aside(
      boost::asio::any_io_executor executor, SpawnOptions options);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();  // kills and reaps

  // Our ends: sockets for its stdin and its stdout, as node's own spawn makes them (writing to a
  // dead server is an error and no SIGPIPE, and large answers cost both sides less), a pipe for
  // stderr.
  UniqueFd stdin_end;
  UniqueFd stdout_end;
  UniqueFd stderr_end;

  // `done` comes once, when the leader has ended and the rest of its group was killed.
  void on_exit(std::function<void()> done);
  [[nodiscard]] bool has_exited() const { return exited_; }
  // "exit status 3", "signal 9 (Killed)"
  [[nodiscard]] const std::string& exit_text() const { return exit_text_; }
  // What its sandbox allows and ended it; nothing where it ended otherwise.
  [[nodiscard]] const std::optional<ConfinedProcess::LimitHit>& limit_hit() const { return limit_; }
  // -1 for one that is confined.
  [[nodiscard]] pid_t pid() const { return pid_; }

  void signal_group(int signal) const;
  // True when it had ended by then.
  boost::asio::awaitable<bool> wait(std::chrono::milliseconds at_most);
  // SIGKILL to the group, then reaps; returns at once in all but pathological cases. Of one that is
  // confined it waits a moment at most.
  void kill_now();

 private:
  // A process that was started, without a loop yet.
  struct Begun {
    UniqueFd stdin_end, stdout_end, stderr_end;  // ours
    pid_t pid = -1;
    UniqueFd end;  // readable once it has ended
    UniqueFd control;
    std::unique_ptr<ConfinedProcess> confined;
  };
  ChildProcess(const boost::asio::any_io_executor& executor, Begun begun);
  static Result<Begun> begin(const SpawnOptions& options);  // any thread
  static Result<Begun> begin_confined(const SpawnOptions& options, const ConfinedEnds& ends);
  void watch();
  bool reap();
  bool reap_confined();
  void is_over();

  boost::asio::any_io_executor executor_;
  pid_t pid_;
  boost::asio::posix::stream_descriptor pidfd_;
  UniqueFd control_;  // of the keeper: its end is the order to kill
  std::unique_ptr<ConfinedProcess> confined_;
  std::function<void()> on_exit_;
  std::vector<boost::asio::steady_timer*> waiters_;
  std::string exit_text_;
  std::optional<ConfinedProcess::LimitHit> limit_;
  bool exited_ = false;
};

}  // namespace mcpac::mcp
