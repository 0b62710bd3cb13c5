// SPDX-License-Identifier: Apache-2.0

// Listening: notifications wanted by one open subscriptions/listen, or by a client of the
// `initialize` era.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "gateway/waiting_room.h"

namespace mcpac::gateway {

// A resource, in the spelling that was decided and that its server was told.
struct Watched {
  std::string server;
  std::string uri;
  WaitingRoom::Hold seat = nullptr;
  friend bool operator==(const Watched& one, const Watched& other) {
    return one.server == other.server && one.uri == other.uri;
  }
};

struct Listening {
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  std::uint64_t subscriber = 0;           // who it is to ServerWatch, once it has begun
  std::map<std::string, Watched> uris{};  // by how the client wrote them
  WaitingRoom::Hold seat = nullptr;       // of all of them
};

}  // namespace mcpac::gateway
