#include "gateway/tracing/exporter.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "gateway/tracing/otlp_json.h"

namespace mcpac::gateway::tracing {
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
