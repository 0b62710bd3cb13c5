// SPDX-License-Identifier: Apache-2.0

#include "gateway/code_mode/client_upstream.h"

#include <utility>

#include <boost/asio/post.hpp>

#include "gateway/code_mode/bounds.h"
#include "gateway/tracing/mcp_names.h"
#include "gateway/tracing/span_caller.h"

namespace mcpac::gateway::code_mode {

ClientUpstream::ClientUpstream(boost::asio::any_io_executor executor, gate::Gate& client,
                               const gate::Upstream& servers, std::shared_ptr<ProgramCaller> caller,
                               std::string program_run, std::shared_ptr<tracing::Tracer> tracer)
    : executor_(std::move(executor)),
      client_(client),
      servers_(servers),
      caller_(std::move(caller)),
      program_run_(std::move(program_run)),
      tracer_(std::move(tracer)) {}

std::shared_ptr<tracing::OpenSpan> ClientUpstream::begin_span(const Permission& permission) const {
  const auto parent =
      tracer_ && caller_ ? tracing::context_of(caller_->request_meta()) : std::nullopt;
  if (!parent) return nullptr;
  const auto span = std::make_shared<tracing::OpenSpan>(
      tracer_->begin_below(*parent, tracing::SpanKind::kInternal, "tools/call"));
  span->set(tracing::kMethod, "tools/call");
  tracing::name_tool(*span, permission.text());
  return span;
}

// The program's own gate knows no caller of its calls; they are the client's.
gate::Upstream::CallToken ClientUpstream::forward(const Permission& permission, Json arguments,
                                                  std::shared_ptr<gate::Caller> /*caller*/,
                                                  std::function<void(Result<Json>)> done) {
  const CallToken token = ++last_;
  const auto span = begin_span(permission);
  open_.emplace(token, Open{permission.text(), std::move(done), 0, std::nullopt, span});
  const auto caller = caller_ ? std::make_shared<ProgramCaller::OfCall>(caller_) : nullptr;
  std::shared_ptr<gate::Caller> told = caller;
  if (span) told = std::make_shared<tracing::SpanCaller>(caller, span);
  gate::CallRequest call{.permission = permission.text(),
                         .arguments = std::move(arguments),
                         .caller = std::move(told),
                         .program_run = program_run_};
  const auto id =
      client_.call(std::move(call), [weak = weak_from_this(), token](gate::Answer answer) {
        if (const auto self = weak.lock()) self->answered(token, std::move(answer));
      });
  if (caller) caller->is(id);
  if (const auto found = open_.find(token); found != open_.end()) found->second.call = id;
  return token;
}

// Maybe from inside forward(), whose caller must not hear of it there.
void ClientUpstream::answered(CallToken token, gate::Answer answer) {
  const auto found = open_.find(token);
  if (found == open_.end()) return;
  if (const auto& span = found->second.span) {
    tracing::put_answer(*span, answer);
    span->end();
  }
  found->second.answer = std::move(answer);
  boost::asio::post(executor_, [weak = weak_from_this(), token] {
    if (const auto self = weak.lock()) self->deliver(token);
  });
}

void ClientUpstream::deliver(CallToken token) {
  auto node = open_.extract(token);
  if (node.empty()) return;
  Open& call = node.mapped();
  gate::Answer& answer = *call.answer;
  if (answer) return call.done(std::move(*answer));
  const gate::CallError& error = answer.error();
  if (error.kind == gate::ErrorKind::kDenied && denials_.size() < kMaxDenials) {
    Json denial{{"permission", call.permission}, {"reason", string_member(error.data, "reason")}};
    if (std::ranges::find(denials_, denial) == denials_.end())
      denials_.push_back(std::move(denial));
  }
  delivering_ = token;
  refusal_ = &error;
  call.done(fail(ErrorId::kCallDenied, error.message));
  refusal_ = nullptr;
}

std::optional<gate::CallError> ClientUpstream::refusal_of(CallToken token) const {
  if (refusal_ == nullptr || token != delivering_) return std::nullopt;
  return *refusal_;
}

bool ClientUpstream::quarantines(const Permission& permission) const {
  return servers_.quarantines(permission);
}

void ClientUpstream::cancel(CallToken token) {
  const auto found = open_.find(token);
  if (found != open_.end()) client_.cancel(found->second.call);
}

bool ClientUpstream::was_sent(CallToken token) const {
  const auto found = open_.find(token);
  return found == open_.end() || client_.was_sent(found->second.call);
}

gate::Upstream::Secrecy ClientUpstream::redact(const Permission& permission, const Json& arguments,
                                               Json& redacted) const {
  return servers_.redact(permission, arguments, redacted);
}

}  // namespace mcpac::gateway::code_mode
