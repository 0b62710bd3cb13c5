// SPDX-License-Identifier: Apache-2.0

#include "gateway/mcp_session.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gate/agent_message.h"
#include "gate/result_line.h"
#include "gateway/call_answer.h"
#include "gateway/call_of_client.h"
#include "gateway/lists/shown_lists.h"
#include "gateway/session_offers.h"
#include "mcp/protocol.h"

namespace mcpac::gateway {
namespace {

constexpr auto kParkedTime = std::chrono::minutes(10);
constexpr std::size_t kMaxParked = 256;

std::string new_name() {
  std::array<unsigned char, 16> bytes{};
  randombytes_buf(bytes.data(), bytes.size());
  std::array<char, 2 * bytes.size() + 1> text{};
  sodium_bin2hex(text.data(), text.size(), bytes.data(), bytes.size());
  return text.data();
}

}  // namespace

std::string ParkedCalls::park(ParkedCall call) {
  sweep();
  if (calls_.size() >= kMaxParked) return "";
  std::string name = new_name();
  calls_.emplace(name, Entry{std::move(call), clock_.steady_now() + kParkedTime});
  return name;
}

std::optional<ParkedCall> ParkedCalls::take(const std::string& name, const std::string& digest,
                                            const Fits& fits) {
  sweep();
  const auto found = calls_.find(name);
  if (found == calls_.end() || found->second.call.digest != digest || !fits(found->second.call))
    return std::nullopt;
  ParkedCall call = std::move(found->second.call);
  calls_.erase(found);
  return call;
}

void ParkedCalls::sweep() {
  std::vector<std::shared_ptr<CallOfClient>> over;
  std::erase_if(calls_, [&](const auto& entry) {
    const bool is_over = entry.second.until <= clock_.steady_now();
    if (is_over) over.push_back(entry.second.call.call);
    return is_over;
  });
  for (const auto& call : over) call->take_back(gate_);
}

namespace {

// An id comes back in the answer and waits with its call; a longer one is no counter.
constexpr std::size_t kMaxId = 256;
constexpr std::size_t kEchoedMethod = 256;

// No member of any params is null in MCP: it is how some libraries write that there is none.
void erase_null_members(Json& params) {
  if (!params.is_object()) return;
  for (auto member = params.begin(); member != params.end();)
    member = member->is_null() ? params.erase(member) : std::next(member);
}

}  // namespace

std::shared_ptr<McpSession> McpSession::open(SessionSetup setup) {
  return std::shared_ptr<McpSession>(new McpSession(std::move(setup)));
}

McpSession::McpSession(SessionSetup setup)
    : setup_(std::move(setup)),
      spans_(setup_.trace),
      offers_(std::make_unique<SessionOffers>(*this, setup_.offers)) {
  if (!setup_.shown) setup_.shown = std::make_shared<ShownLists>(*setup_.gate);
  if (!setup_.room) setup_.room = std::make_shared<WaitingRoom>();
  if (!setup_.calls) setup_.calls = std::make_shared<CallRoom>();
}

McpSession::~McpSession() {
  close();
}

void McpSession::receive(std::string_view line) {
  if (closed_) return;
  auto message = gate::decode_message(line);
  if (!message) return receive_malformed(message.error());
  receive(std::move(*message));
}

void McpSession::receive(ipc::Message message) {
  if (closed_) return;
  const auto keep = shared_from_this();
  std::visit([this](auto&& one) { handle(std::forward<decltype(one)>(one)); }, std::move(message));
}

bool McpSession::is_too_long(const ipc::Id& id) {
  const auto* text = std::get_if<std::string>(&id);
  return text != nullptr && text->size() > kMaxId;
}

std::optional<ipc::Id> McpSession::echoed_id(const ipc::RpcError& error) {
  const bool echo = !error.is_response && error.id && !is_too_long(*error.id);
  return echo ? error.id : std::nullopt;
}

void McpSession::receive_malformed(const ipc::RpcError& error) {
  setup_.anomalies->note("a malformed message of a client", error.message);
  if (!error.is_response) say_of_none(echoed_id(error), {error.code, error.message, nullptr});
}

void McpSession::handle(ipc::Request request) {
  if (is_too_long(request.id)) {
    return say_error(std::nullopt, {ipc::kInvalidRequest,
                                    fmt::format("an id has at most {} bytes", kMaxId), nullptr});
  }
  if (is_busy(request.id))
    return say_of_none(request.id, {ipc::kInvalidRequest, "this id is still in flight", nullptr});
  erase_null_members(request.params);
  const auto context = read_context(request.params);
  const bool is_stateless = context && context->era == Era::kStateless;
  spans_.begin(request, is_stateless ? mcp::kStatelessVersion : version_.value_or(""));
  if (finishing_) return say_error(request.id, ipc::kInternalError, "mcpac is shutting down");
  if (!context) return say_error(request.id, context.error());
  if (calls_in_flight() >= setup_.limits.max_calls_in_flight && request.method != "ping") {
    const std::string why =
        fmt::format("more than {} requests in flight", setup_.limits.max_calls_in_flight);
    setup_.anomalies->note("a request that there is no room for: refused", why);
    return say_error(request.id, ipc::kInvalidRequest, why);
  }
  if (is_stateless) return handle_stateless(request, *context);
  if (request.method == "initialize") return initialize(request);
  if (request.method == "ping") return say_result(request.id, Json::object());
  if (!version_) {
    return say_error(request.id, ipc::kInvalidRequest,
                     "the session begins with initialize, or with a protocol version in _meta");
  }
  handle_initialized(request, *context);
}

void McpSession::handle_stateless(const ipc::Request& request, const RequestContext& context) {
  if (request.method == "server/discover") return discover(request);
  if (request.method == "subscriptions/listen") return listen(request);
  if (handle_in_both(request, context)) return;
  say_error(request.id, ipc::kMethodNotFound,
            "Method not found: " + gate::bounded(request.method, kEchoedMethod));
}

void McpSession::handle_initialized(const ipc::Request& request, const RequestContext& context) {
  if (offers_->handle_initialized(request) || handle_in_both(request, context)) return;
  say_error(request.id, ipc::kMethodNotFound,
            "Method not found: " + gate::bounded(request.method, kEchoedMethod));
}

bool McpSession::handle_in_both(const ipc::Request& request, const RequestContext& context) {
  if (request.method == "tools/list") {
    list_tools(request, context);
  } else if (request.method == "tools/call") {
    call_tool(request, context);
  } else {
    return offers_->handle(request, context);
  }
  return true;
}

void McpSession::initialize(const ipc::Request& request) {
  if (version_) return say_error(request.id, ipc::kInvalidRequest, "initialize comes once");
  const Json* version = find_member(request.params, "protocolVersion");
  if (version == nullptr || !version->is_string())
    return say_error(request.id, ipc::kInvalidParams, "protocolVersion must be a text");
  const Json* own = find_member(request.params, "capabilities");
  if (own != nullptr) capabilities_ = what_it_answers(*own);
  const auto& asked = version->get_ref<const std::string&>();
  // Of a revision that we do not know the client is offered our newest, and decides.
  version_ = mcp::is_initialize_version(asked) ? asked : std::string(mcp::kInitializeVersion);
  offers_->when_known(request.id, [this, id = request.id] {
    Json result{{"protocolVersion", *version_},
                {"capabilities", capabilities()},
                {"serverInfo", mcp::client_info()}};
    instruct(result);
    say_result(id, result);
  });
}

void McpSession::instruct(Json& result) const {
  std::string text = setup_.own != nullptr ? setup_.own->instructions() : std::string();
  if (const auto amiss = setup_.amiss ? setup_.amiss() : std::string(); !amiss.empty()) {
    if (!text.empty()) text += "\n\n";
    text += "Not all servers behind mcpac are as they should be: " + amiss +
            ". Who runs mcpac serve reads the reasons on its standard error.";
  }
  if (!text.empty()) result["instructions"] = std::move(text);
}

void McpSession::discover(const ipc::Request& request) {
  offers_->when_known(request.id, [this, id = request.id] {
    Json result{{"supportedVersions", Json::array({mcp::kStatelessVersion})},
                {"capabilities", capabilities()}};
    instruct(result);
    say_result(id, in_form(Era::kStateless, cacheable(Era::kStateless, std::move(result))));
  });
}

bool McpSession::has_tools() const {
  return setup_.own != nullptr || setup_.catalog->has_tools();
}

Json McpSession::capabilities() const {
  Json all = offers_->capabilities();
  if (has_tools()) all["tools"] = {{"listChanged", true}};
  return all;
}

void McpSession::list_tools(const ipc::Request& request, const RequestContext& context) {
  const Json* cursor = find_member(request.params, "cursor");
  const bool is_text = cursor == nullptr || cursor->is_string();
  const std::string from = string_member(request.params, "cursor");
  const bool is_alone = setup_.own != nullptr && setup_.own->are_alone();
  auto page = !is_text                   ? std::nullopt
              : is_alone && from.empty() ? std::optional(ToolPage())
                                         : setup_.catalog->page(from, setup_.is_quarantined);
  if (!page || (is_alone && !from.empty()))
    return say_error(request.id, ipc::kInvalidParams, "Invalid cursor");
  if (setup_.own != nullptr && from.empty()) {
    const OrderedJson own(setup_.own->definitions());
    page->tools.insert(page->tools.begin(), own.begin(), own.end());
  }
  Json rest = Json::object();
  if (!page->next.empty()) rest["nextCursor"] = std::move(page->next);
  OrderedJson result{{"tools", std::move(page->tools)}};
  const Json whole = in_form(context.era, cacheable(context.era, std::move(rest)));
  for (const auto& [name, value] : whole.items()) result[name] = OrderedJson(value);
  say_ordered(request.id, result);
}

// Definitions reach the client as their servers wrote them: a model reads them in this order.
void McpSession::say_ordered(const ipc::Id& id, const OrderedJson& result) {
  if (closed_) return;
  spans_.answered(id, Json::object());  // a list is no failure
  setup_.say({.line = fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", ipc::to_text(id),
                                  to_text(result)),
              .about = id,
              .is_answer = true});
}

void McpSession::handle(const ipc::Notification& notification) {
  if (notification.method != "notifications/cancelled") return;
  if (const auto id = gate::request_id(notification.params)) forget(*id);
}

bool McpSession::is_busy(const ipc::Id& id) const {
  return calls_.contains(id) || listens_.contains(id) || offers_->is_waiting(id);
}

std::size_t McpSession::calls_in_flight() const {
  return calls_.size() + offers_->waiting();
}

void McpSession::say_result(const ipc::Id& id, const Json& result) {
  if (closed_) return;
  spans_.answered(id, result);
  setup_.say({.line = gate::result_line(id, result), .about = id, .is_answer = true});
}

void McpSession::say_error(const std::optional<ipc::Id>& id, const ipc::ErrorObject& error) {
  if (id) spans_.refused(*id, error.code);
  say_of_none(id, error);
}

void McpSession::say_error(const ipc::Id& id, std::int64_t code, std::string message) {
  say_error(id, ipc::ErrorObject{code, std::move(message), nullptr});
}

void McpSession::say_of_none(const std::optional<ipc::Id>& id, const ipc::ErrorObject& error) {
  if (closed_) return;
  setup_.say({.line = ipc::encode_error(id, error),
              .about = id,
              .is_answer = true,
              .error_code = error.code});
}

void McpSession::say_nothing(const ipc::Id& id) {
  if (closed_) return;
  spans_.cancelled(id);
  setup_.say({.line = {}, .about = id, .is_answer = true});
}

void McpSession::say_about(const std::optional<ipc::Id>& about, std::string line) {
  if (!closed_) setup_.say({.line = std::move(line), .about = about});
}

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
