// SPDX-License-Identifier: Apache-2.0

// ClientShare: budget of one client at a door, over all its sessions and connections.
//
// Answers wait here for a client that reads slowly, or that comes back for them; bodies are held
// while they arrive. Both are counted in one account: no number of sessions makes it larger. Sizes
// are bytes of message text; what a message takes beside that is bounded by the limits on its
// values. On the door's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace mcpac::gateway::http {

class EventStream;

struct ShareLimits {
  // Kept on streams without a reader at the moment; the oldest go first.
  std::size_t max_kept = std::size_t{64} << 20U;
  // All that is held: kept, being written, and bodies, which have a half of it.
  std::size_t max_held = std::size_t{512} << 20U;
};

class ClientShare {
 public:
  explicit ClientShare(ShareLimits limits) : limits_(limits) {}
  ClientShare(const ClientShare&) = delete;
  ClientShare& operator=(const ClientShare&) = delete;

  // A stream's place among all, in the order of their beginnings.
  [[nodiscard]] std::uint64_t enlist() { return ++last_place_; }
  // Its unread events took `from` bytes, and take `to` by now; 0 before it goes.
  void keep(std::uint64_t place, EventStream& stream, std::size_t from, std::size_t to);
  void hold(std::size_t bytes) { held_ += bytes; }
  void release(std::size_t bytes);
  // Whether so much more may be held; drops what has no reader for it.
  [[nodiscard]] bool makes_room_for(std::size_t bytes);
  // Drops what has no reader, until that is within its limit.
  void tidy();

  // A body on its way. False: there is no room, and `on_room` is called once when there may be.
  [[nodiscard]] bool take_body(std::size_t bytes, std::function<void()> on_room);
  void resize_body(std::size_t from, std::size_t to);

  [[nodiscard]] std::size_t held() const { return held_; }
  [[nodiscard]] std::size_t kept() const { return kept_; }
  // How many streams were looked at to make room: no more than gave some.
  [[nodiscard]] std::uint64_t looks() const { return looks_; }
  std::size_t connections = 0;

 private:
  // The oldest stream without a reader drops all; false: there is none.
  bool drop_oldest();
  void ring();

  ShareLimits limits_;
  // Those without a reader that hold something, the oldest first. A client has a hundred
  // thousand streams, and each event may want room: none of them is gone through.
  std::map<std::uint64_t, EventStream*> idle_;
  std::uint64_t last_place_ = 0;
  std::uint64_t looks_ = 0;
  std::size_t held_ = 0;
  std::size_t kept_ = 0;  // on the idle ones
  std::size_t bodies_ = 0;
  std::vector<std::function<void()>> waiting_;
};

// A body's room, given back with it.
class BodyRoom {
 public:
  BodyRoom(std::shared_ptr<ClientShare> share, std::size_t bytes)
      : share_(std::move(share)), bytes_(bytes) {}
  ~BodyRoom() {
    if (share_) share_->resize_body(bytes_, 0);
  }
  BodyRoom(BodyRoom&& other) noexcept : share_(std::move(other.share_)), bytes_(other.bytes_) {}
  BodyRoom& operator=(BodyRoom&&) = delete;
  // Its size, once that is known.
  void shrink(std::size_t bytes) {
    if (bytes >= bytes_) return;
    share_->resize_body(bytes_, bytes);
    bytes_ = bytes;
  }

 private:
  std::shared_ptr<ClientShare> share_;
  std::size_t bytes_;
};

}  // namespace mcpac::gateway::http
