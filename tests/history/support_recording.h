// What the tests of recordings share: a lock of a few tools, servers that answer at once, and a
// loop that is run until nothing is left to do.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "gate/caller.h"
#include "history/recording/recorder.h"
#include "history/recording/replayer.h"
#include "mcp/secrets.h"

namespace mcpac::history::testing {

[[nodiscard]] inline Permission tool(std::string_view name) {
  return Permission::parse(name).value();
}

// files.read and files.list only read, files.write does not; vault.login takes a password and
// vault.show answers one; git.log is of another server.
[[nodiscard]] codegen::Lock some_lock();

// Answers as the test says, when the test says.
class Servers final : public gate::Upstream, public gate::Servers {
 public:
  struct Call {
    std::string tool;
    Json arguments;
    std::shared_ptr<gate::Caller> caller;
    std::function<void(Result<Json>)> done;
  };
  CallToken forward(const Permission& permission, Json arguments,
                    std::shared_ptr<gate::Caller> caller,
                    std::function<void(Result<Json>)> done) override {
    calls.push_back({permission.text(), std::move(arguments), std::move(caller), std::move(done)});
    return calls.size();
  }
  [[nodiscard]] bool quarantines(const Permission& /*tool*/) const override { return false; }
  void cancel(CallToken token) override { cancelled.push_back(token); }
  [[nodiscard]] Secrecy redact(const Permission& permission, const Json& arguments,
                               Json& redacted) const override {
    if (permission.server() == unknown) return Secrecy::kUnknown;
    if (!secrets.occurs_within(arguments)) return Secrecy::kNone;
    redacted = arguments;
    secrets.redact(redacted);
    return Secrecy::kRedacted;
  }
  [[nodiscard]] bool is_settled(const std::string& /*server*/) const override { return true; }
  [[nodiscard]] const Json* capabilities(const std::string& server) const override {
    const auto found = can.find(server);
    return found == can.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool is_stateless(const std::string& server) const override {
    return server == "git";
  }
  RequestToken request(const std::string& server, std::string method, Json params,
                       std::shared_ptr<gate::Caller> /*caller*/,
                       std::function<void(Result<Outcome>)> done) override {
    requests.push_back(server + " " + method + " " + params.dump());
    done(next_outcome);
    return requests.size();
  }
  RequestToken listen(const std::string& /*server*/, Json /*params*/,
                      std::function<void()> /*ended*/) override {
    return 0;
  }
  void forget(RequestToken /*token*/) override {}
  void on_notified(OnNotified /*heard*/) override {}
  void on_settled(std::function<void()> /*heard*/) override {}

  void answer(std::size_t call, Result<Json> result) { calls[call].done(std::move(result)); }

  std::vector<Call> calls;
  std::vector<CallToken> cancelled;
  mcp::SecretValues secrets;
  std::string unknown;  // a server that never started
  std::map<std::string, Json> can;
  std::vector<std::string> requests;
  Result<Outcome> next_outcome = Outcome(Json::object());
};

[[nodiscard]] inline Json said(const std::string& text) {
  return {{"content", {{{"type", "text"}, {"text", text}}}}};
}

// One call at an upstream, with what became of it.
struct Made {
  gate::Upstream::CallToken token = 0;
  std::optional<Result<Json>> answer{};
};
[[nodiscard]] std::shared_ptr<Made> make_call(gate::Upstream& at, const std::string& name,
                                              Json arguments,
                                              std::shared_ptr<gate::Caller> caller = nullptr);

// The text of an answer; fails the test where there is none.
[[nodiscard]] std::string text_of(const std::shared_ptr<Made>& made);

// A recording of calls one after another, each answered before the next: {tool, arguments, text}.
struct Step {
  std::string tool;
  Json arguments;
  std::string answer;
};
[[nodiscard]] Recording sequence(const codegen::Lock& lock, const std::vector<Step>& steps);

// A recording on a loop.
struct Played {
  explicit Played(Recording recording, Patience patience = {std::chrono::milliseconds(0)})
      : replayer(loop.get_executor(), std::move(recording), lock, patience) {}
  // Makes the call, and all that follows from it but what waits for time.
  std::shared_ptr<Made> call(const std::string& name, Json arguments,
                             std::shared_ptr<gate::Caller> caller = nullptr) {
    auto made = make_call(replayer, name, std::move(arguments), std::move(caller));
    settle();
    return made;
  }
  void settle() {
    loop.restart();
    loop.poll();
  }
  // Waits for what waits for time.
  void run() {
    loop.restart();
    loop.run();
  }
  [[nodiscard]] std::vector<Error> differences() const { return replayer.findings().differences; }

  codegen::Lock lock = some_lock();
  boost::asio::io_context loop;
  Replayer replayer;
};

}  // namespace mcpac::history::testing
