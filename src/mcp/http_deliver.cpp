// The sending half of HttpTransport's exchanges: one message, with a token where the server wants
// one.
#include <fmt/format.h>

#include <set>
#include <utility>

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http/field.hpp>

#include "mcp/http_transport.h"

namespace mcpac::mcp {
namespace asio = boost::asio;
namespace {

constexpr std::size_t kMaxRefusal = std::size_t{64} << 10U;

}  // namespace

std::string HttpTransport::authorize(HttpRequest& request) const {
  const auto token = authorizer_ ? authorizer_->authorization() : std::string();
  if (!token.empty()) request.set(boost::beast::http::field::authorization, token);
  return token;
}

// A request that a server did not admit was not carried out, so it may be sent again: once with a
// token that it accepts, and once more with one that may do more.
asio::awaitable<Result<void>> HttpTransport::deliver_authorized(Outgoing& message) {
  std::set<unsigned> refused;
  while (true) {
    Delivered delivered;
    {
      Lease lease(*this, message.request_id);
      delivered = co_await deliver(message, lease);
    }
    if (delivered.is_moved && is_live(message)) continue;
    if (!delivered.challenge) co_return std::move(delivered.outcome);
    const HttpHead head = std::move(*delivered.challenge);
    if (!refused.insert(head.status).second) {
      const bool may_be_session = head.status == 401 && !state_.session_id.empty() && !closed_;
      if (may_be_session && co_await is_session_gone()) {
        lose_session(message.request_id, head.status);
        co_return Result<void>();
      }
      // Another login would end here, too.
      if (head.status == 401 && !delivered.outcome)
        delivered.outcome.error().fix =
            R"(it refuses the token of its own login: check "resource" and "scopes" in its "auth")";
      co_return std::move(delivered.outcome);
    }
    auto got = co_await authorizer_->challenged(head, delivered.used);
    if (!got) {
      Error error = std::move(got.error());
      error.sent = Sent::kRefused;
      error.what += fmt::format(" (HTTP status {})", head.status);
      // Its login was not believed: no advice to hand it a token all the same.
      if (error.fix.empty())
        error.fix = "ask who runs the server; give it no token by hand before that";
      co_return std::unexpected(std::move(error));
    }
    if (!is_live(message)) co_return Result<void>();
  }
}

bool HttpTransport::follows(const HttpHead& head) {
  if (head.status < 300) may_move_ = 0;
  if (may_move_ <= 0 || (head.status != 307 && head.status != 308)) return false;
  --may_move_;
  auto moved = parse_location(state_.url, head.location);
  if (!moved || !moved->is_same_origin(state_.url) || moved->target == state_.url.target)
    return false;
  state_.url.target = std::move(moved->target);
  return true;
}

asio::awaitable<HttpTransport::Delivered> HttpTransport::deliver(Outgoing& message, Lease& lease) {
  const Connection connection = lease.connection();
  Delivered delivered;
  // A message without an answer has no clock of its own in the session.
  asio::steady_timer limit(executor_);
  if (!message.request_id) {
    limit.expires_after(std::chrono::seconds(30));
    limit.async_wait([connection](const boost::system::error_code& error) {
      if (!error) connection->close();
    });
  }
  const auto failed = [this](const Error& error) {
    return failure(error.id, error.what,
                   error.why.empty() ? error.where : fmt::format("{}, {}", error.where, error.why),
                   error.fix);
  };
  if (lease.is_new()) {
    auto opened = co_await connection->open();
    if (!opened) {
      delivered.outcome = failed(opened.error());
      delivered.outcome.error().sent = Sent::kNo;
      co_return delivered;
    }
  }
  if (!is_live(message)) co_return delivered;
  // Kept only where it may have to be sent once more.
  const bool may_go_again = authorizer_ != nullptr || may_move_ > 0;
  HttpRequest request =
      make_post(state_, message, may_go_again ? message.line : std::move(message.line));
  delivered.used = authorize(request);
  auto head = co_await connection->exchange(std::move(request));
  if (!head) {
    delivered.outcome = failed(head.error());
    co_return delivered;
  }
  if (closed_) co_return delivered;
  if (follows(*head)) {
    co_await read_all(connection, kMaxRefusal);
    delivered.is_moved = true;
    co_return delivered;
  }
  // Some servers answer so where they do not know the session.
  const bool is_about_session = head->status == 401 && delivered.used.empty() &&
                                head->www_authenticate.empty() && !state_.session_id.empty();
  const bool wants_token =
      authorizer_ &&
      ((head->status == 401 && !is_about_session) ||
       (head->status == 403 && head->www_authenticate.contains("insufficient_scope")));
  if (!wants_token) {
    delivered.outcome = co_await take_answer(message, std::move(*head), connection);
    co_return delivered;
  }
  auto body = co_await read_all(connection, kMaxRefusal);
  delivered.outcome = std::unexpected(refusal(*head, body ? *body : std::string()));
  delivered.challenge = std::move(*head);
  co_return delivered;
}

}  // namespace mcpac::mcp
