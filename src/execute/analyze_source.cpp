#include "execute/analyze_source.h"

#include "execute/analysis.h"
#include "execute/interrupt.h"
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
  auto prepared =
      prepare(project, *lock, folders, *warden, lowest_tier, on_build, interrupt.stop());
  if (!prepared) return pass_on(prepared);
  auto snapshot = Snapshot::take(source, folders.temporary);
  if (!snapshot) return pass_on(snapshot);
  return analyze(*snapshot, *lock, *prepared, folders, *warden, lowest_tier, interrupt.stop());
}

}  // namespace mcpac::execute
