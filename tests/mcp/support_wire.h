// A transport of memory: what is sent stays there, and the test says what comes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "mcp/transport.h"

namespace mcpac::test {

struct Wire final : mcp::Transport {
  void start(mcp::TransportEvents heard) override { events = std::move(heard); }
  void send(mcp::Outgoing message) override { sent.push_back(std::move(message)); }
  bool abandon(std::int64_t id) override {
    abandoned.push_back(id);
    return has_gone;
  }
  void set_protocol(mcp::Era, const std::string&) override {}
  boost::asio::awaitable<void> close() override { co_return; }
  void kill() override { is_killed = true; }

  mcp::TransportEvents events;
  std::vector<mcp::Outgoing> sent;
  std::vector<std::int64_t> abandoned;
  bool has_gone = true;  // what is abandoned
  bool is_killed = false;
};

}  // namespace mcpac::test
