// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/given_arguments.h"

#include <string_view>
#include <utility>

namespace mcpac::analyzer {
namespace {

// Deeper than any schema that a server was seen with; text has no other bound.
constexpr int kDeepestArgument = 16;

using Tokens = std::vector<Token>;

bool is_word(const Token& token) {
  return token.kind != CXToken_Punctuation;
}

class Reader {
 public:
  Reader(const Tokens& tokens, std::size_t at) : tokens_(tokens), at_(at) {}

  std::optional<Given> value(int depth) {
    if (depth > kDeepestArgument || at_ >= tokens_.size()) return std::nullopt;
    if (text() != "{") return expression();
    Given given{.place = tokens_[at_].place, .form = Given::Form::kElements};
    ++at_;
    if (text() == ".") given.form = Given::Form::kMembers;
    while (text() != "}") {
      auto item = given.form == Given::Form::kMembers ? member(depth) : value(depth + 1);
      if (!item) return std::nullopt;
      given.inside.push_back(std::move(*item));
      if (text() == ",") {
        ++at_;
      } else if (text() != "}") {
        return std::nullopt;
      }
    }
    ++at_;
    // `{…}.size()` or the like is no list.
    return is_end() ? std::optional(std::move(given)) : std::nullopt;
  }

  // The text of the token at hand; empty at the end and within directives.
  [[nodiscard]] std::string_view text() const {
    return at_ < tokens_.size() && !tokens_[at_].in_directive ? std::string_view(tokens_[at_].text)
                                                              : std::string_view();
  }

 private:
  [[nodiscard]] bool is_end() const { return text() == "," || closes(text()); }

  // `.name = value` or `.name{…}`
  std::optional<Given> member(int depth) {
    if (text() != "." || at_ + 2 >= tokens_.size()) return std::nullopt;
    const Token& name = tokens_[at_ + 1];
    if (name.kind != CXToken_Identifier) return std::nullopt;
    at_ += 2;
    if (text() == "=") ++at_;
    auto given = value(depth + 1);
    if (!given) return std::nullopt;
    given->name = name.text;
    given->place = name.place;
    return given;
  }

  std::optional<Given> expression() {
    Given given{.place = tokens_[at_].place};
    int depth = 0;
    for (; !text().empty(); ++at_) {
      if (depth == 0 && is_end()) break;
      depth += opens(text()) ? 1 : closes(text()) ? -1 : 0;
      const bool words =
          !given.expression.empty() && is_word(given.expression.back()) && is_word(tokens_[at_]);
      given.text += (words ? " " : "") + tokens_[at_].text;
      given.expression.push_back(tokens_[at_]);
    }
    if (given.expression.empty() || text().empty()) return std::nullopt;
    return given;
  }

  const Tokens& tokens_;
  std::size_t at_;
};

}  // namespace

std::optional<Given> given_in(const Tokens& tokens, std::size_t paren) {
  Reader reader(tokens, paren + 1);
  if (reader.text() == ")")
    return Given{.place = tokens[paren].place, .form = Given::Form::kMembers};
  auto given = reader.value(0);
  return given && reader.text() == ")" ? given : std::nullopt;
}

std::string to_text(const Given& given) {
  if (given.form == Given::Form::kExpression) return given.text;
  std::string text;
  for (const Given& item : given.inside) {
    if (!text.empty()) text += ", ";
    if (!item.name.empty()) text += "." + item.name + " = ";
    text += to_text(item);
  }
  return "{" + text + "}";
}

}  // namespace mcpac::analyzer
