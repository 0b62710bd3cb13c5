// SPDX-License-Identifier: Apache-2.0

// Given arguments: the braces of a call as its writer spelled them, as a tree.
//
// A call that does not compile has no arguments in the syntax tree, only text; so this reads
// tokens. What it does not understand it leaves out whole, for a wrong hint is worse than none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/clang/tokens.h"

namespace mcpac::analyzer {

// `.edits = {{.oldText = "a"}}`: a member whose value has one element, which has one member.
struct Given {
  enum class Form : std::uint8_t { kExpression, kMembers, kElements };
  std::string name{};  // of a designator; empty for an element
  Place place{};
  Form form = Form::kExpression;
  std::string text{};               // of an expression, in one line
  std::vector<Token> expression{};  // the same
  std::vector<Given> inside{};      // of braces
};

// The value between the parentheses that open at `paren`; nothing where there is not exactly one.
// A call without arguments is an empty list of members.
[[nodiscard]] std::optional<Given> given_in(const std::vector<Token>& tokens, std::size_t paren);

// As it would be written: "{.a = 1, .b = {"x"}}".
[[nodiscard]] std::string to_text(const Given& given);

}  // namespace mcpac::analyzer
