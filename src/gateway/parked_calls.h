// ParkedCalls: calls whose client was asked a question, and has to come back with the answer.
//
// A client of 2026-07-28 is asked by a result (`input_required`) and answers by making its request
// once more. In between no request waits at this end, while the server, or a question of ours,
// does. What the client brings back (`requestState`) is a random name that is worth something once,
// for the client that got it, for the very same call, and for ten minutes. One for each client run.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "gate/caller.h"
#include "gate/gate.h"

namespace mcpac::gateway {

class CallOfClient;

struct ParkedCall {
  std::shared_ptr<CallOfClient> call;
  std::string digest;                  // of tool and arguments
  std::vector<std::string> questions;  // their names
  gate::Caller::Replied reply;         // an object, with a reply to each
};

class ParkedCalls {
 public:
  // Both are borrowed.
  ParkedCalls(gate::Gate& gate, const Clock& clock) : gate_(gate), clock_(clock) {}

  // The name to come back with; empty: too many calls wait for their clients.
  [[nodiscard]] std::string park(ParkedCall call);
  // Nothing: there is none of this name any more, it is of another call, or `fits` says no; then it
  // stays.
  using Fits = std::function<bool(const ParkedCall&)>;
  [[nodiscard]] std::optional<ParkedCall> take(const std::string& name, const std::string& digest,
                                               const Fits& fits);
  [[nodiscard]] std::size_t count() const { return calls_.size(); }
  // Calls whose clients did not come back in time are taken back. With every park and take, and by
  // the owner's timer.
  void sweep();

 private:
  struct Entry {
    ParkedCall call;
    std::chrono::steady_clock::time_point until;
  };
  gate::Gate& gate_;
  const Clock& clock_;
  std::map<std::string, Entry> calls_;
};

}  // namespace mcpac::gateway
