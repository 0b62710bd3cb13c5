#include "gateway/http/agreement.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <variant>

#include "gateway/request_context.h"
#include "mcp/protocol.h"

namespace mcpac::gateway::http {
namespace {

struct Said {
  std::string_view method;
  const Json* params = nullptr;
};

Said said_by(const ipc::Message& message) {
  if (const auto* request = std::get_if<ipc::Request>(&message))
    return {request->method, &request->params};
  if (const auto* notification = std::get_if<ipc::Notification>(&message))
    return {notification->method, &notification->params};
  return {};
}

// The member that Mcp-Name repeats; empty where a method has none.
std::string_view named_by(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  return method == "resources/read" ? "uri" : "";
}

std::optional<std::string> differs(const Head& head, std::string_view header,
                                   std::string_view expected) {
  if (head.count(header) == 0) return fmt::format("the header {} is missing", header);
  const auto value = decode_header_value(field(head, header));
  if (!value) return fmt::format("the header {} cannot be read", header);
  if (*value != expected) return fmt::format("the header {} differs from the body", header);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> decode_header_value(std::string_view value) {
  constexpr std::string_view kBegin = "=?base64?";
  constexpr std::string_view kEnd = "?=";
  if (!value.starts_with(kBegin) || !value.ends_with(kEnd) ||
      value.size() < kBegin.size() + kEnd.size()) {
    const bool plain =
        std::ranges::all_of(value, [](char c) { return (c >= 0x20 && c < 0x7f) || c == '\t'; });
    return plain ? std::optional(std::string(value)) : std::nullopt;
  }
  value.remove_prefix(kBegin.size());
  value.remove_suffix(kEnd.size());
  std::string text(value.size(), '\0');
  std::size_t size = 0;
  const char* end = nullptr;
  const int failed =
      sodium_base642bin(reinterpret_cast<unsigned char*>(text.data()), text.size(), value.data(),
                        value.size(), nullptr, &size, &end, sodium_base64_VARIANT_ORIGINAL);
  if (failed != 0 || end != value.data() + value.size()) return std::nullopt;
  text.resize(size);
  return text;
}

HttpEra era_of(const Head& head, const ipc::Message& message) {
  const auto said = said_by(message);
  if (said.params != nullptr && version_in(*said.params)) return HttpEra::kStateless;
  const std::string_view version = field(head, "MCP-Protocol-Version");
  const bool is_older = version.empty() || mcp::is_initialize_version(version);
  return is_older || field(head, "Mcp-Session-Id") != "" || said.method == "initialize"
             ? HttpEra::kInitialize
             : HttpEra::kStateless;
}

namespace {

std::optional<std::string> header_that_differs(const Head& head, const ipc::Message& message) {
  const auto said = said_by(message);
  if (said.method.empty()) return "a client of this revision sends no responses";
  if (const auto version = version_in(*said.params)) {
    if (auto why = differs(head, "MCP-Protocol-Version", *version)) return why;
  }
  if (auto why = differs(head, "Mcp-Method", said.method)) return why;
  const std::string_view member = named_by(said.method);
  if (!std::holds_alternative<ipc::Request>(message) || member.empty()) return std::nullopt;
  return differs(head, "Mcp-Name", string_member(*said.params, member));
}

}  // namespace

std::optional<Disagreement> disagreement(const Head& head, const ipc::Message& message) {
  if (auto why = header_that_differs(head, message))
    return Disagreement{kHeaderMismatch, std::move(*why)};
  const auto* request = std::get_if<ipc::Request>(&message);
  if (request == nullptr) return std::nullopt;
  if (!version_in(request->params))
    return Disagreement{ipc::kInvalidParams, "_meta must name the protocol version"};
  const auto context = read_context(request->params);
  if (context || context.error().code != ipc::kInvalidParams) return std::nullopt;
  return Disagreement{ipc::kInvalidParams, context.error().message};
}

}  // namespace mcpac::gateway::http
