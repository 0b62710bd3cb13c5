// SPDX-License-Identifier: Apache-2.0

#include "run/analyze_source.h"

#include <set>

#include "core/clock.h"
#include "core/interrupt.h"
#include "run/check/authorities.h"
#include "run/check/declared_conditions.h"
#include "run/live/leftovers.h"
#include "servers/tool_tables.h"
#include "toolchain/analysis.h"
#include "toolchain/named_servers.h"
#include "toolchain/prepare.h"

namespace mcpac::run {

Result<analyzer::Report> analyze_source(const project::Project& project, const codegen::Lock& lock,
                                        const project::Folders& folders,
                                        const toolchain::Source& source, sandbox::Tier lowest_tier,
                                        const std::function<void(const char*)>& on_build,
                                        std::optional<StopSignal> stop) {
  const Interrupt interrupt(stop);
  auto warden = sandbox::Warden::start(folders.warden());
  if (!warden) return pass_on(warden);
  sweep_leftovers(folders);
  auto snapshot = toolchain::Snapshot::take(source);
  if (!snapshot) return pass_on(snapshot);
  auto prepared = toolchain::prepare(project, lock, toolchain::named_servers(*snapshot, lock),
                                     {folders, *warden, lowest_tier, interrupt.stop()}, on_build);
  if (!prepared) return pass_on(prepared);
  auto report = toolchain::analyze(
      {*snapshot, *prepared, folders, *warden, lowest_tier, interrupt.stop()}, lock);
  if (!report) return pass_on(report);
  const SystemClock clock;
  PolicyWorld world(project, clock);
  std::set<Permission> declared;
  for (const auto& item : report->declared) {
    if (auto permission = Permission::parse(item.permission)) declared.insert(*permission);
  }
  world.tools = servers::tool_schemas(lock, declared);
  check_conditions(world, *report);
  return report;
}

}  // namespace mcpac::run
