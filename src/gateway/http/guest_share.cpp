#include "gateway/http/guest_share.h"

#include <algorithm>
#include <utility>

#include "gateway/http/event_stream.h"

namespace mcpac::gateway::http {

std::uint64_t GuestShare::enlist(EventStream& stream) {
  streams_.emplace(++last_place_, &stream);
  return last_place_;
}

void GuestShare::release(std::size_t bytes) {
  held_ -= std::min(bytes, held_);
  if (bytes > 0) ring();
}

std::size_t GuestShare::kept() const {
  std::size_t bytes = 0;
  for (const auto& [place, stream] : streams_) {
    if (!stream->has_reader()) bytes += stream->bytes();
  }
  return bytes;
}

EventStream* GuestShare::oldest_idle() const {
  const auto found = std::ranges::find_if(streams_, [](const auto& entry) {
    return !entry.second->has_reader() && entry.second->bytes() > 0;
  });
  return found == streams_.end() ? nullptr : found->second;
}

void GuestShare::tidy() {
  if (held_ <= limits_.max_kept) return;  // mostly, and then nothing is counted
  for (std::size_t bytes = kept(); bytes > limits_.max_kept;) {
    EventStream* oldest = oldest_idle();
    if (oldest == nullptr) return;
    bytes -= oldest->bytes();
    oldest->drop_all();
  }
}

bool GuestShare::makes_room_for(std::size_t bytes) {
  while (held_ + bytes > limits_.max_held) {
    EventStream* oldest = oldest_idle();
    if (oldest == nullptr) return false;
    oldest->drop_all();
  }
  return true;
}

bool GuestShare::take_body(std::size_t bytes, std::function<void()> on_room) {
  if (bodies_ + bytes > limits_.max_held / 2 || !makes_room_for(bytes)) {
    waiting_.push_back(std::move(on_room));
    return false;
  }
  bodies_ += bytes;
  hold(bytes);
  return true;
}

void GuestShare::resize_body(std::size_t from, std::size_t to) {
  bodies_ -= from - to;
  release(from - to);
}

void GuestShare::ring() {
  for (const auto& heard : std::exchange(waiting_, {})) heard();
}

}  // namespace mcpac::gateway::http
