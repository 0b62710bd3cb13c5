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

std::string_view outcome_of(Sent sent) {
  switch (sent) {
    case Sent::kNo: return "not_sent";
    case Sent::kMaybeDone: return "unknown";
    case Sent::kDone: return "done";
    case Sent::kUnsaid:
    case Sent::kRefused: break;
  }
  return "";
}

std::string_view outcome_words(Sent sent) {
  switch (sent) {
    case Sent::kNo: return "the call was not sent";
    case Sent::kMaybeDone:
      return "the call was sent and may have been done: look before you repeat it";
    case Sent::kDone: return "the call was done: look before you repeat it";
    case Sent::kUnsaid:
    case Sent::kRefused: break;
  }
  return "";
}

std::unexpected<Error> fail(ErrorId id, std::string what, ErrorDetails details) {
  return std::unexpected<Error>(Error{id, std::move(what), std::move(details.where),
                                      std::move(details.why), std::move(details.fix),
                                      details.sent});
}

}  // namespace mcpac
