// SPDX-License-Identifier: Apache-2.0

#include "run/declared.h"

#include "run/check/check.h"

namespace mcpac::run {

gate::Declared declared_by(const analyzer::Report& report) {
  gate::Declared declared;
  for (const auto& item : report.declared) {
    if (auto tool = declared_tool(item)) declared.permissions.insert(*tool);
    declared.texts.push_back(item.text());
  }
  return declared;
}

}  // namespace mcpac::run
