#include "gateway/buffered_reply.h"

#include <cstddef>

#include "core/json_cost.h"

namespace mcpac::gateway {
namespace {

std::size_t bytes_of(const Json& value) {
  return to_text(value).size() + beside_text(value);
}

std::size_t bytes_of(const gate::Answer& given) {
  if (given) return bytes_of(*given);
  return given.error().message.size() + bytes_of(given.error().data);
}

std::size_t bytes_of(const std::optional<ipc::ErrorObject>& refusal) {
  return refusal ? refusal->message.size() + bytes_of(refusal->data) : 0;
}

}  // namespace

void BufferedReply::keep(gate::Answer given, std::optional<ipc::ErrorObject>& refusal) {
  if (closed_) return;
  if (room_) seat_ = room_->take(bytes_of(given) + bytes_of(refusal));
  if (!room_ || seat_) {
    answer_ = std::move(given);
    return;
  }
  refusal = std::nullopt;
  answer_ = std::unexpected(gate::budget(
      "the answer came before its client came back, and was too long to be kept", Sent::kDone));
}

std::optional<gate::Answer> BufferedReply::take() {
  seat_ = nullptr;
  return std::exchange(answer_, std::nullopt);
}

void BufferedReply::close() {
  closed_ = true;
  seat_ = nullptr;
  answer_ = std::nullopt;
}

}  // namespace mcpac::gateway
