// SPDX-License-Identifier: Apache-2.0

// TerminalApprover: asks the person at the controlling terminal, whatever standard input is.
//
// Input that was typed before a question stood there is thrown away, so that neither type-ahead nor
// a reply that a program made the terminal send can answer it. Lives on the loop; the program's
// output waits meanwhile (OutputHold).
#pragma once

#include <memory>
#include <string>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "cli/output_hold.h"
#include "core/file.h"
#include "run/asking/run_approver.h"

namespace mcpac::cli {

class TerminalApprover final : public run::RunApprover {
 public:
  // `hold` outlives this.
  TerminalApprover(const boost::asio::any_io_executor& executor, UniqueFd terminal,
                   OutputHold& hold);
  ~TerminalApprover() override;
  void ask(const gate::Question& question, Done done) override;
  void review(const run::ProgramReview& review, Done done) override;
  void cancel() override;

 private:
  using Read = std::function<std::optional<gate::Reply>(std::string_view)>;
  using Why = std::string_view (*)(std::string_view);
  void show(const std::string& text, const char* prompt, Read read, Why why, Done done);
  void read_line();
  void handle_line(std::string_view line);
  void say(std::string_view text);
  void finish(gate::Reply reply);

  boost::asio::posix::stream_descriptor terminal_;
  OutputHold& hold_;
  std::string who_;
  std::string line_;
  std::string whole_;  // what `show` shows
  const char* prompt_ = "";
  Read read_;
  Why why_ = nullptr;    // a line is no answer
  std::string program_;  // as the screen before the run called it
  Done done_;
  int misread_ = 0;
  std::shared_ptr<int> turn_ = std::make_shared<int>(0);  // of reads: an old one is ignored
};

}  // namespace mcpac::cli
