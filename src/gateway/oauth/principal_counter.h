// SPDX-License-Identifier: Apache-2.0

// PrincipalCounter: clients admitted by tokens of an issuer, so that no subject can take up all the
// room.
//
// Each is a run: a record, a gate, a socket. One subject is as many clients as there are pairs of a
// client_id and a set of scopes in their tokens, and chooses both; so a subject has a share of the
// room, and the rest is for others. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace mcpac::gateway::oauth {

class PrincipalCounter {
 public:
  struct Limits {
    std::size_t all = 256;
    // A person at a few devices, each with the scopes that it asked for first and later.
    std::size_t of_subject = 16;
  };
  PrincipalCounter() = default;
  explicit PrincipalCounter(Limits limits) : limits_(limits) {}

  // One who was added, or who may be.
  [[nodiscard]] bool has_room_for(const std::string& client, const std::string& subject) const;
  void add(const std::string& client, const std::string& subject);
  void clear() { subjects_.clear(); }

 private:
  Limits limits_{};
  std::map<std::string, std::string> subjects_;  // by client
};

}  // namespace mcpac::gateway::oauth
