// Workers: the processes of the resident host, and when one is prepared and when it is ended.
//
// One waits for each project that was used lately, never two: its servers may not bear others of
// their kind beside them. While something runs in a project no worker waits there: its servers
// would have been started before that run, and might show the next one the world as it was then. It
// is prepared when the last run has ended.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "resident/worker_process.h"

namespace mcpac::resident {

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

}  // namespace mcpac::resident
