// Subscriptions of a client's session.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gateway/mcp_session.h"
#include "gateway/session_offers.h"

namespace mcpac::gateway {
namespace {

constexpr const char* kMetaSubscription = "io.modelcontextprotocol/subscriptionId";

Json to_json(const ipc::Id& id) {
  return std::visit([](const auto& value) { return Json(value); }, id);
}

}  // namespace

// The first message of a subscription says what it is about; then it stays open.
void McpSession::listen(const ipc::Request& request) {
  const Json* wanted = find_member(request.params, "notifications");
  if (wanted == nullptr || !wanted->is_object())
    return say_error(request.id, ipc::kInvalidParams, "notifications must be an object");
  if (listens_.size() + offers_->waiting() >= setup_.limits.max_listens)
    return say_error(request.id, ipc::kInvalidRequest, "too many subscriptions are open");
  offers_->agree(request.id, *wanted, [this, id = request.id](Listening agreed) {
    if (finishing_) return end_listening(id);
    Json said = Json::object();
    if (agreed.tools) said["toolsListChanged"] = true;
    if (agreed.prompts) said["promptsListChanged"] = true;
    if (agreed.resources) said["resourcesListChanged"] = true;
    // As servers will say them.
    std::set<std::string> uris;
    for (const auto& [text, watched] : agreed.uris) uris.insert(watched.uri);
    if (!uris.empty()) said["resourceSubscriptions"] = uris;
    auto& kept = listens_.emplace(id, std::move(agreed)).first->second;
    setup_.say({.line = ipc::encode_notification("notifications/subscriptions/acknowledged",
                                                 {{"notifications", std::move(said)},
                                                  {"_meta", {{kMetaSubscription, to_json(id)}}}}),
                .about = id,
                .is_needed = true});
    // A client that could not be told is gone, and the subscription with it.
    if (!closed_) offers_->begin(kept);
  });
}

void McpSession::end_listening(const ipc::Id& id) {
  Json result{{"_meta", {{kMetaSubscription, to_json(id)}}}};
  say_result(id, in_form(Era::kStateless, std::move(result)));
}

bool McpSession::listens_to(const std::function<bool(const Listening&)>& is_meant) const {
  return std::ranges::any_of(listens_, [&](const auto& one) { return is_meant(one.second); });
}

void McpSession::tell_listeners(std::string_view method, const Json& params,
                                const std::function<bool(const Listening&)>& hears) {
  std::vector<ipc::Id> ids;
  for (const auto& [id, listening] : listens_) {
    if (hears(listening)) ids.push_back(id);
  }
  // A connection that cannot take a message ends the session meanwhile: then nothing is said.
  for (const ipc::Id& id : ids) {
    Json told = params;
    told["_meta"][kMetaSubscription] = to_json(id);
    say_about(id, ipc::encode_notification(method, told));
  }
}

void McpSession::tools_changed() {
  if (closed_ || !has_tools()) return;
  constexpr std::string_view kChanged = "notifications/tools/list_changed";
  if (version_) say_about(std::nullopt, ipc::encode_notification(kChanged, nullptr));
  tell_listeners(kChanged, Json::object(), [](const Listening& one) { return one.tools; });
}

void McpSession::heard(const std::string& server, const std::string& method, const Json& params) {
  const auto keep = shared_from_this();
  if (!closed_ && !finishing_) offers_->heard(server, method, params);
}

std::string McpSession::log_level() const {
  return offers_->log_level();
}

bool McpSession::stop_listening(const ipc::Id& id) {
  const auto node = listens_.extract(id);
  if (node.empty()) return false;
  offers_->end(node.mapped());
  return true;
}

void McpSession::finish() {
  if (closed_ || std::exchange(finishing_, true)) return;
  std::vector<ipc::Id> ids;
  for (const auto& [id, listening] : listens_) ids.push_back(id);
  for (const ipc::Id& id : ids) {
    if (stop_listening(id)) end_listening(id);
  }
}

}  // namespace mcpac::gateway
