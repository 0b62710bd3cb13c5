#include "gate/record.h"

#include <algorithm>
#include <array>
#include <utility>

#include "gate/answer.h"

namespace mcpac::gate {
namespace {

constexpr std::size_t kTargetLimit = 256;
constexpr std::size_t kNameLimit = 256;
constexpr std::size_t kTextLimit = 1024;
// Values looked at for a target: a call with a million members must not cost a walk of a million.
constexpr int kTargetSteps = 256;

// "scheme://" with a scheme as RFC 3986 has it; the length of the scheme, or 0.
std::size_t scheme_length(std::string_view text) {
  const auto end = text.substr(0, 32).find("://");
  if (end == std::string_view::npos || end == 0) return 0;
  const auto is_scheme_character = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
  };
  return std::ranges::all_of(text.substr(0, end), is_scheme_character) ? end : 0;
}

std::string without_secrets(std::string_view url, std::size_t scheme) {
  url = url.substr(0, url.find_first_of("?#"));
  const std::string_view rest = url.substr(scheme + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/\\"));
  const auto at = authority.rfind('@');
  if (at == std::string_view::npos) return std::string(url);
  return std::string(url.substr(0, scheme + 3)).append(rest.substr(at + 1));
}

bool names_a_place(std::string_view key) {
  constexpr std::array<std::string_view, 12> kKeys = {"path", "paths",     "file",   "files",
                                                      "uri",  "url",       "source", "destination",
                                                      "dir",  "directory", "repo",   "repository"};
  return std::ranges::find(kKeys, key) != kKeys.end();
}

bool looks_like_path(std::string_view text) {
  return text.starts_with('/') || text.starts_with("./") || text.starts_with("../") ||
         text.starts_with("~/");
}

std::optional<std::string> find_target(const Json& value, std::string_view key, int& steps) {
  if (--steps < 0) return std::nullopt;
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (const auto scheme = scheme_length(text); scheme > 0) return without_secrets(text, scheme);
    if (looks_like_path(text) || (names_a_place(key) && !text.empty())) return text;
    return std::nullopt;
  }
  if (value.is_object()) {
    for (const auto& [name, member] : value.get_ref<const Json::object_t&>()) {
      if (auto found = find_target(member, name, steps); found || steps < 0) return found;
    }
  } else if (value.is_array()) {
    for (const auto& element : value) {
      if (auto found = find_target(element, key, steps); found || steps < 0) return found;
    }
  }
  return std::nullopt;
}

}  // namespace

Json check_payload(const Check& check, std::string decision_id, Mode mode) {
  Json payload = Json::object();
  payload["capability"] = bounded(check.capability, kNameLimit);
  payload["target"] = check.target ? Json(*check.target) : Json(nullptr);
  payload["allowed"] = check.allowed;
  if (check.would_deny) payload["would_deny"] = true;
  payload["policy_decision_id"] = std::move(decision_id);
  payload["rule"] = bounded(check.rule, kTextLimit);
  payload["layer"] = bounded(check.layer, kNameLimit);
  payload["reason"] = bounded(check.reason, kTextLimit);
  payload["call_id"] = check.call_id;
  if (!check.approval.empty()) payload["approval"] = check.approval;
  payload["tool_digest"] = check.tool_digest.empty() ? Json(nullptr) : Json(check.tool_digest);
  payload["arguments_digest"] =
      check.arguments_digest.empty() ? Json(nullptr) : Json(check.arguments_digest);
  payload["mode"] = mode == Mode::kEnforce ? "enforce" : "observe";
  return payload;
}

Json finished_payload(std::uint64_t call_id, std::string_view outcome, std::int64_t duration_us,
                      std::optional<std::size_t> result_bytes) {
  Json payload = Json::object();
  payload["call_id"] = call_id;
  payload["outcome"] = outcome;
  payload["duration_us"] = duration_us;
  if (result_bytes) payload["result_bytes"] = *result_bytes;
  return payload;
}

std::optional<std::string> target_of(const Json& arguments) {
  int steps = kTargetSteps;
  auto found = find_target(arguments, "", steps);
  if (found) *found = bounded(*found, kTargetLimit);
  return found;
}

}  // namespace mcpac::gate
