// SPDX-License-Identifier: Apache-2.0

// Arguments: words after `mcpac tools call SERVER.TOOL` as the JSON object that the tool takes.
//
// The input schema decides what a word means: "5" is a number for an integer property and a text
// for a string property. Nothing is validated beyond that; the gate does, as for every call.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/lock.h"
#include "core/error.h"
#include "core/json.h"

namespace mcpac::codegen {

// One `--key value`; without a value it is a switch, which only a boolean can be.
struct TypedArgument {
  std::string key;  // without the dashes
  std::optional<std::string> value;
};

// A key is the property's name, or that name with '-' for '_'. A repeated key fills an array;
// objects and arrays may be written as JSON text.
[[nodiscard]] Result<Json> arguments_from(const LockedTool& tool,
                                          const std::vector<TypedArgument>& typed);

}  // namespace mcpac::codegen
