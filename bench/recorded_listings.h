// SPDX-License-Identifier: Apache-2.0

// Recorded tools/list answers as listings: every FOLDER/*.json but _*.json, sorted by name.
#pragma once

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/file.h"
#include "core/tool_definition.h"

namespace mcpac::bench {

inline Result<std::vector<ServerListing>> recorded_listings(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto& file = entry.path();
    if (file.extension() == ".json" && !file.filename().string().starts_with('_'))
      files.push_back(file);
  }
  std::ranges::sort(files);
  std::vector<ServerListing> listings;
  for (const auto& file : files) {
    auto text = read_file(file);
    if (!text) return pass_on(text);
    auto json = parse_ordered_json(*text, file.string());
    if (!json) return pass_on(json);
    ServerListing listing{.server = file.stem().string(),
                          .identity = "recorded",
                          .implementation = "recorded",
                          .protocol_version = "2025-06-18",
                          .tools = {}};
    for (const auto& tool : json->at("tools"))
      listing.tools.push_back({.name = tool.at("name"), .definition = tool});
    listings.push_back(std::move(listing));
  }
  return listings;
}

}  // namespace mcpac::bench
