// CallOfClient: one call at the gate, and the request of the client that its answer belongs to.
//
// Mostly that is the request that made it. A client that was asked something and came back makes
// another request, maybe in another session, and the call goes on as that one. What comes for a
// call that nobody sits at is kept (the answer) or dropped (reports).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "gate/caller.h"
#include "gate/gate.h"
#include "gateway/request_context.h"
#include "ipc/json_rpc.h"

namespace mcpac::gateway {

class ClientSession;

class CallOfClient final : public gate::Caller {
 public:
  // `digest`: of tool and arguments. `client`: the same for all calls of one client.
  CallOfClient(std::string digest, const void* client)
      : digest_(std::move(digest)), client_(client) {}

  // From here on it belongs to this request of this session.
  void belongs_to(const std::shared_ptr<ClientSession>& session, const ipc::Id& id,
                  const RequestContext& context);
  // To no request, until the client comes back.
  void belongs_to_nobody() { session_.reset(); }

  void answered(gate::Answer given);
  // What came while it belonged to nobody.
  [[nodiscard]] std::optional<gate::Answer> take_kept();

  [[nodiscard]] gate::Gate::CallId gate_id() const { return gate_id_; }
  void set_gate_id(gate::Gate::CallId id) { gate_id_ = id; }
  [[nodiscard]] const std::string& digest() const { return digest_; }

  [[nodiscard]] const void* client() const override { return client_; }
  void progress(Json report) override;
  [[nodiscard]] bool answers(const std::string& method) const override;
  void ask(const std::string& method, Json params, Replied done) override;

 private:
  [[nodiscard]] std::shared_ptr<ClientSession> live() const;

  std::string digest_;
  const void* client_;
  gate::Gate::CallId gate_id_ = 0;
  std::weak_ptr<ClientSession> session_;
  ipc::Id id_;
  RequestContext context_;
  std::optional<gate::Answer> kept_;
};

}  // namespace mcpac::gateway
