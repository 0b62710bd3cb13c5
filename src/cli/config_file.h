// SPDX-License-Identifier: Apache-2.0

// ConfigFile: mcpac.json as something to edit, keeping every member that we do not know.
#pragma once

#include <filesystem>
#include <string>

#include "core/error.h"
#include "core/json.h"
#include "mcp/server_config.h"

namespace mcpac::cli {

class ConfigFile {
 public:
  // An absent file is an empty configuration.
  static Result<ConfigFile> open(const std::filesystem::path& file);
  [[nodiscard]] bool has(const std::string& server) const { return servers().contains(server); }
  void put(const mcp::ServerConfig& server) { servers()[server.name] = mcp::to_json(server); }
  void put(const std::string& name, OrderedJson entry) { servers()[name] = std::move(entry); }
  // A server that is there, to be changed.
  [[nodiscard]] OrderedJson& entry(const std::string& server) { return servers().at(server); }
  [[nodiscard]] const OrderedJson& entry(const std::string& server) const {
    return servers().at(server);
  }
  // Its name in another client: "original_name", or its name.
  [[nodiscard]] std::string original_name(const std::string& server) const {
    const auto& one = entry(server);
    return one.is_object() ? one.value("original_name", server) : server;
  }
  [[nodiscard]] const OrderedJson& entries() const { return servers(); }
  bool remove(const std::string& server) { return servers().erase(server) > 0; }
  // As save() would write it.
  [[nodiscard]] std::string text() const;
  // Checked as the file will be read again, then written atomically.
  [[nodiscard]] Result<void> save() const;

 private:
  [[nodiscard]] OrderedJson& servers() { return json_["mcpServers"]; }
  [[nodiscard]] const OrderedJson& servers() const { return json_.at("mcpServers"); }
  std::filesystem::path file_;
  OrderedJson json_;
};

}  // namespace mcpac::cli
