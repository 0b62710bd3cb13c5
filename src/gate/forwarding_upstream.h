// SPDX-License-Identifier: Apache-2.0

// ForwardingUpstream: base of upstream decorators, which passes everything on.
//
// A decorator (of counts, of traces) overrides what it changes; the rest, and what Upstream gets in
// future, is passed on here and in no second place.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "gate/upstream.h"

namespace mcpac::gate {

class ForwardingUpstream : public Upstream {
 public:
  // Borrowed.
  explicit ForwardingUpstream(Upstream& inner) : inner_(inner) {}

  CallToken forward(const Permission& permission, Json arguments, std::shared_ptr<Caller> caller,
                    std::function<void(Result<Json>)> done) override {
    return inner_.forward(permission, std::move(arguments), std::move(caller), std::move(done));
  }
  [[nodiscard]] bool quarantines(const Permission& permission) const override {
    return inner_.quarantines(permission);
  }
  void cancel(CallToken token) override { inner_.cancel(token); }
  [[nodiscard]] bool was_sent(CallToken token) const override { return inner_.was_sent(token); }
  [[nodiscard]] std::optional<CallError> refusal_of(CallToken token) const override {
    return inner_.refusal_of(token);
  }
  [[nodiscard]] Secrecy redact(const Permission& permission, const Json& arguments,
                               Json& redacted) const override {
    return inner_.redact(permission, arguments, redacted);
  }

 private:
  Upstream& inner_;
};

}  // namespace mcpac::gate
