#include "run/prewarmed_tools.h"

#include <utility>

#include "project/header_files.h"
#include "run/agent_run.h"
#include "toolchain/build_tools.h"
#include "toolchain/named_servers.h"

namespace mcpac::run {

void PrewarmedTools::let_go() {
  build.let_go();
  if (slot) slot->child().child.kill(sandbox::Verdict::Kind::kKilled);
}

PrewarmedTools start_tools(const project::Project& project, const codegen::Lock& lock,
                           const std::set<std::string>& servers, const project::Folders& folders,
                           const RunLimits& limits, sandbox::Warden& warden) {
  PrewarmedTools tools;
  std::set<std::string> headers;
  for (const std::string& name : servers) {
    if (const auto* server = lock.find_server(name))
      headers.insert(project::header_file_of(*server));
  }
  if (headers.empty()) return tools;
  tools.prepared = toolchain::find_prepared(project, lock, headers, folders);
  if (!tools.prepared) return tools;
  const toolchain::Prepared& prepared = tools.prepared->prepared;
  const toolchain::BuildTools asked{folders, prepared, limits.lowest_tier};
  if (auto analyzer = toolchain::WaitingAnalyzer::start(asked, warden))
    tools.build.analyzer = std::move(*analyzer);
  if (auto build = toolchain::WaitingBuild::start(asked, warden))
    tools.build.build = std::move(*build);
  AgentProgram program;
  program.runner = prepared.folder / "runner";
  auto slot = Slot::open(warden, agent_spec(program, limits));
  if (slot) {
    slot->make_memory_ready();
    tools.slot = std::move(*slot);
  }
  return tools;
}

}  // namespace mcpac::run
