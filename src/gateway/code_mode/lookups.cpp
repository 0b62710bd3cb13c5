#include "gateway/code_mode/lookups.h"

#include <algorithm>
#include <utility>

#include "codegen/describe.h"
#include "codegen/search.h"
#include "codegen/select.h"
#include "codegen/signature.h"
#include "gate/answer.h"
#include "gateway/code_mode/bounds.h"

namespace mcpac::gateway::code_mode {
namespace {

constexpr std::size_t kSummary = 200;

Json entry(const GrantedView& view, const codegen::ToolRef& ref) {
  Json json{{"name", ref.permission()},
            {"cpp", ref.tool->cpp_name},
            {"granted", Json::array()},
            {"conditional", true}};
  if (const auto permission = Permission::of(ref.server->name, ref.tool->name)) {
    const auto& granted = view.granted(*permission);
    json["granted"] = granted.rules;
    json["conditional"] = granted.is_conditional;
  }
  return json;
}

Json described(const GrantedView& view, const codegen::ToolRef& ref) {
  Json json = entry(view, ref);
  json["signature"] = gate::bounded(codegen::signature(*ref.server, *ref.tool), kMaxDeclaration);
  json["declaration"] =
      gate::bounded(codegen::declaration(*ref.server, *ref.tool), kMaxDeclaration);
  json["example"] = gate::bounded(codegen::example_call(*ref.server, *ref.tool), kMaxDeclaration);
  return json;
}

}  // namespace

Json search(const GrantedView& view, const Json& arguments) {
  const auto limit = static_cast<std::size_t>(arguments.at("limit").get<double>());
  Json tools = Json::array();
  for (const auto& hit :
       codegen::search_tools(view.lock(), string_member(arguments, "query"), limit)) {
    Json json = entry(view, {hit.server, hit.tool});
    json["description"] = codegen::summary(*hit.tool, kSummary);
    tools.push_back(std::move(json));
  }
  return {{"tools", std::move(tools)}};
}

Json describe(const GrantedView& view, const Json& arguments) {
  Json tools = Json::array();
  Json unknown = Json::array();
  std::vector<codegen::ToolRef> known;
  for (const Json& name : arguments.at("names")) {
    const auto found = codegen::select_tools(view.lock(), name.get_ref<const std::string&>());
    if (found.empty()) unknown.push_back(name);
    for (const codegen::ToolRef& ref : found) {
      if (std::ranges::find(known, ref) != known.end()) continue;
      if (known.size() == kMaxDescribed) {
        unknown.push_back(name.get<std::string>() + " (more than can be described at once)");
        break;
      }
      known.push_back(ref);
    }
  }
  std::size_t bytes = 0;
  for (const codegen::ToolRef& ref : known) {
    Json json = described(view, ref);
    bytes += to_text(json).size();
    if (bytes > kMaxResult) {
      unknown.push_back(ref.permission() + " (too long beside the others: ask for it alone)");
      continue;
    }
    tools.push_back(std::move(json));
  }
  return {{"tools", std::move(tools)}, {"unknown", std::move(unknown)}};
}

}  // namespace mcpac::gateway::code_mode
