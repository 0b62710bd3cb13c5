#include "execute/clients/foreign_servers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/json_text.h"
#include "execute/clients/adopt.h"
#include "execute/clients/client_kind.h"
#include "mcp/server_config.h"

namespace mcpac::execute {
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
  auto file = JsonText::parse(std::string(text), where);
  if (!file) {
    Error error = std::move(file.error());
    error.id = ErrorId::kConfigSyntax;
    return std::unexpected(std::move(error));
  }
  constexpr std::array<const char*, 2> kTables = {"mcpServers", "servers"};
  std::vector<std::string> originals;
  bool has_any = false;
  const auto table_of = [&](const char* member) {
    const auto table = file->value().find(member);
    const bool is_one = table != file->value().end() && table->is_object();
    return is_one ? *table : OrderedJson(nullptr);
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
      auto made = member == kTables[1] ? adopt(*find_client_kind("vscode"), name, entry)
                                       : of_any(name, entry);
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
                    "", "the file has both \"mcpServers\" and \"servers\"", "remove one of them"},
                   where, member, original, name);
      servers.push_back(std::move(server));
    }
  }
  if (has_any) return servers;
  return fail(ErrorId::kConfigInvalid, "this file has no servers",
              {.where = where,
               .why = "they stand in an object \"mcpServers\", or \"servers\" of VS Code",
               .fix = "name the client's file that holds them; Codex has its own in TOML: mcpac "
                      "connect codex --adopt"});
}

}  // namespace mcpac::execute
