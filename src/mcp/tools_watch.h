// ToolsWatch: the subscription by which a server of 2026-07-28 says that its tools changed.
//
// It stands as long as the session does: a server, or a proxy on the way, ends it when it likes,
// and what changed then would never be heard. So it is begun again, with pauses that grow while it
// does not last; and each time that it stands again the tools are compared once, since they may
// have changed in between. On the executor's one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include <boost/asio/steady_timer.hpp>

#include "core/backoff.h"
#include "core/json.h"
#include "mcp/session.h"

namespace mcpac::mcp {

class ToolsWatch : public std::enable_shared_from_this<ToolsWatch> {
 public:
  // `changed`: the tools may be others.
  ToolsWatch(std::shared_ptr<Session> session, std::function<void()> changed);
  ToolsWatch(const ToolsWatch&) = delete;
  ToolsWatch& operator=(const ToolsWatch&) = delete;

  void begin();
  // `notifications/subscriptions/acknowledged`; false: it is about another one.
  [[nodiscard]] bool acknowledged(const Json& params);
  void stop();

 private:
  void stands();
  void ended();
  void after(std::chrono::milliseconds time, void (ToolsWatch::*then)());

  std::shared_ptr<Session> session_;
  std::function<void()> changed_;
  boost::asio::steady_timer timer_;
  std::int64_t id_ = 0;
  bool is_open_ = false;   // asked for, and not ended
  bool is_again_ = false;  // there was one before
  bool is_told_ = false;   // that this one stands
  bool stopped_ = false;
  std::chrono::steady_clock::time_point begun_;
  ExponentialBackoff backoff_{std::chrono::milliseconds(100), std::chrono::minutes(10)};
};

}  // namespace mcpac::mcp
