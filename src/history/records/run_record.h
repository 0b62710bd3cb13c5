// SPDX-License-Identifier: Apache-2.0

// Run record: the event that begins the log of a run, with all that its decisions rest on: the
// rules of every layer as they were loaded, where their paths lead, what was declared, and the
// digests of program, headers and lock. The lock itself is kept beside the logs, once, under its
// digest, so that decisions can be made again when the project has another one
// (history/records/replay.h).
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "audit/log.h"
#include "codegen/lock.h"
#include "core/clock.h"
#include "gate/gate.h"

namespace mcpac::history {

struct RunStart {
  std::string_view program;
  std::string_view declared_in;  // "source", "note", "grants", "command line"
  // SHA-256 of the recording that answers instead of servers; empty: servers do.
  std::string_view replayed = {};
  std::string_view client_run = {};  // in whose name it runs (run/pipeline.h); or empty
  // Of a client's program: the rules that decide its calls behind its own gate, as policy_record()
  // has them; null where the run's own do.
  Json client_policy = nullptr;
  std::string_view lifted_by = {};  // who gave the word for --no-permission-check; or empty
  // Places of its confined servers (servers/confine/server_places.h); null: none is confined.
  Json server_places = nullptr;
};

// Answers of a person or an approver before a run: payloads of Approval events, the digest of the
// question without a key.
using EarlyAnswers = std::vector<Json>;
// Of the question whether a program is run, and whether it gets what was not granted.
[[nodiscard]] Json early_answer(std::string_view scope, std::string_view answer,
                                std::string_view who);
[[nodiscard]] Result<void> record_answers(const EarlyAnswers& answers, audit::Sink& log);

// Limit of refusals of one client's programs with a record of their own. Each is a file, and the
// client decides how often it sends one, so the rest is counted. Any thread.
class RefusalBound {
 public:
  static constexpr std::size_t kMost = 32;
  // Whether this one is recorded.
  [[nodiscard]] bool take() { return ++count_ <= kMost; }
  [[nodiscard]] std::size_t only_counted() const {
    const std::size_t all = count_;
    return all > kMost ? all - kMost : 0;
  }

 private:
  std::atomic<std::size_t> count_ = 0;
};

// A run that was refused before it began has a record of its own: RunRefused, what was answered,
// RunEnded. Nothing of it was started.
struct RefusedRun {
  std::string_view run_id = {};  // empty: a new one
  std::string_view program;
  std::string_view client_run = {};
  const Error& error;
  std::vector<std::string> declared = {};
  std::vector<std::string> not_granted = {};
  Json policy = nullptr;  // policy_record() of what was granted; null where that is not known
  EarlyAnswers answers = {};
  RefusalBound* bound = nullptr;  // borrowed; null: each is recorded
};
// Whether a run that ends so before it began was refused: by its rules, its user or mcpac (exit
// code 77), or for rules or a source that say nothing that could be run. Not the fault of a
// machine, a server or a configuration.
[[nodiscard]] bool is_refusal(ErrorId error);
// The id of the record.
[[nodiscard]] Result<std::string> record_refusal(const RefusedRun& run,
                                                 const std::filesystem::path& audit_folder,
                                                 const Clock& clock);

// Keeps the lock, then records RunStarted. `setup` is as the gate will get it.
[[nodiscard]] Result<void> record_start(const RunStart& run, const gate::GateSetup& setup,
                                        const codegen::Lock& lock,
                                        const std::filesystem::path& audit_folder,
                                        audit::Sink& log);

// The lock of this digest, as record_start() kept it; kAuditUnreadable where it is gone or another.
[[nodiscard]] Result<codegen::Lock> kept_lock(const std::filesystem::path& audit_folder,
                                              const std::string& digest);

// The payload of RunStarted.
[[nodiscard]] Json started_payload(const RunStart& run, const gate::GateSetup& setup);

}  // namespace mcpac::history
