// SPDX-License-Identifier: Apache-2.0

// CallRoom: budget of one client's calls in flight, over all of its sessions.
//
// A call's arguments are held until it is answered: while its server works or does not read, while
// a person is asked, and while the client is away with a question. The connection that brought them
// may have gone long before, so no door counts them, and sessions are many. Each call has a seat
// here, as large as its message was when it was decoded; a call that finds none is told which limit
// it is. One alone may be of any size: a message has limits of its own. On the loop.
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <utility>

#include "gate/answer.h"

namespace mcpac::gateway {

struct CallLimits {
  // As many as a program may have; a session has fewer.
  std::size_t calls = 1'024;
  // Text and values (ipc::Request::weight): eight of the longest messages.
  std::size_t bytes = std::size_t{128} << 20U;
};

class CallRoom : public std::enable_shared_from_this<CallRoom> {
 public:
  explicit CallRoom(CallLimits limits = {}) : limits_(limits) {}
  CallRoom(const CallRoom&) = delete;
  CallRoom& operator=(const CallRoom&) = delete;

  // Given back with it. An empty one counts nothing.
  class Seat {
   public:
    Seat() = default;
    Seat(Seat&& other) noexcept
        : room_(std::move(other.room_)), bytes_(other.bytes_), more_(other.more_) {}
    Seat& operator=(Seat&& other) noexcept;
    ~Seat() { leave(); }
    // What comes beside it, instead of what came before. False: there is no room, and nothing
    // changes.
    [[nodiscard]] bool makes_room_for(std::size_t more);
    void leave();

   private:
    friend class CallRoom;
    Seat(std::shared_ptr<CallRoom> room, std::size_t bytes)
        : room_(std::move(room)), bytes_(bytes) {}

    std::shared_ptr<CallRoom> room_;
    std::size_t bytes_ = 0;
    std::size_t more_ = 0;
  };

  // The error is for the client.
  [[nodiscard]] std::expected<Seat, gate::CallError> take(std::size_t bytes);
  [[nodiscard]] gate::CallError too_much() const;
  [[nodiscard]] std::size_t calls() const { return calls_; }
  [[nodiscard]] std::size_t held() const { return held_; }

 private:
  CallLimits limits_;
  std::size_t calls_ = 0;
  std::size_t held_ = 0;
};

}  // namespace mcpac::gateway
