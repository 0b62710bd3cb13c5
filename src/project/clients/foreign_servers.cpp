// SPDX-License-Identifier: Apache-2.0

#include "project/clients/foreign_servers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/json_text.h"
#include "mcp/server_config.h"
#include "project/clients/adopt.h"
#include "project/clients/client_kind.h"

namespace mcpac::project {
namespace {

constexpr std::string_view kPlace = "its entry";

// Errors of one entry name its place in the file that it stands in.
std::unexpected<Error> placed(Error error, const std::string& where, std::string_view member,
                              const std::string& original, const std::string& name) {
  const std::string inner = fmt::format("{}: mcpServers.{}", kPlace, name);
  const bool is_within = error.where.starts_with(inner);
  error.where = fmt::format("{}: {}.{}{}", where, member, original,
                            is_within ? error.where.substr(inner.size()) : "");
  if (error.fix.empty()) error.fix = fmt::format("mcpac server add {} -- COMMAND ARGS…", name);
  return std::unexpected(std::move(error));
}

Result<Adopted> of_any(const std::string& name, const OrderedJson& entry) {
  static const ClientKind kSomebody{
      .id = "", .title = "another client", .variables = Variables::kAny};
  auto made = convert(kSomebody, name, entry);
  if (!made) return made;
  if (auto fits = check_entry(name, made->entry); !fits) return pass_on(fits);
  return made;
}

}  // namespace

Result<std::vector<ForeignServer>> read_foreign_servers(std::string_view text,
                                                        const std::string& where,
                                                        const IsOfAnother& is_of_another) {
  // The first bytes of a ZIP archive.
  if (text.starts_with("PK\x03\x04"))
    return fail(
        ErrorId::kConfigSyntax, "this is an archive, such as an extension (.mcpb, .dxt)",
        {.where = where,
         .why = "mcpac reads no extensions: what one starts is chosen when it is unpacked",
         .fix = "unpack it, read \"server\" in its manifest.json, then mcpac server add NAME "
                "-- COMMAND ARGS…"});
  auto file = JsonText::parse(std::string(text), where);
  if (!file) {
    Error error = std::move(file.error());
    error.id = ErrorId::kConfigSyntax;
    return std::unexpected(std::move(error));
  }
  constexpr std::array<const char*, 4> kTables = {"mcpServers", "servers", "mcp.servers",
                                                  "context_servers"};
  std::vector<std::string> originals;
  bool has_any = false;
  const auto table_of = [&](const char* member) {
    const std::string_view path = member;
    const auto dot = path.find('.');
    OrderedJson at = file->value();
    for (const auto step : {path.substr(0, dot), path.substr(dot + 1)}) {  // npos + 1 is 0
      const auto found = at.is_object() ? at.find(std::string(step)) : at.end();
      if (!at.is_object() || found == at.end() || !found->is_object()) return OrderedJson(nullptr);
      at = OrderedJson(*found);
      if (dot == std::string_view::npos) break;
    }
    return at;
  };
  for (const char* member : kTables) {
    const OrderedJson table = table_of(member);
    has_any = has_any || table.is_object();
    for (const auto& [original, entry] : table.items()) originals.push_back(original);
  }
  const auto names = legal_names(originals, is_of_another);
  std::vector<ForeignServer> servers;
  for (const char* member : kTables) {
    const OrderedJson table = table_of(member);
    for (const auto& [original, entry] : table.items()) {
      const std::string& name = names.at(original);
      const std::string_view kind = member == kTables[0]   ? ""
                                    : member == kTables[3] ? "zed"
                                                           : "vscode";
      auto made = kind.empty() ? of_any(name, entry) : adopt(*find_client_kind(kind), name, entry);
      ForeignServer server{name, OrderedJson(), {}, original};
      if (made) {
        server.entry = std::move(made->entry);
        server.notes = std::move(made->notes);
        if (name != original && !original.empty()) (*server.entry)["original_name"] = original;
      } else {
        server.entry = placed(std::move(made.error()), where, member, original, name);
      }
      if (std::ranges::find(servers, original, &ForeignServer::original) != servers.end())
        server.entry =
            placed({ErrorId::kConfigInvalid, fmt::format("the server {} stands twice", original),
                    "", "the file has it in two tables of servers", "remove one of them"},
                   where, member, original, name);
      servers.push_back(std::move(server));
    }
  }
  if (has_any) return servers;
  return fail(ErrorId::kConfigInvalid, "this file has no servers",
              {.where = where,
               .why = "they stand in an object \"mcpServers\", \"servers\" of VS Code, or "
                      "\"context_servers\" of Zed",
               .fix = "name the client's file that holds them; Codex has its own in TOML: mcpac "
                      "connect codex --adopt"});
}

}  // namespace mcpac::project
