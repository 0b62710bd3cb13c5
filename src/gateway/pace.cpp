#include "gateway/pace.h"

#include <chrono>
#include <utility>

namespace mcpac::gateway {
namespace {

constexpr auto kRest = std::chrono::milliseconds(250);
constexpr std::size_t kMaxKeys = 1'024;

}  // namespace

void Pace::tell(const std::string& key, std::function<void()> tell) {
  if (const auto found = told_.find(key); found != told_.end()) {
    found->second->next = std::move(tell);
    return;
  }
  if (told_.size() >= kMaxKeys) return;
  told_.emplace(key, std::make_unique<Told>(Told{boost::asio::steady_timer(executor_), nullptr}));
  rest(key);
  tell();
}

void Pace::rest(const std::string& key) {
  auto& timer = told_.at(key)->timer;
  timer.expires_after(kRest);
  timer.async_wait([this, alive = std::weak_ptr(alive_), key](const auto& error) {
    if (error || alive.expired()) return;
    const auto next = std::exchange(told_.at(key)->next, nullptr);
    if (!next) {
      told_.erase(key);
      return;
    }
    rest(key);
    next();
  });
}

}  // namespace mcpac::gateway
