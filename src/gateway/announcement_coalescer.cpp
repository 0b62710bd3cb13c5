// SPDX-License-Identifier: Apache-2.0

#include "gateway/announcement_coalescer.h"

#include <chrono>
#include <utility>

namespace mcpac::gateway {
namespace {

constexpr auto kRest = std::chrono::milliseconds(250);
constexpr std::size_t kMaxWatched = 1'024;

}  // namespace

void AnnouncementCoalescer::tell(const Announced& about, const std::string& uri, Tell tell) {
  if (const auto found = told_.find(about); found != told_.end()) {
    Told& told = *found->second;
    told.uri = !told.next || told.uri == uri ? uri : about.watched;
    told.next = std::move(tell);
    return;
  }
  if (!about.watched.empty()) {
    auto& watched = watched_[about.server];
    if (watched >= kMaxWatched) return;
    ++watched;
  }
  told_.emplace(about,
                std::make_unique<Told>(Told{boost::asio::steady_timer(executor_), nullptr, ""}));
  rest(about);
  tell(uri);
}

void AnnouncementCoalescer::rest(const Announced& about) {
  auto& timer = told_.at(about)->timer;
  timer.expires_after(kRest);
  timer.async_wait([this, alive = std::weak_ptr(alive_), about](const auto& error) {
    if (error || alive.expired()) return;
    Told& told = *told_.at(about);
    const Tell next = std::exchange(told.next, nullptr);
    if (!next) return end(about);
    const std::string uri = std::exchange(told.uri, "");
    rest(about);
    next(uri);
  });
}

void AnnouncementCoalescer::end(const Announced& about) {
  told_.erase(about);
  if (about.watched.empty()) return;
  const auto found = watched_.find(about.server);
  if (--found->second == 0) watched_.erase(found);
}

}  // namespace mcpac::gateway
