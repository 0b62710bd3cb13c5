// SPDX-License-Identifier: Apache-2.0

// HttpSession: one client session over HTTP, and its streams.
//
// Of the `initialize` era it has an id and lives until the client deletes it, or is silent for
// long; of 2026-07-28 it is one POST. It belongs to the guest that began it: an id that another
// client learnt is worth nothing without that guest's token.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "gateway/client_grant.h"
#include "gateway/http/event_stream.h"
#include "gateway/mcp_session.h"

namespace mcpac::gateway::http {

class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  [[nodiscard]] static std::shared_ptr<HttpSession> begin(std::shared_ptr<ClientGrant> run,
                                                          std::shared_ptr<ClientShare> share);
  ~HttpSession();
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  // The stream on which this request is answered; it is opened before the request is handed in.
  // Null: there are too many untaken ones, or one with this id.
  [[nodiscard]] std::shared_ptr<EventStream> open_stream(const ipc::Id& request);
  // Messages that belong to no request.
  [[nodiscard]] const std::shared_ptr<EventStream>& general() const { return general_; }
  [[nodiscard]] std::shared_ptr<EventStream> find_stream(std::uint64_t number) const;
  // Its answer was taken, or never will be.
  void drop_stream(const EventStream& stream);
  // The client is gone for good: what it waited for on this stream is taken back.
  void forget(const EventStream& stream);

  [[nodiscard]] McpSession& session() { return *session_; }
  [[nodiscard]] const std::shared_ptr<ClientGrant>& run() const { return run_; }
  [[nodiscard]] bool is_busy() const;
  [[nodiscard]] bool is_closed() const { return session_->is_closed(); }
  void close();

 private:
  HttpSession(std::shared_ptr<ClientGrant> run, std::shared_ptr<ClientShare> share);
  void say(Outgoing message);
  // Of streams that are answered and have no reader the oldest goes; false: there is none.
  bool drop_oldest();
  void abandon_all();

  std::shared_ptr<ClientGrant> run_;
  std::shared_ptr<McpSession> session_;
  std::shared_ptr<ClientShare> share_;
  std::shared_ptr<EventStream> general_;
  std::map<ipc::Id, std::shared_ptr<EventStream>> streams_;
  std::uint64_t last_number_ = 0;
};

// "STREAM-PLACE", the id of an event.
struct EventId {
  std::uint64_t stream = 0;
  std::uint64_t place = 0;
};
[[nodiscard]] std::string to_text(const EventId& id);
[[nodiscard]] std::optional<EventId> parse_event_id(std::string_view text);

}  // namespace mcpac::gateway::http
