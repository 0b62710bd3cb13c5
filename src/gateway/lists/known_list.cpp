#include "gateway/lists/known_list.h"

#include <algorithm>
#include <string>
#include <utility>

namespace mcpac::gateway {

KnownList::KnownList(ListKind kind, std::vector<Json> entries) : entries_(std::move(entries)) {
  keys_.reserve(entries_.size());
  for (const Json& entry : entries_) {
    const Json* key = find_member(entry, key_of(kind));
    if (key != nullptr && key->is_string()) keys_.push_back(key->get_ref<const std::string&>());
  }
  for (const std::string_view key : keys_) weight_ += key.size() + 1;
  if (kind == ListKind::kTemplates) {
    patterns_.reserve(keys_.size());
    for (const std::string_view text : keys_) patterns_.emplace_back(text);
  }
  std::ranges::sort(keys_);
}

// A step for each key that it is held against, whatever their length: a comparison is quick.
bool KnownList::has(std::string_view key, Work& work) const {
  return std::ranges::binary_search(keys_, key, [&](std::string_view one, std::string_view other) {
    work.spend(1);
    return one < other;
  });
}

Meaning KnownList::may_mean(std::string_view uri, Work& work) const {
  for (const UriPattern& pattern : patterns_) {
    if (const auto meaning = pattern.may_mean(uri, work); meaning != Meaning::kNo) return meaning;
  }
  return Meaning::kNo;
}

}  // namespace mcpac::gateway
