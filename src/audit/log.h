// Audit: the append-only record of every decision, one folder a user, one file of JSON lines a run.
//
// An event is on its way to disk (one write(2) on an O_APPEND descriptor) before the caller hears
// that it was recorded: it survives `kill -9`. A write that fails takes its half line back
// (ftruncate) and is an error, and the gate refuses the call: what cannot be recorded does not
// happen (ADR 0006). A sink belongs to one thread; a store may be read while runs write.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "core/file.h"
#include "core/ids.h"
#include "core/json.h"

namespace mcpac::audit {

// kind "CapabilityCheck": payload {capability, target, allowed, policy_decision_id, …};
// kind "RunStarted", "RunEnded", "Anomaly": payload as the writer needs it.
struct Event {
  std::string event_id;  // UUID v7
  std::string run_id;    // UUID v7
  std::string kind;
  std::string time;  // RFC 3339, UTC, microseconds
  Json payload;
};

[[nodiscard]] Json to_json(const Event& event);
[[nodiscard]] Result<Event> event_from_json(const Json& json);

// Where decisions go. The gate sees this interface only.
class Sink {
 public:
  virtual ~Sink() = default;
  // Returns the event's id once it is recorded.
  [[nodiscard]] virtual Result<std::string> append(std::string_view kind, Json payload) = 0;
};

// One event as a line of the file. An event beyond it is refused, not cut: a record that says less
// than what happened is worse than a call that did not happen.
inline constexpr std::size_t kMaxEventBytes = std::size_t{1} << 20U;

// The file of one run.
class RunLog final : public Sink {
 public:
  // Creates FOLDER/RUN.jsonl (0600, folder 0700). `clock` is borrowed.
  static Result<std::unique_ptr<RunLog>> create(const std::filesystem::path& folder,
                                                std::string run_id, const Clock& clock);
  ~RunLog() override;
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;
  [[nodiscard]] Result<std::string> append(std::string_view kind, Json payload) override;
  [[nodiscard]] const std::string& run_id() const { return run_id_; }

 private:
  RunLog(UniqueFd fd, std::filesystem::path path, std::string run_id, const Clock& clock)
      : fd_(std::move(fd)), path_(std::move(path)), run_id_(std::move(run_id)), clock_(clock) {}
  [[nodiscard]] Result<void> write_line(std::string_view line);

  UniqueFd fd_;
  std::filesystem::path path_;
  std::string run_id_;
  const Clock& clock_;
  UuidV7Sequence ids_;
  std::size_t size_ = 0;  // of the whole lines: where a failed write is cut off
  bool broken_ = false;   // a half line could not be taken back: nothing may follow it
};

struct Query {
  std::optional<std::string> run_id;  // whole id or an unambiguous start of one
};

// Events in the order of their ids (time); a torn last line of a live run is skipped. A complete
// line that is not an event of its run is an error with file and line (kAuditUnreadable), never
// left out; a run id that names no run, or several, is kUnknownRun. No folder means no events.
[[nodiscard]] Result<std::vector<Event>> read_events(const std::filesystem::path& folder,
                                                     const Query& query);

}  // namespace mcpac::audit
