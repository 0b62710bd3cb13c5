// SPDX-License-Identifier: Apache-2.0

#include "gateway/stdio_door.h"

#include <fcntl.h>
#include <sys/eventfd.h>

#include <utility>

#include <boost/asio/post.hpp>

namespace mcpac::gateway {
namespace {

// Answers that the client has not read: above this no further request is read.
constexpr std::size_t kPauseAbove = std::size_t{4} << 20U;
// Above this, what may be dropped is. Far below the channel's own limit: the rest is for answers.
constexpr std::size_t kDropAbove = std::size_t{8} << 20U;
// Answers that servers give together are said together.
constexpr ipc::ChannelLimits kOfAnswers{.gathers = 8};
constexpr const char* kUnread =
    "the client at standard input and output was let go: it did not read the answers to its "
    "requests, and there is no room for more";

}  // namespace

Result<std::shared_ptr<StdioDoor>> StdioDoor::open(const boost::asio::any_io_executor& executor,
                                                   UniqueFd in, UniqueFd out, ClientGrant& run,
                                                   OnClosed on_closed) {
  // A channel has two ends; of the one that a direction does not need nothing ever comes.
  UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  UniqueFd silence(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!in || !out || !nowhere || !silence)
    return fail(ErrorId::kInternal, "no descriptors are left for the client");
  auto reader = ipc::StreamChannel::over_pair(executor, std::move(in), std::move(nowhere));
  auto writer =
      ipc::StreamChannel::over_pair(executor, std::move(silence), std::move(out), kOfAnswers);
  std::shared_ptr<StdioDoor> door(
      new StdioDoor(executor, std::move(reader), std::move(writer), std::move(on_closed)));
  door->start(run);
  return door;
}

StdioDoor::StdioDoor(boost::asio::any_io_executor executor, Channel reader, Channel writer,
                     OnClosed on_closed)
    : executor_(std::move(executor)),
      reader_(std::move(reader)),
      writer_(std::move(writer)),
      on_closed_(std::move(on_closed)) {}

StdioDoor::~StdioDoor() {
  close();
}

void StdioDoor::start(ClientGrant& run) {
  const auto weak = weak_from_this();
  session_ = run.talk(
      [weak](Outgoing message) {
        if (const auto self = weak.lock()) self->send(std::move(message));
      },
      [weak] {
        if (const auto self = weak.lock()) self->end();
      });
  reader_->start({.on_line =
                      [weak](std::string_view line) {
                        const auto self = weak.lock();
                        if (!self || self->closed_) return;
                        // Some clients end a message with more than a newline.
                        if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
                        self->session_->receive(line);
                      },
                  .on_closed =
                      [weak](const ipc::CloseReason& reason) {
                        const auto self = weak.lock();
                        if (!self || self->closed_) return;
                        if (reason.cause == ipc::CloseCause::kOverLong)
                          self->session_->receive_malformed(
                              {ipc::kInvalidRequest, reason.detail, std::nullopt, false});
                        self->input_ended_ = true;
                        self->session_->finish();
                        self->session_->input_ended();
                        self->end_if_done();
                      }});
  writer_->start({.on_drained = [weak] {
    const auto self = weak.lock();
    if (!self || self->closed_) return;
    if (std::exchange(self->paused_, false)) self->reader_->resume_reading();
    self->end_if_done();
  }});
}

void StdioDoor::send(Outgoing message) {
  if (closed_) return;
  if (message.line.empty()) return end_if_done();
  const bool may_drop = !message.is_answer && (!message.is_needed || !message.question.empty());
  if (may_drop && !has_room_for(message)) return drop(message);
  switch (writer_->send(std::move(message.line))) {
    case ipc::SendStatus::kSent: return end_if_done();
    case ipc::SendStatus::kQueued: break;
    // An answer that cannot be given ends the connection.
    case ipc::SendStatus::kFull: return end(kUnread);
    case ipc::SendStatus::kClosed: return end();
  }
  if (paused_ || input_ended_ || writer_->queued_bytes() <= kPauseAbove) return;
  paused_ = true;
  reader_->pause_reading();
}

// One is sent where nothing is queued, however long it is. What only waits for the end of this turn
// says nothing about the client.
bool StdioDoor::has_room_for(const Outgoing& message) {
  const auto is_full = [&] {
    const std::size_t queued = writer_->queued_bytes();
    return queued > 0 && queued + message.line.size() > kDropAbove;
  };
  if (is_full()) writer_->send_gathered();
  return !is_full();
}

// The asker is told that there will be no answer, and not from inside of its own call.
void StdioDoor::drop(const Outgoing& message) {
  if (message.question.empty()) return;
  boost::asio::post(executor_, [weak = weak_from_this(), question = message.question] {
    const auto self = weak.lock();
    if (self && !self->closed_) self->session_->not_sent(question);
  });
}

void StdioDoor::finish() {
  if (session_) session_->finish();
}

void StdioDoor::end_if_done() {
  if (!input_ended_ || closed_) return;
  if (session_->calls_in_flight() == 0 && writer_->queued_bytes() == 0) end();
}

void StdioDoor::end(const std::string& why) {
  if (closed_) return;
  const auto keep = shared_from_this();
  close();
  if (auto heard = std::exchange(on_closed_, nullptr)) heard(why);
}

void StdioDoor::close() {
  if (std::exchange(closed_, true)) return;
  if (session_) session_->close();
  reader_->close();
  writer_->close();
}

}  // namespace mcpac::gateway
