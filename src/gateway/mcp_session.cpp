#include "gateway/mcp_session.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "gate/agent_message.h"
#include "gate/result_line.h"
#include "gateway/call_answer.h"
#include "gateway/lists/shown_lists.h"
#include "gateway/session_offers.h"
#include "mcp/protocol.h"

namespace mcpac::gateway {
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

}  // namespace mcpac::gateway
