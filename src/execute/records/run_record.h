// Run record: the event that begins the log of a run, with all that its decisions rest on: the
// rules of every layer as they were loaded, where their paths lead, what was declared, and the
// digests of program, headers and lock. The lock itself is kept beside the logs, once, under its
// digest, so that decisions can be made again when the project has another one
// (execute/records/replay.h).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "audit/log.h"
#include "codegen/lock.h"
#include "gate/gate.h"

namespace mcpac::execute {

struct RunStart {
  std::string_view program;
  std::string_view declared_in;  // "source", "note", "grants", "command line"
  // SHA-256 of the recording that answers instead of servers; empty: servers do.
  std::string_view replayed = {};
  std::string_view client_run = {};  // in whose name it runs (execute/run/hosted.h); or empty
};

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

}  // namespace mcpac::execute
