// SPDX-License-Identifier: Apache-2.0

// Caller: the back channel from a server to the maker of a call, while it works on that call.
//
// Progress, and what a server asks back (elicitation, sampling, roots), belong to one call. This
// object travels with the call, so they reach the client that made it and no other: nothing that a
// server says names a client. A question of ours about a call (`ask` rules) takes the same way. All
// on the loop's thread.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/json.h"
#include "ipc/json_rpc.h"

namespace mcpac::gate {

struct Check;

class Caller {
 public:
  virtual ~Caller() = default;

  // Whose call it is, where one server works for several: the id of the client's run, the same for
  // all its calls and never another's (an address would be reused once it is free). Empty: of no
  // client in particular.
  [[nodiscard]] virtual std::string client() const { return {}; }

  // The params of notifications/progress, without the token.
  virtual void progress(Json /*report*/) {}

  // The least severe level of log messages that they want to hear while the call is in work; empty:
  // none.
  [[nodiscard]] virtual std::string log_level() const { return {}; }
  // The params of notifications/message that came for this call.
  virtual void logged(const std::string& /*server*/, const Json& /*message*/) {}

  // The gate's decision, once that is recorded. What stands in it is the user's: none of it is for
  // the client.
  virtual void decided(const Check& /*check*/) {}
  // Members of `_meta` of the requests that are made to the server for this call, beside those of
  // the protocol: the W3C trace context (SEP-414). None of a client's own words is among them.
  [[nodiscard]] virtual Json request_meta() const { return Json::object(); }

  // The server answered with this error of the protocol, free of secrets; the call ends with it.
  virtual void refused(const ipc::ErrorObject& /*error*/) {}

  // Whether the client said that it answers such requests ("elicitation/create" with a form, …).
  [[nodiscard]] virtual bool answers(const std::string& /*method*/) const { return false; }
  // A request to the client. `done` comes at most once, never from inside, and not after the call
  // has ended. Only where answers() says so.
  using Replied = std::function<void(Result<Json>)>;
  // What a server asks goes this way, so that it is recorded; ask() is for questions of ours, whose
  // record is elsewhere.
  virtual void ask_for(const std::string& /*server*/, const std::string& method, Json params,
                       Replied done) {
    ask(method, std::move(params), std::move(done));
  }
  virtual void ask(const std::string& /*method*/, Json /*params*/, Replied /*done*/) {}
  // Several at once, {name: {"method": …, "params": …}}; `done` gets a result for each name.
  virtual void ask_all(const std::string& /*server*/, Json /*questions*/, Replied /*done*/) {}
};

}  // namespace mcpac::gate
