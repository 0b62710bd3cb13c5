// SPDX-License-Identifier: Apache-2.0

// ConnectionRecord: undo record of what `mcpac connect` did to a client's configuration: exact as
// long as no other program wrote the file, and entry by entry after that.
//
// Kept with the bytes of before in the state folder, for the user alone (0600): both may hold
// secrets.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "project/clients/client_file.h"

namespace mcpac::project {

struct ConnectionRecord {
  std::string name;                           // of our entry
  bool existed = false;                       // the file, before
  bool is_exact = true;                       // no other program wrote since `before`
  std::string before;                         // the whole file
  std::string after;                          // SHA-256 of what we wrote
  std::optional<OrderedJson> replaced{};      // the entry of that name, before
  OrderedJson moved = OrderedJson::object();  // entries that were taken out
};

class ConnectionRecords {
 public:
  explicit ConnectionRecords(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Nothing: mcpac never connected this file, or it was undone.
  [[nodiscard]] Result<std::optional<ConnectionRecord>> find(const ClientFile& file) const;
  // Path of the previous bytes, for people.
  [[nodiscard]] std::filesystem::path backup_of(const ClientFile& file) const;
  [[nodiscard]] Result<void> keep(const ClientFile& file, const ConnectionRecord& record) const;
  void forget(const ClientFile& file) const;

 private:
  [[nodiscard]] std::filesystem::path file_of(const ClientFile& file, const char* end) const;
  std::filesystem::path folder_;
};

// With what the record of the connection before it says, where there is one.
[[nodiscard]] ConnectionRecord record_of(const ClientFile& file, const std::string& name,
                                         const OrderedJson& servers_before,
                                         const std::optional<ConnectionRecord>& last);

// Takes the entries back in `file`; where the record is exact there is nothing to do but
// file.restore(). Entries that are there again by now stay, and one of our name that is not ours.
[[nodiscard]] Result<void> take_back(const ConnectionRecord& record, ClientFile& file);
// The file is as mcpac wrote it.
[[nodiscard]] bool is_as_written(const ConnectionRecord& record, const ClientFile& file);

}  // namespace mcpac::project
