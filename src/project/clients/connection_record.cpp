// SPDX-License-Identifier: Apache-2.0

#include "project/clients/connection_record.h"

#include <fmt/format.h>

#include <system_error>

#include "core/file.h"
#include "core/hash.h"
#include "core/private_file.h"

namespace mcpac::project {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestRecord = std::size_t{64} << 20U;
constexpr std::size_t kNameDigits = 16;

}  // namespace

fs::path ConnectionRecords::file_of(const ClientFile& file, const char* end) const {
  const std::string digest = sha256_hex(file.path().string()).substr(0, kNameDigits);
  return folder_ / fmt::format("{}-{}{}", file.path().filename().string(), digest, end);
}

fs::path ConnectionRecords::backup_of(const ClientFile& file) const {
  return file_of(file, ".before");
}

Result<std::optional<ConnectionRecord>> ConnectionRecords::find(const ClientFile& file) const {
  const auto path = file_of(file, ".json");
  auto bytes = read_private_file(path, kLargestRecord);
  if (!bytes) return pass_on(bytes);
  if (!*bytes) return std::nullopt;
  const auto damaged = [&] {
    return fail(ErrorId::kConfigInvalid, "the record of what mcpac connect did cannot be used",
                {.where = path.string(), .fix = "remove it, and take the entry back by hand"});
  };
  auto json = parse_ordered_json(**bytes, path.string(), {.max_bytes = kLargestRecord});
  if (!json || !json->is_object()) return damaged();
  const auto text = [&](const char* name) {
    return json->contains(name) && (*json)[name].is_string() ? (*json)[name].get<std::string>()
                                                             : std::string();
  };
  const auto flag = [&](const char* name) { return json->contains(name) && (*json)[name] == true; };
  ConnectionRecord record{.name = text("name"),
                          .existed = flag("existed"),
                          .is_exact = flag("exact"),
                          .before = text("before"),
                          .after = text("after")};
  if (record.name.empty() || record.after.empty() || text("file") != file.path().string())
    return damaged();
  if (json->contains("replaced")) record.replaced = (*json)["replaced"];
  if (json->contains("moved") && (*json)["moved"].is_object()) record.moved = (*json)["moved"];
  return record;
}

Result<void> ConnectionRecords::keep(const ClientFile& file, const ConnectionRecord& record) const {
  const auto turn = take_turn(folder_, "connections of clients");
  if (!turn) return std::unexpected(turn.error());
  OrderedJson json{{"file", file.path().string()}, {"name", record.name},
                   {"existed", record.existed},    {"exact", record.is_exact},
                   {"before", record.before},      {"after", record.after},
                   {"moved", record.moved}};
  if (record.replaced) json["replaced"] = *record.replaced;
  if (auto kept = write_file_atomic(backup_of(file), record.before, 0600); !kept) return kept;
  return write_file_atomic(file_of(file, ".json"), to_text(json) + "\n", 0600);
}

void ConnectionRecords::forget(const ClientFile& file) const {
  std::error_code ignored;
  fs::remove(file_of(file, ".json"), ignored);
}

ConnectionRecord record_of(const ClientFile& file, const std::string& name,
                           const OrderedJson& servers_before,
                           const std::optional<ConnectionRecord>& last) {
  ConnectionRecord record{.name = name,
                          .existed = file.exists(),
                          .is_exact = true,
                          .before = file.before(),
                          .after = sha256_hex(file.after())};
  const OrderedJson now = file.servers();
  for (const auto& [server, entry] : servers_before.items()) {
    if (server != name && !now.contains(server)) record.moved[server] = entry;
  }
  if (servers_before.contains(name)) record.replaced = servers_before[name];
  if (!last || last->name != name) return record;
  // What it was before the first connection is what it is taken back to.
  record.existed = last->existed;
  record.is_exact = last->is_exact && is_as_written(*last, file);
  record.before = last->before;
  record.replaced = last->replaced;
  for (const auto& [server, entry] : last->moved.items()) {
    if (!record.moved.contains(server)) record.moved[server] = entry;
  }
  return record;
}

bool is_as_written(const ConnectionRecord& record, const ClientFile& file) {
  return file.exists() && sha256_hex(file.before()) == record.after;
}

Result<void> take_back(const ConnectionRecord& record, ClientFile& file) {
  const OrderedJson now = file.servers();
  const auto& name = record.name;
  if (now.contains(name) && !is_ours(now[name])) {
    // Another one was written by now: it is not ours to take.
  } else if (record.replaced) {
    if (auto put = file.put(record.name, *record.replaced); !put) return put;
  } else if (auto removed = file.remove(record.name); !removed) {
    return removed;
  }
  for (const auto& [server, entry] : record.moved.items()) {
    if (file.servers().contains(server)) continue;
    if (auto put = file.put(server, entry); !put) return put;
  }
  return {};
}

}  // namespace mcpac::project
