#include "gateway/call_answer.h"

#include <utility>

namespace mcpac::gateway {
namespace {

// A name that a client made up may be as long as a frame; an error about it need not be.
constexpr std::size_t kEcho = 256;

}  // namespace

bool is_protocol_error(const gate::CallError& error) {
  return error.kind == gate::ErrorKind::kUnknownTool || error.kind == gate::ErrorKind::kInternal;
}

Json error_result(const gate::CallError& error) {
  Json meta = error.data;
  meta["kind"] = gate::to_string(error.kind);
  meta["code"] = gate::rpc_code(error.kind);
  // For an agent, that is what it wrote; for a client it would be all that it was granted.
  meta.erase("declared");
  Json result{{"content", Json::array({{{"type", "text"}, {"text", "mcpac: " + error.message}}})},
              {"isError", true}};
  result["_meta"][std::string(kMetaError)] = std::move(meta);
  return result;
}

ipc::ErrorObject unknown_tool(std::string_view name) {
  return {ipc::kInvalidParams, "Unknown tool: " + gate::bounded(name, kEcho), nullptr};
}

}  // namespace mcpac::gateway
