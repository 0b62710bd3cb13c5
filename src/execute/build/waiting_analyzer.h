// WaitingAnalyzer: an analyzer that was started before there was a program to analyse. It has read
// the headers and what programs use, and stands at the pipe of its lead (docs/adr/0042). Used for a
// program of one source where the very same process would be started now, once.
#pragma once

#include <filesystem>
#include <optional>

#include "core/error.h"
#include "core/file.h"
#include "execute/build/build_tools.h"
#include "execute/build/snapshot.h"
#include "execute/child/waiting_tool.h"
#include "sandbox/sandbox.h"

namespace mcpac::execute {

class WaitingAnalyzer {
 public:
  [[nodiscard]] static Result<WaitingAnalyzer> start(const BuildTools& tools,
                                                     sandbox::Warden& warden);
  // For the snapshot (Snapshot::take), which it then reads. Once; it goes with the snapshot.
  [[nodiscard]] TemporaryFolder take_folder() { return std::move(folder_); }
  // Leads it to the program; its request is to follow. Nothing where it does not fit or does not
  // stand there: then it is ended.
  [[nodiscard]] std::optional<PipedChild> lead_to(const Snapshot& snapshot,
                                                  const BuildTools& tools) &&;
  // It ends soon, and who destroys it hardly waits.
  void let_go() { tool_.let_go(); }

 private:
  WaitingAnalyzer(TemporaryFolder folder, std::filesystem::path lead, WaitingTool tool)
      : folder_(std::move(folder)), lead_(std::move(lead)), tool_(std::move(tool)) {}
  TemporaryFolder folder_;
  std::filesystem::path lead_;
  WaitingTool tool_;  // ends before what it reads
};

}  // namespace mcpac::execute
