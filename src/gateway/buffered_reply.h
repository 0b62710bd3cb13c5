// BufferedReply: the answer to a call whose client was asked a question and has not come back yet.
//
// It is not read meanwhile, for minutes, and a server decides how long it is: so it takes room of
// its client's (waiting_room.h), with what its server said beside it. Where there is none, an error
// that says so is kept in its place. On the loop.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "gate/answer.h"
#include "gateway/waiting_room.h"
#include "ipc/json_rpc.h"

namespace mcpac::gateway {

class BufferedReply {
 public:
  // Null: nothing is bounded.
  explicit BufferedReply(std::shared_ptr<WaitingRoom> room) : room_(std::move(room)) {}

  // `refusal`: the error of its server, where there was one; it goes where there is no room.
  void keep(gate::Answer given, std::optional<ipc::ErrorObject>& refusal);
  // Leaves the room: the taker sends it.
  [[nodiscard]] std::optional<gate::Answer> take();
  // It will not be taken, nor one that comes later.
  void close();

 private:
  std::shared_ptr<WaitingRoom> room_;
  WaitingRoom::Hold seat_;
  std::optional<gate::Answer> answer_;
  bool closed_ = false;
};

}  // namespace mcpac::gateway
