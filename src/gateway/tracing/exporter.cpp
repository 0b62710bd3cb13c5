// SPDX-License-Identifier: Apache-2.0

#include "gateway/tracing/exporter.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/verb.hpp>

#include "core/printable.h"
#include "gateway/tracing/otlp_json.h"

namespace mcpac::gateway::tracing {
namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace {

constexpr unsigned kHttp11 = 11;
constexpr unsigned kGood = 200;  // and no other, says the specification
// A response has at most a message about what was rejected.
constexpr std::size_t kMaxResponse = std::size_t{64} << 10U;
constexpr std::size_t kMaxShown = 200;

bool is_for_later(unsigned status) {
  constexpr std::array<unsigned, 4> kLater = {429, 502, 503, 504};
  return std::ranges::find(kLater, status) != kLater.end();
}

// Retry-After as a number of seconds (RFC 9110, section 10.2.3); for a date the usual pause does.
std::optional<std::chrono::seconds> seconds_in(const std::string& text) {
  unsigned seconds = 0;
  const auto* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, seconds);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return std::chrono::seconds(seconds);
}

Delivery judge(const mcp::HttpHead& head, const std::string& body) {
  Delivery delivery;
  if (head.status == kGood) {
    const auto response = read_otlp_response(body);
    delivery.outcome = Delivery::Outcome::kTaken;
    delivery.rejected = response.rejected;
    delivery.why = printable(response.message, kMaxShown);
    return delivery;
  }
  if (is_for_later(head.status)) delivery.outcome = Delivery::Outcome::kLater;
  delivery.retry_after = seconds_in(head.retry_after);
  delivery.why = fmt::format("it answered with HTTP status {}", head.status);
  return delivery;
}

}  // namespace

Collector::Collector(asio::any_io_executor executor, Settings settings,
                     std::shared_ptr<asio::ssl::context> tls, std::chrono::milliseconds time_limit)
    : executor_(std::move(executor)),
      settings_(std::move(settings)),
      tls_(std::move(tls)),
      time_limit_(time_limit) {}

Result<std::unique_ptr<Collector>> Collector::make(asio::any_io_executor executor,
                                                   Settings settings,
                                                   std::chrono::milliseconds time_limit) {
  std::shared_ptr<asio::ssl::context> tls;
  if (settings.url.tls) {
    auto made = mcp::make_tls_context();
    if (!made) return pass_on(made);
    tls = std::move(*made);
  }
  return std::unique_ptr<Collector>(
      new Collector(std::move(executor), std::move(settings), std::move(tls), time_limit));
}

std::string Collector::place() const {
  return fmt::format("{}://{}", settings_.url.tls ? "https" : "http", settings_.url.authority());
}

void Collector::close() {
  closed_ = true;
  if (connection_) connection_->close();
}

mcp::HttpRequest Collector::make_request(std::string body) const {
  mcp::HttpRequest request(http::verb::post, settings_.url.target, kHttp11);
  for (const auto& [name, value] : settings_.headers) request.set(name, value);
  request.set(http::field::host, settings_.url.authority());
  request.set(http::field::user_agent, "mcpac/" MCPAC_VERSION);
  request.set(http::field::accept, "application/json");
  request.set(http::field::content_type, "application/json");
  request.body() = std::move(body);
  request.prepare_payload();
  return request;
}

asio::awaitable<Result<Delivery>> Collector::exchange(mcp::HttpConnection& connection, Link link,
                                                      std::string body) const {
  if (link == Link::kNew) {
    auto opened = co_await connection.open();
    if (!opened) co_return pass_on(opened);
  }
  auto head = co_await connection.exchange(make_request(std::move(body)));
  if (!head) co_return pass_on(head);
  std::string said;
  while (true) {
    auto piece = co_await connection.read_body();
    if (!piece) co_return pass_on(piece);
    if (piece->empty()) co_return judge(*head, said);
    if (said.size() + piece->size() > kMaxResponse)
      co_return fail(ErrorId::kServerLimit, "its answer is too long");
    said += *piece;
  }
}

asio::awaitable<Delivery> Collector::deliver(std::string body) {
  Delivery delivery;
  delivery.outcome = Delivery::Outcome::kLater;
  if (closed_) co_return delivery;
  const Link link = connection_ && connection_->is_reusable() ? Link::kOpen : Link::kNew;
  if (link == Link::kNew) connection_ = mcp::HttpConnection::make(executor_, settings_.url, tls_);
  const auto connection = connection_;
  asio::steady_timer limit(executor_, time_limit_);
  limit.async_wait([connection](const boost::system::error_code& error) {
    if (!error) connection->close();
  });
  auto done = co_await exchange(*connection, link, std::move(body));
  limit.cancel();
  if (done) co_return std::move(*done);
  connection->close();
  delivery.why = printable(done.error().what, kMaxShown);
  co_return delivery;
}

namespace asio = boost::asio;
using std::chrono::milliseconds;
namespace {

constexpr const char* kEnded = "mcpac ended before that";

}  // namespace

Exporter::Exporter(Setup setup) : setup_(std::move(setup)), wake_(setup_.executor) {}

std::shared_ptr<Exporter> Exporter::start(Setup setup) {
  std::shared_ptr<Exporter> made(new Exporter(std::move(setup)));
  asio::co_spawn(
      made->setup_.executor, [made]() -> asio::awaitable<void> { co_await made->run(); },
      asio::detached);
  return made;
}

void Exporter::add(const Span& span) {
  if (finishing_) return drop(1, kEnded);
  if (queue_.size() >= setup_.limits.max_queued) return drop(1, "more spans come than it takes");
  queue_.push_back(to_otlp(span));
  const bool is_full = queue_.size() >= setup_.limits.batch;
  if (waiting_ == Waiting::kForSpans || (waiting_ == Waiting::kForMore && is_full)) wake_.cancel();
}

void Exporter::finish() {
  finishing_ = true;
  wake_.cancel();
}

void Exporter::close() {
  if (std::exchange(closed_, true)) return;
  finish();
  setup_.collector->close();
  if (!queue_.empty()) drop(queue_.size(), kEnded);
  queue_.clear();
}

asio::awaitable<void> Exporter::run() {
  while (true) {
    if (queue_.empty() && finishing_) break;
    if (queue_.empty()) {
      co_await wait(Waiting::kForSpans, milliseconds::max());
      continue;
    }
    const bool is_full = queue_.size() >= setup_.limits.batch;
    if (!is_full && !finishing_) co_await wait(Waiting::kForMore, setup_.limits.delay);
    co_await send(take_batch());
  }
  done_ = true;
}

// `waiting_` tells wakers what it waits for.
asio::awaitable<void> Exporter::wait(Waiting what, milliseconds at_most) {
  if (at_most == milliseconds::max())
    wake_.expires_at(asio::steady_timer::time_point::max());
  else
    wake_.expires_after(at_most);
  waiting_ = what;
  co_await wake_.async_wait(asio::as_tuple(asio::use_awaitable));
  waiting_ = Waiting::kNot;
}

std::vector<std::string> Exporter::take_batch() {
  std::vector<std::string> batch;
  while (!queue_.empty() && batch.size() < setup_.limits.batch) {
    batch.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return batch;
}

asio::awaitable<void> Exporter::send(std::vector<std::string> batch) {
  if (batch.empty()) co_return;
  const std::string body = to_otlp_request(setup_.service_name, batch);
  ExponentialBackoff backoff(setup_.limits.first_pause, setup_.limits.longest_pause);
  for (int attempt = 1;; ++attempt) {
    const bool is_last = finishing_ || attempt >= setup_.limits.attempts;
    const Delivery delivery = co_await setup_.collector->deliver(body);
    if (delivery.outcome == Delivery::Outcome::kTaken) {
      const auto rejected = std::min<std::uint64_t>(delivery.rejected, batch.size());
      figures_.sent += batch.size() - rejected;
      if (rejected == 0)
        has_told_ = false;
      else
        drop(rejected, fmt::format("it rejected some: {}", delivery.why));
      co_return;
    }
    if (closed_) co_return drop(batch.size(), kEnded);
    if (is_last || delivery.outcome == Delivery::Outcome::kRefused)
      co_return drop(batch.size(), delivery.why);
    if (!finishing_) co_await wait(Waiting::kForCollector, pause_before(backoff, delivery));
  }
}

milliseconds Exporter::pause_before(ExponentialBackoff& backoff, const Delivery& last) const {
  const milliseconds longest = setup_.limits.longest_pause;
  if (last.retry_after && *last.retry_after < longest) return *last.retry_after;
  if (last.retry_after) return longest;
  const milliseconds pause = backoff.next();
  // Many that were put off at once do not come back at once.
  return pause / 2 +
         milliseconds(randombytes_uniform(static_cast<std::uint32_t>(pause.count() / 2 + 1)));
}

void Exporter::drop(std::size_t spans, const std::string& why) {
  figures_.dropped += spans;
  if (std::exchange(has_told_, true)) return;
  setup_.warning(
      fmt::format("spans are dropped, {} does not take them: {}", setup_.collector->place(), why));
}

}  // namespace mcpac::gateway::tracing
