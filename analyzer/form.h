// SPDX-License-Identifier: Apache-2.0

// Form: strict reader of untrusted JSON into plain structs, with one error.
//
// A member that is missing, of another type, too long or unknown fails the whole reading; the error
// names it by JSON pointer. Reading goes on after the first failure with empty values, so a reader
// is straight code and asks once, at the end, whether all was well.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/json.h"

namespace mcpac::analyzer {

// A report speaks of one program: a list of more entries than this is a flood, not a report.
inline constexpr std::size_t kMaxEntries = 100'000;
// The longest text that a report may carry; clang's own messages stay far below.
inline constexpr std::size_t kMaxText = 64U << 10U;

class Form {
 public:
  // Every member of `object` must be among `names`, and each must be there.
  void expect_members(const Json& object, std::initializer_list<std::string_view> names,
                      std::string_view at);
  std::string text(const Json& object, std::string_view name, std::string_view at);
  unsigned number(const Json& object, std::string_view name, std::string_view at);
  bool truth(const Json& object, std::string_view name, std::string_view at);
  // An array or an object of at most kMaxEntries entries; an empty one where it is not.
  const Json& list(const Json& object, std::string_view name, std::string_view at);
  const Json& map(const Json& object, std::string_view name, std::string_view at);
  // Text that must be there as the value itself.
  std::string text_value(const Json& value, std::string_view at);

  void reject(std::string_view at, std::string_view why);
  [[nodiscard]] bool failed() const { return !why_.empty(); }
  [[nodiscard]] std::unexpected<Error> error(std::string_view what) const;

 private:
  const Json* member(const Json& object, std::string_view name, std::string_view at);
  std::string at_;
  std::string why_;
};

}  // namespace mcpac::analyzer
