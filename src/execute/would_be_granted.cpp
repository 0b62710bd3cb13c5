#include "execute/would_be_granted.h"

#include "core/clock.h"
#include "execute/check_uses.h"
#include "execute/require_granted.h"
#include "execute/tool_tables.h"

namespace mcpac::execute {

Result<GrantAnswer> would_be_granted(const Project& project, const codegen::Lock& lock,
                                     const Listener& listener, analyzer::Report& report,
                                     policy::LayerText granted, DeniedUses denied) {
  const SystemClock clock;
  PolicyWorld world(project, clock);
  world.tools = tool_schemas(lock);
  const GrantCheck parts{project, world, listener, Enforcement::kEnforce, {}};
  CheckResult ignored;
  auto declared = require_granted(parts, report, granted, ignored);
  if (!declared && declared.error().id != ErrorId::kPermissionMissing) return pass_on(declared);
  auto used = require_admitted(parts, report, granted, denied);
  if (!used && used.error().id != ErrorId::kUseDenied) return pass_on(used);
  if (!declared) return GrantAnswer{std::move(declared.error())};
  if (!used) return GrantAnswer{std::move(used.error())};
  return GrantAnswer{};
}

}  // namespace mcpac::execute
