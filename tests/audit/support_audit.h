// A private folder and a clock that can be turned, for the tests of the audit log.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>

#include "audit/log.h"
#include "audit/signing_key.h"
#include "core/file.h"

namespace mcpac::audit {

inline const SystemClock kClock;

class TurnedClock final : public Clock {
 public:
  explicit TurnedClock(std::chrono::microseconds since_epoch) : now_(since_epoch) {}
  void turn(std::chrono::microseconds by) { now_ += by; }
  [[nodiscard]] std::chrono::steady_clock::time_point steady_now() const override { return {}; }
  [[nodiscard]] std::chrono::system_clock::time_point wall_now() const override {
    return std::chrono::system_clock::time_point(now_);
  }

 private:
  std::chrono::microseconds now_;
};

// A log's folder as in a state folder: the key lies beside it.
class LogFolder {
 public:
  explicit LogFolder(TemporaryFolder state) : state_(std::move(state)) {
    std::filesystem::create_directory(path());
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
  }
  [[nodiscard]] std::filesystem::path path() const { return state_.path() / "audit"; }
  [[nodiscard]] std::filesystem::path public_key() const { return key_folder(path()) / "public"; }

 private:
  TemporaryFolder state_;
};

inline LogFolder temporary_folder() {
  auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-audit-");
  REQUIRE(folder);
  return LogFolder(std::move(*folder));
}

// Without checkpoints but the closing one: what is read is what was appended.
inline std::unique_ptr<RunLog> new_log(const std::filesystem::path& folder, std::string run_id,
                                       const Clock& clock = kClock) {
  auto log = RunLog::create(folder, std::move(run_id), clock,
                            {.records = 1'000'000, .time = std::chrono::hours(1)});
  REQUIRE(log);
  return std::move(*log);
}

}  // namespace mcpac::audit
