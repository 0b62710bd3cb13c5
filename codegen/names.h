// SPDX-License-Identifier: Apache-2.0

// Names: mapping from the names of servers, tools, properties and enum values to C++ identifiers.
//
// The one rule; it looks at nothing but the names of one scope and what the lock has of them:
//   1. every character that an identifier cannot hold becomes '_' (a whole UTF-8 character, one
//      '_'); a leading digit gets a '_' before it; an empty name is '_'; 200 characters are enough;
//   2. a keyword, a macro of the C and C++ headers, a name reserved to the implementation or a word
//      the scope needs itself gets a '_' after it; where that is reserved, too (`__FILE_`, `_Bool`,
//      `LC_ALL`), it gets 'x_' before it instead, and each run of '_' becomes one;
//   3. a name that mcpac.lock has stays with its owner, whatever other names come or go, until a
//      person accepts that the owner is gone;
//   4. of the new ones, who was legal from the start takes its own name if it is free; the others
//      follow in the order of their originals, and get '_2', '_3', … where a name is taken.
// Servers, whose names are those of files too, count upper and lower case as the same.
// Originals never change: they stay on the wire, in grants and in the generated string literals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpac::codegen {

// Step 1.
[[nodiscard]] std::string to_identifier(std::string_view original);

// Keywords of every C++ until 26 and alternative tokens; macros that standard and POSIX headers
// define;
// "__x" and "_X", which belong to the implementation; and mcpac's own namespaces.
[[nodiscard]] bool is_reserved_word(std::string_view identifier);

// Step 2 for a name that is alone: `name` itself where it is no reserved word.
[[nodiscard]] std::string unreserved(std::string name);

// One of the names that the rule can give to `original`, now or in an earlier lock: a tool cannot
// be pinned to a name that says something else.
[[nodiscard]] bool is_name_of(std::string_view identifier, std::string_view original);

enum class Letters : std::uint8_t { kDiffer, kIgnoreCase };

struct Scope {
  std::set<std::string> own_words{};            // what the scope declares itself: a tool's `Args`
  std::map<std::string, std::string> pinned{};  // original -> the name it has in the lock
  Letters letters = Letters::kDiffer;
};

// The whole rule for all names of one scope; the answer has the order of `originals`, which must
// be distinct. A pinned name that is no name of its original, or became a reserved word, is given
// up.
[[nodiscard]] std::vector<std::string> assign_names_in(const Scope& scope,
                                                       const std::vector<std::string>& originals);
// The same where nothing is pinned: properties and enum values, whose tool is locked as a whole.
[[nodiscard]] std::vector<std::string> assign_names(const std::vector<std::string>& originals,
                                                    const std::set<std::string>& own_words = {});

// "creator" and "due_date" -> "Creator", "DueDate"; empty where no letter or digit is left.
[[nodiscard]] std::string to_pascal_case(std::string_view text);

// The names already used in one scope.
class NameScope {
 public:
  NameScope() = default;
  explicit NameScope(const std::set<std::string>& taken, Letters letters = Letters::kDiffer)
      : letters_(letters) {
    for (const std::string& name : taken) take(name);
  }
  // False where it is taken already.
  bool take(const std::string& name) { return taken_.insert(key(name)).second; }
  [[nodiscard]] bool has(const std::string& name) const { return taken_.contains(key(name)); }
  // `base` if it is free, else base_2, base_3, …; the answer is taken from then on.
  [[nodiscard]] std::string claim(const std::string& base);

 private:
  [[nodiscard]] std::string key(std::string name) const;

  Letters letters_ = Letters::kDiffer;
  std::set<std::string> taken_;
  std::map<std::string, std::size_t> next_;  // so that many equal names stay linear
};

// As claim, for a name that is alone: what comes out is no reserved word, with its number or not.
[[nodiscard]] std::string claim_unreserved(NameScope& taken, const std::string& base);

}  // namespace mcpac::codegen
