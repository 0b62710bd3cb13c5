// SPDX-License-Identifier: Apache-2.0

#include "core/error.h"

#include <fmt/format.h>

namespace mcpac {

namespace {

// Lines behind the first stand below it, and none of them is empty: a program's own may begin as
// ours do.
std::string indented_rest(std::string_view text) {
  constexpr std::string_view kIndent = "    ";
  std::string all(text.substr(0, text.find('\n')));
  for (text.remove_prefix(all.size()); !text.empty();) {
    text.remove_prefix(1);
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size());
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    all += '\n';
    if (!line.starts_with(kIndent)) all += kIndent;
    all += line;
  }
  return all;
}

}  // namespace

std::string Error::to_text() const {
  std::string text = fmt::format("error[{}]: {}", to_string(id), what);
  if (!where.empty()) text += fmt::format("\n  --> {}", where);
  if (!why.empty()) text += fmt::format("\n  why: {}", indented_rest(why));
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
