// SPDX-License-Identifier: Apache-2.0

// Reads JSON records, groups them and returns totals as JSON.
#include <map>
#include <optional>
#include <string>

#include <mcpac.hpp>

using namespace mcp;
using mcpac::Json;

static std::optional<double> amount_of(const Json& record) {
  if (!record.contains("amount") || !record["amount"].is_number()) return std::nullopt;
  return record["amount"].get<double>();
}

Json agent_main(mcpac::Requires<filesystem::read_text_file> rt) {
  const Json records = Json::parse(rt.filesystem.read_text_file({.path = "orders.json"}).text());
  std::map<std::string, double> totals;
  int skipped = 0;
  for (const Json& record : records) {
    const auto amount = amount_of(record);
    if (!amount) {
      ++skipped;
      continue;
    }
    totals[record.value("customer", "unknown")] += *amount;
  }
  Json result = Json::object();
  for (const auto& [customer, total] : totals) result[customer] = total;
  return {{"totals", result}, {"skipped", skipped}};
}
