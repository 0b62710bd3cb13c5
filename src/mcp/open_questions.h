// OpenQuestions: a server's unanswered questions, counted for each client that it works for.
//
// A person answers one question at a time; this many at once is a flood. Many share a
// server of the gateway, and one of them may never answer: so each has its own number, and all
// together a higher one.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

namespace mcpac::mcp {

class OpenQuestions {
 public:
  static constexpr std::size_t kMost = 16;  // of one client
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20U;
  static constexpr std::size_t kMostOfAll = 64;
  static constexpr std::size_t kMostBytesOfAll = 4 * kMostBytes;

  // False: this one is too many. One alone may be of any size.
  [[nodiscard]] bool add(const std::string& client, std::size_t bytes) {
    if (!all_.has_room(bytes, kMostOfAll, kMostBytesOfAll)) return false;
    Sum& own = of_client_[client];
    if (!own.has_room(bytes, kMost, kMostBytes)) return false;
    own.add(bytes);
    all_.add(bytes);
    return true;
  }
  void remove(const std::string& client, std::size_t bytes) {
    const auto own = of_client_.find(client);
    own->second.remove(bytes);
    if (own->second.count == 0) of_client_.erase(own);
    all_.remove(bytes);
  }

 private:
  struct Sum {
    std::size_t count = 0;
    std::size_t bytes = 0;
    [[nodiscard]] bool has_room(std::size_t more, std::size_t most, std::size_t most_bytes) const {
      return count < most && (count == 0 || bytes + more <= most_bytes);
    }
    void add(std::size_t more) {
      ++count;
      bytes += more;
    }
    void remove(std::size_t less) {
      --count;
      bytes -= less;
    }
  };
  std::map<std::string, Sum, std::less<>> of_client_;
  Sum all_;
};

}  // namespace mcpac::mcp
