#include "core/error.h"

#include <fmt/format.h>

namespace mcpac {

std::string Error::to_text() const {
  std::string text = fmt::format("error[{}]: {}", to_string(id), what);
  if (!where.empty()) text += fmt::format("\n  --> {}", where);
  if (!why.empty()) text += fmt::format("\n  why: {}", why);
  if (!fix.empty()) text += fmt::format("\n  fix: {}", fix);
  return text;
}

std::unexpected<Error> fail(ErrorId id, std::string what, ErrorDetails details) {
  return std::unexpected<Error>(Error{id, std::move(what), std::move(details.where),
                                      std::move(details.why), std::move(details.fix)});
}

}  // namespace mcpac
