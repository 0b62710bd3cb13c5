// SPDX-License-Identifier: Apache-2.0

#include "gateway/request_context.h"

#include <utility>

#include "gate/answer.h"
#include "gateway/log_level.h"
#include "mcp/protocol.h"

namespace mcpac::gateway {
namespace {

constexpr std::size_t kMaxToken = 256;
constexpr std::size_t kEchoedVersion = 64;
// A tool that its server changed, or that was taken back, leaves the list when it is read again.
constexpr int kFreshMs = 60'000;

std::unexpected<ipc::ErrorObject> invalid(std::string what) {
  return std::unexpected(ipc::ErrorObject{ipc::kInvalidParams, std::move(what), nullptr});
}

std::unexpected<ipc::ErrorObject> unsupported(const std::string& version) {
  const std::string requested = gate::bounded(version, kEchoedVersion);
  return std::unexpected(ipc::ErrorObject{
      kUnsupportedVersion,
      "Unsupported protocol version: " + requested,
      {{"requested", requested}, {"supported", Json::array({mcp::kStatelessVersion})}}});
}

bool is_token(const Json& token) {
  if (token.is_string()) return token.get_ref<const std::string&>().size() <= kMaxToken;
  return token.is_number_integer();
}

}  // namespace

Json what_it_answers(const Json& capabilities) {
  Json said = Json::object();
  const auto object = [&](const char* name) {
    const Json* value = find_member(capabilities, name);
    return value != nullptr && value->is_object() ? value : nullptr;
  };
  for (const char* name : {"sampling", "roots"}) {
    if (object(name) != nullptr) said[name] = Json::object();
  }
  // Before 2025-11-25 there were forms alone, and an empty object means these still.
  const Json* elicitation = object("elicitation");
  if (elicitation != nullptr && (elicitation->empty() || elicitation->contains("form")))
    said["elicitation"] = Json::object();
  return said;
}

std::optional<std::string> version_in(const Json& params) {
  const Json* meta = find_member(params, "_meta");
  const Json* version = meta == nullptr ? nullptr : find_member(*meta, mcp::kMetaVersion);
  if (version == nullptr || !version->is_string()) return std::nullopt;
  return version->get<std::string>();
}

std::expected<RequestContext, ipc::ErrorObject> read_context(const Json& params) {
  RequestContext context;
  const Json* meta = find_member(params, "_meta");
  if (meta == nullptr) return context;
  if (!meta->is_object()) return invalid("_meta must be an object");
  if (const Json* token = find_member(*meta, "progressToken"); token != nullptr) {
    if (!is_token(*token)) return invalid("progressToken must be a text or an integer");
    context.progress_token = *token;
  }
  const Json* version = find_member(*meta, mcp::kMetaVersion);
  if (version == nullptr) return context;
  if (!version->is_string()) return invalid("the protocol version must be a text");
  const auto& text = version->get_ref<const std::string&>();
  if (text != mcp::kStatelessVersion) return unsupported(text);
  context.era = Era::kStateless;
  const Json* capabilities = find_member(*meta, mcp::kMetaCapabilities);
  if (capabilities == nullptr || !capabilities->is_object())
    return invalid("_meta must have the client's capabilities, an object");
  context.capabilities = what_it_answers(*capabilities);
  if (const Json* level = find_member(*meta, mcp::kMetaLogLevel); level != nullptr) {
    if (!level->is_string() || !is_log_level(level->get_ref<const std::string&>()))
      return invalid("the log level must be one of MCP's eight");
    context.log_level = level->get<std::string>();
  }
  return context;
}

Json in_form(Era era, Json result) {
  if (era == Era::kInitialize) {
    result.erase("resultType");
    return result;
  }
  if (!result.contains("resultType")) result["resultType"] = "complete";
  Json& meta = result["_meta"];
  if (!meta.is_object()) meta = Json::object();
  meta[std::string(mcp::kMetaServerInfo)] = mcp::client_info();
  return result;
}

Json complete_in_form(Era era, Json result) {
  for (const char* name : {"resultType", "inputRequests", "requestState"}) result.erase(name);
  return in_form(era, std::move(result));
}

Json cacheable(Era era, Json result) {
  if (era == Era::kInitialize) return result;
  result["ttlMs"] = kFreshMs;
  result["cacheScope"] = "private";  // another client was granted other tools
  return result;
}

Json cacheable_resource(Era era, Json result) {
  if (era == Era::kInitialize) {
    result.erase("ttlMs");
    result.erase("cacheScope");
    return result;
  }
  const Json* fresh = find_member(result, "ttlMs");
  if (fresh == nullptr || !fresh->is_number_integer() || *fresh < 0) result["ttlMs"] = 0;
  result["cacheScope"] = "private";
  return result;
}

}  // namespace mcpac::gateway
