// SPDX-License-Identifier: Apache-2.0

// Error and Result: failures by untrusted input or the kernel, in every module of mcpac.
//
// An Error answers four questions: what went wrong, where, why it is a rule, how to fix it. A
// refusal (a denied call) is a value of its own, not an Error; a bug of ours is an exception.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "core/error_id.h"

namespace mcpac {

// Of an error in place of a call's answer: what became of the call. A repetition of one that was
// done does twice what should happen once.
enum class Sent : std::uint8_t {
  kUnsaid,     // the id says it, where the error is about a call at all
  kNo,         // its server has nothing of it
  kRefused,    // its server said that it did nothing
  kMaybeDone,  // its server had it, and no answer came
  kDone        // its server answered, and the answer is lost
};
// "not_sent", "unknown", "done"; empty for the others. What programs read as `outcome`.
[[nodiscard]] std::string_view outcome_of(Sent sent);
// The same as a sentence for people and models, without an end.
[[nodiscard]] std::string_view outcome_words(Sent sent);

struct Error {
  ErrorId id = ErrorId::kInternal;
  std::string what;   // one sentence that names the offending thing
  std::string where;  // "file:line:column", "server filesystem", "/arguments/path"; may be empty
  std::string why;    // the rule behind it; may be empty
  std::string fix;    // what to do, as text to paste where possible; may be empty
  Sent sent = Sent::kUnsaid;

  // "error[MCPAC-E0103]: what\n  --> where\n  why: …\n  fix: …", without a final newline.
  [[nodiscard]] std::string to_text() const;

  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
using Result = std::expected<T, Error>;

// return fail(ErrorId::kFileUnreadable, "cannot read agent.cpp", {.where = …, .fix = …});
struct ErrorDetails {
  std::string where{};
  std::string why{};
  std::string fix{};
  Sent sent = Sent::kUnsaid;
};

[[nodiscard]] std::unexpected<Error> fail(ErrorId id, std::string what, ErrorDetails details = {});

// Passes the error of one Result on as the error of another.
template <class T>
[[nodiscard]] std::unexpected<Error> pass_on(Result<T>& failed) {
  return std::unexpected<Error>(std::move(failed.error()));
}

}  // namespace mcpac
