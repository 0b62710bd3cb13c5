// SPDX-License-Identifier: Apache-2.0

#include "gateway/call_answer.h"

#include <utility>

namespace mcpac::gateway {
namespace {

// Of a server's error: words that a person reads, and data.
constexpr std::size_t kMaxWords = 4'000;
constexpr std::size_t kMaxData = std::size_t{64} << 10U;

// A name that a client made up may be as long as a frame; an error about it need not be.
constexpr std::size_t kEcho = 256;

}  // namespace

bool is_protocol_error(const gate::CallError& error) {
  return error.kind == gate::ErrorKind::kUnknownTool || error.kind == gate::ErrorKind::kInternal;
}

namespace {

Json about(const gate::CallError& error) {
  Json meta = error.data;
  meta["kind"] = gate::to_string(error.kind);
  meta["code"] = gate::rpc_code(error.kind);
  // For an agent, that is what it wrote; for a client it would be all that it was granted.
  meta.erase("declared");
  return meta;
}

}  // namespace

Json error_result(const gate::CallError& error) {
  Json meta = about(error);
  Json result{{"content", Json::array({{{"type", "text"}, {"text", "mcpac: " + error.message}}})},
              {"isError", true}};
  result["_meta"][std::string(kMetaError)] = std::move(meta);
  return result;
}

ipc::ErrorObject unknown_tool(std::string_view name) {
  return {ipc::kInvalidParams, "Unknown tool: " + gate::bounded(name, kEcho), nullptr};
}

ipc::ErrorObject unknown_prompt(std::string_view name) {
  return {ipc::kInvalidParams, "Unknown prompt: " + gate::bounded(name, kEcho), nullptr};
}

ipc::ErrorObject resource_not_found(std::string_view uri) {
  return {ipc::kInvalidParams, "Resource not found", {{"uri", gate::bounded(uri, kMaxWords)}}};
}

ipc::ErrorObject error_of(CallForm form, const std::string& asked, const gate::CallError& error) {
  using Kind = gate::ErrorKind;
  // The numbers of ours are those of programs; -32001 means a silent server to the official client.
  const bool is_of_request = error.kind == Kind::kDenied || error.kind == Kind::kInvalidArguments ||
                             error.kind == Kind::kRevoked;
  Json data{{std::string(kMetaError), about(error)}};
  if (form == CallForm::kResource) data["uri"] = gate::bounded(asked, kMaxWords);
  return {is_of_request ? ipc::kInvalidParams : ipc::kInternalError, "mcpac: " + error.message,
          std::move(data)};
}

Json without_our_name(Json result) {
  const auto meta = result.find("_meta");
  if (meta != result.end() && meta->is_object()) meta->erase(std::string(kMetaError));
  return result;
}

ipc::ErrorObject without_our_name(ipc::ErrorObject error) {
  error.message = gate::bounded(error.message, kMaxWords);
  if (error.message.starts_with("mcpac:")) error.message.insert(0, "the server says: ");
  if (error.data.is_object()) error.data.erase(std::string(kMetaError));
  if (to_text(error.data).size() > kMaxData) error.data = nullptr;
  return error;
}

}  // namespace mcpac::gateway
