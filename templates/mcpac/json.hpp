// Json: nlohmann's, under one name. Free-form arguments and results are values of this type.
#pragma once

#include <nlohmann/json.hpp>

namespace mcpac {

using Json = ::nlohmann::json;

}  // namespace mcpac
