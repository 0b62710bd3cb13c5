// SPDX-License-Identifier: Apache-2.0

// ClientRecord: the record of one client's run, in as many files as it takes.
//
// A file of the audit log ends (audit::kMaxRunBytes), and a client of a gateway that stands for
// months does not. When one is almost full the record goes on in the next: that begins with what
// the run began with and says which files it goes on from (`continues`); the former one is closed,
// and says where the record goes on. The run is the same: what its limits counted, what was taken
// back and who said yes holds on, so filling a record wins nothing. How many files that are, and
// how full the disk may be, has a bound; beyond it calls are refused, as whatever cannot be
// recorded is. On the loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "audit/log.h"
#include "core/clock.h"

namespace mcpac::gateway {

class ClientRecord final : public audit::Sink {
 public:
  struct Setup {
    std::filesystem::path folder;
    const Clock* clock = nullptr;                  // borrowed
    std::string client;                            // whose it is, for people
    std::size_t most_bytes = audit::kMaxRunBytes;  // of a file
    // Of one run: some millions of calls each.
    std::size_t most_files = 16;
    // What a further file leaves of the disk, beside itself: it is not filled for a record.
    std::uintmax_t least_free = std::uintmax_t{1} << 30U;
    // Hears that the record goes on in another file, or that it does not; may be null.
    std::function<void(const std::string&)> said = nullptr;
  };
  [[nodiscard]] static Result<std::unique_ptr<ClientRecord>> create(Setup setup);

  [[nodiscard]] Result<std::string> append(std::string_view kind, Json payload) override;
  // Of a call: what a run begins and ends with, and what is taken back, comes by append().
  [[nodiscard]] Result<std::string> append_text(std::string_view kind,
                                                std::string payload) override;
  // By the key of the first file: what was compared before holds on, and what the next event says
  // may be made before it is known which file that is in.
  [[nodiscard]] std::string keyed_digest(std::string_view bytes) const override;
  // As RunLog: the run's end. What is appended afterwards is refused.
  [[nodiscard]] Result<void> close();
  // Of the first file: what the run is called.
  [[nodiscard]] const std::string& run_id() const { return files_.front(); }
  // All of them, in their order.
  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }

 private:
  ClientRecord(Setup setup, std::unique_ptr<audit::RunLog> first);
  // Begins another file where this one is almost full. Where that is not possible it goes on to its
  // end, and it is tried again unless there are as many as there may be: a disk may have room
  // later.
  void make_room();
  [[nodiscard]] Result<void> go_on();
  [[nodiscard]] Result<std::unique_ptr<audit::RunLog>> next_file() const;
  void say(const std::string& text) const;

  Setup setup_;
  std::unique_ptr<audit::RunLog> log_;
  audit::Digest argument_key_;
  std::vector<std::string> files_;  // by their ids
  Json started_;                    // what the run began with
  std::set<std::string> revoked_;   // what of that was taken back
  bool is_over_ = false;            // no further file is tried
  bool is_warned_ = false;          // that none could be begun, and was tried again
  std::chrono::steady_clock::time_point again_at_{};  // when the next is tried
  std::jthread closing_;                              // the former one: that waits for the disk
};

}  // namespace mcpac::gateway
