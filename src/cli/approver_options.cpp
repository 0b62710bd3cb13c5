// SPDX-License-Identifier: Apache-2.0

#include "cli/approver_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include <CLI/CLI.hpp>

#include "cli/terminal_approver.h"
#include "cli/worker_choice.h"
#include "run/asking/command_approver.h"

namespace mcpac::cli {

std::shared_ptr<ApproverOptions> add_approver_options(CLI::App& command,
                                                      std::string_view otherwise) {
  auto options = std::make_shared<ApproverOptions>();
  command
      .add_option("--approver", options->command,
                  fmt::format("a command that answers what --ask rules ask: JSON on its standard "
                              "input and output; without it, {}",
                              otherwise))
      ->type_name("COMMAND");
  command
      .add_option("--approver-timeout", options->timeout_seconds,
                  "seconds for one answer of the approver")
      ->capture_default_str();
  return options;
}

Result<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool is_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'') {
      if (++i == text.size())
        return fail(ErrorId::kUsage, "--approver ends in a backslash",
                    {.fix = "quote it, or write \\\\ for a backslash"});
      word += text[i];
      is_word = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      is_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (is_word) words.push_back(std::exchange(word, {}));
      is_word = false;
    } else {
      word += c;
      is_word = true;
    }
  }
  if (quote != 0)
    return fail(ErrorId::kUsage, "--approver has a quote without its end",
                {.fix = "close it; \\' and \\\" are quotes that mean themselves"});
  if (is_word) words.push_back(std::move(word));
  if (words.empty() || words.front().empty())
    return fail(ErrorId::kUsage, "--approver wants a command",
                {.fix = "--approver 'PROGRAM ARGUMENTS…'"});
  return words;
}

std::vector<std::string> words_of(const ApproverOptions& options) {
  auto words = split_words(options.command);
  return words ? std::move(*words) : std::vector<std::string>();
}

Result<run::MakeApprover> to_approver(const ApproverOptions& options, OutputHold& hold) {
  if (!(options.timeout_seconds > 0 && options.timeout_seconds <= 86'400))
    return fail(ErrorId::kUsage, "--approver-timeout wants seconds, more than 0 and at most a day",
                {.fix = "--approver-timeout 60"});
  if (options.command.empty()) {
    // Opened now: a run that is put into the background later has its terminal, and reads fail.
    auto terminal = std::make_shared<UniqueFd>(open_terminal());
    if (!*terminal) return run::MakeApprover();
    return run::MakeApprover(
        [terminal, &hold](const auto& executor) -> std::unique_ptr<run::RunApprover> {
          return std::make_unique<TerminalApprover>(executor, std::move(*terminal), hold);
        });
  }
  auto words = split_words(options.command);
  if (!words) return pass_on(words);
  run::ApproverCommand command{.words = std::move(*words),
                               .environment = {},
                               .timeout = std::chrono::milliseconds(static_cast<std::int64_t>(
                                   std::ceil(options.timeout_seconds * 1000)))};
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    command.environment.emplace_back(*entry);
  return run::MakeApprover([command](const auto& executor) -> std::unique_ptr<run::RunApprover> {
    return std::make_unique<run::CommandApprover>(executor, command);
  });
}

}  // namespace mcpac::cli
