// SPDX-License-Identifier: Apache-2.0

#include "ipc/stream_channel.h"

#include <linux/sockios.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <tuple>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

namespace mcpac::ipc {
namespace {

// One read: what a pipe holds, and enough that a 10 MiB line needs few system calls.
constexpr std::size_t kReadSize = std::size_t{128} << 10U;
// Lines sent with one system call; two entries each.
constexpr std::size_t kGather = 32;
// What waits for the end of a turn: there is nothing to be gained with more.
constexpr std::size_t kGatheredBytes = std::size_t{64} << 10U;

constexpr std::chrono::milliseconds kMostHeld{20};

bool is_socket(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

// writev to a pipe without reader raises SIGPIPE, and only the signal mask can stop that for one
// thread alone: block it, write, and take the one that we caused out again.
ssize_t write_without_sigpipe(int fd, const iovec* parts, int count) {
  sigset_t pipe_only;
  sigset_t before;
  sigset_t pending;
  sigemptyset(&pipe_only);
  sigaddset(&pipe_only, SIGPIPE);
  sigpending(&pending);
  const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
  const ssize_t written = ::writev(fd, parts, count);
  const int error = errno;
  if (written < 0 && error == EPIPE && !was_pending) {
    constexpr timespec kNow{};
    while (sigtimedwait(&pipe_only, nullptr, &kNow) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

ssize_t write_parts(int fd, bool socket, iovec* parts, std::size_t count, int descriptor) {
  if (!socket) return write_without_sigpipe(fd, parts, static_cast<int>(count));
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  if (descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  return ::sendmsg(fd, &message, MSG_NOSIGNAL);
}

}  // namespace

std::shared_ptr<StreamChannel> StreamChannel::over_socket(
    const boost::asio::any_io_executor& executor, UniqueFd socket, ChannelLimits limits) {
  Descriptor both(executor, socket.release());
  return std::shared_ptr<StreamChannel>(
      new StreamChannel(std::move(both), Descriptor(executor), limits));
}

std::shared_ptr<StreamChannel> StreamChannel::over_pair(
    const boost::asio::any_io_executor& executor, UniqueFd read_end, UniqueFd write_end,
    ChannelLimits limits) {
  Descriptor in(executor, read_end.release());
  Descriptor out(executor, write_end.release());
  return std::shared_ptr<StreamChannel>(new StreamChannel(std::move(in), std::move(out), limits));
}

StreamChannel::StreamChannel(Descriptor read_end, Descriptor write_end, ChannelLimits limits)
    : read_end_(std::move(read_end)),
      write_end_(std::move(write_end)),
      limits_(limits),
      splitter_(limits.max_line),
      held_for_(read_end_.get_executor(), [this] { let_go(); }) {
  is_pair_ = write_end_.is_open();
  is_socket_ = is_socket(writer().native_handle());
  boost::system::error_code ignored;
  read_end_.native_non_blocking(true, ignored);
  writer().native_non_blocking(true, ignored);
}

StreamChannel::~StreamChannel() {
  send_gathered();
}

void StreamChannel::start(ChannelCallbacks callbacks) {
  callbacks_ = std::make_shared<const ChannelCallbacks>(std::move(callbacks));
  read_more();
}

void StreamChannel::read_more() {
  if (closed_ || reading_ || paused_) return;
  reading_ = true;
  const auto room = splitter_.prepare(kReadSize);
  // The buffer belongs to the channel; when that dies, closing the descriptor ends the operation
  // before the memory goes.
  read_end_.async_read_some(
      boost::asio::buffer(room.data(), room.size()),
      [weak = weak_from_this()](const boost::system::error_code& error, std::size_t size) {
        if (const auto self = weak.lock()) self->handle_read(error, size);
      });
}

void StreamChannel::handle_read(const boost::system::error_code& error, std::size_t size) {
  reading_ = false;
  if (closed_) return;
  if (!error) {
    splitter_.commit(size);
    deliver_lines();
    return;
  }
  if (error != boost::asio::error::eof && error != boost::asio::error::connection_reset) {
    report({CloseCause::kReadError, error.message()});
  } else if (splitter_.buffered() > 0) {
    report({CloseCause::kTruncated, "the stream ended in the middle of a line"});
  } else {
    report({CloseCause::kEnd, "the stream ended"});
  }
}

void StreamChannel::deliver_lines() {
  const auto callbacks = callbacks_;
  delivering_ = true;
  while (!closed_ && !paused_) {
    const auto line = splitter_.next();
    if (!line) break;
    if (callbacks->on_line) callbacks->on_line(*line);
  }
  delivering_ = false;
  if (closed_ || paused_) return;
  if (splitter_.buffered() == 0) let_go();
  if (splitter_.over_long()) {
    report({CloseCause::kOverLong,
            "a line is longer than " + std::to_string(limits_.max_line) + " bytes"});
    return;
  }
  read_more();
}

void StreamChannel::pause_reading() {
  paused_ = true;
}

void StreamChannel::resume_reading() {
  if (!paused_ || closed_) return;
  paused_ = false;
  if (!callbacks_ || delivering_ || reading_) return;
  // Later, since lines that wait must not come out of this very call.
  boost::asio::post(read_end_.get_executor(), [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && !self->closed_ && !self->reading_ && !self->paused_ && !self->delivering_) {
      self->deliver_lines();
    }
  });
}

SendStatus StreamChannel::send(std::string line, UniqueFd descriptor) {
  return accept(std::move(line), std::move(descriptor), false);
}

SendStatus StreamChannel::send_between_lines(std::string line) {
  return accept(std::move(line), {}, true);
}

SendStatus StreamChannel::accept(std::string line, UniqueFd descriptor, bool between_lines) {
  if (closed_ || finishing_) return SendStatus::kClosed;
  if (queued_ > 0 && queued_ + line.size() > limits_.max_queued) send_gathered();
  if (queued_ > 0 && queued_ + line.size() > limits_.max_queued) return SendStatus::kFull;
  queued_ += line.size() + 1;
  if (descriptor) ++queued_descriptors_;
  queue_.push_back({std::move(line), std::move(descriptor), ++accepted_});
  if (waiting_to_write_) return SendStatus::kQueued;
  if (between_lines && splitter_.buffered() > 0) {
    hold();
    return SendStatus::kQueued;
  }
  if (gathering_ && queue_.size() < limits_.gathers && queued_ <= kGatheredBytes) {
    gathered_ = true;
    return SendStatus::kQueued;
  }
  if (const int error = write_some(); error != 0) {
    write_failed(error);
    return SendStatus::kClosed;
  }
  if (!queue_.empty()) {
    wait_writable();
    return SendStatus::kQueued;
  }
  if (limits_.gathers > 1) gather();
  return SendStatus::kSent;
}

std::optional<bool> StreamChannel::is_all_read() const {
  if (closed_ || !is_socket_) return std::nullopt;
  if (!queue_.empty()) return false;
  int unread = 0;
  // A file descriptor of Asio gives its handle to the non-const alone.
  const int socket = const_cast<Descriptor&>(writer()).native_handle();
  if (::ioctl(socket, SIOCOUTQ, &unread) != 0) return std::nullopt;
  return unread == 0;
}

bool StreamChannel::take_out(std::uint64_t number) {
  const auto line = std::ranges::lower_bound(queue_, number, {}, &Line::number);
  if (line == queue_.end() || line->number != number) return false;
  if (line == queue_.begin() && front_sent_ > 0) return false;
  queued_ -= line->text.size() + 1;
  if (line->descriptor) --queued_descriptors_;
  queue_.erase(line);
  if (queue_.empty() && finishing_) end_writing();
  return true;
}

void StreamChannel::hold() {
  if (std::exchange(held_, true)) return;
  held_for_.set(std::chrono::steady_clock::now() + kMostHeld);
}

void StreamChannel::let_go() {
  if (!std::exchange(held_, false)) return;
  held_for_.set_never();
  if (!closed_ && !waiting_to_write_ && !queue_.empty()) flush();
}

// Behind all that the loop has to do in this turn.
void StreamChannel::gather() {
  if (std::exchange(gathering_, true)) return;
  boost::asio::post(read_end_.get_executor(), [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->gathering_ = false;
    if (self->closed_ || self->waiting_to_write_ || !self->gathered_) return;
    self->flush();
  });
}

void StreamChannel::send_gathered() {
  const bool waits_for_us = gathering_ || held_;
  if (waits_for_us && !closed_ && !waiting_to_write_ && !queue_.empty()) std::ignore = write_some();
}

void StreamChannel::flush() {
  gathered_ = false;
  if (const int failed = write_some(); failed != 0) return write_failed(failed);
  if (!queue_.empty()) return wait_writable();
  if (finishing_) return end_writing();
  const auto callbacks = callbacks_;
  if (callbacks && callbacks->on_drained) callbacks->on_drained();
}

// Writes until the queue is empty or the kernel takes no more. Returns the errno of a failure.
int StreamChannel::write_some() {
  static constexpr char kNewline = '\n';
  while (!queue_.empty()) {
    std::array<iovec, 2 * kGather> parts{};
    std::size_t count = 0;
    std::size_t skip = front_sent_;
    for (std::size_t i = 0; i < std::min(queue_.size(), kGather); ++i) {
      // A descriptor goes with the first byte of one write.
      if (i > 0 && queue_[i].descriptor) break;
      std::string& line = queue_[i].text;
      const std::size_t from = std::min(skip, line.size());
      if (from < line.size()) parts[count++] = {line.data() + from, line.size() - from};
      parts[count++] = {const_cast<char*>(&kNewline), 1};
      skip = 0;
    }
    const ssize_t written = write_parts(writer().native_handle(), is_socket_, parts.data(), count,
                                        queue_.front().descriptor.get());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : errno;
    }
    if (queue_.front().descriptor) --queued_descriptors_;
    queue_.front().descriptor.reset();
    auto left = static_cast<std::size_t>(written);
    queued_ -= left;
    while (left > 0) {
      const std::size_t rest = queue_.front().text.size() + 1 - front_sent_;
      if (left < rest) {
        front_sent_ += left;
        break;
      }
      left -= rest;
      front_sent_ = 0;
      queue_.pop_front();
    }
  }
  return 0;
}

void StreamChannel::wait_writable() {
  waiting_to_write_ = true;
  writer().async_wait(Descriptor::wait_write,
                      [weak = weak_from_this()](const boost::system::error_code& error) {
                        const auto self = weak.lock();
                        if (!self || self->closed_) return;
                        self->waiting_to_write_ = false;
                        if (error) return self->write_failed(error.value());
                        self->flush();
                      });
}

void StreamChannel::finish_writing() {
  if (closed_ || finishing_) return;
  finishing_ = true;
  if (queue_.empty()) return end_writing();
  let_go();
}

void StreamChannel::end_writing() {
  boost::system::error_code ignored;
  if (is_pair_) {
    write_end_.close(ignored);
  } else {
    ::shutdown(read_end_.native_handle(), SHUT_WR);
  }
}

void StreamChannel::close() {
  if (closed_) return;
  send_gathered();
  closed_ = true;
  held_for_.stop();
  boost::system::error_code ignored;
  read_end_.close(ignored);
  write_end_.close(ignored);
  queue_.clear();
  queued_ = 0;
  queued_descriptors_ = 0;
  // The callbacks may own what owns us: let them go a step later, outside of our own functions.
  boost::asio::post(read_end_.get_executor(), [callbacks = std::move(callbacks_)] {});
  callbacks_ = nullptr;
}

// Over a pair the other direction still holds what the peer said before it went: only writing
// stops, and the end of reading will say the rest. May run inside send(), so the callback comes
// later.
void StreamChannel::write_failed(int error) {
  finishing_ = true;
  queue_.clear();
  queued_ = 0;
  queued_descriptors_ = 0;
  front_sent_ = 0;
  if (is_pair_) end_writing();
  boost::asio::post(read_end_.get_executor(), [weak = weak_from_this(), error] {
    const auto self = weak.lock();
    if (!self || self->closed_) return;
    if (!self->is_pair_)
      return self->report({CloseCause::kWriteError, std::system_category().message(error)});
    const auto callbacks = self->callbacks_;
    if (callbacks && callbacks->on_write_failed) callbacks->on_write_failed();
  });
}

void StreamChannel::report(const CloseReason& reason) {
  if (closed_) return;
  const auto callbacks = callbacks_;
  close();
  if (callbacks && callbacks->on_closed) callbacks->on_closed(reason);
}

}  // namespace mcpac::ipc
