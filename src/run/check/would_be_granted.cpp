// SPDX-License-Identifier: Apache-2.0

#include "run/check/would_be_granted.h"

#include <algorithm>
#include <utility>

#include "core/clock.h"
#include "run/check/check_uses.h"
#include "run/check/require_granted.h"
#include "servers/confine/server_places.h"
#include "servers/tool_tables.h"

namespace mcpac::run {

Result<GrantAnswer> would_be_granted(const project::Project& project, const codegen::Lock& lock,
                                     const Listener& listener, analyzer::Report& report,
                                     policy::LayerText granted, DeniedUses denied,
                                     const project::Folders& folders) {
  if (auto offered = require_offered(project, lock, {}, report, nullptr); !offered)
    return GrantAnswer{std::move(offered.error())};
  const SystemClock clock;
  PolicyWorld world(project, clock);
  world.tools = servers::tool_schemas(lock);
  if (auto named = name_as_locked(granted, lock, listener); !named) return pass_on(named);
  const GrantCheck parts{project, world, listener, Enforcement::kEnforce, {}};
  CheckResult check;
  auto declared = require_granted(parts, report, granted, check);
  if (!declared && declared.error().id != ErrorId::kPermissionMissing) return pass_on(declared);
  report.not_granted = check.missing;
  report.grant_fix = check.fix;
  auto used = require_admitted(parts, report, granted, denied);
  if (!used && used.error().id != ErrorId::kUseDenied) return pass_on(used);
  if (!declared) return GrantAnswer{std::move(declared.error())};
  if (!used) return GrantAnswer{std::move(used.error())};
  auto authority = load_authority(project, world, {std::move(granted)});
  if (!authority) return pass_on(authority);
  const auto places = servers::places_of_servers(project, folders, lock, *authority);
  if (auto offered = require_offered(project, lock, listener, report, &places); !offered)
    return GrantAnswer{std::move(offered.error())};
  return GrantAnswer{};
}

Result<GrantAnswer> would_be_declared(const project::Project& project, const codegen::Lock& lock,
                                      analyzer::Report& report, DeniedUses denied) {
  if (auto offered = require_offered(project, lock, {}, report, nullptr); !offered)
    return GrantAnswer{std::move(offered.error())};
  const bool narrows = std::ranges::any_of(
      report.declared, [](const auto& declared) { return !declared.where.empty(); });
  if (!narrows) return GrantAnswer{};
  const SystemClock clock;
  PolicyWorld world(project, clock);
  world.tools = servers::tool_schemas(lock);
  auto admitted = require_declared(world, report, denied);
  if (admitted) return GrantAnswer{};
  if (admitted.error().id != ErrorId::kUseDenied) return pass_on(admitted);
  return GrantAnswer{std::move(admitted.error())};
}

}  // namespace mcpac::run
