// Names: how the original names of servers, tools, properties and enum values become C++
// identifiers.
//
// The one rule, stable because it looks at nothing but the names of one scope:
//   1. every character that an identifier cannot hold becomes '_' (a whole UTF-8 character, one
//   '_');
//   2. a leading digit gets a '_' before it; an empty name is '_'; 200 characters are enough;
//   3. a keyword, a macro of the C and C++ headers, a name reserved to the implementation or a word
//   the
//      scope needs itself gets a '_' after it;
//   4. where two collide, the one that was legal from the start keeps its name and the others get
//      '_2', '_3', … in the order of their original names.
// Originals never change: they stay on the wire, in grants and in the generated string literals.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpac::codegen {

// Steps 1 and 2.
[[nodiscard]] std::string to_identifier(std::string_view original);

// Keywords of every C++ until 26 and alternative tokens; macros that standard and POSIX headers
// define;
// "__x" and "_X", which belong to the implementation; and mcpac's own namespaces.
[[nodiscard]] bool is_reserved_word(std::string_view identifier);

// Steps 1 to 4 for all names of one scope; the answer has the order of `originals`, which must be
// distinct. `own_words` are what the scope declares itself (a tool's `Args`, for example).
[[nodiscard]] std::vector<std::string> assign_names(const std::vector<std::string>& originals,
                                                    const std::set<std::string>& own_words = {});

// "creator" and "due_date" -> "Creator", "DueDate"; empty where no letter or digit is left.
[[nodiscard]] std::string to_pascal_case(std::string_view text);

// The names already used in one scope.
class NameScope {
 public:
  NameScope() = default;
  explicit NameScope(std::set<std::string> taken) : taken_(std::move(taken)) {}
  void take(std::string name) { taken_.insert(std::move(name)); }
  // `base` if nobody has it, else base_2, base_3, …; the answer is taken from then on.
  [[nodiscard]] std::string claim(const std::string& base);

 private:
  std::set<std::string> taken_;
  std::map<std::string, std::size_t> next_;  // so that many equal names stay linear
};

}  // namespace mcpac::codegen
