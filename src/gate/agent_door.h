// SPDX-License-Identifier: Apache-2.0

// AgentDoor: serves one connection of one program (docs/protocol.md).
//
// The connection is the capability: the holder of the other end has exactly the gate's authority,
// and nothing that is sent over it can add to that. Nothing from the other end is trusted: every
// size and count is bounded, every request gets exactly one answer, and what is no well-formed
// request never becomes a call. When the connection ends, so does the gate's authority. Descriptors
// sent along are never received. Single-threaded, on the executor it is given.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/file.h"
#include "gate/anomalies.h"
#include "gate/gate.h"
#include "ipc/json_rpc.h"
#include "ipc/stream_channel.h"

namespace mcpac::gate {

struct DoorLimits {
  // One frame (docs/protocol.md, "Limits").
  std::size_t max_line = std::size_t{16} << 20U;
  // A program that waits for more than this many answers gains nothing from one more.
  std::size_t max_calls_in_flight = 1024;
  // Requests whose answers are awaited, together: their arguments may all wait in our memory. Of
  // each counts its text or what was read of it, whichever takes more.
  std::size_t max_bytes_in_flight = std::size_t{64} << 20U;
  // Answers that the program has not read. Above the first no further request is read; a result
  // that would go above the second is replaced by a budget error.
  std::size_t pause_above_queued = std::size_t{4} << 20U;
  std::size_t max_queued = std::size_t{64} << 20U;
  // Connections that ended before the program took them hold their descriptors here until then.
  std::size_t max_queued_descriptors = 16;
  // A frame that has begun must end within once to twice this time. 0: no limit.
  std::chrono::milliseconds partial_frame{30'000};
  // Frames that are no message; one more ends the connection.
  std::size_t max_malformed = 64;
  // Text of notifications/message, each and together.
  std::size_t max_log_line = std::size_t{64} << 10U;
  std::size_t max_log_total = std::size_t{16} << 20U;
};

// Reason of the program's end in its own words: an error or exception that it did not catch. For
// the report of its run; nothing is decided by it.
struct Uncaught {
  std::string kind;        // as ErrorKind is written, or "tool", or "exception"
  std::string permission;  // of the call; or empty
  std::string message;
  std::string id;  // as the gate gave it ("MCPAC-E0301"); or empty
};

struct DoorCallbacks {
  // Arguments of the run (mcpac::arguments()): an object, the same whenever it is asked for.
  // Absent: an empty one.
  std::function<Json()> arguments{};
  // A line for the user. `level` is one of MCP's eight names.
  std::function<void(std::string_view level, std::string_view text)> on_log{};
  // Result of agent_main; at most once.
  std::function<void(Json value)> on_result{};
  // At most once.
  std::function<void(Uncaught uncaught)> on_uncaught{};
  // The connection ended by itself or by our decision; not after close(). `reason` is for people.
  enum class End : std::uint8_t { kPeer, kViolation, kFailure };
  std::function<void(End end, std::string_view reason)> on_closed{};
};

class AgentDoor : public std::enable_shared_from_this<AgentDoor> {
 public:
  // `gate` and `audit` are borrowed and outlive the door.
  [[nodiscard]] static std::shared_ptr<AgentDoor> open(const boost::asio::any_io_executor& executor,
                                                       UniqueFd connection, Gate& gate,
                                                       audit::Sink& audit, DoorCallbacks callbacks,
                                                       DoorLimits limits = {});
  AgentDoor(const AgentDoor&) = delete;
  AgentDoor& operator=(const AgentDoor&) = delete;
  ~AgentDoor();

  // Ends the connection and closes the gate. Idempotent; no callback comes after it.
  void close();
  [[nodiscard]] bool is_closed() const { return closed_; }
  [[nodiscard]] std::size_t calls_in_flight() const { return in_flight_.size(); }

 private:
  struct Awaited {
    Gate::CallId call = 0;
    std::size_t bytes = 0;  // as max_bytes_in_flight counts them
  };

  AgentDoor(const boost::asio::any_io_executor& executor, UniqueFd connection, Gate& gate,
            audit::Sink& audit, DoorCallbacks callbacks, DoorLimits limits);
  void start();

  void handle_line(std::string_view line);
  void handle_request(ipc::Request request, std::size_t bytes);
  void handle_tool_call(ipc::Id id, Json params, std::size_t bytes);
  void handle_connect(const ipc::Id& id, const Json& params, std::size_t bytes);
  void handle_arguments(const ipc::Id& id);
  // Whether one more request fits; otherwise it has been answered.
  bool has_room_for(const ipc::Id& id, std::size_t bytes);
  void refuse_for_room(const ipc::Id& id, std::string why);
  // The request has its answer: what it held is free.
  void settle(const ipc::Id& id);
  void handle_notification(ipc::Notification notification);
  void handle_log(const Json& params);
  void handle_result(Json params);
  void handle_uncaught(const Json& params);
  void handle_cancel(const Json& params);
  void handle_malformed(const ipc::RpcError& error);

  void answer(const ipc::Id& id, const Answer& given);
  // A line that may be large: a budget error in its place where too much waits unread.
  void send_result(const ipc::Id& id, std::string line);
  void send_error(const std::optional<ipc::Id>& id, std::int64_t code, std::string_view message);
  void send_call_error(const ipc::Id& id, const CallError& error);
  void send(std::string line, UniqueFd descriptor = {});

  void watch_partial_frames();
  // Ends the connection for the program's fault: recorded, answered where that is possible.
  void expel(std::string_view what, std::int64_t code);
  void handle_closed(const ipc::CloseReason& reason);
  void end(DoorCallbacks::End end, std::string_view reason);

  Gate& gate_;
  Anomalies anomalies_;
  DoorCallbacks callbacks_;
  DoorLimits limits_;
  // The same socket once more, for one error after the channel closed itself. It goes together with
  // the channel, before the loop turns again.
  UniqueFd last_word_;
  std::shared_ptr<ipc::StreamChannel> channel_;
  boost::asio::steady_timer timer_;
  std::map<ipc::Id, Awaited> in_flight_;
  std::size_t bytes_in_flight_ = 0;
  std::size_t lines_ = 0;
  std::size_t malformed_ = 0;
  std::size_t logged_ = 0;
  bool has_result_ = false;
  bool has_uncaught_ = false;
  bool has_backlog_ = false;  // an answer lies half sent, or not at all, in the channel's queue
  bool paused_ = false;
  bool closed_ = false;
};

}  // namespace mcpac::gate
