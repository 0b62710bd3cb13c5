// SPDX-License-Identifier: Apache-2.0

// MemberReader: the members of an object that is being read, each name once.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include "core/json.h"

namespace mcpac {

// Of one object: the reader alone adds its members.
template <class Value>
class MemberReader {
 public:
  // The member's value, null so far; a null pointer: the name, which stays, stands there already.
  Value* add(typename Value::object_t& members, std::string& name) {
    if constexpr (std::is_same_v<Value, OrderedJson>) {
      // Names are known to be new, so the linear search of ordered_map::emplace can be skipped.
      if (!is_new(members, name)) return nullptr;
      auto& list = static_cast<typename Value::object_t::Container&>(members);
      make_room(list);
      return &list.emplace_back(std::move(name), nullptr).second;
    } else {
      const auto [place, added] = members.try_emplace(std::move(name), nullptr);
      return added ? &place->second : nullptr;
    }
  }

 private:
  // Few names are compared one by one.
  bool is_new(const typename Value::object_t& members, const std::string& name) {
    constexpr std::size_t kFew = 16;
    if (members.size() < kFew)
      return std::ranges::none_of(members, [&](const auto& m) { return m.first == name; });
    if (seen_.empty()) {
      for (const auto& [known, value] : members) seen_.insert(known);
    }
    return seen_.insert(name).second;
  }
  // A vector of pairs with constant names copies them, and all below them, when it grows by itself.
  template <class List>
  static void make_room(List& list) {
    if (list.size() < list.capacity()) return;
    List larger;
    larger.reserve(std::max<std::size_t>(8, list.capacity() * 2));
    for (auto& [name, value] : list) larger.emplace_back(name, std::move(value));
    list.swap(larger);
  }

  struct Nothing {};
  std::conditional_t<std::is_same_v<Value, OrderedJson>, std::unordered_set<std::string>, Nothing>
      seen_;
};

}  // namespace mcpac
