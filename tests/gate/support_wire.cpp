#include "gate/support_wire.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

#include <boost/asio/post.hpp>

namespace mcpac::gate::testing {
namespace {

// Not a measurement: only so that a test that would hang fails instead.
constexpr std::chrono::seconds kPatience{600};

}  // namespace

Wire::Wire(const World::Options& options, DoorLimits limits) : world(options) {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  peer = UniqueFd(ends[1]);
  DoorCallbacks callbacks;
  callbacks.arguments = [this] {
    ++told;
    return given;
  };
  callbacks.on_log = [this](std::string_view level, std::string_view text) {
    logs.push_back(std::string(level) + ": " + std::string(text));
  };
  callbacks.on_uncaught = [this](Uncaught said) { uncaught.push_back(std::move(said)); };
  callbacks.on_result = [this](Json value) { results.push_back(std::move(value)); };
  callbacks.on_closed = [this](DoorCallbacks::End, std::string_view reason) {
    ++closed;
    closed_because = reason;
  };
  door = AgentDoor::open(loop.get_executor(), UniqueFd(ends[0]), *world.gate, world.audit,
                         std::move(callbacks), limits);
}

void Wire::until(const std::function<bool()>& condition) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    REQUIRE(std::chrono::steady_clock::now() < give_up);
    loop.restart();
    if (loop.poll() == 0) {
      loop.restart();
      loop.run_one_for(std::chrono::milliseconds(5));
    }
  }
}

void Wire::write(std::string_view bytes) {
  until([&] {
    const ssize_t n = ::send(fd(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0) return errno != EAGAIN && errno != EINTR;  // the door closed
    bytes.remove_prefix(static_cast<std::size_t>(n));
    return bytes.empty();
  });
}

// Takes what has arrived; false when there was nothing.
bool Wire::pull() {
  std::array<char, 65536> buffer{};
  const ssize_t n = ::recv(fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (n > 0) received_.append(buffer.data(), static_cast<std::size_t>(n));
  // ECONNRESET: the door closed with something of ours unread.
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) ended_ = true;
  return n > 0;
}

std::string Wire::read_line() {
  until([&] {
    while (received_.find('\n') == std::string::npos && pull()) {
    }
    return ended_ || received_.find('\n') != std::string::npos;
  });
  const auto end = received_.find('\n');
  REQUIRE(end != std::string::npos);
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

std::string Wire::read_to_end() {
  until([&] {
    while (pull()) {
    }
    return ended_;
  });
  return std::exchange(received_, {});
}

void Wire::settle() {
  send({{"jsonrpc", "2.0"}, {"id", "settled"}, {"method", "ping"}});
  while (read().at("id") != "settled") {
  }
}

void Wire::answer_everything() {
  world.upstream.on_forward = [this](FakeUpstream::Call& call) {
    boost::asio::post(loop, [&call] {
      if (call.done) std::exchange(call.done, nullptr)(text_result("done"));
    });
  };
}

Json tool_call(const Json& id, std::string_view name, Json arguments) {
  return {{"jsonrpc", "2.0"},
          {"id", id},
          {"method", "tools/call"},
          {"params", {{"name", name}, {"arguments", std::move(arguments)}}}};
}

}  // namespace mcpac::gate::testing
