// SPDX-License-Identifier: Apache-2.0

#include "cli/falls_under.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "core/clock.h"
#include "core/printable.h"
#include "gateway/tokens.h"
#include "policy/explain/lint.h"
#include "run/check/authorities.h"
#include "servers/tool_tables.h"

namespace mcpac::cli {
namespace {

// The new tools of each server, as a lock would have them.
codegen::Lock lock_of(const std::vector<ToolDefinition>& fresh) {
  std::map<std::string, codegen::LockedServer> servers;
  for (const ToolDefinition& tool : fresh) {
    const auto dot = tool.name.find('.');
    if (dot == std::string::npos) continue;
    codegen::LockedServer& server = servers[tool.name.substr(0, dot)];
    server.name = tool.name.substr(0, dot);
    server.tools.push_back({tool.name.substr(dot + 1), "", "", tool.definition});
  }
  codegen::Lock lock;
  for (auto& [name, server] : servers) lock.servers.push_back(std::move(server));
  return lock;
}

// Files that are in force, each once.
std::vector<policy::PolicyFile> known_files(const Context& context,
                                            const project::Project& project) {
  std::vector<policy::PolicyFile> files;
  if (auto ceiling = run::read_ceiling(project); ceiling && *ceiling)
    files.push_back(std::move(**ceiling));
  const SystemClock clock;
  const auto tokens = gateway::TokenStore(gateway::token_file(context.folders), clock).list();
  if (!tokens) return files;
  std::set<std::filesystem::path> seen = {project.policy_file()};
  for (const gateway::Token& token : *tokens) {
    if (!seen.insert(token.policy).second) continue;
    if (auto rules = run::read_rules(token.policy)) files.push_back(std::move(*rules));
  }
  return files;
}

// With every profile, which any run may choose.
Result<policy::Authority> load(policy::PolicyFile file, const policy::Environment& environment) {
  auto summary = policy::summarize({file.name, file.text});
  if (!summary) return pass_on(summary);
  policy::LayerText layer;
  layer.name = file.name;
  layer.profiles = std::move(summary->profiles);
  layer.files.push_back(std::move(file));
  return policy::Authority::load({layer}, environment);
}

}  // namespace

std::vector<FallsUnder> falls_under(const Context& context, const project::Project& project,
                                    const codegen::Lock& lock,
                                    const std::vector<ToolDefinition>& fresh) {
  std::vector<FallsUnder> found;
  if (fresh.empty()) return found;
  const SystemClock clock;
  run::PolicyWorld world(project, clock);
  const auto gained = servers::tool_schemas(lock_of(fresh));
  world.tools = servers::tool_schemas(lock);
  for (const auto& [tool, schema] : gained) world.tools.emplace(tool, schema);
  for (policy::PolicyFile& file : known_files(context, project)) {
    const auto rules = load(std::move(file), world.environment());
    if (!rules) continue;
    std::map<std::pair<std::string, std::string>, std::size_t> known;  // where it stands in `found`
    for (const ToolDefinition& tool : fresh) {
      const auto permission = Permission::parse(tool.name);
      if (!permission || !gained.contains(*permission)) continue;
      for (auto& rule : rules->wildcards_over(*permission)) {
        const auto [place, is_new] = known.try_emplace({rule.place, rule.text}, found.size());
        if (is_new) found.push_back({std::move(rule), {}});
        found[place->second].tools.push_back(tool.name);
      }
    }
  }
  for (auto& [rule, tools] : found) std::ranges::sort(tools);
  return found;
}

std::vector<ToolDefinition> added_in(const codegen::ServerDiff& diff) {
  std::vector<ToolDefinition> added;
  for (const auto& tool : diff.tools) {
    if (tool.kind == codegen::ToolDiff::Kind::kAdded)
      added.push_back({tool.permission, tool.definition});
  }
  return added;
}

std::vector<Error> no_longer_load(const Context& context, const project::Project& project,
                                  const project::Review& review, const codegen::LockDiff& diff) {
  const SystemClock clock;
  run::PolicyWorld before(project, clock);
  before.tools = servers::tool_schemas(review.before.lock);
  run::PolicyWorld after(project, clock);
  after.tools = before.tools;
  std::vector<ToolDefinition> offered;
  for (const auto& server : diff) {
    if (server.kind == codegen::ServerDiff::Kind::kGone)
      std::erase_if(after.tools,
                    [&](const auto& tool) { return tool.first.server() == server.server; });
    const auto live = std::ranges::find(review.live, server.server, &ServerListing::server);
    for (const auto& tool : server.tools) {
      if (const auto permission = Permission::parse(tool.permission))
        after.tools.erase(*permission);
      if (live == review.live.end()) continue;
      const auto found = std::ranges::find(live->tools, tool.tool, &ToolDefinition::name);
      if (found != live->tools.end()) offered.push_back({tool.permission, found->definition});
    }
  }
  for (const auto& [tool, schema] : servers::tool_schemas(lock_of(offered)))
    after.tools.insert_or_assign(tool, schema);
  std::vector<Error> errors;
  for (policy::PolicyFile& file : known_files(context, project)) {
    if (!load(file, before.environment())) continue;
    if (auto then = load(std::move(file), after.environment()); !then)
      errors.push_back(then.error());
  }
  return errors;
}

std::string to_lines(const std::vector<FallsUnder>& rules) {
  constexpr std::ptrdiff_t kNamed = 8;
  if (rules.empty()) return "";
  std::string lines = "rules with a wildcard that cover new tools, once these are in the lock:\n";
  for (const auto& [rule, tools] : rules) {
    const auto more = static_cast<std::ptrdiff_t>(tools.size()) - kNamed;
    lines += printable_in_place(
                 fmt::format("  {}: {}: {}{}", rule.place, rule.text,
                             fmt::join(tools | std::views::take(kNamed), ", "),
                             more > 0 ? fmt::format(", and {} more", more) : std::string())) +
             "\n";
  }
  return lines;
}

Json to_json(const std::vector<FallsUnder>& rules) {
  Json all = Json::array();
  for (const auto& [rule, tools] : rules) {
    all.push_back({{"rule", rule.text},
                   {"place", rule.place},
                   {"effect", policy::to_string(rule.effect)},
                   {"tools", tools}});
  }
  return all;
}

}  // namespace mcpac::cli
