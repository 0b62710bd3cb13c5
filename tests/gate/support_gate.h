// What the gate's tests share: a lock of a few tools, an upstream that remembers what reached it,
// and a gate over a real Authority and a sink in memory.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/hash.h"
#include "gate/gate.h"

namespace mcpac::gate::testing {

// What the gate forwards is kept until the test answers it.
class FakeUpstream final : public Upstream {
 public:
  struct Call {
    CallToken token;
    std::string permission;
    Json arguments;
    std::function<void(Result<Json>)> done;
    std::shared_ptr<Caller> caller = nullptr;
  };

  CallToken forward(const Permission& permission, Json arguments, std::shared_ptr<Caller> caller,
                    std::function<void(Result<Json>)> done) override {
    const CallToken token = ++last_token;
    calls.push_back({token, permission.text(), arguments, std::move(done), std::move(caller)});
    if (on_forward) on_forward(calls.back());
    return token;
  }
  [[nodiscard]] bool quarantines(const Permission& permission) const override {
    return quarantined.contains(permission.text());
  }
  void cancel(CallToken token) override { cancelled.push_back(token); }
  [[nodiscard]] bool was_sent(CallToken) const override { return !is_starting; }
  [[nodiscard]] Secrecy redact(const Permission&, const Json& arguments,
                               Json& redacted) const override {
    if (!knows_secrets) return Secrecy::kUnknown;
    if (secret.empty() || to_text(arguments).find(secret) == std::string::npos)
      return Secrecy::kNone;
    redacted = Json::object();
    return Secrecy::kRedacted;
  }

  // Answers the call at `index`, as a server would.
  void answer(std::size_t index, Result<Json> result) {
    std::exchange(calls.at(index).done, nullptr)(std::move(result));
  }

  std::deque<Call> calls;  // everything that ever reached the server
  std::vector<CallToken> cancelled;
  std::set<std::string> quarantined;
  std::string secret;
  bool knows_secrets = true;
  bool is_starting = false;  // what is forwarded waits for its server
  CallToken last_token = 0;
  std::function<void(Call&)> on_forward;
};

class MemorySink final : public audit::Sink {
 public:
  struct Record {
    std::string kind;
    Json payload;
  };
  [[nodiscard]] Result<std::string> append(std::string_view kind, Json payload) override {
    if (full) return fail(ErrorId::kAuditUnwritable, "no space left on device");
    constexpr std::size_t kBeside = 512;  // what the log adds
    if (to_text(payload).size() + kBeside > audit::kMaxEventBytes)
      return fail(ErrorId::kAuditUnwritable, "the event is over the limit");
    records.push_back({std::string(kind), std::move(payload)});
    return std::to_string(records.size());
  }
  [[nodiscard]] std::string keyed_digest(std::string_view bytes) const override {
    return sha256_hex("a key" + std::string(bytes));
  }
  [[nodiscard]] std::vector<Json> of(std::string_view kind) const {
    std::vector<Json> found;
    for (const auto& record : records) {
      if (record.kind == kind) found.push_back(record.payload);
    }
    return found;
  }

  std::vector<Record> records;
  bool full = false;
};

[[nodiscard]] Permission permission(std::string_view text);

// The machine's, until a test stops it: then time passes only where the test says so.
class WorldClock final : public Clock {
 public:
  void stop() {
    steady_ = std::chrono::steady_clock::now();
    wall_ = std::chrono::system_clock::now();
  }
  void pass(std::chrono::milliseconds time) {
    steady_.value() += time;
    wall_ += time;
  }
  [[nodiscard]] std::chrono::steady_clock::time_point steady_now() const override {
    return steady_.value_or(std::chrono::steady_clock::now());
  }
  [[nodiscard]] std::chrono::system_clock::time_point wall_now() const override {
    return steady_ ? wall_ : std::chrono::system_clock::now();
  }

 private:
  std::optional<std::chrono::steady_clock::time_point> steady_;
  std::chrono::system_clock::time_point wall_;
};

struct World {
  struct Options {
    std::vector<std::string> declared = {"fs.read", "fs.write", "git.commit"};
    std::vector<std::string> grants = {"fs.read", "git.commit"};
    std::vector<std::string> denies = {};
    std::vector<std::string> asks = {};
    std::vector<std::string> ceiling = {};  // grants of a second layer, where there are any
    AskSetup asking = {};
    const policy::PathResolver* resolver = nullptr;  // none: paths are what their text says
    Mode mode = Mode::kEnforce;
    std::size_t max_refusals = 100'000;
    std::vector<std::string> places = {};  // of the command line: "network a.example:443"
    Dialer* dialer = nullptr;
    NetworkLimits network = {};
    bool offers = false;  // with resources and prompts of both servers, as a gateway's clients have
  };
  World() : World(Options{}) {}
  explicit World(const Options& options);

  // The answer if it came at once, which a refusal does.
  std::optional<Answer> call(std::string_view name, Json arguments = Json::object());

  WorldClock clock;
  policy::ToolSchemas schemas;
  ToolTable tools;
  FakeUpstream upstream;
  MemorySink audit;
  std::vector<Check> told;  // what the user hears of denials
  std::unique_ptr<Gate> gate;
};

// What these options grant, once more; borrows from the world.
[[nodiscard]] policy::Authority authority_of(const World& world, const World::Options& options);

[[nodiscard]] Json text_result(std::string_view text);

}  // namespace mcpac::gate::testing
