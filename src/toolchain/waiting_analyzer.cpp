// SPDX-License-Identifier: Apache-2.0

#include "toolchain/waiting_analyzer.h"

#include "analyzer/lead.h"
#include "toolchain/lead.h"

namespace mcpac::toolchain {

Result<WaitingAnalyzer> WaitingAnalyzer::start(const BuildTools& tools, sandbox::Warden& warden) {
  auto folder = SourceFolder::make(tools.folders.temporary);
  if (!folder) return pass_on(folder);
  if (auto written = write_waiting_lead(folder->lead(), tools.prepared.folder); !written)
    return pass_on(written);
  auto tool = WaitingTool::start(warden, tools.analyzer_at(folder->lead(), folder->sources()),
                                 pipe_of_lead(folder->lead()));
  if (!tool) return pass_on(tool);
  return WaitingAnalyzer(std::move(*folder), std::move(*tool));
}

std::optional<AnalyzerAtWork> WaitingAnalyzer::lead_to(const Snapshot& snapshot,
                                                       const BuildTools& tools) && {
  const auto sources = snapshot.sources_inside();
  const auto naming = analyzer::lead::naming(sources.front());
  const bool is_for_it = sources.size() == 1 && naming &&
                         tool_.fits(tools.analyzer_at(folder_.lead(), folder_.sources())) &&
                         snapshot.write(folder_.sources());
  auto child = is_for_it ? std::move(tool_).tell(*naming) : std::nullopt;
  if (child) return AnalyzerAtWork{std::move(folder_), std::move(*child)};
  if (!is_for_it) let_go();
  return std::nullopt;
}

}  // namespace mcpac::toolchain
