// SPDX-License-Identifier: Apache-2.0

// StreamChannel: lines both ways over descriptors that we own: one local socket, or a pipe pair.
//
// Single-threaded: everything, callbacks included, happens on the executor's one thread, and no
// callback runs inside a call into the channel. After close(), or once the last shared_ptr is gone,
// no callback comes any more. The queue of unsent lines is bounded: a peer that does not read
// cannot fill our memory. Writing to a closed peer never raises SIGPIPE.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "core/file.h"
#include "ipc/coarse_timer.h"
#include "ipc/line_splitter.h"

namespace mcpac::ipc {

enum class CloseCause : std::uint8_t {
  kEnd,        // the peer ended its stream after a whole line
  kTruncated,  // ... in the middle of a line
  kOverLong,   // a line over the limit
  kReadError,
  kWriteError,  // mostly: the peer is gone. Not over a pair: there send() says kClosed,
                // on_write_failed comes, and reading goes on to the end of what the peer wrote
                // before
};

struct CloseReason {
  CloseCause cause = CloseCause::kEnd;
  std::string detail;  // for people
};

enum class SendStatus : std::uint8_t {
  kSent,    // all of it is with the kernel
  kQueued,  // it waits; see queued_bytes() and on_drained
  kFull,    // refused: the queue is at its limit; nothing of the line will be sent
  kClosed,  // refused: the channel is closed or closing
};

struct ChannelLimits {
  std::size_t max_line = kMaxLine;
  // One line is always accepted when the queue is empty, so lines over this limit can still be
  // sent.
  std::size_t max_queued = std::size_t{64} << 20U;
  // Of the lines that are sent in one turn of the loop the first goes at once, and the others so
  // many at a time: one system call, and a peer that reads them together. 1: each goes at once.
  std::size_t gathers = 1;
};

struct ChannelCallbacks {
  // The view lives until the callback returns.
  std::function<void(std::string_view line)> on_line{};
  // Exactly once, unless close() was called before.
  std::function<void(const CloseReason&)> on_closed{};
  // The queue was not empty and is so again.
  std::function<void()> on_drained{};
  // Over a pair: the peer reads no more, and what was queued will not be sent.
  std::function<void()> on_write_failed{};
};

class StreamChannel : public std::enable_shared_from_this<StreamChannel> {
 public:
  // A socket (both directions). Reading begins with start().
  [[nodiscard]] static std::shared_ptr<StreamChannel> over_socket(
      const boost::asio::any_io_executor& executor, UniqueFd socket, ChannelLimits limits = {});
  // Two descriptors: we read from one and write to the other.
  [[nodiscard]] static std::shared_ptr<StreamChannel> over_pair(
      const boost::asio::any_io_executor& executor, UniqueFd read_end, UniqueFd write_end,
      ChannelLimits limits = {});

  StreamChannel(const StreamChannel&) = delete;
  StreamChannel& operator=(const StreamChannel&) = delete;
  ~StreamChannel();

  // Once.
  void start(ChannelCallbacks callbacks);
  // `line` without newline; it must not contain one (the encoders of json_rpc.h never do).
  // With a descriptor, over a socket: it goes with the first byte of this line and of no other (the
  // other side has it once it has read that byte), and is closed here when it is sent or dropped.
  SendStatus send(std::string line, UniqueFd descriptor = {});
  // The same, but not while only a part of one of the peer's lines is here, for 20 ms at most: a
  // writer does not read, and is done sooner with nothing new to do. Goes with the next send(),
  // too.
  SendStatus send_between_lines(std::string line);
  // Lines that wait for others of this turn, or for one of the peer's, go now, where the kernel
  // takes them: what is queued then is what the peer does not read. Done where the channel ends,
  // too.
  void send_gathered();
  [[nodiscard]] std::size_t queued_bytes() const { return queued_; }
  // Nothing waits here, and the peer has read all that the kernel took. Nothing: the kernel does
  // not say, as of a pipe.
  [[nodiscard]] std::optional<bool> is_all_read() const;
  // How many lines send() took, which is also the number of the last one; and up to which number
  // the kernel has them whole, but for those that were taken out.
  [[nodiscard]] std::uint64_t accepted_lines() const { return accepted_; }
  [[nodiscard]] std::uint64_t sent_lines() const {
    return queue_.empty() ? accepted_ : queue_.front().number - 1;
  }
  // The line of this number is not sent after all. False: it has gone, or some of it has.
  bool take_out(std::uint64_t number);
  // Open here until the peer reads on.
  [[nodiscard]] std::size_t queued_descriptors() const { return queued_descriptors_; }
  // Read, but not yet handed out: while not paused, the part of a line whose end has not come.
  [[nodiscard]] std::size_t unfinished_bytes() const { return splitter_.buffered(); }

  // Stops reading, so that a peer who sends faster than we work is slowed by its own full buffer.
  // Lines that were already read wait, too, and so does the news that the stream ended.
  void pause_reading();
  void resume_reading();

  // Sends what is queued, then ends our side of the stream; reading goes on.
  void finish_writing();
  // Closes both directions at once. No callback comes after this.
  void close();
  [[nodiscard]] bool is_closed() const { return closed_; }

 private:
  using Descriptor = boost::asio::posix::stream_descriptor;

  StreamChannel(Descriptor read_end, Descriptor write_end, ChannelLimits limits);

  void read_more();
  void deliver_lines();
  void handle_read(const boost::system::error_code& error, std::size_t size);
  SendStatus accept(std::string line, UniqueFd descriptor, bool between_lines);
  void wait_writable();
  void hold();
  void let_go();
  void gather();
  // What is queued is written, or as much as can be.
  void flush();
  int write_some();
  void end_writing();
  void write_failed(int error);
  void report(const CloseReason& reason);
  [[nodiscard]] Descriptor& writer() { return write_end_.is_open() ? write_end_ : read_end_; }
  [[nodiscard]] const Descriptor& writer() const {
    return write_end_.is_open() ? write_end_ : read_end_;
  }

  Descriptor read_end_;
  Descriptor write_end_;  // not open when read_end_ is a socket for both directions
  ChannelLimits limits_;
  // Shared, since close() may be called from inside one of them.
  std::shared_ptr<const ChannelCallbacks> callbacks_;
  LineSplitter splitter_;
  struct Line {
    std::string text;
    UniqueFd descriptor;
    std::uint64_t number = 0;
  };
  std::deque<Line> queue_;
  CoarseTimer held_for_;
  std::size_t front_sent_ = 0;  // of the first line and its newline
  std::size_t queued_ = 0;
  std::size_t queued_descriptors_ = 0;
  std::uint64_t accepted_ = 0;
  bool is_socket_ = false;
  bool is_pair_ = false;
  bool reading_ = false;
  bool delivering_ = false;
  bool paused_ = false;
  bool waiting_to_write_ = false;
  bool held_ = false;       // until the peer's line is whole
  bool gathering_ = false;  // until the end of this turn
  bool gathered_ = false;   // a line was told to be queued for it
  bool finishing_ = false;
  bool closed_ = false;
};

}  // namespace mcpac::ipc
