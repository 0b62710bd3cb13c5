// SPDX-License-Identifier: Apache-2.0

// Upstream and ToolTable: the gate's interface to the servers behind it.
//
// The gate knows no transport, process or lock file: it validates against ToolTable and forwards
// through Upstream. src/servers adapts the MCP client and the lock to these; tests use fakes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/error.h"
#include "core/json.h"
#include "core/json_schema.h"
#include "core/permission.h"
#include "gate/answer.h"
#include "gate/caller.h"
#include "gate/secret_places.h"

namespace mcpac::gate {

// A tool as the lock approved it.
struct LockedTool {
  std::shared_ptr<const JsonSchema> input;  // compiled input schema
  std::string digest;  // SHA-256 of the locked definition, for the audit record
  std::shared_ptr<const SecretPlaces> secret_places = nullptr;  // null: the schema marks none
};
using ToolTable = std::map<Permission, LockedTool>;

// Forwards one approved call. Callbacks come on the event loop's thread, exactly once, never from
// inside forward() itself.
class Upstream {
 public:
  virtual ~Upstream() = default;
  using CallToken = std::uint64_t;
  // `done` gets the result object of tools/call as the server sent it ({content, isError, …}), or
  // an Error: the server died, timed out, or answered with a JSON-RPC error (kServerError).
  // `caller` hears of progress until then; may be null.
  virtual CallToken forward(const Permission& permission, Json arguments,
                            std::shared_ptr<Caller> caller,
                            std::function<void(Result<Json>)> done) = 0;
  // True for a tool that is known to be another than the locked one: calls to it are refused. May
  // become true at any time, never false again.
  [[nodiscard]] virtual bool quarantines(const Permission& permission) const = 0;
  // Asks the server to stop (notifications/cancelled); `done` still comes, with an Error.
  virtual void cancel(CallToken token) = 0;
  // False: nothing of a call that is under way has gone to its server yet.
  [[nodiscard]] virtual bool was_sent(CallToken /*token*/) const { return true; }
  // Where what is behind is a gate of its own: what it answered to this call, whose `done` gets an
  // Error. Only from inside that `done`.
  [[nodiscard]] virtual std::optional<CallError> refusal_of(CallToken /*token*/) const {
    return std::nullopt;
  }
  // Secrets of the user's configuration in the arguments of a call: none, taken out of the copy in
  // `redacted`, or not known, since the server that has them was never started.
  enum class Secrecy : std::uint8_t { kNone, kRedacted, kUnknown };
  [[nodiscard]] virtual Secrecy redact(const Permission&, const Json& /*arguments*/,
                                       Json& /*redacted*/) const {
    return Secrecy::kNone;
  }
};

}  // namespace mcpac::gate
