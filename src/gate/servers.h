// SPDX-License-Identifier: Apache-2.0

// Servers: requests of doors to servers besides calls: lists, completion, subscriptions, log
// levels.
//
// No authority is decided here, and none is needed to ask for a list; what of it a client may see
// is the door's business, before it asks and before it passes anything on. On the loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>

#include "core/error.h"
#include "core/json.h"
#include "gate/caller.h"
#include "ipc/json_rpc.h"

namespace mcpac::gate {

// A process that works for one client alone has a name of its own here, "SERVER#N"; configured
// names have no such character. The server that it is of:
[[nodiscard]] inline std::string server_of(const std::string& process) {
  return process.substr(0, process.find('#'));
}

class Servers {
 public:
  virtual ~Servers() = default;
  using RequestToken = std::uint64_t;
  // A result object, or the server's error of the protocol; both free of secrets.
  using Outcome = std::expected<Json, ipc::ErrorObject>;

  // Whether it is known what the server can do: it is connected, or will never be.
  [[nodiscard]] virtual bool is_settled(const std::string& server) const = 0;
  // Its capabilities; null while they are not known, and of one that failed.
  [[nodiscard]] virtual const Json* capabilities(const std::string& server) const = 0;
  // A server of revision 2026-07-28.
  [[nodiscard]] virtual bool is_stateless(const std::string& server) const = 0;

  // Waits until the server is connected. `caller` hears what the server says meanwhile, and answers
  // what it asks; may be null. `done` comes once, never from inside, and not after forget().
  virtual RequestToken request(const std::string& server, std::string method, Json params,
                               std::shared_ptr<Caller> caller,
                               std::function<void(Result<Outcome>)> done) = 0;
  // The same without an end of its own: `subscriptions/listen`, answered when the server ends it.
  virtual RequestToken listen(const std::string& server, Json params,
                              std::function<void()> ended) = 0;
  // Takes it back at the server.
  virtual void forget(RequestToken token) = 0;

  // Hears what servers say that is about no call.
  using OnNotified =
      std::function<void(const std::string& server, const std::string& method, const Json& params)>;
  virtual void on_notified(OnNotified heard) = 0;
  // Time limits for a request, and for a whole list.
  [[nodiscard]] virtual std::chrono::milliseconds timeout(const std::string& /*server*/) const {
    return std::chrono::minutes(1);
  }
  // Number of its starts: subscriptions of one are unknown to the next.
  [[nodiscard]] virtual std::uint64_t starts(const std::string& /*server*/) const { return 1; }
  // Hears that it is settled what one more server can do, or one that was started again.
  virtual void on_settled(std::function<void()> heard) = 0;
};

}  // namespace mcpac::gate
