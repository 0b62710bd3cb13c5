#include "execute/analyze_source.h"

#include "execute/analysis.h"
#include "execute/interrupt.h"
#include "execute/named_servers.h"
#include "execute/prepare.h"

namespace mcpac::execute {

Result<analyzer::Report> analyze_source(const Project& project, const Folders& folders,
                                        const Source& source, sandbox::Tier lowest_tier,
                                        const std::function<void(const char*)>& on_build) {
  const Interrupt interrupt;
  auto warden = sandbox::Warden::start(folders.warden());
  if (!warden) return pass_on(warden);
  auto lock = load_lock(project);
  if (!lock) return pass_on(lock);
  auto snapshot = Snapshot::take(source, folders.temporary);
  if (!snapshot) return pass_on(snapshot);
  auto prepared = prepare(project, *lock, named_servers(*snapshot, *lock),
                          {folders, *warden, lowest_tier, interrupt.stop()}, on_build);
  if (!prepared) return pass_on(prepared);
  return analyze(*snapshot, *lock, *prepared, folders, *warden, lowest_tier, interrupt.stop());
}

}  // namespace mcpac::execute
