// SPDX-License-Identifier: Apache-2.0

#include "gate/record.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/ascii.h"
#include "core/json_writer.h"
#include "core/uri_spelling.h"
#include "gate/answer.h"
#include "policy/match/parameter_names.h"
#include "policy/match/path_readings.h"
#include "policy/match/readings.h"
#include "policy/policy_record.h"

namespace mcpac::gate {
namespace {

// In bytes.
constexpr std::size_t kTargetLimit = 256;
// Of one call; a move has two, and a list of files may be long.
constexpr std::size_t kMostTargets = 32;
// Values looked at for targets: a call with a million members must not cost a walk of a million.
constexpr int kTargetSteps = 1024;
// A name in a folder: no longer one exists.
constexpr std::size_t kLongestName = 255;

std::string without_secrets(std::string_view url, std::size_t scheme) {
  url = url.substr(0, url.find_first_of("?#"));
  const std::string_view rest = url.substr(scheme + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/\\"));
  const auto at = authority.rfind('@');
  if (at == std::string_view::npos) return std::string(url);
  return std::string(url.substr(0, scheme + 3)).append(rest.substr(at + 1));
}

bool looks_like_path(std::string_view text) {
  return text.starts_with('/') || text.starts_with("./") || text.starts_with("../") ||
         text.starts_with("~/");
}

// Characters that end a word of a command, a list or a sentence, and may stand before a path in
// one.
bool ends_word(char c) {
  return static_cast<unsigned char>(c) <= ' ' ||
         std::string_view("'\"`=,;:|&<>()[]{}").find(c) != std::string_view::npos;
}

// "/", "//" and "--/" name nothing.
bool names_something(std::string_view path) {
  return std::ranges::any_of(
      path, [](char c) { return is_alphanumeric(c) || static_cast<unsigned char>(c) >= 0x80; });
}

// A shell makes of it what is not to be seen: "$HOME/x", "/e*c/hosts".
bool is_expanded(std::string_view word) {
  const auto at = word.find_first_of("$`*?");
  return at != std::string_view::npos && word.contains('/');
}

// The parts of a text that may be paths, one after the other.
class PathsInText {
 public:
  explicit PathsInText(std::string_view text) : text_(text) {}
  [[nodiscard]] std::optional<std::string_view> next() {
    while (at_ < text_.size()) {
      if (ends_word(text_[at_])) {
        ++at_;
        continue;
      }
      std::size_t end = at_;
      while (end < text_.size() && !ends_word(text_[end])) ++end;
      const std::string_view word = text_.substr(at_, end - at_);
      at_ = end;
      // The rest of a URL is no path of this machine, and may hold what is secret.
      if (text_.substr(at_).starts_with("://")) {
        const auto scheme = word;
        while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) > ' ') ++at_;
        if (scheme != "file") continue;
        const auto start = static_cast<std::size_t>(word.data() - text_.data()) + 7;
        return text_.substr(start, at_ - start);
      }
      if (word.contains('/')) return word;
    }
    return std::nullopt;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

class TargetFinder {
 public:
  Targets find(const Json& arguments) {
    look_at(arguments, "");
    return std::move(found_);
  }

 private:
  using Unlisted = Targets::Unlisted;

  void look_at(const Json& value, std::string_view key) {
    if (is_full() || --steps_ < 0) return leave_out(Unlisted::kPlaces);
    if (value.is_string()) {
      look_at_text(value, key);
    } else if (value.is_object()) {
      for (const auto& [name, member] : value.get_ref<const Json::object_t&>()) {
        if (is_full() || steps_ <= 0) return leave_out(Unlisted::kPlaces);
        if (looks_like_path(name)) add(name);
        look_at(member, name);
      }
    } else if (value.is_array()) {
      for (const auto& element : value) {
        if (is_full() || steps_ <= 0) return leave_out(Unlisted::kPlaces);
        look_at(element, key);
      }
    }
  }

  void look_at_text(const Json& value, std::string_view key) {
    const auto& text = value.get_ref<const std::string&>();
    const bool is_listed = list(text, key);
    const auto readings =
        policy::readings_of(value, policy::Subject::kPath, policy::Reading::kCatch);
    if (readings.unreadable) leave_out(Unlisted::kPlaces);
    for (const auto& one : readings.others) {
      if (!one.value.is_string()) continue;
      if (is_full() || --steps_ < 0) return leave_out(Unlisted::kPlaces);
      list(one.value.get_ref<const std::string&>(), key);
    }
    look_into(text);
    // "jar:file:/etc/x!/y", "~root/x": places that a text names, and is not.
    const auto named = policy::path_readings(text, "/");
    const bool names_others =
        named.unclear || std::ranges::any_of(named.named, [&](const policy::NamedPath& one) {
          return one.path.absolute && !one.path.components.empty() &&
                 (one.is_part || !text.starts_with('/')) &&
                 !mentions(policy::join(one.path.components));
        });
    if (!is_listed && names_others) leave_out(Unlisted::kPlaces);
    const bool is_name = !text.empty() && text.size() <= kLongestName &&
                         text.find_first_of("\r\n") == std::string::npos;
    if (!is_listed && (is_name || text.find('/') != std::string::npos)) leave_out(Unlisted::kNames);
  }

  // Of a long text its beginning is looked at: where more of it may name a place, that is said.
  void look_into(std::string_view text) {
    constexpr std::size_t kMostLookedAt = std::size_t{16} << 10U;
    if (!text.contains('/')) return;
    const bool is_line = text.find('\n') == std::string_view::npos;
    if (is_line && text.contains("$(")) leave_out(Unlisted::kPlaces);
    if (text.size() > kMostLookedAt) {
      if (text.find('/', kMostLookedAt) != std::string_view::npos) leave_out(Unlisted::kPlaces);
      text = text.substr(0, kMostLookedAt);
    }
    PathsInText paths(text);
    while (const auto word = paths.next()) {
      if (!names_something(*word)) continue;
      if (word->size() == text.size() && looks_like_path(*word)) continue;
      if (is_line && is_expanded(*word)) leave_out(Unlisted::kPlaces);
      if (looks_like_path(*word) || word->contains("/../")) mention(std::string(*word));
    }
  }

  [[nodiscard]] bool mentions(const std::string& path) const {
    return std::ranges::any_of(found_.mentioned, [&](std::string_view known) {
      return known == path || (known.starts_with('~') && known.substr(1) == path);
    });
  }

  void mention(const std::string& path) {
    auto& all = found_.mentioned;
    if (std::ranges::find(all, path) != all.end()) return;
    if (path.size() > kTargetLimit || all.size() >= kMostTargets)
      return leave_out(Unlisted::kPlaces);
    all.push_back(path);
  }

  bool list(const std::string& text, std::string_view key) {
    const auto scheme = scheme_length(text);
    if (scheme > 0 && std::string_view(text).substr(scheme).starts_with("://")) {
      add(without_secrets(text, scheme));
    } else if (looks_like_path(text) || (!text.empty() && is_place_key(key))) {
      add(text);
    } else if (text.empty() && is_place_key(key)) {
      leave_out(Unlisted::kNames);  // the folder that the server counts from
      return false;
    } else {
      return false;
    }
    return true;
  }

  void add(const std::string& target) {
    if (target.size() > kTargetLimit) leave_out(Unlisted::kPlaces);
    found_.listed.push_back(bounded(target, kTargetLimit));
  }

  [[nodiscard]] bool is_full() const { return found_.listed.size() >= kMostTargets; }
  void leave_out(Unlisted what) { found_.unlisted = std::max(found_.unlisted, what); }

  Targets found_;
  int steps_ = kTargetSteps;
};

// Detail of the arguments in words about them: what was taken out must not come back in them.
policy::AuditLevel level_of_words(const Check& check) {
  using policy::AuditLevel;
  return check.redacted && check.level == AuditLevel::kArgs ? AuditLevel::kHash : check.level;
}

// Text of a denial where the arguments decided it: nothing of them beyond the level.
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

void append_layer(std::string& out, const policy::LayerEvidence& layer) {
  JsonMembers members(out);
  if (!layer.charged.empty()) members.add_json("charged", layer.charged);
  members.add("effect", policy::to_string(layer.effect));
  if (layer.rule)
    members.add("rule", *layer.rule);
  else
    members.add_null("rule");
  if (layer.unmetered) members.add("unmetered", true);
  members.end();
}

void append_layers(std::string& out, const std::vector<policy::LayerEvidence>& layers) {
  char separator = '[';
  for (const auto& layer : layers) {
    out += separator;
    append_layer(out, layer);
    separator = ',';
  }
  out += layers.empty() ? "[]" : "]";
}

void append_clock(std::string& out, const policy::Evidence& evidence) {
  JsonMembers members(out);
  members.add("run_ns", evidence.run_time.count());
  members.add("wall_us", evidence.wall.count());
  members.end();
}

Json to_json(const std::vector<policy::MeterReading>& readings) {
  Json all = Json::array();
  for (const auto& reading : readings) {
    all.push_back({{"layer", reading.layer},
                   {"rule", reading.rule},
                   {"calls", reading.calls},
                   {"in_window", reading.in_window},
                   {"bytes_in", reading.bytes_in},
                   {"bytes_out", reading.bytes_out},
                   {"cost", reading.cost}});
  }
  return all;
}

Json missed_of(const Check& check) {
  const policy::AuditLevel level = level_of_words(check);
  Json all = Json::array();
  for (const auto& missed : check.evidence.missed) {
    Json json = {{"layer", missed.layer}, {"rule", missed.rule}};
    if (level == policy::AuditLevel::kArgs) json["why"] = bounded(missed.why, kRecordedName);
    if (level == policy::AuditLevel::kHash) json["why"] = bounded(missed.plain, kRecordedName);
    all.push_back(std::move(json));
  }
  return all;
}

Json asks_of(const Check& check) {
  Json all = Json::array();
  for (const auto& rule : check.asks) all.push_back({{"layer", rule.layer}, {"rule", rule.rule}});
  return all;
}

Json paths_of(const Check& check) {
  Json all = Json::array();
  for (const auto& fact : check.evidence.paths) all.push_back(policy::to_json(fact));
  return all;
}

void add_bounded(JsonMembers& members, std::string_view name, std::string_view text,
                 std::size_t limit) {
  if (text.size() <= limit) return members.add(name, text);
  members.add(name, bounded(text, limit));
}

// Null where it is empty, or not to be known.
void add_or_null(JsonMembers& members, std::string_view name, std::string_view text) {
  if (text.empty()) return members.add_null(name);
  members.add(name, text);
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

// In the order of their names, as the text of a value has them.
std::string check_payload(const Check& check, std::string_view decision_id, Mode mode) {
  constexpr std::size_t kUsual = 1024;
  std::string out;
  out.reserve(kUsual);
  const bool is_meta = check.level == policy::AuditLevel::kMeta;
  const bool is_whole = check.level == policy::AuditLevel::kArgs && check.arguments;
  const bool is_of_rules =
      check.decided_by == DecidedBy::kPolicy || check.decided_by == DecidedBy::kApproval;
  const policy::Evidence& evidence = check.evidence;
  JsonMembers members(out);
  members.add("allowed", check.allowed);
  if (!check.approval.empty()) members.add("approval", check.approval);
  if (is_whole) members.add_json("arguments", *check.arguments);
  add_or_null(members, "arguments_digest", is_meta ? "" : check.arguments_digest);
  if (!check.asks.empty()) members.add_json("asks", asks_of(check));
  if (is_of_rules && evidence.bytes_out > 0) members.add("bytes_out", evidence.bytes_out);
  members.add("call_id", check.call_id);
  add_bounded(members, "capability", check.capability, kRecordedName);
  if (is_of_rules) append_clock(members.begin("clock"), evidence);
  if (is_of_rules && evidence.cost > 0) members.add("cost", evidence.cost);
  members.add("decided_by", to_string(check.decided_by));
  add_bounded(members, "layer", check.layer, kRecordedName);
  if (is_of_rules) append_layers(members.begin("layers"), evidence.layers);
  members.add("level", policy::to_string(check.level));
  if (const auto& mentioned = check.targets.mentioned; !mentioned.empty() && !is_meta)
    members.add_json("mentions", Json(mentioned));
  if (is_of_rules && !evidence.meters.empty()) members.add_json("meters", to_json(evidence.meters));
  if (is_of_rules && !check.allowed && !evidence.missed.empty())
    members.add_json("missed", missed_of(check));
  if (is_of_rules && !check.allowed && evidence.missed_further > 0)
    members.add("missed_further", evidence.missed_further);
  members.add("mode", mode == Mode::kEnforce ? "enforce" : "observe");
  if (is_whole && !check.redacted && !evidence.paths.empty())
    members.add_json("paths", paths_of(check));
  members.add("policy_decision_id", decision_id);
  if (!check.program_run.empty()) members.add("program_run", check.program_run);
  add_bounded(members, "reason", reason_of(check), kRecordedText);
  if (check.redacted && !is_meta) members.add("redacted", true);
  add_bounded(members, "rule", check.rule, kRecordedText);
  const auto& targets = check.targets.listed;
  if (targets.empty() || is_meta)
    members.add_null("target");
  else
    members.add("target", targets.front());
  if (targets.size() > 1 && !is_meta) members.add_json("targets", Json(targets));
  add_or_null(members, "tool_digest", check.tool_digest);
  if (const auto unlisted = is_meta ? Targets::Unlisted::kPlaces : check.targets.unlisted;
      unlisted != Targets::Unlisted::kNone)
    members.add("unlisted", unlisted == Targets::Unlisted::kNames ? "names" : "places");
  if (check.would_deny) members.add("would_deny", true);
  members.end();
  return out;
}

std::string finished_payload(std::uint64_t call_id, std::string_view outcome,
                             std::int64_t duration_us, std::optional<std::size_t> result_bytes,
                             std::optional<std::size_t> charged_bytes) {
  std::string out;
  JsonMembers members(out);
  members.add("call_id", call_id);
  if (charged_bytes) members.add("charged_bytes", *charged_bytes);
  members.add("duration_us", duration_us);
  members.add("outcome", outcome);
  if (result_bytes) members.add("result_bytes", *result_bytes);
  members.end();
  return out;
}

bool is_place_key(std::string_view key) {
  // Of a longer name nothing is looked up: it may be asked for once an element.
  constexpr std::size_t kLongestKey = 128;
  if (key.size() > kLongestKey) return false;
  if (policy::place_named(key) != policy::ParameterKind::kNone) return true;
  constexpr std::array<std::string_view, 8> kMoved = {"source",       "sources",     "destination",
                                                      "destinations", "repo",        "repos",
                                                      "repository",   "repositories"};
  const auto words = policy::words_of(key);
  return !words.empty() && std::ranges::find(kMoved, words.back()) != kMoved.end();
}

Targets targets_of(const Json& arguments) {
  return TargetFinder().find(arguments);
}

}  // namespace mcpac::gate
