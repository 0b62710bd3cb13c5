// What a connection keeps between two messages.
#include "ipc/http_pieces.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstring>
#include <string>

using namespace mcpac;

namespace {

constexpr std::size_t kUsual = 2'048;

// Has read this many bytes, of which so many are of the next message.
boost::beast::flat_buffer buffer_with(std::size_t read, std::size_t left) {
  boost::beast::flat_buffer buffer;
  std::memset(buffer.prepare(read).data(), 'x', read);
  buffer.commit(read);
  buffer.consume(read - left);
  return buffer;
}

}  // namespace

TEST_SUITE("ipc/http_pieces") {
  TEST_CASE("room is given back, also behind the beginning of another message") {
    for (const std::size_t left : {std::size_t{0}, std::size_t{1}, kUsual}) {
      CAPTURE(left);
      auto buffer = buffer_with(190'000, left);
      ipc::give_back(buffer, kUsual);
      CHECK(buffer.capacity() <= 2 * kUsual);
      CHECK(std::string(static_cast<const char*>(buffer.data().data()), buffer.size()) ==
            std::string(left, 'x'));
    }
  }

  TEST_CASE("messages that came ahead are not moved with each of them") {
    auto buffer = buffer_with(100'000, 100'000);
    int moved = 0;
    while (buffer.size() > 100) {
      const void* before = buffer.data().data();
      ipc::give_back(buffer, kUsual);
      if (buffer.data().data() != before) ++moved;
      buffer.consume(100);
    }
    CHECK(moved < 10);
  }
}
