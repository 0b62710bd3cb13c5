// SPDX-License-Identifier: Apache-2.0

// Possible: does a target match a call that is known in part?
//
// Three-valued: always and never hold for every value of the unknown arguments and whatever the
// file system will be; between them lies maybe, also where a finer look could still tell. It must
// agree with matches() (policy/evaluate.h) on every call that the known part can become; a test
// holds the two together.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "core/json_schema.h"
#include "policy/rules/compiled.h"
#include "policy/rules/schema_view.h"

namespace mcpac::policy {

enum class Chance : std::uint8_t { kNever, kMaybe, kAlways };

// A call as its schema completes it: defaults are filled in where it is certain that they will be.
struct PossibleCall {
  const Permission& permission;
  Json known;
  std::set<std::string> unknown;
  std::set<std::string> always_there;  // of the unknown: required, or filled by a default
  std::set<std::string> has_default;   // of the unknown
  bool open = false;
  const Json* schema = nullptr;                          // null for control permissions
  std::shared_ptr<const JsonSchema> compiled = nullptr;  // the same
  std::shared_ptr<const SchemaDefaults> defaults = nullptr;

  [[nodiscard]] bool may_have(const std::string& name) const {
    return unknown.contains(name) || (open && !known.contains(name));
  }
  [[nodiscard]] const DefaultPlace* left_out() const {
    return defaults == nullptr ? nullptr : defaults->root();
  }
  [[nodiscard]] const UnfilledDefaults* unfilled() const {
    return defaults == nullptr ? nullptr : &defaults->unfilled();
  }
  [[nodiscard]] SchemaView view() const {
    return schema == nullptr ? SchemaView() : SchemaView(*schema, unfilled());
  }
};

// What a maybe hangs on, and why a never is one.
struct Grounds {
  std::set<std::string> arguments;
  bool unread_arguments = false;  // that may be passed, but whose names are not known
  bool file_system = false;
  std::string miss;        // the first test that certainly fails
  std::size_t passed = 0;  // tests that certainly hold, before that one

  void add(const Grounds& other);
};

[[nodiscard]] Chance possible_match(const CompiledTarget& target, Effect effect,
                                    const PossibleCall& call, Grounds& grounds);

}  // namespace mcpac::policy
