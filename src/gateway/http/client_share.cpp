// SPDX-License-Identifier: Apache-2.0

#include "gateway/http/client_share.h"

#include <algorithm>
#include <utility>

#include "gateway/http/event_stream.h"

namespace mcpac::gateway::http {

void ClientShare::keep(std::uint64_t place, EventStream& stream, std::size_t from, std::size_t to) {
  kept_ += to;
  kept_ -= from;
  if (from == 0 && to > 0) idle_.emplace(place, &stream);
  if (from > 0 && to == 0) idle_.erase(place);
}

void ClientShare::release(std::size_t bytes) {
  held_ -= std::min(bytes, held_);
  if (bytes > 0) ring();
}

bool ClientShare::drop_oldest() {
  if (idle_.empty()) return false;
  ++looks_;
  idle_.begin()->second->drop_all();  // and is idle no more
  return true;
}

void ClientShare::tidy() {
  while (kept_ > limits_.max_kept && drop_oldest()) continue;
}

bool ClientShare::makes_room_for(std::size_t bytes) {
  while (held_ + bytes > limits_.max_held) {
    if (!drop_oldest()) return false;
  }
  return true;
}

bool ClientShare::take_body(std::size_t bytes, std::function<void()> on_room) {
  if (bodies_ + bytes > limits_.max_held / 2 || !makes_room_for(bytes)) {
    waiting_.push_back(std::move(on_room));
    return false;
  }
  bodies_ += bytes;
  hold(bytes);
  return true;
}

void ClientShare::resize_body(std::size_t from, std::size_t to) {
  bodies_ -= from - to;
  release(from - to);
}

void ClientShare::ring() {
  for (const auto& heard : std::exchange(waiting_, {})) heard();
}

}  // namespace mcpac::gateway::http
