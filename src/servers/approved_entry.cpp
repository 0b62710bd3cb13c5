// SPDX-License-Identifier: Apache-2.0

#include "servers/approved_entry.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "codegen/lock_entry.h"
#include "core/printable.h"
#include "servers/confine/confine_servers.h"

namespace mcpac::servers {
namespace {

std::string file_of(const mcp::ServerConfig& config) {
  return config.file.empty() ? "mcpac.json" : config.file.string();
}

Error other_server(const mcp::ServerConfig& config, const std::string& how, std::string why) {
  return {ErrorId::kLockDrift,
          fmt::format("the server {} in mcpac.json is not the one that mcpac.lock approved: {}",
                      config.name, how),
          fmt::format("server {}", config.name), std::move(why),
          fmt::format("`mcpac lock diff {0}` shows it, `mcpac lock accept {0}` approves it",
                      config.name)};
}

// A member of its entry beside the identity starts another program now, or gives it more.
std::optional<Error> other_members(const codegen::LockedServer& locked,
                                   const mcp::ServerConfig& config, const OrderedJson& entry) {
  const auto changes = codegen::compare_entries(locked.entry, entry);
  if (!codegen::starts_another(changes)) return std::nullopt;
  std::string which;
  std::string values;
  for (const auto& one : changes) {
    if (one.effect != codegen::EntryChange::Effect::kAnother) continue;
    if (!which.empty()) which += ", ";
    which += printable(codegen::in_words(one), 200);
    if (values.empty())
      values = fmt::format("{} is {} now; approved was {}", printable(one.member, 200),
                           one.after.empty() ? "not there" : printable(one.after, 200),
                           one.before.empty() ? "none" : printable(one.before, 200));
  }
  return other_server(config, printable(which, 600),
                      fmt::format("{}: {}", file_of(config), values));
}

}  // namespace

std::optional<Error> not_as_approved(const codegen::Lock& lock, const mcp::ServerConfig& config,
                                     const EntryForLock& written) {
  const auto* locked = lock.find_server(config.name);
  if (locked == nullptr) return std::nullopt;
  std::optional<Error> other;
  if (locked->identity != written.identity) {
    other = other_server(
        config, "its entry was changed",
        fmt::format("{} starts or calls another one now: {}; approved was {}", file_of(config),
                    printable(written.identity), printable(locked->identity)));
  } else {
    other = other_members(*locked, config, written.entry);
  }
  if (!other) return std::nullopt;
  if (auto possible = check_confined_start(config); !possible) return std::move(possible.error());
  return other;
}

}  // namespace mcpac::servers
