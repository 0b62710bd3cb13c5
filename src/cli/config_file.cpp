// SPDX-License-Identifier: Apache-2.0

#include "cli/config_file.h"

#include <system_error>

#include "core/file.h"

namespace mcpac::cli {

Result<ConfigFile> ConfigFile::open(const std::filesystem::path& file) {
  ConfigFile config;
  config.file_ = file;
  config.json_ = OrderedJson{{"mcpServers", OrderedJson::object()}};
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return config;
  auto text = read_file(file);
  if (!text) return pass_on(text);
  // The same reading as everywhere else first: a file that we refuse to run is not edited either.
  if (auto parsed = mcp::parse_config(*text, file.string()); !parsed) return pass_on(parsed);
  auto json = parse_ordered_json(*text, file.string());
  if (!json) return pass_on(json);
  config.json_ = std::move(*json);
  if (!config.json_.contains("mcpServers")) config.json_["mcpServers"] = OrderedJson::object();
  return config;
}

std::string ConfigFile::text() const {
  return json_.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

Result<void> ConfigFile::save() const {
  if (auto parsed = mcp::parse_config(text(), file_.string()); !parsed) return pass_on(parsed);
  // Headers and environment values may be secrets written out instead of ${env:…}.
  return write_file_atomic(file_, text(), 0600);
}

}  // namespace mcpac::cli
