// SPDX-License-Identifier: Apache-2.0

#include "gate/result_line.h"

#include "core/json_writer.h"

namespace mcpac::gate {

std::string result_line(const ipc::Id& id, const Json& result) {
  std::string out;
  const std::size_t bytes = text_bytes(result);
  out.reserve(bytes + bytes / 16 + 128);
  out += R"({"jsonrpc":"2.0","id":)";
  out += ipc::to_text(id);
  out += R"(,"result":)";
  append_json(out, result);
  out += '}';
  return out;
}

std::size_t text_bytes(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().size();
  std::size_t sum = 0;
  if (value.is_object()) {
    for (const auto& [name, member] : value.get_ref<const Json::object_t&>()) {
      sum += name.size() + text_bytes(member);
    }
  } else if (value.is_array()) {
    for (const Json& element : value.get_ref<const Json::array_t&>()) sum += text_bytes(element);
  }
  return sum;
}

}  // namespace mcpac::gate
