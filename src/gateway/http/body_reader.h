// SPDX-License-Identifier: Apache-2.0

// BodyReader: long bodies become messages on a thread of their own, while the loop serves others.
//
// A body within the limits (16 MiB, two million values) takes up to a second to be decoded, and a
// client may send one on each of its connections. Values go in and values come out: the thread
// touches nothing of the door. Of one guest one body is read after the other, and guests take
// turns, so that a guest waits for at most one body of each other guest (docs/adr/0049).
#pragma once

#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include <boost/asio/any_io_executor.hpp>

#include "core/json.h"
#include "ipc/json_rpc.h"

namespace mcpac::gateway::http {

class BodyReader {
 public:
  using Decoded = std::expected<ipc::Message, ipc::RpcError>;
  using Done = std::function<void(Decoded)>;
  // Decoded where they are: less than a millisecond, and less than a thread's turn costs.
  static constexpr std::size_t kShort = std::size_t{64} << 10U;

  explicit BodyReader(boost::asio::any_io_executor executor);
  // Waits for the body in work, a second at most; `done` is not called any more.
  ~BodyReader();
  BodyReader(const BodyReader&) = delete;
  BodyReader& operator=(const BodyReader&) = delete;

  // `done` is called once, on the executor, and never inside. `guest` is compared, never followed.
  void read(const void* guest, std::string body, const JsonLimits& limits, Done done);

 private:
  struct State;  // shared with the thread
  static void work(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
  std::jthread thread_;  // from the first long body on
};

}  // namespace mcpac::gateway::http
