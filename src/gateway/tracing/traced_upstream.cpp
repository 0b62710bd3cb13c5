// SPDX-License-Identifier: Apache-2.0

#include "gateway/tracing/traced_upstream.h"

#include <utility>

#include "gateway/tracing/mcp_names.h"
#include "gateway/tracing/span_caller.h"

namespace mcpac::gateway::tracing {
namespace {

// error.type is the number of the server's error, that of ours ("MCPAC-E0304"), or "tool_error".
void put_outcome(OpenSpan& span, const Result<Json>& result) {
  if (result && is_tool_error(*result)) span.fail_as("tool_error");
  if (!result && !span.has(kStatusCode)) span.fail_as(to_string(result.error().id));
}

}  // namespace

gate::Upstream::CallToken TracedUpstream::forward(const Permission& permission, Json arguments,
                                                  std::shared_ptr<gate::Caller> caller,
                                                  std::function<void(Result<Json>)> done) {
  const auto parent = caller ? context_of(caller->request_meta()) : std::nullopt;
  if (!parent)
    return ForwardingUpstream::forward(permission, std::move(arguments), std::move(caller),
                                       std::move(done));
  const std::string method = method_of(permission);
  const auto span =
      std::make_shared<OpenSpan>(tracer_->begin_below(*parent, SpanKind::kClient, method));
  span->set(kMethod, method);
  if (method == "tools/call") name_tool(*span, permission.tool());
  span->set(kServer, permission.server());
  span->set(kTransport, transport_(permission.server()));
  return ForwardingUpstream::forward(permission, std::move(arguments),
                                     std::make_shared<SpanCaller>(std::move(caller), span),
                                     [span, done = std::move(done)](Result<Json> result) {
                                       put_outcome(*span, result);
                                       span->end();
                                       done(std::move(result));
                                     });
}

}  // namespace mcpac::gateway::tracing
