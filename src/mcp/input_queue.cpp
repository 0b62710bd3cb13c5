#include "mcp/input_queue.h"

#include <algorithm>
#include <utility>

namespace mcpac::mcp {

void InputQueue::add(std::uint64_t line, std::int64_t request, std::size_t bytes, Client client) {
  if (client) bytes_of_[*client] += bytes;
  requests_.push_back({line, request, bytes, std::move(client)});
}

void InputQueue::uncount(const Request& request) {
  if (!request.client) return;
  const auto own = bytes_of_.find(*request.client);
  own->second -= request.bytes;
  if (own->second == 0) bytes_of_.erase(own);
}

void InputQueue::sent(std::uint64_t line) {
  while (!requests_.empty() && requests_.front().line <= line) {
    uncount(requests_.front());
    requests_.pop_front();
  }
}

std::optional<std::uint64_t> InputQueue::line_of(std::int64_t request) const {
  const auto found = std::ranges::lower_bound(requests_, request, {}, &Request::id);
  if (found == requests_.end() || found->id != request) return std::nullopt;
  return found->line;
}

void InputQueue::remove(std::int64_t request) {
  const auto found = std::ranges::lower_bound(requests_, request, {}, &Request::id);
  if (found == requests_.end() || found->id != request) return;
  uncount(*found);
  requests_.erase(found);
}

bool InputQueue::has_room(const Client& client, std::size_t bytes, std::size_t free) const {
  const auto own = client ? bytes_of_.find(*client) : bytes_of_.end();
  return own == bytes_of_.end() || own->second + bytes <= free;
}

}  // namespace mcpac::mcp
