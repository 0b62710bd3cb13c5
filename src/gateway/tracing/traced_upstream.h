// TracedUpstream: a client span for each call of a server, on the way through; the server hears of
// it in `_meta`.
//
// It is below the span that the caller says (gate::Caller::request_meta()); a call of a caller that
// says none passes without.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "gate/upstream.h"
#include "gateway/tracing/tracer.h"

namespace mcpac::gateway::tracing {

class TracedUpstream final : public gate::Upstream {
 public:
  // What carries a server's messages, as network.transport has it: "pipe", "tcp".
  using Transport = std::function<std::string(const std::string& server)>;
  // `inner` is borrowed.
  TracedUpstream(gate::Upstream& inner, std::shared_ptr<Tracer> tracer, Transport transport)
      : inner_(inner), tracer_(std::move(tracer)), transport_(std::move(transport)) {}

  CallToken forward(const Permission& permission, Json arguments,
                    std::shared_ptr<gate::Caller> caller,
                    std::function<void(Result<Json>)> done) override;
  [[nodiscard]] bool quarantines(const Permission& permission) const override {
    return inner_.quarantines(permission);
  }
  void cancel(CallToken token) override { inner_.cancel(token); }
  [[nodiscard]] Secrecy redact(const Permission& permission, const Json& arguments,
                               Json& redacted) const override {
    return inner_.redact(permission, arguments, redacted);
  }

 private:
  gate::Upstream& inner_;
  std::shared_ptr<Tracer> tracer_;
  Transport transport_;
};

}  // namespace mcpac::gateway::tracing
