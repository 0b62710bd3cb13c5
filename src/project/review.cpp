// SPDX-License-Identifier: Apache-2.0

#include "project/review.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/generate.h"
#include "core/printable.h"
#include "project/project_turn.h"

namespace mcpac::project {
namespace {

using codegen::ServerDiff;

std::string server_part(const std::string& name) {
  return name.substr(0, name.find('.'));
}

// The servers that `names` speak of, as mcpac.json has them; all where nothing is named.
Result<std::vector<mcp::ServerConfig>> servers_to_ask(const Project& project,
                                                      const codegen::Lock& lock,
                                                      const std::vector<std::string>& names) {
  if (names.empty()) return project.config.servers;
  std::vector<mcp::ServerConfig> servers;
  for (const std::string& name : names) {
    const std::string server = server_part(name);
    const auto* config = project.config.find(server);
    if (config == nullptr && lock.find_server(server) == nullptr) {
      return fail(
          ErrorId::kUnknownServer,
          fmt::format("neither mcpac.json nor mcpac.lock has a server {}", printable(server, 80)),
          {.where = project.config_file.string(), .fix = "mcpac server list"});
    }
    if (config == nullptr && name != server) {
      return fail(ErrorId::kUnknownServer,
                  fmt::format("the server {} is no longer in mcpac.json", printable(server, 80)),
                  {.where = project.config_file.string(),
                   .why = "its tools leave mcpac.lock together",
                   .fix = fmt::format("mcpac lock diff {}", server)});
    }
    const bool asked =
        std::ranges::find(servers, server, &mcp::ServerConfig::name) != servers.end();
    if (config == nullptr || asked) continue;
    if (config->disabled) {
      return fail(ErrorId::kUnknownServer, fmt::format("the server {} is disabled", server),
                  {.where = project.config_file.string(),
                   .why = "a server that is not asked cannot be compared",
                   .fix = "remove \"disabled\" from its entry"});
    }
    servers.push_back(*config);
  }
  return servers;
}

bool knows_tool(const Review& review, const std::string& server, const std::string& tool) {
  if (review.before.lock.find_tool(server, tool) != nullptr) return true;
  const auto listing = std::ranges::find(review.live, server, &ServerListing::server);
  return listing != review.live.end() &&
         std::ranges::find(listing->tools, tool, &ToolDefinition::name) != listing->tools.end();
}

// Every "server.tool" must be there, and its server must be the one that was approved: tools of
// another server are approved with it or not at all.
Result<void> check_tool_names(const Review& review, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::string server = server_part(name);
    if (server == name) continue;
    if (!knows_tool(review, server, name.substr(server.size() + 1))) {
      return fail(ErrorId::kUnknownTool,
                  fmt::format("neither mcpac.lock nor the server has {}", printable(name, 200)),
                  {.fix = fmt::format("mcpac lock diff {}", server)});
    }
    const auto diff = std::ranges::find(review.diff, server, &ServerDiff::server);
    if (diff != review.diff.end() && diff->is_another()) {
      return fail(ErrorId::kLockDrift,
                  fmt::format("the server {} is not the one that mcpac.lock approved", server),
                  {.where = review.config_file.string(),
                   .why = "its tools can only be approved together with it",
                   .fix = fmt::format("mcpac lock diff {}", server)});
    }
  }
  return {};
}

// Leaves in `diff` what `approval` covers: what is shown is what would be accepted.
void limit_to(const Approval& approval, ServerDiff& diff) {
  if (approval.covers(diff.server)) return;
  if (diff.kind == ServerDiff::Kind::kKept) {
    diff.identity.reset();
    diff.entry.clear();
    diff.claims = {};
  }
  diff.version.reset();
  std::erase_if(diff.tools, [&](const codegen::ToolDiff& tool) {
    return !approval.covers(diff.server, tool.tool);
  });
}

bool keeps_texts(const mcp::ServerConfig* config) {
  return config != nullptr && config->texts == mcp::Texts::kLocked;
}

codegen::LockDiff compare(const Project& project, const Review& review) {
  codegen::LockDiff diff;
  for (const ServerListing& listing : review.live) {
    diff.push_back(
        codegen::compare_server(review.before.lock.find_server(listing.server), &listing));
    diff.back().keeps_texts = keeps_texts(project.config.find(listing.server));
  }
  for (const std::string& server : review.gone)
    diff.push_back(codegen::compare_server(review.before.lock.find_server(server), nullptr));
  return diff;
}

}  // namespace

Result<Review> review(const Project& project, const std::vector<std::string>& names,
                      const OnProgress& progress) {
  Review result;
  result.config_file = project.config_file;
  auto before = read_lock_file(project);
  if (!before) return pass_on(before);
  result.before = std::move(*before);
  auto servers = servers_to_ask(project, result.before.lock, names);
  if (!servers) return pass_on(servers);
  auto listings = list_servers(*servers, progress);
  if (!listings) return pass_on(listings);
  for (ServerListing& listing : *listings)
    result.live.push_back(codegen::lockable(std::move(listing), result.notes));

  result.gone = servers_gone(project, result.before.lock);
  result.approval.names = {names.begin(), names.end()};
  if (names.empty()) {
    for (const ServerListing& listing : result.live) result.approval.names.insert(listing.server);
  } else {
    std::erase_if(result.gone, [&](const auto& name) { return !result.approval.covers(name); });
  }
  result.diff = compare(project, result);
  if (auto ok = check_tool_names(result, names); !ok) return pass_on(ok);
  for (ServerDiff& diff : result.diff) limit_to(result.approval, diff);
  std::erase_if(result.diff, [](const ServerDiff& diff) { return diff.empty(); });
  return result;
}

Result<GenerateReport> accept(const Project& project, const Folders& folders, Review review) {
  auto turn = ProjectTurn::take(project, folders);
  if (!turn) return pass_on(turn);
  auto now = read_lock_file(project);
  if (!now) return pass_on(now);
  if (now->text != review.before.text) {
    return fail(ErrorId::kLockBusy, "mcpac.lock changed while the difference was looked at",
                {.where = project.lock_file().string(),
                 .why = "only what was shown can be approved",
                 .fix = "run the command again and look at the new difference"});
  }
  return merge_and_write(project, review.before, std::move(review.live), review.approval,
                         review.gone);
}

bool Status::drifted() const {
  return std::ranges::any_of(
      servers, [](const ServerStatus& server) { return server.diff && server.diff->drifted(); });
}

Result<Status> status(const Project& project, Ask ask, const OnProgress& progress) {
  auto lock = load_lock(project);
  if (!lock) return pass_on(lock);
  Status result;
  result.headers = check_headers(project, *lock);
  result.notes = notes_of_lock(project, *lock);
  const auto made = codegen::regenerate(*lock);
  result.lock_fits_itself = made && made->lock.headers == lock->headers;
  std::map<std::string, Result<ServerListing>> answers;
  if (ask == Ask::kServers) {
    auto asked = ask_servers(project.config.servers, progress);
    if (!asked) return pass_on(asked);
    answers = std::move(*asked);
  }
  std::set<std::string> names = servers_gone(project, *lock);
  for (const auto& config : project.config.servers) names.insert(config.name);
  for (const std::string& name : names) {
    const auto* config = project.config.find(name);
    const auto* locked = lock->find_server(name);
    ServerStatus server{.server = name,
                        .locked = locked == nullptr ? 0 : locked->tools.size(),
                        .disabled = config != nullptr && config->disabled};
    const auto answer = answers.find(name);
    if (config == nullptr) {
      server.diff = codegen::compare_server(locked, nullptr);
    } else if (answer != answers.end() && !answer->second) {
      server.error = answer->second.error();
    } else if (answer != answers.end()) {
      std::vector<codegen::Note> unused;  // generate and diff say them
      const auto live = codegen::lockable(std::move(*answer->second), unused);
      server.diff = codegen::compare_server(locked, &live);
      server.diff->keeps_texts = keeps_texts(config);
    }
    result.servers.push_back(std::move(server));
  }
  return result;
}

}  // namespace mcpac::project
