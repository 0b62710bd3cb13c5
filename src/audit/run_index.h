// SPDX-License-Identifier: Apache-2.0

// The index of runs: the file `runs` beside the logs, so that a run that is taken away as a whole
// is missed. Every line is chained and signed (chain.h); a writer holds the file's lock, so several
// runs may begin and end at the same time.
//
//   {"event":"began","first":HASH,"run_id":…,"seq":n,"time":…   HASH: of the run's first record
//   {"event":"ended","head":HASH,"records":N,"run_id":…,…       HASH: of its last record
//   {"event":"accepted","head":HASH,"records":N,"run_id":…,…    of a run that never ended
//   (accept.h)
//   {"event":"recovered","bytes":N,"digest":HASH,…              half a line of a writer that died
//
// After a power cut a file is as it was when it was synced, or a while later. A run's file without
// its line in the index looks put there, so the index is synced before the run's file ever is: that
// it begins, and with it all that came before. That it ended is worth no wait: without that line
// the closing record in its own file says so.
#pragma once

#include <filesystem>
#include <string>

#include "audit/signing_key.h"
#include "core/clock.h"
#include "core/json.h"

namespace mcpac::audit {

inline constexpr const char* kIndexFile = "runs";

class RunIndex {
 public:
  RunIndex(std::filesystem::path log_folder, const SigningKey& key, const Clock& clock)
      : path_(std::move(log_folder) / kIndexFile), key_(key), clock_(clock) {}

  [[nodiscard]] Result<void> began(const std::string& run_id, const Digest& first) const;
  [[nodiscard]] Result<void> ended(const std::string& run_id, const Digest& head,
                                   std::uint64_t records) const;
  [[nodiscard]] Result<void> accepted(const std::string& run_id, const Digest& head,
                                      std::uint64_t records) const;
  // What was appended by now is on the disk when this returns. The files that it names were in
  // their folder before, and file systems with a journal keep that order: syncing the folder as
  // well would double what a short run waits for at its end.
  [[nodiscard]] Result<void> sync() const;

 private:
  [[nodiscard]] Result<void> append(Json entry) const;

  std::filesystem::path path_;
  const SigningKey& key_;
  const Clock& clock_;
};

}  // namespace mcpac::audit
