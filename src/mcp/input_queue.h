// InputQueue: fair shares of the queue to a server that does not read its input.
//
// Many clients share the queue to a server. One that fills it, whose server is busy for a while,
// would have every other client's calls refused: so what one has in it may be as long as what is
// left free beside all that waits. One client alone has half of the queue, two have a third each,
// and the next client finds room. What is taken back before it began to go leaves the queue.
// Nothing is counted where little waits, which is always so with a server that reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace mcpac::mcp {

class InputQueue {
 public:
  using Client = std::shared_ptr<const std::string>;  // null: no client in particular

  // A request that waits, as the channel's line of this number; both ascend.
  void add(std::uint64_t line, std::int64_t request, std::size_t bytes, Client client);
  [[nodiscard]] bool is_empty() const { return requests_.empty(); }
  // All lines up to this one have gone.
  void sent(std::uint64_t line);
  // The line of this request; nothing: it has gone, or never waited.
  [[nodiscard]] std::optional<std::uint64_t> line_of(std::int64_t request) const;
  // It has left the queue.
  void remove(std::int64_t request);

  // Whether so much more may wait for this client, where so much of the queue is free.
  [[nodiscard]] bool has_room(const Client& client, std::size_t bytes, std::size_t free) const;

 private:
  struct Request {
    std::uint64_t line = 0;
    std::int64_t id = 0;
    std::size_t bytes = 0;
    Client client;
  };
  void uncount(const Request& request);

  std::deque<Request> requests_;
  std::map<std::string, std::size_t, std::less<>> bytes_of_;
};

}  // namespace mcpac::mcp
