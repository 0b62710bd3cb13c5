// SPDX-License-Identifier: Apache-2.0

// Answer: the gate's answer to one call, and its form in JSON-RPC (docs/protocol.md).
//
// A result is the server's own object, unchanged, whether or not it says isError: only the agent
// knows what a tool's failure means to it. Everything else is a CallError with one of eight kinds,
// each with a number of its own, so that the runtime headers can throw the right class without
// reading prose.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "core/json_schema.h"

namespace mcpac::gate {

enum class ErrorKind : std::uint8_t {
  kDenied,            // -32001: not declared, not granted, or only with an unanswered question
  kInvalidArguments,  // -32602: the locked input schema refuses the arguments
  kUnknownTool,       // -32602: the lock has no such tool
  kTransport,         // -32002: the server died, hung up or answered with an error of the protocol
  kTimeout,           // -32003: the server took too long, or had no turn for the call
  kBudget,            // -32004: too many calls in flight, too much queued
  kRevoked,           // -32005: the authority was taken back
  kInternal,          // -32603: our side failed, above all: the audit log cannot be written
};

[[nodiscard]] std::string_view to_string(ErrorKind kind);
[[nodiscard]] int rpc_code(ErrorKind kind);

struct CallError {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;
  Json data = Json::object();  // the members of `data` besides "kind"
};

using Answer = std::expected<Json, CallError>;

// {"code": …, "message": …, "data": {"kind": …, …}}
[[nodiscard]] Json to_rpc_error(const CallError& error);

// `declared` is the program's own declaration; nothing of the user's policy but the reason goes
// out.
[[nodiscard]] CallError denied(std::string_view permission, std::string_view reason,
                               const std::vector<std::string>& declared);
[[nodiscard]] CallError invalid_arguments(const SchemaViolation& violation);
// The same, with what came where another type belongs: of a text its kind alone.
[[nodiscard]] CallError invalid_arguments(const SchemaViolation& violation, const Json& arguments);
[[nodiscard]] CallError unknown_tool(std::string_view permission);
// `sent`: what became of the call, said in the message and as `outcome` in the data; kUnsaid where
// it is refused as it comes, and of a connection.
[[nodiscard]] CallError revoked(std::string_view permission, Sent sent = Sent::kUnsaid);
// Another tool than mcpac.lock approved: taken back, as if by revoke().
[[nodiscard]] CallError drifted(std::string_view permission);
[[nodiscard]] CallError cancelled(Sent sent);
[[nodiscard]] CallError budget(std::string message, Sent sent);
[[nodiscard]] CallError internal(std::string message);
// One text for all that fails for the log's sake (the runtime headers print it as it stands).
inline constexpr const char* kNotRecorded = "audit log cannot be written";
// An Error of the upstream about a call of `permission`; its text is already free of secrets
// (src/mcp redacts).
[[nodiscard]] CallError from_server(const Error& error, std::string_view permission);

// Outcome of the failed call.
[[nodiscard]] Sent sent_of(const CallError& error);

// At most `limit` bytes of `text`, cut between characters, with "…" when something is missing. For
// everything of an outsider that is echoed or recorded.
[[nodiscard]] std::string bounded(std::string_view text, std::size_t limit);
// Limits of the audit log for a name and a text, in bytes. A host's name has 253 letters; a program
// may say anything.
inline constexpr std::size_t kRecordedName = 256;
inline constexpr std::size_t kRecordedText = 1024;

}  // namespace mcpac::gate
