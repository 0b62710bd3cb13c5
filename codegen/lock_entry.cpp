// SPDX-License-Identifier: Apache-2.0

#include "codegen/lock_entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "codegen/json_text.h"
#include "codegen/resolve.h"
#include "core/quantity.h"

namespace mcpac::codegen {
namespace {

namespace fs = std::filesystem;
using Effect = EntryChange::Effect;

constexpr std::array<std::string_view, 4> kKeptMembers = {"cwd", "env", "headers", "sandbox"};

std::string member_text(const OrderedJson* value) {
  if (value == nullptr || value->is_null()) return "";
  return value->is_string() ? value->get<std::string>() : compact_json(*value);
}

void compare_value(const std::string& member, const OrderedJson* before, const OrderedJson* after,
                   Effect effect, std::vector<EntryChange>& changes) {
  std::string old_text = member_text(before);
  std::string new_text = member_text(after);
  if (old_text == new_text) return;
  changes.push_back({member, std::move(old_text), std::move(new_text), effect});
}

// Variables and headers, each by itself.
void compare_map(const std::string& member, const OrderedJson* before, const OrderedJson* after,
                 std::vector<EntryChange>& changes) {
  static const OrderedJson kNone = OrderedJson::object();
  const OrderedJson& was = before == nullptr ? kNone : *before;
  const OrderedJson& now = after == nullptr ? kNone : *after;
  std::set<std::string> names;
  for (const auto& entry : was.items()) names.insert(entry.key());
  for (const auto& entry : now.items()) names.insert(entry.key());
  for (const std::string& name : names)
    compare_value(fmt::format("{}.{}", member, name), keyword(was, name), keyword(now, name),
                  Effect::kAnother, changes);
}

// "PATH", "PATH:ro" or "PATH:rw".
struct Place {
  fs::path path;
  bool is_writable = false;
};
Place place_of_text(std::string_view text) {
  Place place;
  place.is_writable = text.ends_with(":rw");
  if (place.is_writable || text.ends_with(":ro")) text.remove_suffix(3);
  place.path = fs::path(text).lexically_normal();
  if (!place.path.has_filename() && place.path.has_parent_path() && place.path != "/")
    place.path = place.path.parent_path();
  return place;
}

bool is_within(const Place& inner, const Place& outer) {
  if (inner.is_writable && !outer.is_writable) return false;
  if (inner.path.is_absolute() != outer.path.is_absolute()) return false;
  const fs::path rest = inner.path.lexically_relative(outer.path);
  return !rest.empty() && *rest.begin() != "..";
}

bool is_said(const std::string& text, const OrderedJson& by) {
  return std::ranges::any_of(by, [&](const OrderedJson& one) { return one == text; });
}

// What a reference stands for is known at a start alone.
bool is_place_given(const std::string& text, const OrderedJson& by) {
  if (is_said(text, by)) return true;
  if (text.contains("${")) return false;
  const Place inner = place_of_text(text);
  return std::ranges::any_of(by, [&](const OrderedJson& one) {
    return one.is_string() && !one.get_ref<const std::string&>().contains("${") &&
           is_within(inner, place_of_text(one.get_ref<const std::string&>()));
  });
}

// Each entry of `after` is given by one of `before`.
template <class Given>
bool only_takes_away(const OrderedJson* before, const OrderedJson* after, Given given) {
  if (after == nullptr || after->empty()) return true;
  if (before == nullptr || !before->is_array() || !after->is_array()) return false;
  return std::ranges::all_of(*after, [&](const OrderedJson& one) {
    return one.is_string() && given(one.get<std::string>(), *before);
  });
}

// What limits a server ("memory"): none is more than any, and a size more than a smaller one. Of
// "share" likewise: a process that is one client's has less than one with the places of all.
bool limits_more(const OrderedJson* before, const OrderedJson* after) {
  if (before == nullptr || after == nullptr) return before == nullptr;
  if (!before->is_string() || !after->is_string()) return false;
  const auto was = parse_size(before->get_ref<const std::string&>());
  const auto is = parse_size(after->get_ref<const std::string&>());
  return was && is && *is <= *was;
}

void compare_sandbox(const OrderedJson* before, const OrderedJson* after,
                     std::vector<EntryChange>& changes) {
  if (before == nullptr) return compare_value("sandbox", before, after, Effect::kNarrower, changes);
  if (after == nullptr) return compare_value("sandbox", before, after, Effect::kAnother, changes);
  std::set<std::string> names;
  for (const auto& entry : before->items()) names.insert(entry.key());
  for (const auto& entry : after->items()) names.insert(entry.key());
  for (const std::string& name : names) {
    const OrderedJson* was = keyword(*before, name);
    const OrderedJson* is = keyword(*after, name);
    const bool is_less = name == "files"     ? only_takes_away(was, is, is_place_given)
                         : name == "network" ? only_takes_away(was, is, is_said)
                                             : limits_more(was, is);
    compare_value("sandbox." + name, was, is, is_less ? Effect::kNarrower : Effect::kAnother,
                  changes);
  }
}

}  // namespace

bool is_lock_entry(const OrderedJson& value) {
  if (!value.is_object()) return false;
  for (const auto& [name, part] : value.items()) {
    const auto is_text = [](const OrderedJson& text) { return text.is_string(); };
    const bool fits = name == "cwd"       ? part.is_string()
                      : name == "sandbox" ? part.is_object()
                                          : part.is_object() && std::ranges::all_of(part, is_text);
    if (!fits || std::ranges::find(kKeptMembers, name) == kKeptMembers.end()) return false;
  }
  return true;
}

std::vector<EntryChange> compare_entries(const OrderedJson& locked, const OrderedJson& live) {
  static const OrderedJson kNone = OrderedJson::object();
  std::vector<EntryChange> changes;
  if (!live.is_object()) return changes;
  const bool is_first = !locked.is_object();
  const OrderedJson& before = is_first ? kNone : locked;
  compare_value("cwd", keyword(before, "cwd"), keyword(live, "cwd"), Effect::kAnother, changes);
  compare_map("env", keyword(before, "env"), keyword(live, "env"), changes);
  compare_map("headers", keyword(before, "headers"), keyword(live, "headers"), changes);
  compare_sandbox(keyword(before, "sandbox"), keyword(live, "sandbox"), changes);
  if (is_first) {
    for (EntryChange& one : changes) one.effect = Effect::kFirst;
  }
  return changes;
}

bool starts_another(const std::vector<EntryChange>& changes) {
  return std::ranges::any_of(changes,
                             [](const EntryChange& one) { return one.effect == Effect::kAnother; });
}

std::string in_words(const EntryChange& change) {
  const bool is_of_sandbox = change.member.starts_with("sandbox.");
  const bool is_another = change.effect == Effect::kAnother;
  return fmt::format("\"{}\" {}", change.member,
                     is_of_sandbox           ? (is_another ? "gives it more" : "gives it less")
                     : change.after.empty()  ? "was taken away"
                     : change.before.empty() ? "was added"
                                             : "was changed");
}

}  // namespace mcpac::codegen
