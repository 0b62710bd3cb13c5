// SPDX-License-Identifier: Apache-2.0

// StdioTransport: a server that we start and talk to over its stdin and stdout, one message a line.
//
// on_closed comes when the server has ended: after its last lines of stdout and stderr were read,
// with its exit status and what it last said. A server that only closes its stdout is given up as
// well. The ladder of close() is the specification's: end of stdin, SIGTERM to the group, SIGKILL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/file.h"
#include "ipc/line_splitter.h"
#include "ipc/stream_channel.h"
#include "mcp/answers_under_way.h"
#include "mcp/child_process.h"
#include "mcp/read_throttle.h"
#include "mcp/secrets.h"
#include "mcp/transport.h"

namespace mcpac::mcp {

// StderrReader: a server's stderr, line by line, redacted and made printable.
//
// It keeps the last lines for the error that says why a server died. Lines over the limit are cut,
// so nothing that a server writes there can fill our memory or stop it.
class StderrReader : public std::enable_shared_from_this<StderrReader> {
 public:
  StderrReader(const boost::asio::any_io_executor& executor, UniqueFd read_end,
               std::shared_ptr<const SecretValues> secrets,
               std::function<void(std::string_view)> on_line);
  void start(std::function<void()> on_end);
  void stop();
  [[nodiscard]] bool has_ended() const { return ended_; }
  // The last lines, joined by newlines; empty when there were none.
  [[nodiscard]] std::string last_lines() const;
  // How many came so far.
  [[nodiscard]] std::uint64_t lines() const { return lines_; }

 private:
  void read_more();
  void take_lines();
  void take_line(std::string_view line);

  boost::asio::posix::stream_descriptor read_end_;
  std::shared_ptr<const SecretValues> secrets_;
  std::function<void(std::string_view)> on_line_;
  std::function<void()> on_end_;
  ipc::LineSplitter splitter_;
  std::deque<std::string> last_;
  std::uint64_t lines_ = 0;
  bool skipping_ = false;  // to the end of a line that was too long
  bool ended_ = false;
};

// InputQueue: fair shares of the queue to a server that does not read its input.
//
// Many clients share the queue to a server. One that fills it, whose server is busy for a while,
// would have every other client's calls refused: so what one has in it may be as long as what is
// left free beside all that waits. One client alone has half of the queue, two have a third each,
// and the next client finds room. What is taken back before it began to go leaves the queue.
// Nothing is counted where little waits, which is always so with a server that reads.
class InputQueue {
 public:
  using Client = std::shared_ptr<const std::string>;  // null: no client in particular

  // A request that waits, as the channel's line of this number; both ascend.
  void add(std::uint64_t line, std::int64_t request, std::size_t bytes, Client client);
  [[nodiscard]] bool is_empty() const { return requests_.empty(); }
  // All lines up to this one have gone.
  void sent(std::uint64_t line);
  // The line of this request; nothing: it has gone, or never waited.
  [[nodiscard]] std::optional<std::uint64_t> line_of(std::int64_t request) const;
  // It has left the queue.
  void remove(std::int64_t request);

  // Whether so much more may wait for this client, where so much of the queue is free.
  [[nodiscard]] bool has_room(const Client& client, std::size_t bytes, std::size_t free) const;

 private:
  struct Request {
    std::uint64_t line = 0;
    std::int64_t id = 0;
    std::size_t bytes = 0;
    Client client;
  };
  void uncount(const Request& request);

  std::deque<Request> requests_;
  std::map<std::string, std::size_t, std::less<>> bytes_of_;
};

// The beginning of the advice for a confined server that ended, to be replaced by a better one.
inline constexpr std::string_view kConfinedAdvice = "it runs in a sandbox ";

// What a server is started with: every reference expanded.
struct StdioTarget {
  std::string server;  // the configured name, for errors
  SpawnOptions spawn;
  std::chrono::milliseconds shutdown_grace{2'000};
  std::function<void(std::string_view)> on_stderr{};
};

// Expands, builds the environment and finds the program.
[[nodiscard]] Result<StdioTarget> make_stdio_target(const ServerConfig& config,
                                                    SecretValues& secrets);

class StdioTransport final : public Transport, public std::enable_shared_from_this<StdioTransport> {
 public:
  [[nodiscard]] static boost::asio::awaitable<Result<std::shared_ptr<StdioTransport>>> start_server(
      boost::asio::any_io_executor executor, StdioTarget target,
      std::shared_ptr<const SecretValues> secrets);
  StdioTransport(const StdioTransport&) = delete;
  StdioTransport& operator=(const StdioTransport&) = delete;
  ~StdioTransport() override;

  void start(TransportEvents events) override;
  void send(Outgoing message) override;
  bool abandon(std::int64_t request_id) override;
  [[nodiscard]] std::optional<bool> has_read() const override { return channel_->is_all_read(); }
  [[nodiscard]] std::uint64_t signs_of_life() const override { return lines_ + stderr_->lines(); }
  [[nodiscard]] std::string last_words() const override { return stderr_->last_lines(); }
  void set_protocol(Era, const std::string&) override {}
  boost::asio::awaitable<void> close() override;
  void kill() override;

 private:
  StdioTransport(boost::asio::any_io_executor executor, StdioTarget target,
                 std::shared_ptr<ChildProcess> child, std::shared_ptr<const SecretValues> secrets);
  void receive(std::string_view line);
  // Whether what it takes is within its client's share of what waits.
  [[nodiscard]] bool is_within_share(const Outgoing& request);
  void refuse(std::int64_t request_id, std::string why);
  void send_answer(Outgoing answer);
  void stdin_ended();
  void stdout_ended(const ipc::CloseReason& reason);
  void something_ended();
  void wait_for_last_words();
  void report();
  [[nodiscard]] Error death() const;

  boost::asio::any_io_executor executor_;
  StdioTarget target_;
  std::shared_ptr<ChildProcess> child_;
  std::shared_ptr<ipc::StreamChannel> channel_;
  std::shared_ptr<StderrReader> stderr_;
  boost::asio::steady_timer last_words_;
  ReadThrottle pace_;
  boost::asio::steady_timer rest_;  // until the next line may be read
  std::shared_ptr<const TransportEvents> events_;
  InputQueue unread_;
  struct Unsent {
    std::uint64_t number = 0;  // among all lines of the channel
    std::size_t bytes = 0;
  };
  std::uint64_t lines_ = 0;    // that it wrote to its output
  std::deque<Unsent> unsent_;  // answers that the server has not read yet
  AnswersUnderWay answers_;
  std::string broken_;  // why we gave it up, when it did not simply end
  bool stdout_ended_ = false;
  bool stdin_broken_ = false;
  bool waiting_for_last_words_ = false;
  bool closed_ = false;
};

}  // namespace mcpac::mcp
