// SPDX-License-Identifier: Apache-2.0

// NetworkGate: the gate's way for connections, in this order:
//
//   limits → by name → audit record → the name is looked up → each address → audit record → dialled
//
// A program names a host and a port and gets a connection or the reason why not. What cannot be
// recorded is neither looked up nor dialled. Which rule refused, and what would admit it, is for
// the user alone. Policy is not observed here (`--no-permission-check`): without a grant there is
// no route. Single-threaded; every request is answered exactly once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "audit/log.h"
#include "core/clock.h"
#include "core/file.h"
#include "gate/answer.h"
#include "gate/dialer.h"
#include "gate/record.h"
#include "policy/authority.h"

namespace mcpac::gate {

struct ConnectRequest {
  std::string host;
  std::uint16_t port = 0;
  Tls tls = Tls::kYes;
};

struct Connected {
  std::uint64_t connection = 0;
  UniqueFd descriptor;  // the program's; none where it had a socket
};
using ConnectDone = std::function<void(std::expected<Connected, CallError>)>;

struct NetworkLimits {
  // Open or being opened. Each holds two sockets and 128 KiB of buffers of ours.
  std::size_t open = 16;
  // Of a run, so that its record and the load on others have an end.
  std::size_t total = 10'000;
};

struct NetworkSetup {
  const policy::Authority* authority = nullptr;  // all pointers are borrowed
  Dialer* dialer = nullptr;                      // null: nothing is reachable
  audit::Sink* audit = nullptr;
  const Clock* clock = nullptr;
  const std::vector<std::string>* declared = nullptr;
  NetworkLimits limits{};
  // Hears of every refusal by rules, for the user's side alone.
  std::function<void(const Check&)> on_denied = nullptr;
  // Hears of every request that was refused; what ends a probing program hangs on it.
  std::function<void()> on_refused = [] {};
};

class NetworkGate {
 public:
  explicit NetworkGate(NetworkSetup setup);
  // Ends all connections; waiters are not answered.
  ~NetworkGate();
  NetworkGate(const NetworkGate&) = delete;
  NetworkGate& operator=(const NetworkGate&) = delete;

  // `id` is the caller's, unique in this run. `done` may be called from inside.
  // `end`: a socket of the program's, which is closed where it gets no connection.
  void connect(std::uint64_t id, const ConnectRequest& request, ConnectDone done,
               ProgramEnd end = {});
  // The program has lost interest in a connection that is not there yet.
  void cancel(std::uint64_t id);
  // Ends every connection at once, and answers who waits with kRevoked. `outcome` is recorded.
  // Returns how many there were.
  std::size_t close_all(std::string_view outcome);
  // Open or being opened.
  [[nodiscard]] std::size_t open() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with callbacks of the dialer
};

}  // namespace mcpac::gate
