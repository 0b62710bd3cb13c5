// SPDX-License-Identifier: Apache-2.0

// ResidentHost: `mcpac up`, one process a user that keeps workers prepared for the next run.
//
// It runs nothing itself: it hands a client's request to a worker, passes the client's signals on
// and says how the worker ended. It never waits for one client or worker: one thread, one poll.
// Admission is decided by the kernel's word alone: the same user, the same standing
// (standing.h), told beside every message. It touches no file of a client: what it is handed is
// memory, a folder by its number, and a socket that it hands on.
#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "resident/door.h"
#include "resident/host_log.h"
#include "resident/wire.h"
#include "resident/worker_process.h"

namespace mcpac::resident {

// Workers: the processes of the resident host, and when one is prepared and when it is ended.
//
// One waits for each project that was used lately, never two: its servers may not bear others of
// their kind beside them. While something runs in a project no worker waits there: its servers
// would have been started before that run, and might show the next one the world as it was then. It
// is prepared when the last run has ended.

// Each costs the memory of its servers.
inline constexpr std::size_t kMaxPlans = 4;

struct Worker {
  enum class State : std::uint8_t { kWaiting, kRunning, kEnding };

  WorkerProcess process;
  std::string key;
  std::string config_file;
  State state = State::kWaiting;
  int visitor = 0;    // who is served, or hears when it has ended
  bool took = false;  // it has begun
  std::chrono::steady_clock::time_point since{};
  std::chrono::steady_clock::time_point kill_at = std::chrono::steady_clock::time_point::max();

  // Asks it to end; it is killed when it does not, after some time.
  void end();
};

class Workers {
 public:
  using Clock = std::chrono::steady_clock;
  using Say = std::function<void(const std::string&)>;
  Workers(std::filesystem::path program, std::chrono::seconds idle, int log, Say say)
      : program_(std::move(program)), idle_(idle), log_(log), say_(std::move(say)) {}

  // The newest request of a project is its plan; what was known of its servers is kept.
  void use(Plan plan);
  void know_servers(const std::string& config_file, std::set<std::string> servers);
  // Starts, ends and kills what is due. `busy`: projects in which something runs.
  void settle(const std::set<std::string>& busy);
  // The newest worker of the project, in whatever state.
  [[nodiscard]] Worker* of_project(const std::string& config_file);
  void end_all();
  // One of list() has ended: away with it.
  void remove(const Worker& worker);

  [[nodiscard]] std::list<Worker>& list() { return workers_; }
  [[nodiscard]] const Plan* plan_of(const std::string& config_file) const;
  // When settle() has something to do again.
  [[nodiscard]] Clock::time_point next() const;

 private:
  void forget_old();

  std::filesystem::path program_;
  std::chrono::seconds idle_;
  int log_;
  Say say_;
  std::map<std::string, Plan> plans_;  // by config_file
  std::list<Worker> workers_;
  bool ending_ = false;
};

struct HostOptions {
  project::Folders folders;
  std::chrono::seconds idle{1'800};       // without a request: ends itself
  std::chrono::seconds worker_idle{300};  // without a request for it: a worker is ended
  std::chrono::seconds silence{10};       // of one who came in and said nothing
  int log = 2;                            // borrowed
};

class ResidentHost {
 public:
  // SIGINT, SIGTERM and SIGHUP end it in order; they must be blocked.
  ResidentHost(Door door, HostOptions options);
  // Until it is told to end, is idle for too long, or finds mcpac exchanged. Nothing that it
  // started is left then.
  void serve();

 private:
  using Clock = std::chrono::steady_clock;
  struct Visitor {
    UniqueFd socket;
    Process process;
    std::string nonce;
    enum class State : std::uint8_t { kNew, kServed, kAlone } state = State::kNew;
    Clock::time_point deadline{};  // of the first request
    std::string config_file{};     // of what it runs, served or alone
  };

  void say(const std::string& text) const { log_.say(text); }
  void refuse(const Process& process, int socket, const std::string& why);
  void accept_one();
  void make_room();
  [[nodiscard]] std::size_t count(Visitor::State state) const;
  void hear_visitor(int id);
  void hear_worker(Worker& worker);
  void reap(Worker& worker);
  void answer(int id, Visitor& visitor, Message message);
  void run(int id, Visitor& visitor, Message& message);
  void runs_alone(int id, Visitor& visitor, const std::string& config_file);
  void works_alone(Visitor& visitor, const std::string& why) const;
  void works_alone_after(Worker* worker, int id, Visitor& visitor, const char* why);
  void pass_signal(int id, const Json& body);
  void gone(int id);
  void begin_end(const std::string& why);
  [[nodiscard]] std::optional<std::string> refuses(const Visitor& visitor,
                                                   const Message& message) const;
  void hear_visitors(const std::vector<int>& ids, const pollfd* watched);
  [[nodiscard]] std::set<std::string> busy_projects() const;
  [[nodiscard]] Json shown();
  [[nodiscard]] Worker* worker_of(int id);
  [[nodiscard]] int wait_time() const;
  void poll_once(int signals);

  Door door_;
  HostOptions options_;
  HostLog log_;
  Clock::time_point next_accept_{};  // there was no descriptor left
  std::string installation_;
  std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
  Clock::time_point used_ = Clock::now();
  Workers workers_;
  std::map<int, Visitor> visitors_;
  int next_visitor_ = 1;
  bool ending_ = false;
};

}  // namespace mcpac::resident
