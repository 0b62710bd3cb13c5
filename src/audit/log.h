// Audit: the append-only record of every decision, one folder a user, one file of JSON lines a run.
//
// An event is on its way to disk (one write(2) on an O_APPEND descriptor) before the caller hears that
// it was recorded: it survives `kill -9`. A write that fails takes its half line back (ftruncate) and
// is an error, and the gate refuses the call: what cannot be recorded does not happen (ADR 0006).
// A sink belongs to one thread; a store may be read while runs write.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "core/json.h"

namespace mcpac::audit {

// kind "CapabilityCheck": payload {capability, target, allowed, policy_decision_id, …};
// kind "RunStarted", "RunEnded", "Anomaly": payload as the writer needs it.
struct Event {
  std::string event_id;  // UUID v7
  std::string run_id;    // UUID v7
  std::string kind;
  std::string time;      // RFC 3339, UTC, microseconds
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

// The file of one run.
class RunLog final : public Sink {
 public:
  // Creates FOLDER/RUN.jsonl (0600, folder 0700). `clock` is borrowed.
  static Result<std::unique_ptr<RunLog>> create(const std::filesystem::path& folder, std::string run_id,
                                                const Clock& clock);
  ~RunLog() override;
  [[nodiscard]] Result<std::string> append(std::string_view kind, Json payload) override;
  [[nodiscard]] const std::string& run_id() const { return run_id_; }

 private:
  RunLog(int fd, std::string run_id, const Clock& clock) : fd_(fd), run_id_(std::move(run_id)), clock_(clock) {}
  int fd_;
  std::string run_id_;
  const Clock& clock_;
};

struct Query {
  std::optional<std::string> run_id;  // whole id or an unambiguous start of one
};

// Events in the order of their ids (time); a torn last line of a live run is skipped.
[[nodiscard]] Result<std::vector<Event>> read_events(const std::filesystem::path& folder, const Query& query);

}  // namespace mcpac::audit
