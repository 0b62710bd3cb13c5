// SPDX-License-Identifier: Apache-2.0

// RunControl: the socket by which the user of a live run sees, revokes and ends it.
//
// Lives on the run's loop, where its gate lives: a revocation is carried out in the turn of the
// loop that reads it. Peers are the same user or cut off; so are slow, silent and talkative ones.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/error.h"
#include "core/file.h"
#include "core/json.h"

namespace mcpac::run {

// Handlers of the run; called on the loop. Each answers an object.
struct RunControls {
  std::function<Json()> show;
  // Empty: everything.
  std::function<Result<Json>(const std::string& permission)> revoke;
  std::function<Json()> kill;
};

class RunControl {
 public:
  // Listens as RUN.sock in `folder`. To be made and destroyed on the loop.
  [[nodiscard]] static Result<std::unique_ptr<RunControl>> open(
      const boost::asio::any_io_executor& executor, const std::filesystem::path& folder,
      std::string run_id, RunControls controls);
  ~RunControl();
  RunControl(const RunControl&) = delete;
  RunControl& operator=(const RunControl&) = delete;

 private:
  class Peer;
  RunControl(const boost::asio::any_io_executor& executor, UniqueFd folder, std::string run_id,
             RunControls controls);
  void accept();
  void accept_later();
  void make_room();
  [[nodiscard]] std::string answer(std::string_view line) const;
  [[nodiscard]] Result<Json> carry_out(const Json& request) const;

  boost::asio::any_io_executor executor_;
  UniqueFd folder_;
  std::string run_id_;
  RunControls controls_;
  boost::asio::local::stream_protocol::acceptor acceptor_;
  boost::asio::steady_timer pause_;  // after a connection that could not be taken
  std::set<std::shared_ptr<Peer>> peers_;
  std::uint64_t peers_so_far_ = 0;
  // A connection that was accepted may still be on its way here when this object goes.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace mcpac::run
