// SPDX-License-Identifier: Apache-2.0

#include "run/exit_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/printable.h"
#include "core/quantity.h"
#include "policy/places.h"

namespace mcpac::run {
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

std::string ended_text(const std::map<std::string, gate::EndedCalls>& ended) {
  constexpr std::size_t kShown = 8;  // tools
  std::string text;
  std::size_t shown = 0;
  for (const auto& [permission, calls] : ended) {
    if (++shown > kShown) {
      text += " and " + counted(ended.size() - kShown, "other tool");
      break;
    }
    text += fmt::format("{}{} {}", shown == 1 ? "" : ", ", permission, calls.calls);
    if (calls.failed > 0) text += fmt::format(" ({} failed", calls.failed);
    if (calls.unknown > 0) text += fmt::format(", {} of them may have been done", calls.unknown);
    if (calls.failed > 0) text += ")";
  }
  return text;
}

std::string unanswered_text(const std::vector<gate::GateStatus::Call>& calls) {
  if (calls.empty()) return "no call was under way";
  const auto& oldest = calls.front();
  std::string text =
      fmt::format("{} had not answered for {:.1f} s; {}", oldest.permission,
                  std::chrono::duration<double>(oldest.since).count(), outcome_words(oldest.sent));
  const std::size_t others = calls.size() - 1;
  if (others == 0) return text;
  const auto sent = static_cast<std::size_t>(std::ranges::count_if(
      calls.begin() + 1, calls.end(), [](const auto& call) { return call.sent != Sent::kNo; }));
  return text + fmt::format("; {} had no answer, either: {} of them may have been done",
                            counted(others, "other call"), sent);
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

std::string what_was_done(const RunCalls& calls) {
  if (calls.is_empty()) return "no call had been made";
  if (calls.ended.empty()) return unanswered_text(calls.unanswered) + "; no call had ended";
  return fmt::format("{}; calls that had ended: {}", unanswered_text(calls.unanswered),
                     ended_text(calls.ended));
}

Json to_json(const RunCalls& calls) {
  Json json{{"ended", Json::array()}, {"in_flight", Json::array()}};
  for (const auto& [permission, ended] : calls.ended)
    json["ended"].push_back({{"permission", permission},
                             {"calls", ended.calls},
                             {"failed", ended.failed},
                             {"unknown", ended.unknown}});
  for (const auto& call : calls.unanswered)
    json["in_flight"].push_back({{"permission", call.permission},
                                 {"ms", call.since.count()},
                                 {"outcome", outcome_of(call.sent)}});
  return json;
}

Error expelled_error(std::string_view why) {
  return {ErrorId::kRunViolation, fmt::format("the program's connection was ended: {}", why), "",
          "what a program sends to its host is bounded and well formed (docs/protocol.md)",
          "send less at a time"};
}

}  // namespace mcpac::run
