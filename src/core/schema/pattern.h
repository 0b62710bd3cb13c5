// SPDX-License-Identifier: Apache-2.0

// Pattern: a regular expression of a schema, as ECMA-262 reads it, run by RE2.
//
// RE2 takes time linear in the text, whatever the pattern; ECMA's own engines can be made to take
// exponential time by a server that writes the pattern and an agent that writes the text. The
// dialects differ, so the text is translated; what cannot be said in RE2 (look-around,
// back-references) is an error. The one exception are look-aheads right after a leading "^", which
// libraries write for e-mail addresses: "^(?!A)B" is exactly "B, and not ^A". Repetitions beyond
// RE2's thousand are written out in parts, or counted as the length of the text: "^[a-z]{1,5000}$"
// is exactly "^[a-z]*$, of 1 to 5000 characters".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace re2 {
class RE2;
}

namespace mcpac::schema {

class Pattern {
 public:
  // `budget` is what is left of the size that all patterns of one schema may have together, in RE2
  // instructions; it shrinks.
  static Result<Pattern> compile(std::string_view ecma, int& budget);
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  ~Pattern();

  // Whether it matches anywhere in the text.
  [[nodiscard]] bool matches(std::string_view text) const;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  enum class Wanted { kMatch, kNoMatch };
  struct Part {
    std::unique_ptr<re2::RE2> expression;
    Wanted wanted;
  };
  Pattern();
  Result<void> add(std::string_view ecma, Wanted wanted, int& budget);
  std::string text_;
  std::vector<Part> parts_;  // all must hold
  // And the length, in code points.
  std::uint64_t least_ = 0;
  std::optional<std::uint64_t> most_{};
};

}  // namespace mcpac::schema
