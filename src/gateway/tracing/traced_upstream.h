// SPDX-License-Identifier: Apache-2.0

// TracedUpstream: a client span for each call of a server, on the way through; the server hears of
// it in `_meta`.
//
// It is below the span that the caller says (gate::Caller::request_meta()); a call of a caller that
// says none passes without.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "gate/forwarding_upstream.h"
#include "gateway/tracing/tracer.h"

namespace mcpac::gateway::tracing {

class TracedUpstream final : public gate::ForwardingUpstream {
 public:
  // What carries a server's messages, as network.transport has it: "pipe", "tcp".
  using Transport = std::function<std::string(const std::string& server)>;
  // `inner` is borrowed.
  TracedUpstream(gate::Upstream& inner, std::shared_ptr<Tracer> tracer, Transport transport)
      : ForwardingUpstream(inner), tracer_(std::move(tracer)), transport_(std::move(transport)) {}

  CallToken forward(const Permission& permission, Json arguments,
                    std::shared_ptr<gate::Caller> caller,
                    std::function<void(Result<Json>)> done) override;

 private:
  std::shared_ptr<Tracer> tracer_;
  Transport transport_;
};

}  // namespace mcpac::gateway::tracing
