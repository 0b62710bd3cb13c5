// SPDX-License-Identifier: Apache-2.0

// Dialer: makes the connections that the gate decided, as the gate sees it. The real one is
// network/host_dialer.h.
//
// It decides nothing: it asks about every address before it dials it, and dials that very address,
// so that a name which leads elsewhere the second time gains nothing. Everything happens on the
// loop's one thread; no callback runs inside a call into the dialer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/error.h"
#include "core/file.h"
#include "policy/match/ip_network.h"

namespace mcpac::gate {

// Whether the host speaks TLS for the program, with the certificate checked for the host's name.
enum class Tls : std::uint8_t { kYes, kNo };

struct Traffic {
  std::uint64_t bytes_in = 0;   // to the program
  std::uint64_t bytes_out = 0;  // from it
};

// A connected stream socket of the program's, where it has one already, and what was agreed on it.
struct ProgramEnd {
  UniqueFd socket;       // none: a socket pair is made for it
  std::string greeting;  // what the program is told first, once the connection is there
  std::string early;     // what it had said already, for the other side
};

struct Dialled {
  UniqueFd program_end;  // of a fresh socket pair, for the program; none where it had a socket
  std::string address;   // that was dialled
};

// Why a connection ended.
enum class ConnectionEnd : std::uint8_t {
  kEnded,   // both sides said that they are done
  kBroken,  // the network or the other side broke it off
  kIdle,    // no byte for too long
  kLimit,   // the run's connections carried all that they may
};

struct DialPlan {
  std::string host;  // canonical: a name in lower case and A-labels, or an address
  std::uint16_t port = 0;
  Tls tls = Tls::kYes;
  ProgramEnd end = {};
  std::function<bool(const policy::IpAddress&)> may_dial;
  // Once, unless closed before. kNetworkName, kNetworkConnect, kNetworkTls, kNetworkTimeout; an
  // Error with kCallDenied: no address may be dialled.
  std::function<void(Result<Dialled>)> done;
  // Once after a `done` with a connection, unless closed before.
  std::function<void(ConnectionEnd, Traffic)> ended;
};

class Dialer {
 public:
  using Token = std::uint64_t;
  virtual ~Dialer() = default;
  virtual Token dial(DialPlan plan) = 0;
  // Whether a connection there would end on this machine, as far as it knows its addresses.
  [[nodiscard]] virtual bool is_own(const policy::IpAddress& /*address*/) const { return false; }
  // Ends it at once, in whatever state; no callback comes after this. What it had carried.
  virtual Traffic close(Token token) = 0;
};

}  // namespace mcpac::gate
