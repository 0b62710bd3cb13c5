#include "mcp/tools_watch.h"

#include <algorithm>
#include <utility>

#include "mcp/protocol.h"

namespace mcpac::mcp {
namespace {

// A server that does not say that it listens is taken to do so by then.
constexpr std::chrono::milliseconds kAcknowledges = std::chrono::seconds(10);
// A request must have some time; this one has no end of its own.
constexpr std::chrono::milliseconds kStanding = std::chrono::hours(24);

}  // namespace

ToolsWatch::ToolsWatch(std::shared_ptr<Session> session, std::function<void()> changed)
    : session_(std::move(session)), changed_(std::move(changed)), timer_(session_->executor()) {}

void ToolsWatch::begin() {
  if (stopped_ || session_->is_dead()) return;
  is_open_ = true;
  is_told_ = false;
  begun_ = std::chrono::steady_clock::now();
  Json params = Json::object();
  params["notifications"]["toolsListChanged"] = true;
  id_ = session_->begin_then("subscriptions/listen", params, RequestOptions(), kStanding,
                             [weak = weak_from_this()](const Result<Reply>&) {
                               if (const auto self = weak.lock()) self->ended();
                             });
  // The first one has no waiter: the tools are listed after it was asked for.
  if (is_again_) after(kAcknowledges, &ToolsWatch::stands);
}

bool ToolsWatch::acknowledged(const Json& params) {
  const Json* meta = find_member(params, "_meta");
  const Json* id = meta == nullptr ? nullptr : find_member(*meta, kMetaSubscription);
  if (id != nullptr && *id != id_) return false;
  const Json* agreed = find_member(params, "notifications");
  // Without a number it is known by what it is about.
  if (id == nullptr && (agreed == nullptr || !agreed->contains("toolsListChanged"))) return false;
  stands();
  return true;
}

void ToolsWatch::stands() {
  if (!is_open_ || session_->is_dead()) return;
  if (std::exchange(is_told_, true) || !is_again_) return;
  timer_.cancel();
  changed_();
}

void ToolsWatch::ended() {
  is_open_ = false;
  is_again_ = true;
  if (stopped_ || session_->is_dead()) return;
  const auto stood = std::chrono::steady_clock::now() - begun_;
  // A refusal that took its time is none that lasted.
  if (stood > kAcknowledges && stood > backoff_.last()) backoff_.reset();
  after(backoff_.next(), &ToolsWatch::begin);
}

void ToolsWatch::after(std::chrono::milliseconds time, void (ToolsWatch::*then)()) {
  timer_.expires_after(time);
  timer_.async_wait([weak = weak_from_this(), then](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!error && self) ((*self).*then)();
  });
}

void ToolsWatch::stop() {
  stopped_ = true;
  timer_.cancel();
}

}  // namespace mcpac::mcp
