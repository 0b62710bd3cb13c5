// SPDX-License-Identifier: Apache-2.0

#include "run/check/authorities.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <system_error>

#include "core/file.h"
#include "core/printable.h"
#include "policy/match/system_path_resolver.h"
#include "run/check/server_root.h"

namespace mcpac::run {
namespace {

namespace fs = std::filesystem;

// As much as the parser takes.
constexpr std::size_t kMaxRules = std::size_t{1} << 20U;

}  // namespace

PolicyWorld::PolicyWorld(const project::Project& project, const Clock& the_clock)
    : resolver(std::make_unique<policy::SystemPathResolver>()), clock(the_clock) {
  std::error_code error;
  bases.current_directory = fs::current_path(error).string();
  bases.home = project::home_of_user();
  if (const char* variable = std::getenv("HOME")) home_variable = variable;  // NOLINT
  for (const auto& server : project.config.servers) {
    if (server.is_http()) bases.remote_servers.insert(server.name);
    auto folders = folders_of(server, project.folder);
    if (!server.working_directory.empty())
      bases.working_directories[server.name] = folders.starts_in;
    if (!folders.root.empty()) bases.roots[server.name] = std::move(folders.root);
    if (!folders.given.empty()) bases.given_folders[server.name] = std::move(folders.given);
    if (!folders.mounts.empty()) bases.mounts[server.name] = std::move(folders.mounts);
    if (!folders.unknown.empty()) bases.unknown_starts.insert(server.name);
    for (const auto& tool : server.entry_only) {
      if (auto permission = Permission::of(server.name, tool))
        bases.entry_only.insert(std::move(*permission));
    }
    for (const auto& [tool, price] : server.prices) {
      if (auto permission = Permission::of(server.name, tool)) prices.emplace(*permission, price);
    }
  }
}

policy::Environment PolicyWorld::environment() const {
  return {.tools = &tools,
          .resolver = resolver.get(),
          .clock = &clock,
          .bases = bases,
          .prices = prices,
          .home_variable = home_variable};
}

policy::LayerText declaration_layer(std::vector<std::string> rules) {
  policy::LayerText layer;
  layer.name = kDeclarationLayer;
  layer.declared =
      policy::DeclaredPlaces{.files = std::erase(rules, policy::kFilesPermission) > 0,
                             .network = std::erase(rules, policy::kNetworkPermission) > 0};
  layer.grants = std::move(rules);
  return layer;
}

Result<policy::PolicyFile> read_rules(const fs::path& file) {
  auto text = read_file(file, kMaxRules);
  if (!text) {
    if (text.error().fix.empty())
      text.error().fix = "rules are read from files; `mcpac policy check -` reads standard input";
    return pass_on(text);
  }
  return policy::PolicyFile(std::move(*text), printable(file.string()));
}

Result<std::optional<policy::PolicyFile>> read_ceiling(const project::Project& project) {
  // A ceiling that is there and cannot be read must not be as none.
  if (project::is_absent(project.policy_file())) return std::nullopt;
  auto rules = read_rules(project.policy_file());
  if (!rules) return pass_on(rules);
  rules->name = kPolicyLayer;
  return std::move(*rules);
}

namespace {

Result<std::optional<policy::PolicyFile>> ceiling_of(const project::Project& project) {
  return project.kept ? Result<std::optional<policy::PolicyFile>>(project.kept->policy)
                      : read_ceiling(project);
}

}  // namespace

Result<policy::Authority> load_authority(const project::Project& project, const PolicyWorld& world,
                                         std::vector<policy::LayerText> layers,
                                         std::vector<std::string> allowed) {
  auto rules = ceiling_of(project);
  if (!rules) return pass_on(rules);
  if (*rules) {
    if (!layers.empty() && !layers.front().profiles.empty())
      layers.front().profile_files.push_back(**rules);
    layers.push_back({.name = std::string(kPolicyLayer),
                      .grants = std::move(allowed),
                      .asks = {},
                      .denies = {},
                      .files = {std::move(**rules)}});
  }
  return policy::Authority::load(layers, world.environment());
}

Result<policy::Authority> load_own(const project::Project& project, const PolicyWorld& world,
                                   policy::LayerText granted) {
  auto rules = ceiling_of(project);
  if (!rules) return pass_on(rules);
  if (*rules && !granted.profiles.empty()) granted.profile_files.push_back(std::move(**rules));
  return policy::Authority::load({std::move(granted)}, world.environment());
}

void warn_of_idle_rules(const policy::Authority& authority,
                        const std::function<void(std::string_view)>& warning) {
  for (const auto& rule : authority.ended_rules())
    warning(
        fmt::format("{}: '{}' admits nothing any more, as its `until` is over; write a later "
                    "end: until YYYY-MM-DDThh:mm:ssZ",
                    printable(rule.place, 200), printable(rule.text, 400)));
  for (const auto& asked : authority.asked_allows())
    warning(fmt::format("{}: {}", printable(asked.allow_place, 200), asked.in_words()));
}

std::vector<std::string> stated_rules(const policy::Authority& authority) {
  std::vector<std::string> lines;
  for (const auto& layer : authority.layers()) {
    if (layer.name == kDeclarationLayer) continue;
    for (const auto& rule : layer.rules)
      lines.push_back(fmt::format("{}: {}", layer.name, rule.text));
    for (const auto& place : layer.places)
      lines.push_back(fmt::format("{}: {}", layer.name, place.text));
  }
  return lines;
}

std::string_view rule_of_stated(std::string_view stated) {
  const auto name = stated.find(": ");
  return name == std::string_view::npos ? stated : stated.substr(name + 2);
}

}  // namespace mcpac::run
