// SPDX-License-Identifier: Apache-2.0

// Audit: the append-only record of every decision, one folder a user, one file of JSON lines a run.
//
// An event is on its way to disk (one write(2) on an O_APPEND descriptor) before the caller hears
// that it was recorded: it survives `kill -9`. A write that fails takes its half line back
// (ftruncate) and is an error, and the gate refuses the call: what cannot be recorded does not
// happen (ADR 0006). Records are chained, and signed from time to time (chain.h, ADR 0017);
// verify.h says whether they are still what was written. A store may be read while runs write.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/chain.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/ids.h"
#include "core/json.h"

namespace mcpac::audit {

// kind "CapabilityCheck": payload {capability, target, allowed, policy_decision_id, …};
// kind "RunStarted", "RunEnded", "Anomaly": payload as the writer needs it; kind "Checkpoint":
// written by the log itself, {closes, key}.
struct Event {
  std::string event_id;  // UUID v7
  std::string run_id;    // UUID v7
  std::string kind;
  std::string time;  // RFC 3339, UTC, microseconds
  Json payload;
};

[[nodiscard]] Json to_json(const Event& event);
[[nodiscard]] Result<Event> event_from_json(const Json& json);

// Receiver of decisions. The gate sees this interface only.
class Sink {
 public:
  virtual ~Sink() = default;
  // Returns the event's id once it is recorded.
  [[nodiscard]] virtual Result<std::string> append(std::string_view kind, Json payload) = 0;
  // The same of a payload that was written already: the text of one JSON object, by us.
  [[nodiscard]] virtual Result<std::string> append_text(std::string_view kind, std::string payload);
  // A digest that says nothing to a reader who has the log alone: values of few bits cannot be
  // tried out against it. The same bytes have the same digest within one run.
  [[nodiscard]] virtual std::string keyed_digest(std::string_view bytes) const = 0;
};

// One event as a line of the file. An event beyond it is refused, not cut: a record that says less
// than what happened is worse than a call that did not happen.
inline constexpr std::size_t kMaxEventBytes = std::size_t{1} << 20U;

// One file. Readers take a run whole, so a longer one would prove nothing; and calls in a loop
// would fill the disk. The last part of it is for what was begun: how calls under way and the run
// itself ended.
inline constexpr std::size_t kMaxRunBytes = std::size_t{1} << 30U;
inline constexpr std::size_t kRoomForTheEnd = 4 * kMaxEventBytes;

inline constexpr std::string_view kCheckpointKind = "Checkpoint";

// A checkpoint signs all records up to itself: what is cut off after it is missed. Whichever comes
// first; and one when the run ends.
struct CheckpointEvery {
  std::uint64_t records = 1000;
  std::chrono::milliseconds time{5'000};
};

// The file of one run. Safe from several threads; a thread of its own writes the checkpoints.
class RunLog final : public Sink {
 public:
  // Creates FOLDER/RUN.jsonl (0600, folder 0700), and the key beside the folder where there is none
  // (signing_key.h). `clock` is borrowed. `at_most`: bytes of the file, above kRoomForTheEnd
  // by more than an event; events beyond it are refused.
  static Result<std::unique_ptr<RunLog>> create(const std::filesystem::path& folder,
                                                std::string run_id, const Clock& clock,
                                                CheckpointEvery every = {},
                                                std::size_t at_most = kMaxRunBytes);
  // Without a call of close(), something went wrong before its end: what is there is signed, and
  // the run has no closing record.
  ~RunLog() override;
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;
  [[nodiscard]] Result<std::string> append(std::string_view kind, Json payload) override;
  [[nodiscard]] Result<std::string> append_text(std::string_view kind,
                                                std::string payload) override;
  [[nodiscard]] std::string keyed_digest(std::string_view bytes) const override;
  // The closing record: a signed checkpoint on disk, and the run's end in the index. Nothing can be
  // appended afterwards. A log without a record leaves no file.
  [[nodiscard]] Result<void> close();
  // The next event may find no room, where it does not say how what was begun ended.
  [[nodiscard]] bool is_almost_full() const;
  [[nodiscard]] const std::string& run_id() const;
  // The key for digests of this run's arguments (signing_key.h).
  [[nodiscard]] Digest argument_key() const;

 private:
  struct State;
  explicit RunLog(std::unique_ptr<State> state);
  [[nodiscard]] Result<void> end(bool is_whole);
  std::unique_ptr<State> state_;
};

struct Query {
  std::optional<std::string> run_id;  // whole id or an unambiguous start of one
};

// Events in the order of their ids (time); a torn last line of a live run is skipped. A complete
// line that is not an event of its run is an error with file and line (kAuditUnreadable), never
// left out; a run id that names no run, or several, is kUnknownRun. No folder means no events.
[[nodiscard]] Result<std::vector<Event>> read_events(const std::filesystem::path& folder,
                                                     const Query& query);

// First events of the files whose ids come after `after`, in their order. One whose first line is
// not there yet, or is no event, is left out: whether it is what was written is another question
// (verify.h).
[[nodiscard]] Result<std::vector<Event>> read_first_events(const std::filesystem::path& folder,
                                                           std::string_view after);

}  // namespace mcpac::audit
