// SPDX-License-Identifier: Apache-2.0

// The options that bound a run and show it: shared by `execute` and `run`.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/source_texts.h"
#include "cli/approver_options.h"
#include "cli/context.h"
#include "run/pipeline.h"

namespace mcpac::cli {

struct RunOptions {
  std::string timeout = "300";
  std::string memory = "1GiB";
  std::string output_limit = "16MiB";
  std::string file_limit = "100MiB";
  std::string changes_limit = "1GiB";
  bool changeset = false;
  std::shared_ptr<std::string> lowest_tier;
  bool observe = false;
  bool verbose = false;
  bool review = false;
  bool expect_denials = false;
  bool alone = false;
  history::RecordingChoice recording;
  std::optional<std::string> arguments;  // as it was typed (run_arguments.h)
  std::shared_ptr<ApproverOptions> approver;
};

// --record FILE and --replay FILE.
void add_recording_options(CLI::App& command, history::RecordingChoice& recording);
// --min-tier: the weakest sandbox to accept, by name; empty where none was given, and then it is
// what the user accepted on this machine (accepted_tier.h).
[[nodiscard]] std::shared_ptr<std::string> add_tier_option(CLI::App& command);
[[nodiscard]] sandbox::Tier to_tier(const std::string& name);
[[nodiscard]] std::shared_ptr<RunOptions> add_run_options(CLI::App& command);
[[nodiscard]] Result<run::RunLimits> to_limits(const RunOptions& options);

// Output of the run, on the terminal as it happens or, with --json, in one document at the end.
class RunView {
 public:
  // `wall`: of the program.
  RunView(Context& context, const RunOptions& options, std::chrono::milliseconds wall)
      : context_(context), verbose_(options.verbose), wall_(wall) {}
  [[nodiscard]] run::Listener listener();
  // The approver, as the options say; the program's output waits while a person reads.
  [[nodiscard]] Result<run::Questions> questions(const RunOptions& options);
  // The end of a run that did not get as far as its rules: recorded where it is a refusal, but of a
  // dry run, and said.
  void refuse(const Error& error, std::string_view program, bool is_dry);
  // Prints the end and sets the exit code. A reader of standard error is waited for no longer than
  // the program could have run.
  void finish(const run::Outcome& outcome, const analyzer::SourceTexts& sources);

 private:
  Context& context_;
  bool verbose_;
  std::chrono::milliseconds wall_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  OutputHold hold_;
  // With --json, what the program wrote.
  std::string standard_output_;
  std::string standard_error_;
};

}  // namespace mcpac::cli
