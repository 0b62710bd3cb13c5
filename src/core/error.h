// Error and Result: how every room of mcpac says that an outsider's input or the kernel failed it.
//
// An Error answers four questions: what went wrong, where, why it is a rule, how to fix it. A
// refusal (a denied call) is a value of its own, not an Error; a bug of ours is an exception.
#pragma once

#include <expected>
#include <string>
#include <utility>

#include "core/error_id.h"

namespace mcpac {

struct Error {
  ErrorId id = ErrorId::kInternal;
  std::string what;   // one sentence that names the offending thing
  std::string where;  // "file:line:column", "server filesystem", "/arguments/path"; may be empty
  std::string why;    // the rule behind it; may be empty
  std::string fix;    // what to do, as text to paste where possible; may be empty

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
};

[[nodiscard]] std::unexpected<Error> fail(ErrorId id, std::string what, ErrorDetails details = {});

// Passes the error of one Result on as the error of another.
template <class T>
[[nodiscard]] std::unexpected<Error> pass_on(Result<T>& failed) {
  return std::unexpected<Error>(std::move(failed.error()));
}

}  // namespace mcpac
