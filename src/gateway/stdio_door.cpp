#include "gateway/stdio_door.h"

#include <fcntl.h>
#include <sys/eventfd.h>

#include <utility>

namespace mcpac::gateway {
namespace {

// Answers that the client has not read: above this no further request is read.
constexpr std::size_t kPauseAbove = std::size_t{4} << 20U;

}  // namespace

Result<std::shared_ptr<StdioDoor>> StdioDoor::open(const boost::asio::any_io_executor& executor,
                                                   UniqueFd in, UniqueFd out, ClientRun& run,
                                                   OnClosed on_closed) {
  // A channel has two ends; of the one that a direction does not need nothing ever comes.
  UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  UniqueFd silence(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!in || !out || !nowhere || !silence)
    return fail(ErrorId::kInternal, "no descriptors are left for the client");
  auto reader = ipc::StreamChannel::over_pair(executor, std::move(in), std::move(nowhere));
  auto writer = ipc::StreamChannel::over_pair(executor, std::move(silence), std::move(out));
  std::shared_ptr<StdioDoor> door(
      new StdioDoor(std::move(reader), std::move(writer), std::move(on_closed)));
  door->start(run);
  return door;
}

StdioDoor::StdioDoor(Channel reader, Channel writer, OnClosed on_closed)
    : reader_(std::move(reader)), writer_(std::move(writer)), on_closed_(std::move(on_closed)) {}

StdioDoor::~StdioDoor() {
  close();
}

void StdioDoor::start(ClientRun& run) {
  const auto weak = weak_from_this();
  session_ = run.talk(
      [weak](Outgoing message) {
        if (const auto self = weak.lock()) self->send(std::move(message.line));
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

void StdioDoor::send(std::string line) {
  if (closed_) return;
  if (line.empty()) return end_if_done();
  switch (writer_->send(std::move(line))) {
    case ipc::SendStatus::kSent: return end_if_done();
    case ipc::SendStatus::kQueued: break;
    // An answer that cannot be given ends the connection.
    case ipc::SendStatus::kFull:
    case ipc::SendStatus::kClosed: return end();
  }
  if (paused_ || input_ended_ || writer_->queued_bytes() <= kPauseAbove) return;
  paused_ = true;
  reader_->pause_reading();
}

void StdioDoor::finish() {
  if (session_) session_->finish();
}

void StdioDoor::end_if_done() {
  if (!input_ended_ || closed_) return;
  if (session_->calls_in_flight() == 0 && writer_->queued_bytes() == 0) end();
}

void StdioDoor::end() {
  if (closed_) return;
  const auto keep = shared_from_this();
  close();
  if (auto heard = std::exchange(on_closed_, nullptr)) heard();
}

void StdioDoor::close() {
  if (std::exchange(closed_, true)) return;
  if (session_) session_->close();
  reader_->close();
  writer_->close();
}

}  // namespace mcpac::gateway
