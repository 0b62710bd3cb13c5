// SPDX-License-Identifier: Apache-2.0

// One tool of one text argument, t.use(text), with rules over it: what the fuzz targets of the
// grant language share. The current folder is /base, the home /home/somebody; nothing is looked up.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "policy/authority.h"

namespace mcpac::fuzz {

// A property that does not hold is a crash, which the fuzzer keeps.
inline void demand(bool holds) {
  if (!holds) std::abort();
}

// The rules as after --grant and --deny, over `t.use(text …)`.
inline policy::Authority load(std::vector<std::string> grants, std::vector<std::string> denies) {
  static const policy::ToolSchemas tools = {
      {Permission::parse("t.use").value(),
       Json::parse(R"({"type": "object", "properties": {"text": {"type": "string"}}})")}};
  policy::Environment environment{.tools = &tools, .bases = {}};
  environment.bases.current_directory = "/base";
  environment.bases.home = "/home/somebody";
  auto authority = policy::Authority::load({{.name = "the command line",
                                             .grants = std::move(grants),
                                             .asks = {},
                                             .denies = std::move(denies),
                                             .files = {}}},
                                           environment);
  if (!authority) std::abort();
  return std::move(*authority);
}

inline bool allows(policy::Authority& authority, const Json& text) {
  static const Permission use = Permission::parse("t.use").value();
  return authority.decide(use, Json{{"text", text}}).allowed();
}

}  // namespace mcpac::fuzz
