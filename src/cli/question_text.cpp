// SPDX-License-Identifier: Apache-2.0

#include "cli/question_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/ascii.h"
#include "core/permission.h"
#include "core/printable.h"
#include "core/quantity.h"
#include "policy/explain/lint.h"
#include "run/asking/question_json.h"
#include "run/check/authorities.h"

namespace mcpac::cli {
namespace {

// One screen: what does not fit is counted.
constexpr std::size_t kMaxLines = 24;
constexpr std::size_t kMaxName = 80;
constexpr std::size_t kMaxValue = 300;
constexpr std::size_t kMaxWhole = std::size_t{256} << 10U;
constexpr std::size_t kMaxRule = 1'000;

std::string cut(const std::string& text, std::size_t limit) {
  if (text.size() <= limit) return text;
  return fmt::format("{}... ({} bytes in all)", text.substr(0, limit), text.size());
}

// No line of ours reaches the edge of a terminal: what the terminal broke there could look like a
// line of ours.
constexpr std::size_t kMaxLine = 78;
constexpr std::string_view kContinued = "    | ";

std::string broken_up(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    std::size_t room = kMaxLine;
    for (; line.size() > room; room = kMaxLine - kContinued.size()) {
      lines.append(line.substr(0, room)).append("\n").append(kContinued);
      line.remove_prefix(room);
    }
    lines.append(line).append("\n");
  }
  return lines;
}

// A run of blanks says as much as one, and could push what follows to where a line of ours would
// be.
void mark_blanks(std::string& json) {
  for (std::size_t at = 0; (at = json.find("  ", at)) != std::string::npos; at += 7)
    json.replace(at + 1, 1, "\\u0020");
}

// printable() knows what a reader does not see; the rest beyond ASCII may look like something else.
std::string ascii_json(const Json& value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  for (std::size_t at = 0; (at = text.find('\x7f', at)) != std::string::npos;)
    text.replace(at, 1, "\\u007f");
  mark_blanks(text);
  return text;
}

// The same without the quotes around it, and with those in it as they are.
std::string ascii(std::string_view text, std::size_t limit) {
  std::string shown = ascii_json(Json(std::string(text)));
  shown = shown.substr(1, shown.size() - 2);
  for (std::size_t at = 0; (at = shown.find("\\\"", at)) != std::string::npos; ++at)
    shown.erase(at, 1);
  return cut(shown, limit);
}

// Where a tool takes any argument the program chooses names, too: one such as `path = "a"` must not
// read as an argument and its value.
std::string whole_name(const std::string& name) {
  const bool is_plain = !name.empty() && std::ranges::all_of(name, [](char c) {
    return is_bare(c) || c == '.' || c == '$';
  });
  return is_plain ? name : ascii_json(Json(name));
}

std::string name_text(const std::string& name) {
  return cut(whole_name(name), kMaxName);
}

bool are_whole(const Json& arguments) {
  if (arguments.size() > kMaxLines) return false;
  for (const auto& [name, value] : arguments.items()) {
    if (whole_name(name).size() > kMaxName || ascii_json(value).size() > kMaxValue) return false;
  }
  return true;
}

std::string arguments_text(const Json& arguments) {
  if (arguments.empty()) return "    (no arguments)\n";
  std::string text;
  std::size_t shown = 0;
  for (const auto& [name, value] : arguments.items()) {
    if (++shown > kMaxLines) {
      text +=
          fmt::format("    ... and {}\n", counted(arguments.size() - kMaxLines, "more argument"));
      break;
    }
    text += fmt::format("    {} = {}\n", name_text(name), cut(ascii_json(value), kMaxValue));
  }
  if (!are_whole(arguments)) text += "    NOT ALL OF IT IS SHOWN: answer `show` to see it\n";
  return text;
}

// The server is what mcpac.json calls it, the tool what the server does; never cut, since tools may
// differ in their last character alone. Anything else as it is.
std::string tool_text(std::string_view permission) {
  const auto parsed = Permission::parse(permission);
  if (!parsed) return ascii(permission, 200);
  return fmt::format("tool {} of server {}", whole_name(parsed->tool()), parsed->server());
}

// In quotes unless it is a plain path, so that its words do not go on as ours.
std::string program_text(std::string_view program) {
  if (program.empty()) return "the program";
  const bool is_plain =
      std::ranges::all_of(program, [](char c) { return is_bare(c) || c == '.' || c == '/'; });
  return cut(is_plain ? std::string(program) : ascii_json(Json(std::string(program))), 200);
}

std::string answers_text(std::size_t rules) {
  const std::string_view above = rules == 1 ? "the rule above asks" : "the rules above ask";
  return fmt::format(
      "  once        this call, exactly as it stands here\n"
      "  run         all calls of this tool that {} about, with\n"
      "              other arguments, too, to the end of the run; not other tools\n"
      "  until TIME  the same, also in later runs of exactly this program under\n"
      "              exactly these rules; 15m, 2h or 2026-01-31T18:00:00Z\n"
      "  no          not this call; Ctrl-D is a no, too\n"
      "  never       no call of this tool that {} about, in this\n"
      "              and such later runs\n"
      "The call waits for your answer, and its time counts against --timeout.\n",
      above, above);
}

std::string words_of(std::string_view line) {
  const auto begin = line.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  return std::string(line.substr(begin, line.find_last_not_of(" \t\r\n") - begin + 1));
}

}  // namespace

std::string question_text(const gate::Question& question, std::string_view program) {
  std::string text = fmt::format("mcpac asks: may {} make this call?", program_text(program));
  if (question.waiting > 0)
    text += fmt::format(" (waiting: {})", counted(question.waiting, "more question"));
  text +=
      fmt::format("\n  {}\n{}", tool_text(question.permission), arguments_text(question.arguments));
  text += fmt::format("  call {}  program {}\n", question.call_digest.substr(0, 16),
                      question.binding.program.substr(0, 16));
  for (const auto& rule : question.rules) {
    text += fmt::format("  asked by {}: {}\n", ascii(rule.layer, 80), ascii(rule.rule, kMaxRule));
    for (const auto& note : policy::open_ends(rule.rule))
      text += fmt::format("    note: {}\n", ascii(note, kMaxRule));
  }
  return broken_up(text) + answers_text(question.rules.size());
}

std::string question_text(const run::ProgramReview& review) {
  std::string text = fmt::format("mcpac asks: run {}?\n  program {}\n", ascii(review.program, 200),
                                 review.binding.program.substr(0, 16));
  text += "  it declares:\n";
  if (review.declared.empty()) text += "    nothing\n";
  std::size_t shown = 0;
  for (const auto& item : review.declared) {
    if (++shown > 4 * kMaxLines) {
      text += fmt::format("    ... and {} more\n", review.declared.size() - 4 * kMaxLines);
      break;
    }
    const bool says_why = item.standing != "allowed" && item.reason != item.standing;
    text += fmt::format("    {:8} {}{}{}\n", item.standing, ascii(item.text, kMaxRule),
                        item.is_new ? "  (NEW since the last approval)" : "",
                        says_why ? ": " + ascii(item.reason, kMaxRule) : "");
  }
  text += "  under these rules:\n";
  shown = 0;
  for (const auto& rule : review.rules) {
    if (++shown > 2 * kMaxLines) {
      text += fmt::format("    ... and {} more\n", review.rules.size() - 2 * kMaxLines);
      break;
    }
    text += fmt::format("    {}\n", ascii(rule, kMaxRule));
    for (const auto& note : policy::open_ends(run::rule_of_stated(rule)))
      text += fmt::format("      note: {}\n", ascii(note, kMaxRule));
  }
  for (const auto& gone : review.removed)
    text += fmt::format("  no longer declared: {}\n", ascii(gone, kMaxRule));
  text += review.last_approved.empty() ? "  It was not approved before.\n"
          : review.is_same
              ? fmt::format("  It was last approved at {}.\n", ascii(review.last_approved, 40))
              : fmt::format("  IT HAS CHANGED since it was last approved at {}.\n",
                            ascii(review.last_approved, 40));
  text +=
      "  yes runs it, and calls that ask are asked about when they are made. No,\n"
      "  Enter or Ctrl-D: it is not run.\n";
  return broken_up(text);
}

std::string whole_arguments(const gate::Question& question) {
  return broken_up(cut(ascii_json(question.arguments), kMaxWhole));
}

std::optional<gate::Reply> read_call_answer(std::string_view line,
                                            std::chrono::system_clock::time_point now) {
  const std::string words = words_of(line);
  if (words.starts_with("until ")) {
    const auto until = run::read_until(words_of(words.substr(6)), now);
    if (!until || *until <= now) return std::nullopt;
    return gate::Reply{.answer = gate::Answered::kUntil, .until = *until};
  }
  if (words == "n" || words == "N") return gate::Reply{.answer = gate::Answered::kNo};
  const auto answered = gate::answered_from(words);
  if (!answered || *answered == gate::Answered::kUntil) return std::nullopt;
  return gate::Reply{.answer = *answered};
}

std::string_view why_no_answer(std::string_view line) {
  if (words_of(line).starts_with("until"))
    return "until wants a time that is to come: 15m, 2h or 2026-01-31T18:00:00Z.";
  return kNoneOfTheAnswers;
}

std::optional<gate::Reply> read_program_answer(std::string_view line) {
  const std::string words = words_of(line);
  if (words == "y" || words == "Y" || words == "yes")
    return gate::Reply{.answer = gate::Answered::kOnce};
  if (words.empty() || words == "n" || words == "N" || words == "no")
    return gate::Reply{.answer = gate::Answered::kNo};
  return std::nullopt;
}

}  // namespace mcpac::cli
