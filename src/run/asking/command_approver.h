// SPDX-License-Identifier: Apache-2.0

// CommandApprover: asks a program of the user's, one process a question (--approver).
//
// The question is one line on its standard input, the answer all that it writes on its standard
// output; it runs with the user's rights and environment, in the current folder, and never through
// a shell. Only exit status 0, in time, with exactly one well-formed answer that names the question
// counts: everything else is no answer (docs/asking.md). Lives on the loop.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "run/asking/run_approver.h"

namespace mcpac::run {

struct ApproverCommand {
  std::vector<std::string> words;        // argv; the first is found as a shell would find it
  std::vector<std::string> environment;  // "NAME=value"
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
};

class CommandApprover final : public RunApprover {
 public:
  CommandApprover(boost::asio::any_io_executor executor, ApproverCommand command);
  ~CommandApprover() override;
  void ask(const gate::Question& question, Done done) override;
  void review(const ProgramReview& review, Done done) override;
  void cancel() override;

 private:
  class Process;
  void start(std::string input, std::function<gate::Reply(std::string_view)> read, Done done);

  boost::asio::any_io_executor executor_;
  ApproverCommand command_;
  std::shared_ptr<Process> process_;
};

}  // namespace mcpac::run
