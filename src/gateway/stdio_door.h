// SPDX-License-Identifier: Apache-2.0

// StdioDoor: one client at the other end of two descriptors, a message a line.
//
// The process that started mcpac holds the other end, and is the client. When it ends its stream,
// what is in work is still answered. Sizes and counts are bounded; while answers lie unread nothing
// further is read, and what is no answer (progress, logs, questions) is dropped before it could end
// the connection: servers decide how much of that there is. Single-threaded, on the executor it is
// given.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>

#include "core/file.h"
#include "gateway/client_grant.h"
#include "gateway/mcp_session.h"
#include "ipc/stream_channel.h"

namespace mcpac::gateway {

class StdioDoor : public std::enable_shared_from_this<StdioDoor> {
 public:
  // The client has gone, and what was in work is answered, or cannot be. Not after close(). `why`:
  // for the user, where it was mcpac that ended it; mostly empty.
  using OnClosed = std::function<void(const std::string& why)>;
  // An error: no descriptors are left.
  [[nodiscard]] static Result<std::shared_ptr<StdioDoor>> open(
      const boost::asio::any_io_executor& executor, UniqueFd in, UniqueFd out, ClientGrant& run,
      OnClosed on_closed);
  ~StdioDoor();
  StdioDoor(const StdioDoor&) = delete;
  StdioDoor& operator=(const StdioDoor&) = delete;

  // No further request is taken; what is in work goes on.
  void finish();
  void close();
  [[nodiscard]] std::size_t calls_in_flight() const { return session_->calls_in_flight(); }

 private:
  using Channel = std::shared_ptr<ipc::StreamChannel>;
  StdioDoor(boost::asio::any_io_executor executor, Channel reader, Channel writer,
            OnClosed on_closed);
  void start(ClientGrant& run);
  void send(Outgoing message);
  void drop(const Outgoing& message);
  [[nodiscard]] bool has_room_for(const Outgoing& message);
  // Once the input has ended and nothing is in work or unsent.
  void end_if_done();
  void end(const std::string& why = {});

  boost::asio::any_io_executor executor_;
  // Apart, for the end of one is not that of the other.
  Channel reader_;
  Channel writer_;
  std::shared_ptr<McpSession> session_;
  OnClosed on_closed_;
  bool input_ended_ = false;
  bool paused_ = false;
  bool closed_ = false;
};

}  // namespace mcpac::gateway
