// SPDX-License-Identifier: Apache-2.0

// SpanCaller: decorator of a Caller that puts a span of ours between it and the server.
//
// What is said of the call passes; its requests carry the span's context.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "gate/caller.h"
#include "gateway/tracing/mcp_names.h"
#include "gateway/tracing/tracer.h"

namespace mcpac::gateway::tracing {

class SpanCaller final : public gate::Caller {
 public:
  SpanCaller(std::shared_ptr<gate::Caller> caller, std::shared_ptr<OpenSpan> span)
      : caller_(std::move(caller)), span_(std::move(span)) {}

  [[nodiscard]] Json request_meta() const override { return to_meta(span_->context()); }
  void decided(const gate::Check& check) override {
    put_decision(*span_, check);
    caller_->decided(check);
  }
  void refused(const ipc::ErrorObject& error) override {
    put_error_code(*span_, error.code);
    caller_->refused(error);
  }
  [[nodiscard]] std::string client() const override { return caller_->client(); }
  void progress(Json report) override { caller_->progress(std::move(report)); }
  [[nodiscard]] std::string log_level() const override { return caller_->log_level(); }
  void logged(const std::string& server, const Json& message) override {
    caller_->logged(server, message);
  }
  [[nodiscard]] bool answers(const std::string& method) const override {
    return caller_->answers(method);
  }
  void ask(const std::string& method, Json params, Replied done) override {
    caller_->ask(method, std::move(params), std::move(done));
  }
  void ask_for(const std::string& server, const std::string& method, Json params,
               Replied done) override {
    caller_->ask_for(server, method, std::move(params), std::move(done));
  }
  void ask_all(const std::string& server, Json questions, Replied done) override {
    caller_->ask_all(server, std::move(questions), std::move(done));
  }

 private:
  std::shared_ptr<gate::Caller> caller_;
  std::shared_ptr<OpenSpan> span_;
};

}  // namespace mcpac::gateway::tracing
