// SPDX-License-Identifier: Apache-2.0

// Arguments of a tool that travel as headers, too: `x-mcp-header` of revision 2026-07-28
// (SEP-2243).
//
// A property of the input schema with "x-mcp-header": "Region" asks for `Mcp-Param-Region` with the
// argument's value, so that what stands before a server can route without reading bodies. The
// annotation is text of the server that becomes the name of a header of ours: what is not a token,
// not unique, not at a plain string, integer or boolean that only `properties` lead to makes the
// tool unusable, as the revision demands.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json.h"

namespace mcpac::mcp {

struct ParamHeader {
  std::vector<std::string> path;  // names of members, outermost first
  std::string name;               // "Mcp-Param-Region"
};

// kServerProtocol with the reason when an annotation is not allowed.
[[nodiscard]] Result<std::vector<ParamHeader>> read_param_headers(const OrderedJson& input_schema);

// Name and encoded value for every annotated argument that is there and not null.
[[nodiscard]] std::map<std::string, std::string> param_headers(
    const std::vector<ParamHeader>& annotated, const Json& arguments);

}  // namespace mcpac::mcp
