// SPDX-License-Identifier: Apache-2.0

#include "project/shown_diff.h"

#include <tuple>

#include "core/file.h"
#include "core/json.h"
#include "project/project_place.h"
#include "project/project_state.h"

namespace mcpac::project {
namespace {

// The approved part of a server beside its tools; empty where there is none.
std::string rest_of_server(const codegen::ServerDiff& server) {
  if (server.entry.empty() && server.claims.empty()) return "";
  codegen::ServerDiff rest{.kind = server.kind, .server = server.server};
  rest.entry = server.entry;
  rest.claims = server.claims;
  return codegen::digest_of({rest});
}

constexpr char kKind[] = "shown";
constexpr std::size_t kMostBytes = std::size_t{16} << 20U;

}  // namespace

// Two projects may share a file: then only the last one that was looked at is known.
Json ShownDiff::read() const {
  const UniqueFd file = open_project_state(folders_, kKind, config_file_);
  if (!file) return Json::object();
  const auto text = read_descriptor(file.get(), kKind, kMostBytes);
  const Json json = text ? Json::parse(*text, nullptr, false) : Json();
  const Json* servers = json.is_object() ? find_member(json, "servers") : nullptr;
  if (servers == nullptr || !servers->is_object() ||
      string_member(json, "project") != place_of_project(config_file_).native())
    return Json::object();
  return *servers;
}

void ShownDiff::write(const Json& servers) const {
  const Json json = {{"project", place_of_project(config_file_).native()}, {"servers", servers}};
  std::ignore = write_file_atomic(project_state_file(folders_, kKind, config_file_),
                                  json.dump(-1, ' ', true, Json::error_handler_t::replace), 0600);
}

void ShownDiff::note(const codegen::LockDiff& shown, Extent extent) const {
  Json servers = read();
  for (const auto& server : shown) {
    Json& entry = servers[server.server];
    if (extent == Extent::kWhole || !entry.is_object())
      entry = {{"whole", extent == Extent::kWhole}, {"tools", Json::object()}};
    if (server.identity) entry["identity"] = server.identity->after;
    if (const std::string rest = rest_of_server(server); !rest.empty()) entry["rest"] = rest;
    for (const auto& tool : server.tools) entry["tools"][tool.tool] = tool.digest_after;
  }
  write(servers);
}

std::vector<std::string> ShownDiff::unlike(const codegen::LockDiff& diff) const {
  const Json servers = read();
  std::vector<std::string> names;
  for (const auto& server : diff) {
    const Json* entry = find_member(servers, server.server);
    if (entry == nullptr) continue;
    const Json* whole = find_member(*entry, "whole");
    const bool is_whole = whole != nullptr && *whole == true;
    const Json* identity = find_member(*entry, "identity");
    const bool is_same_identity =
        !server.identity ||
        (identity == nullptr ? !is_whole : *identity == Json(server.identity->after));
    const std::string rest = rest_of_server(server);
    const Json* seen = find_member(*entry, "rest");
    const bool is_same_rest = rest.empty() || (seen == nullptr ? !is_whole : *seen == Json(rest));
    if (!is_same_identity || !is_same_rest) names.push_back(server.server);
    const Json* tools = find_member(*entry, "tools");
    for (const auto& tool : server.tools) {
      const Json* known = tools == nullptr ? nullptr : find_member(*tools, tool.tool);
      const bool is_other = known == nullptr ? is_whole : *known != Json(tool.digest_after);
      if (is_other) names.push_back(tool.permission);
    }
  }
  return names;
}

void ShownDiff::forget(const codegen::LockDiff& diff) const {
  Json servers = read();
  if (servers.empty()) return;
  for (const auto& server : diff) {
    const auto entry = servers.find(server.server);
    if (entry == servers.end()) continue;
    // What is left of a look holds for the rest.
    Json& tools = (*entry)["tools"];
    for (const auto& tool : server.tools) tools.erase(tool.tool);
    if (tools.empty() || server.tools.empty()) servers.erase(server.server);
  }
  write(servers);
}

}  // namespace mcpac::project
