// SPDX-License-Identifier: Apache-2.0

#include "gate/answer.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

namespace mcpac::gate {
namespace {

// A name that a program made up may be as long as a frame; an error about it need not be.
constexpr std::size_t kEchoLimit = 256;
// A server's error text: enough for a stack trace's first lines, too little to fill a queue.
constexpr std::size_t kMessageLimit = 4096;

CallError with_outcome(CallError error, Sent sent) {
  const auto outcome = outcome_of(sent);
  if (outcome.empty()) return error;
  error.data["outcome"] = outcome;
  if (sent == Sent::kNo) error.data["not_sent"] = true;
  error.message += "; ";
  error.message += outcome_words(sent);
  return error;
}

Sent what_became(const Error& error) {
  if (error.sent != Sent::kUnsaid) return error.sent;
  switch (error.id) {
    case ErrorId::kServerError: return Sent::kRefused;
    case ErrorId::kConfigInvalid:
    case ErrorId::kUnknownServer:
    case ErrorId::kSecretMissing:
    case ErrorId::kServerStart:
    case ErrorId::kServerTls:
    case ErrorId::kServerBusy: return Sent::kNo;
    default: return Sent::kMaybeDone;
  }
}

}  // namespace

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kDenied: return "denied";
    case ErrorKind::kInvalidArguments: return "invalid_arguments";
    case ErrorKind::kUnknownTool: return "unknown_tool";
    case ErrorKind::kTransport: return "transport";
    case ErrorKind::kTimeout: return "timeout";
    case ErrorKind::kBudget: return "budget";
    case ErrorKind::kRevoked: return "revoked";
    case ErrorKind::kInternal: break;
  }
  return "internal";
}

int rpc_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kDenied: return -32001;
    case ErrorKind::kInvalidArguments:
    case ErrorKind::kUnknownTool: return -32602;
    case ErrorKind::kTransport: return -32002;
    case ErrorKind::kTimeout: return -32003;
    case ErrorKind::kBudget: return -32004;
    case ErrorKind::kRevoked: return -32005;
    case ErrorKind::kInternal: break;
  }
  return -32603;
}

Json to_rpc_error(const CallError& error) {
  Json data = error.data;
  data["kind"] = to_string(error.kind);
  return {{"code", rpc_code(error.kind)}, {"message", error.message}, {"data", std::move(data)}};
}

CallError denied(std::string_view permission, std::string_view reason,
                 const std::vector<std::string>& declared) {
  const std::string required = bounded(permission, kEchoLimit);
  const std::string why = bounded(reason, kMessageLimit);
  return {ErrorKind::kDenied,
          fmt::format("permission denied: {}: {}", required, why),
          {{"required", required}, {"reason", why}, {"declared", declared}}};
}

CallError invalid_arguments(const SchemaViolation& violation) {
  const std::string pointer = bounded(violation.pointer, kMessageLimit);
  const std::string_view place = pointer.empty() ? "the arguments" : std::string_view(pointer);
  return {ErrorKind::kInvalidArguments,
          fmt::format("invalid arguments: {} {}", place, bounded(violation.message, kMessageLimit)),
          {{"pointer", pointer}, {"rule", violation.keyword}}};
}

CallError invalid_arguments(const SchemaViolation& violation, const Json& arguments) {
  SchemaViolation said = violation;
  said.message += came_instead(violation, arguments);
  return invalid_arguments(said);
}

CallError unknown_tool(std::string_view permission) {
  std::string required = bounded(permission, kEchoLimit);
  std::string message = fmt::format("unknown tool: {}", required);
  return {ErrorKind::kUnknownTool, std::move(message), {{"required", std::move(required)}}};
}

CallError revoked(std::string_view permission, Sent sent) {
  std::string required = bounded(permission, kEchoLimit);
  std::string message = fmt::format("authority was revoked: {}", required);
  CallError error{ErrorKind::kRevoked, std::move(message), {{"required", std::move(required)}}};
  return with_outcome(std::move(error), sent);
}

CallError drifted(std::string_view permission) {
  std::string required = bounded(permission, kEchoLimit);
  std::string message = fmt::format(
      "{} is not the tool that mcpac.lock approved: its server changed it or took it away ({})",
      required, to_string(ErrorId::kLockDrift));
  return {ErrorKind::kRevoked,
          std::move(message),
          {{"required", std::move(required)}, {"id", to_string(ErrorId::kLockDrift)}}};
}

CallError cancelled(Sent sent) {
  return with_outcome(
      {ErrorKind::kTransport, "the program cancelled this call", {{"cancelled", true}}}, sent);
}

CallError budget(std::string message, Sent sent) {
  return with_outcome({ErrorKind::kBudget, std::move(message), Json::object()}, sent);
}

CallError internal(std::string message) {
  return {ErrorKind::kInternal, std::move(message), Json::object()};
}

CallError from_server(const Error& error, std::string_view permission) {
  if (error.id == ErrorId::kLockDrift) return drifted(permission);
  ErrorKind kind = ErrorKind::kTransport;
  const bool is_time = error.id == ErrorId::kServerTimeout || error.id == ErrorId::kServerBusy;
  if (is_time) kind = ErrorKind::kTimeout;
  if (error.id == ErrorId::kInternal) kind = ErrorKind::kInternal;
  Json data{{"id", to_string(error.id)}};
  if (!error.fix.empty()) data["fix"] = error.fix;
  return with_outcome({kind, bounded(error.what, kMessageLimit), std::move(data)},
                      what_became(error));
}

Sent sent_of(const CallError& error) {
  const std::string outcome = string_member(error.data, "outcome");
  for (const Sent sent : {Sent::kNo, Sent::kMaybeDone, Sent::kDone}) {
    if (outcome == outcome_of(sent)) return sent;
  }
  return Sent::kUnsaid;
}

std::string bounded(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  std::size_t end = limit;
  while (end > 0 && (static_cast<std::uint8_t>(text[end]) & 0xc0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace mcpac::gate
