// SPDX-License-Identifier: Apache-2.0

// ConnectionRoom: budget of connections to servers over HTTP, over all servers of one loop.
//
// Each takes a descriptor, and a process has a number of them: were there none left, no client
// could be admitted any more and no file be read. A quarter of what this process may open is for
// calls in work, an eighth for connections that are kept for the next call.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace mcpac::mcp {

struct ConnectionLimits {
  std::size_t of_server = 256;  // in work
  std::size_t of_all = 512;     // in work
  std::size_t idle = 256;       // of all
  // As this process' limit on open files has room for.
  [[nodiscard]] static ConnectionLimits of_this_process();
};

class ConnectionRoom {
 public:
  explicit ConnectionRoom(ConnectionLimits limits = ConnectionLimits::of_this_process())
      : limits_(limits) {}
  ConnectionRoom(const ConnectionRoom&) = delete;
  ConnectionRoom& operator=(const ConnectionRoom&) = delete;

  [[nodiscard]] const ConnectionLimits& limits() const { return limits_; }
  [[nodiscard]] std::size_t free() const { return limits_.of_all - active_; }
  // Of these, this client's.
  [[nodiscard]] std::size_t active_of(const std::string& client) const {
    const auto own = active_of_.find(client);
    return own == active_of_.end() ? 0 : own->second;
  }
  void take(const std::string& client) {
    ++active_;
    ++active_of_[client];
  }
  void give_back(const std::string& client) {
    --active_;
    const auto own = active_of_.find(client);
    if (--own->second == 0) active_of_.erase(own);
  }
  // Hears once of the next one that is given back.
  void on_room(std::function<void()> heard) { waiting_.push_back(std::move(heard)); }
  // Tells them; called by the giver, once it has taken what it wants itself.
  void ring();

  // A connection that is kept for the next call; false: too many are.
  [[nodiscard]] bool keep() {
    if (idle_ >= limits_.idle) return false;
    ++idle_;
    return true;
  }
  void drop(std::size_t kept) { idle_ -= kept; }

 private:
  ConnectionLimits limits_;
  std::size_t active_ = 0;
  std::map<std::string, std::size_t> active_of_;  // by client; none that has none
  std::size_t idle_ = 0;
  std::vector<std::function<void()>> waiting_;
};

}  // namespace mcpac::mcp
