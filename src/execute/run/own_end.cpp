#include "execute/run/own_end.h"

#include <fmt/format.h>

#include "core/printable.h"
#include "policy/places.h"

namespace mcpac::execute {
namespace {

// What is about no server in particular has no id of the gate's.
ErrorId id_of_connection(const gate::Uncaught& uncaught) {
  if (!uncaught.id.empty()) return server_error_id(uncaught.id);
  return uncaught.permission == policy::kNetworkPermission ? ErrorId::kNetworkConnect
                                                           : ErrorId::kServerProtocol;
}

ErrorId id_of_time(std::string_view id) {
  using enum ErrorId;
  if (id == to_string(kServerBusy)) return kServerBusy;
  return id == to_string(kNetworkTimeout) ? kNetworkTimeout : kServerTimeout;
}

ErrorId id_of(const gate::Uncaught& uncaught) {
  using enum ErrorId;
  const std::string& kind = uncaught.kind;
  if (kind == "denied" || kind == "budget") return kCallDenied;
  if (kind == "invalid_arguments") return kCallInvalid;
  if (kind == "tool") return kToolError;
  if (kind == "transport") return id_of_connection(uncaught);
  if (kind == "timeout") return id_of_time(uncaught.id);
  if (kind == "revoked") return uncaught.id == to_string(kLockDrift) ? kLockDrift : kCallDenied;
  if (kind == "internal") return kAuditUnwritable;
  return kRunKilled;
}

}  // namespace

ErrorId server_error_id(std::string_view id) {
  using enum ErrorId;
  for (const ErrorId known :
       {kServerStart, kServerDied, kServerTimeout, kServerProtocol, kServerHttp, kServerTls,
        kServerLimit, kServerCancelled, kServerBusy, kNetworkName, kNetworkConnect, kNetworkTls}) {
    if (id == to_string(known)) return known;
  }
  return kServerError;
}

Error uncaught_error(const gate::Uncaught& uncaught) {
  constexpr std::size_t kShown = 1'000;
  const std::string text = printable(uncaught.message, kShown);
  // A denial's message begins with the tool.
  const bool is_named = uncaught.permission.empty() || uncaught.kind == "denied";
  const bool is_exception = id_of(uncaught) == ErrorId::kRunKilled;
  return {id_of(uncaught),
          is_exception ? "uncaught exception: " + text
          : is_named   ? text
                       : fmt::format("{}: {}", printable(uncaught.permission, kShown), text),
          "", is_exception ? "" : "the program did not catch this error and ended with it", ""};
}

Error expelled_error(std::string_view why) {
  return {ErrorId::kRunViolation, fmt::format("the program's connection was ended: {}", why), "",
          "what a program sends to its host is bounded and well formed (docs/protocol.md)",
          "send less at a time"};
}

}  // namespace mcpac::execute
