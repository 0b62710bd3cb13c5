// SPDX-License-Identifier: Apache-2.0

// CallStarts: the folders that arguments of a call name as its start ("cwd", "dir", "repo_path"),
// which relative values beside them may count from.
//
// Such an argument is read as a place is: dressed, as a list, in JSON in a text, and by its default
// where the call leaves it out. Each reading is one more start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/json_schema.h"
#include "policy/match/path_value.h"

namespace mcpac::policy {

// What a parameter's name says of it: a folder that others count from, for certain ("cwd"), or as
// often something else ("repo", "base"), which then counts to an allow where it is absolute.
enum class StartName : std::uint8_t { kNone, kMaybe, kSure };
[[nodiscard]] StartName start_named(std::string_view parameter);

// A folder that an argument names, by one of its readings.
struct NamedFolder {
  PathValue path;
  // The first item of a text that may be a list, or one name with such a mark in it.
  bool is_beginning = false;
  // Which text and which argument name it: readings of one text do not stand below each other, and
  // neither do relative items of one list.
  std::size_t text = 0;
  std::size_t argument = 0;
};

// Found when they are asked for first. Borrows the arguments and the defaults; one thread.
class CallStarts {
 public:
  // More of them than a call names honestly, or arguments too deep: whatever is relative may be
  // anywhere.
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kMostJoined = 256;  // with those that stand below each other

  CallStarts() = default;
  // `defaults`: what a server may put where the call leaves a member out; null: nothing.
  explicit CallStarts(const Json& arguments, const DefaultPlace* defaults = nullptr)
      : arguments_(&arguments), defaults_(defaults) {}

  struct Found {
    // Each by itself, and relative ones below others as well.
    std::vector<NamedFolder> to_catch;
    std::vector<NamedFolder> admit;
    bool too_many = false;
    // One that is certainly a folder is written as no path test reads it: "$WORK", "~other", a
    // control byte.
    bool is_unreadable = false;
  };
  // `home`: one for all rules.
  [[nodiscard]] const Found& found(std::string_view home) const;

 private:
  const Json* arguments_ = nullptr;
  const DefaultPlace* defaults_ = nullptr;
  mutable std::optional<Found> found_;
};

}  // namespace mcpac::policy
