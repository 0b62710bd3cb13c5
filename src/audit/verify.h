// SPDX-License-Identifier: Apache-2.0

// Verify: are the records still the ones that were written?
//
// It reads the index of runs and every run's file, recomputes the chains, checks the signatures,
// and holds the one against the other. What it proves, and what it cannot (a thief of the key, an
// attacker who takes the end of the index and all its runs away), stands in docs/audit.md. Reads
// only; runs may write meanwhile. What a run's file says is never an error of verify(): it is a
// verdict.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/signing_key.h"
#include "core/error.h"
#include "core/json.h"

namespace mcpac::audit {

enum class Standing : std::uint8_t {
  kProven,      // closed by its signed closing record, and as the index says
  kRunning,     // a process still writes it; all that is there fits
  kAccepted,    // unfinished, and as it was when a person said that they know why (accept.h)
  kUnfinished,  // no closing record, and no writer: it crashed, or its end was cut off
  kUnprovable,  // written by an mcpac that chained nothing
  kTampered,    // something was changed, removed, inserted, moved or swapped
};
[[nodiscard]] std::string_view to_string(Standing standing);

struct Problem {
  std::string where;  // file:line, or a file
  std::string what;
};

struct RunVerdict {
  std::string run_id;
  Standing standing = Standing::kProven;
  std::uint64_t records = 0;         // whole lines that were read
  std::uint64_t signed_records = 0;  // of them, up to the last good checkpoint
  std::size_t torn_bytes = 0;        // behind the last whole line
  Digest head{};                     // of the last whole line
  std::vector<Problem> problems;     // of a tampered run; at most kMaxProblems
};

struct IndexVerdict {
  std::uint64_t lines = 0;
  std::string head;  // hash of the last line: to be noted elsewhere; empty for none
  std::size_t torn_bytes = 0;
  std::vector<Problem> problems;
};

struct Verification {
  IndexVerdict index;
  std::vector<RunVerdict> runs;  // sorted by id
  // The worst of all.
  [[nodiscard]] Standing standing() const;
};

inline constexpr std::size_t kMaxProblems = 10;

// The index's entry for one run.
struct IndexEntry {
  std::optional<Digest> first;
  std::optional<Digest> head;
  std::uint64_t records = 0;
  // Of an unfinished run that a person accepted: what it had then.
  std::optional<Digest> accepted_head;
  std::uint64_t accepted_records = 0;
};
struct IndexView {
  IndexVerdict verdict;
  std::map<std::string, IndexEntry> runs;
};
[[nodiscard]] Result<IndexView> read_index(const std::filesystem::path& file,
                                           const std::vector<PublicKey>& keys);

// One run's file as text. `entry` is null where the index does not know the run (an empty one: the
// index cannot say); `is_alive`: its writer still holds the file.
[[nodiscard]] RunVerdict verify_run(std::string_view file, std::string_view run_id,
                                    std::string_view text, const IndexEntry* entry, bool is_alive,
                                    const std::vector<PublicKey>& keys);

// The keys of the user's own log: none where none was made and nothing was signed yet.
// kAuditKey where signatures are and the key is gone.
[[nodiscard]] Result<std::vector<PublicKey>> own_keys(const std::filesystem::path& folder);

// All runs, or the one that `run` (an id or an unambiguous start of one) names; it may be one that
// only the index still knows. kUnknownRun, kAuditUnreadable.
[[nodiscard]] Result<Verification> verify(const std::filesystem::path& folder,
                                          const std::vector<PublicKey>& keys,
                                          const std::optional<std::string>& run);

// {"verdict", "index": {…}, "runs": [{"run_id", "standing", …}]}
[[nodiscard]] Json to_json(const Verification& verification);

}  // namespace mcpac::audit
