// SPDX-License-Identifier: Apache-2.0

#include "gateway/call_room.h"

#include <fmt/format.h>

namespace mcpac::gateway {
namespace {

// A call of so small a part (64 KiB) finds room beside a long one, which may fill the room alone:
// all calls that a client may have of them are half as much again.
constexpr std::size_t kShort = 2'048;

}  // namespace

CallRoom::Seat& CallRoom::Seat::operator=(Seat&& other) noexcept {
  if (this == &other) return *this;
  leave();
  room_ = std::move(other.room_);
  bytes_ = other.bytes_;
  more_ = other.more_;
  return *this;
}

void CallRoom::Seat::leave() {
  if (!room_) return;
  --room_->calls_;
  room_->held_ -= bytes_ + more_;
  room_.reset();
}

bool CallRoom::Seat::makes_room_for(std::size_t more) {
  if (!room_) return true;
  const std::size_t others = room_->held_ - more_;
  if (more > room_->limits_.bytes / kShort && more > more_ && room_->calls_ > 1 &&
      others + more > room_->limits_.bytes)
    return false;
  room_->held_ = others + more;
  more_ = more;
  return true;
}

std::expected<CallRoom::Seat, gate::CallError> CallRoom::take(std::size_t bytes) {
  if (calls_ >= limits_.calls) {
    return std::unexpected(gate::budget(fmt::format("this client has {} calls in work, over all of "
                                                    "its sessions, and may have no more: wait "
                                                    "for answers, or cancel calls",
                                                    limits_.calls),
                                        Sent::kNo));
  }
  if (bytes > limits_.bytes / kShort && calls_ > 0 && held_ + bytes > limits_.bytes)
    return std::unexpected(too_much());
  ++calls_;
  held_ += bytes;
  return Seat(shared_from_this(), bytes);
}

gate::CallError CallRoom::too_much() const {
  return gate::budget(
      fmt::format(
          "the calls of this client that are in work, over all of its sessions, may hold {} MiB of "
          "arguments, and this one does not fit beside them: wait for answers, or cancel calls",
          limits_.bytes >> 20U),
      Sent::kNo);
}

}  // namespace mcpac::gateway
