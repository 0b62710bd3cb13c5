#include "gate/record.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/ascii.h"
#include "gate/answer.h"
#include "policy/policy_record.h"

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
    return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
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

// How much of the arguments words about them may say: what was taken out must not come back in
// them.
policy::AuditLevel level_of_words(const Check& check) {
  using policy::AuditLevel;
  return check.redacted && check.level == AuditLevel::kArgs ? AuditLevel::kHash : check.level;
}

// What a denial says where the arguments decided it: nothing of them beyond the level.
std::string reason_of(const Check& check) {
  using policy::AuditLevel;
  const AuditLevel level = level_of_words(check);
  if (level == AuditLevel::kArgs) return check.reason;
  if (check.decided_by == DecidedBy::kSchema && level == AuditLevel::kMeta)
    return "the locked schema refuses the arguments";
  if (check.decided_by != DecidedBy::kPolicy || check.allowed || check.evidence.missed.empty())
    return check.reason;
  return level == AuditLevel::kMeta ? "no rule admits the arguments"
                                    : check.evidence.missed.front().plain;
}

Json to_json(const policy::LayerEvidence& layer) {
  Json json = {{"effect", policy::to_string(layer.effect)},
               {"rule", layer.rule ? Json(*layer.rule) : Json(nullptr)}};
  if (!layer.charged.empty()) json["charged"] = layer.charged;
  if (layer.unmetered) json["unmetered"] = true;
  return json;
}

Json to_json(const policy::MeterReading& reading) {
  return {{"layer", reading.layer},       {"rule", reading.rule},
          {"calls", reading.calls},       {"in_window", reading.in_window},
          {"bytes_in", reading.bytes_in}, {"bytes_out", reading.bytes_out},
          {"cost", reading.cost}};
}

void add_evidence(const Check& check, Json& payload) {
  const auto& evidence = check.evidence;
  payload["clock"] = {{"run_ns", evidence.run_time.count()}, {"wall_us", evidence.wall.count()}};
  Json& layers = payload["layers"] = Json::array();
  for (const auto& layer : evidence.layers) layers.push_back(to_json(layer));
  for (const auto& reading : evidence.meters) payload["meters"].push_back(to_json(reading));
  if (evidence.bytes_out > 0) payload["bytes_out"] = evidence.bytes_out;
  if (evidence.cost > 0) payload["cost"] = evidence.cost;
  if (check.allowed) return;
  const policy::AuditLevel level = level_of_words(check);
  for (const auto& missed : evidence.missed) {
    Json json = {{"layer", missed.layer}, {"rule", missed.rule}};
    if (level == policy::AuditLevel::kArgs) json["why"] = bounded(missed.why, kNameLimit);
    if (level == policy::AuditLevel::kHash) json["why"] = bounded(missed.plain, kNameLimit);
    payload["missed"].push_back(std::move(json));
  }
  if (evidence.missed_further > 0) payload["missed_further"] = evidence.missed_further;
}

constexpr std::array<std::pair<DecidedBy, std::string_view>, 10> kSteps = {
    {{DecidedBy::kUnknownTool, "unknown_tool"},
     {DecidedBy::kNotOffered, "not_offered"},
     {DecidedBy::kRevoked, "revoked"},
     {DecidedBy::kDrift, "drift"},
     {DecidedBy::kNotObject, "not_object"},
     {DecidedBy::kSchema, "schema"},
     {DecidedBy::kTooLarge, "too_large"},
     {DecidedBy::kDeclared, "declared"},
     {DecidedBy::kPolicy, "policy"},
     {DecidedBy::kApproval, "approval"}}};

}  // namespace

std::string_view to_string(DecidedBy step) {
  return std::ranges::find(kSteps, step, [](const auto& pair) { return pair.first; })->second;
}

std::optional<DecidedBy> decided_by_from(std::string_view text) {
  const auto found = std::ranges::find(kSteps, text, [](const auto& pair) { return pair.second; });
  if (found == kSteps.end()) return std::nullopt;
  return found->first;
}

Json check_payload(const Check& check, std::string decision_id, Mode mode) {
  Json payload = Json::object();
  payload["capability"] = bounded(check.capability, kNameLimit);
  const bool is_meta = check.level == policy::AuditLevel::kMeta;
  payload["target"] = check.target && !is_meta ? Json(*check.target) : Json(nullptr);
  payload["allowed"] = check.allowed;
  if (check.would_deny) payload["would_deny"] = true;
  payload["policy_decision_id"] = std::move(decision_id);
  payload["rule"] = bounded(check.rule, kTextLimit);
  payload["layer"] = bounded(check.layer, kNameLimit);
  payload["reason"] = bounded(reason_of(check), kTextLimit);
  payload["decided_by"] = to_string(check.decided_by);
  payload["level"] = policy::to_string(check.level);
  payload["call_id"] = check.call_id;
  if (!check.program_run.empty()) payload["program_run"] = check.program_run;
  if (!check.approval.empty()) payload["approval"] = check.approval;
  for (const auto& rule : check.asks)
    payload["asks"].push_back({{"layer", rule.layer}, {"rule", rule.rule}});
  payload["tool_digest"] = check.tool_digest.empty() ? Json(nullptr) : Json(check.tool_digest);
  payload["arguments_digest"] =
      check.arguments_digest.empty() || is_meta ? Json(nullptr) : Json(check.arguments_digest);
  if (check.level == policy::AuditLevel::kArgs && check.arguments) {
    payload["arguments"] = *check.arguments;
    for (const auto& fact : check.evidence.paths) {
      if (!check.redacted) payload["paths"].push_back(policy::to_json(fact));
    }
  }
  if (check.redacted && !is_meta) payload["redacted"] = true;
  if (check.decided_by == DecidedBy::kPolicy || check.decided_by == DecidedBy::kApproval)
    add_evidence(check, payload);
  payload["mode"] = mode == Mode::kEnforce ? "enforce" : "observe";
  return payload;
}

Json finished_payload(std::uint64_t call_id, std::string_view outcome, std::int64_t duration_us,
                      std::optional<std::size_t> result_bytes,
                      std::optional<std::size_t> charged_bytes) {
  Json payload = Json::object();
  payload["call_id"] = call_id;
  payload["outcome"] = outcome;
  payload["duration_us"] = duration_us;
  if (result_bytes) payload["result_bytes"] = *result_bytes;
  if (charged_bytes) payload["charged_bytes"] = *charged_bytes;
  return payload;
}

std::optional<std::string> target_of(const Json& arguments) {
  int steps = kTargetSteps;
  auto found = find_target(arguments, "", steps);
  if (found) *found = bounded(*found, kTargetLimit);
  return found;
}

}  // namespace mcpac::gate
