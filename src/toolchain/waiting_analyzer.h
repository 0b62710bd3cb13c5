// SPDX-License-Identifier: Apache-2.0

// WaitingAnalyzer: an analyzer that was started before there was a program to analyse. It has read
// the headers and what programs use, and stands at the pipe of its lead (docs/adr/0042). Used for a
// program of one source where the very same process would be started now, once.
#pragma once

#include <optional>
#include <utility>

#include "core/error.h"
#include "sandbox/sandbox.h"
#include "toolchain/build_tools.h"
#include "toolchain/child/waiting_tool.h"
#include "toolchain/snapshot.h"
#include "toolchain/source_folder.h"

namespace mcpac::toolchain {

// An analyzer that is at work, and what it reads. Its request is to follow.
struct AnalyzerAtWork {
  SourceFolder folder;
  PipedChild child;  // ends before what it reads
};

class WaitingAnalyzer {
 public:
  [[nodiscard]] static Result<WaitingAnalyzer> start(const BuildTools& tools,
                                                     sandbox::Warden& warden);
  // Leads it to the program. Nothing where it does not fit, or does not stand there: then it is
  // ended.
  [[nodiscard]] std::optional<AnalyzerAtWork> lead_to(const Snapshot& snapshot,
                                                      const BuildTools& tools) &&;
  // It ends soon, and who destroys it hardly waits.
  void let_go() { tool_.let_go(); }

 private:
  WaitingAnalyzer(SourceFolder folder, WaitingTool tool)
      : folder_(std::move(folder)), tool_(std::move(tool)) {}
  SourceFolder folder_;
  WaitingTool tool_;  // ends before what it reads
};

}  // namespace mcpac::toolchain
