// SPDX-License-Identifier: Apache-2.0

// From one definition to one ToolModel: names, words, Args and Result.
#pragma once

#include <string>
#include <vector>

#include "codegen/generate.h"
#include "codegen/model.h"
#include "core/json.h"

namespace mcpac::codegen {

// `permission` names the tool in notes; `cpp_name` is its struct ("read_text_file").
[[nodiscard]] ToolModel model_of(const OrderedJson& definition, const std::string& permission,
                                 const std::string& cpp_name, std::vector<Note>& notes);

}  // namespace mcpac::codegen
