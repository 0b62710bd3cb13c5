// SPDX-License-Identifier: Apache-2.0

// WaitingRoom: budget of one client's requests that wait for servers, or watch them.
//
// A request that waits for a slow list, and the URIs of a subscription, are kept after the
// connection that brought them may have gone, so no door counts them. One room for all sessions of
// a client; a request that finds none is told so at once. On the loop.
#pragma once

#include <cstddef>
#include <memory>

namespace mcpac::gateway {

class WaitingRoom : public std::enable_shared_from_this<WaitingRoom> {
 public:
  // Four of the largest messages.
  static constexpr std::size_t kMost = std::size_t{64} << 20U;
  explicit WaitingRoom(std::size_t most = kMost) : most_(most) {}

  // What is held until the last copy goes.
  class Seat;
  using Hold = std::shared_ptr<const Seat>;
  // Null: there is no room for so many bytes.
  [[nodiscard]] Hold take(std::size_t bytes);
  [[nodiscard]] std::size_t held() const { return held_; }

 private:
  std::size_t most_;
  std::size_t held_ = 0;
};

}  // namespace mcpac::gateway
