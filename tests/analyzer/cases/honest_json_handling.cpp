#include <mcpac.hpp>
mcpac::Json agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const auto config = mcpac::Json::parse(rt.filesystem.read_text_file({.path = "config.json"}).text(), nullptr, false);  // use: filesystem.read_text_file {"path": "config.json"}
  if (config.is_discarded()) return {{"error", "no JSON"}};
  mcpac::Json result = mcpac::Json::object();
  for (const auto& [name, value] : config.items()) {
    if (value.is_number()) result["numbers"].push_back(name);
    if (value.is_object() && value.contains("path")) result["paths"][name] = value["path"].get<std::string>();
  }
  result["count"] = config.size();
  result.merge_patch({{"done", true}});
  return result;
}
