// SPDX-License-Identifier: Apache-2.0

#include "gateway/waiting_room.h"

#include <utility>

namespace mcpac::gateway {

class WaitingRoom::Seat {
 public:
  Seat(std::shared_ptr<WaitingRoom> room, std::size_t bytes)
      : room_(std::move(room)), bytes_(bytes) {
    room_->held_ += bytes_;
  }
  ~Seat() { room_->held_ -= bytes_; }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

 private:
  std::shared_ptr<WaitingRoom> room_;
  std::size_t bytes_;
};

WaitingRoom::Hold WaitingRoom::take(std::size_t bytes) {
  if (bytes > most_ - held_) return nullptr;
  return std::make_shared<const Seat>(shared_from_this(), bytes);
}

}  // namespace mcpac::gateway
