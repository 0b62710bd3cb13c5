// SPDX-License-Identifier: Apache-2.0

// SessionSpans: a server span for each request of one client session, from when it is read until it
// is answered.
//
// Its parent is what the client says in `_meta`, if that is a traceparent. A request that comes
// back with an answer to a question is a request of its own. Not traced: `subscriptions/listen`,
// which stands for as long as the client likes, and what is refused before it is a request of the
// session (an id in flight, a message that is none). Without a tracer nothing is done. On the loop.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "gate/record.h"
#include "gateway/tracing/tracer.h"
#include "ipc/json_rpc.h"

namespace mcpac::gateway::tracing {

// What all spans of a session say.
struct SessionFacts {
  std::shared_ptr<Tracer> tracer = nullptr;  // null: no tracing
  std::string client{};                      // as the audit log calls it
  std::string run{};                         // its id there
  std::string transport{};                   // network.transport: "pipe", "tcp"
};

class SessionSpans {
 public:
  explicit SessionSpans(SessionFacts facts) : facts_(std::move(facts)) {}

  // `version`: the revision of MCP that it is of; empty: that is not known yet.
  void begin(const ipc::Request& request, std::string_view version);
  // It calls this tool, which is there.
  void calls(const ipc::Id& id, const std::string& tool);
  void decided(const ipc::Id& id, const gate::Check& check);
  // What its calls say in `_meta`; an object without members: there is no span of it.
  [[nodiscard]] Json meta_of(const ipc::Id& id) const;
  // It has ended. Unknown ids are ignored.
  void answered(const ipc::Id& id, const Json& result);
  void refused(const ipc::Id& id, std::int64_t code);
  void cancelled(const ipc::Id& id);
  void cancel_all();

 private:
  [[nodiscard]] OpenSpan* find(const ipc::Id& id);

  SessionFacts facts_;
  std::map<ipc::Id, OpenSpan> open_;
};

}  // namespace mcpac::gateway::tracing
