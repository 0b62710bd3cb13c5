// SPDX-License-Identifier: Apache-2.0

// Options for the approver: --approver, --approver-timeout and --review, the same for every command
// that asks.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cli/context.h"
#include "cli/output_hold.h"
#include "run/asking/run_approver.h"

namespace mcpac::cli {

struct ApproverOptions {
  std::string command;
  double timeout_seconds = 300;
};

// `otherwise`: the approver without --approver, for the help text.
[[nodiscard]] std::shared_ptr<ApproverOptions> add_approver_options(
    CLI::App& command, std::string_view otherwise = "a person at the terminal");
// The command, or else the person at the terminal, where there is one. `hold` outlives the run.
[[nodiscard]] Result<run::MakeApprover> to_approver(const ApproverOptions& options,
                                                    OutputHold& hold);

// The words of the command; none without one, or where to_approver() refuses it.
[[nodiscard]] std::vector<std::string> words_of(const ApproverOptions& options);

// A command line as words: spaces separate; '…' and "…" group, a backslash takes the next character
// as it is (not within '…'). Nothing is expanded and no shell is asked. kUsage for an open quote.
[[nodiscard]] Result<std::vector<std::string>> split_words(std::string_view text);

}  // namespace mcpac::cli
