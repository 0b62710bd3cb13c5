#include "execute/build/waiting_analyzer.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "analyzer/lead.h"
#include "execute/build/lead.h"

namespace mcpac::execute {

Result<WaitingAnalyzer> WaitingAnalyzer::start(const BuildTools& tools, sandbox::Warden& warden) {
  auto folder = Snapshot::new_folder(tools.folders.temporary);
  if (!folder) return pass_on(folder);
  const auto lead = folder->path() / "lead";
  std::error_code error;
  std::filesystem::create_directory(lead, error);
  std::filesystem::permissions(lead, std::filesystem::perms(0755), error);
  if (error) {
    return fail(ErrorId::kFileUnwritable,
                fmt::format("cannot make {}: {}", lead.string(), error.message()));
  }
  if (auto written = write_waiting_lead(lead); !written) return pass_on(written);
  auto tool = WaitingTool::start(warden, tools.analyzer_at(lead, Snapshot::sources_in(*folder)),
                                 pipe_of_lead(lead));
  if (!tool) return pass_on(tool);
  return WaitingAnalyzer(std::move(*folder), lead, std::move(*tool));
}

std::optional<PipedChild> WaitingAnalyzer::lead_to(const Snapshot& snapshot,
                                                   const BuildTools& tools) && {
  const auto sources = snapshot.sources_inside();
  const auto naming = analyzer::lead::naming(sources.front());
  if (sources.size() == 1 && naming && tool_.fits(tools.analyzer_at(lead_, snapshot.folder())))
    return std::move(tool_).tell(*naming);
  let_go();
  return std::nullopt;
}

}  // namespace mcpac::execute
