// SPDX-License-Identifier: Apache-2.0

#include "mcp/asked.h"

namespace mcpac::mcp {

std::string capability_of(std::string_view method) {
  if (method == "elicitation/create") return "elicitation";
  if (method == "sampling/createMessage") return "sampling";
  if (method == "roots/list") return "roots";
  return "";
}

Json with_defaults(Json answer, const Json& params) {
  if (string_member(answer, "action") != "accept") return answer;
  const Json* schema = find_member(params, "requestedSchema");
  const Json* fields = schema == nullptr ? nullptr : find_member(*schema, "properties");
  if (fields == nullptr || !fields->is_object()) return answer;
  Json& content = answer["content"];
  if (content.is_null()) content = Json::object();
  if (!content.is_object()) return answer;
  for (const auto& [name, field] : fields->items()) {
    const Json* value = find_member(field, "default");
    if (value != nullptr && !content.contains(name)) content[name] = *value;
  }
  return answer;
}

}  // namespace mcpac::mcp
