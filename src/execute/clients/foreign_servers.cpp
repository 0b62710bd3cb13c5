#include "execute/clients/foreign_servers.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/json_text.h"
#include "execute/clients/adopt.h"
#include "execute/clients/client_kind.h"
#include "mcp/server_config.h"

namespace mcpac::execute {
namespace {

constexpr std::string_view kPlace = "its entry";

// Errors of one entry name its place in the file that it stands in.
std::unexpected<Error> placed(Error error, const std::string& where, std::string_view member,
                              const std::string& name) {
  const std::string inner = fmt::format("{}: mcpServers.{}", kPlace, name);
  const bool is_within = error.where.starts_with(inner);
  error.where = fmt::format("{}: {}.{}{}", where, member, name,
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
                                                        const std::string& where) {
  auto file = JsonText::parse(std::string(text), where);
  if (!file) {
    Error error = std::move(file.error());
    error.id = ErrorId::kConfigSyntax;
    return std::unexpected(std::move(error));
  }
  std::vector<ForeignServer> servers;
  bool has_any = false;
  for (const char* member : {"mcpServers", "servers"}) {
    const auto table = file->value().find(member);
    if (table == file->value().end() || !table->is_object()) continue;
    has_any = true;
    for (const auto& [name, entry] : table->items()) {
      auto made = table.key() == "servers" ? adopt(*find_client_kind("vscode"), name, entry)
                                           : of_any(name, entry);
      std::vector<std::string> notes;
      Result<OrderedJson> read;
      if (made) {
        read = std::move(made->entry);
        notes = std::move(made->notes);
      } else {
        read = placed(std::move(made.error()), where, member, name);
      }
      if (std::ranges::find(servers, name, &ForeignServer::name) != servers.end())
        read = placed({ErrorId::kConfigInvalid, fmt::format("the server {} stands twice", name), "",
                       "the file has both \"mcpServers\" and \"servers\"", "remove one of them"},
                      where, member, name);
      servers.push_back({name, std::move(read), std::move(notes)});
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
