#include "history/recording/recorder.h"

#include <map>
#include <utility>
#include <vector>

#include "gate/result_line.h"
#include "history/recording/cleaner.h"

namespace mcpac::history {

struct Recorder::Tape {
  std::vector<std::unique_ptr<RecordedCall>> calls;
  std::map<CallToken, RecordedCall*> open;
  std::vector<RecordedRequest> requests;
  std::uint64_t ticks = 0;
  std::size_t bytes = 0;
  bool over = false;

  // Members and numbers are not in text_bytes(): a value has a size of its own.
  void charge(const Json& value) {
    bytes += gate::text_bytes(value) + 64;
    if (bytes > kMaxRecordingBytes || calls.size() > kMaxRecordedCalls ||
        requests.size() > kMaxRecordedRequests)
      stop();
  }
  void stop() {
    over = true;
    open.clear();
    calls.clear();
    requests.clear();
  }
  void end(RecordedCall& call, std::optional<Result<Json>> answer) {
    if (over || call.ended != 0) return;
    call.ended = ++ticks;
    if (answer && *answer) charge(**answer);
    if (!over) call.answer = std::move(answer);
  }
};

// Passes on what a server says of a call, and keeps it. What comes after the call has ended is not
// part of it.
class Recorder::HeardCaller final : public gate::Caller {
 public:
  HeardCaller(std::shared_ptr<gate::Caller> caller, std::shared_ptr<Tape> tape, std::size_t place)
      : caller_(std::move(caller)), tape_(std::move(tape)), place_(place) {}

  [[nodiscard]] std::string client() const override { return caller_->client(); }
  void progress(Json report) override {
    keep({.method = {}, .said = report});
    caller_->progress(std::move(report));
  }
  [[nodiscard]] bool answers(const std::string& method) const override {
    return caller_->answers(method);
  }
  [[nodiscard]] std::string log_level() const override { return caller_->log_level(); }
  void logged(const std::string& server, const Json& message) override {
    caller_->logged(server, message);
  }
  void decided(const gate::Check& check) override { caller_->decided(check); }
  // Of this connection, and no part of the call: it is not kept.
  [[nodiscard]] Json request_meta() const override { return caller_->request_meta(); }
  void refused(const ipc::ErrorObject& error) override {
    if (!tape_->over && tape_->calls[place_]->ended == 0) tape_->calls[place_]->refused = error;
    caller_->refused(error);
  }
  // Of ours, and no part of what the server said.
  void ask(const std::string& method, Json params, Replied done) override {
    caller_->ask(method, std::move(params), std::move(done));
  }
  void ask_all(const std::string& server, Json questions, Replied done) override {
    auto heard = hear_reply(std::string(kSeveral), questions, std::move(done));
    caller_->ask_all(server, std::move(questions), std::move(heard));
  }
  void ask_for(const std::string& server, const std::string& method, Json params,
               Replied done) override {
    auto heard = hear_reply(method, params, std::move(done));
    caller_->ask_for(server, method, std::move(params), std::move(heard));
  }

 private:
  Replied hear_reply(const std::string& method, const Json& params, Replied done) {
    const auto at = keep({.method = method, .said = params});
    return [tape = tape_, place = place_, at, done = std::move(done)](Result<Json> reply) {
      note_reply(*tape, place, at, reply);
      done(std::move(reply));
    };
  }

  std::optional<std::size_t> keep(Said said) {
    if (tape_->over || tape_->calls[place_]->ended != 0) return std::nullopt;
    tape_->charge(said.said);
    if (tape_->over) return std::nullopt;
    auto& list = tape_->calls[place_]->said;
    if (list.size() >= kMaxSaidOfCall) {
      tape_->stop();
      return std::nullopt;
    }
    list.push_back(std::move(said));
    return list.size() - 1;
  }

  static void note_reply(Tape& tape, std::size_t place, std::optional<std::size_t> at,
                         const Result<Json>& reply) {
    if (!at || tape.over || tape.calls[place]->ended != 0) return;
    if (reply) tape.charge(*reply);
    if (tape.over) return;
    auto& said = tape.calls[place]->said[*at];
    if (reply)
      said.reply = Cleaned{*reply};
    else
      said.reply = std::unexpected(reply.error());
  }

  std::shared_ptr<gate::Caller> caller_;
  std::shared_ptr<Tape> tape_;
  std::size_t place_;  // of the call on the tape
};

Recorder::Recorder(gate::Upstream& servers, gate::Servers& offers, const codegen::Lock& lock)
    : servers_(servers), offers_(offers), lock_(lock), tape_(std::make_shared<Tape>()) {}
Recorder::~Recorder() = default;

gate::Upstream::CallToken Recorder::forward(const Permission& permission, Json arguments,
                                            std::shared_ptr<gate::Caller> caller,
                                            std::function<void(Result<Json>)> done) {
  if (!tape_->over) tape_->charge(arguments);
  if (tape_->over)
    return servers_.forward(permission, std::move(arguments), std::move(caller), std::move(done));
  auto& call = *tape_->calls.emplace_back(std::make_unique<RecordedCall>());
  call.tool = permission.text();
  call.arguments = Cleaned{arguments};
  call.began = ++tape_->ticks;
  const std::size_t place = tape_->calls.size() - 1;
  if (caller) caller = std::make_shared<HeardCaller>(std::move(caller), tape_, place);
  const CallToken token =
      servers_.forward(permission, std::move(arguments), std::move(caller),
                       [tape = tape_, place, done = std::move(done)](Result<Json> result) {
                         if (!tape->over) tape->end(*tape->calls[place], result);
                         done(std::move(result));
                       });
  tape_->open.emplace(token, &call);
  return token;
}

// The canceller of a call hears nothing of its answer any more, whatever that would have been.
void Recorder::cancel(CallToken token) {
  if (auto node = tape_->open.extract(token); !node.empty())
    tape_->end(*node.mapped(), std::nullopt);
  servers_.cancel(token);
}

gate::Servers::RequestToken Recorder::request(const std::string& server, std::string method,
                                              Json params, std::shared_ptr<gate::Caller> caller,
                                              std::function<void(Result<Outcome>)> done) {
  auto asked = std::make_shared<RecordedRequest>(
      RecordedRequest{gate::server_of(server), method, params, Outcome(Json::object())});
  return offers_.request(server, std::move(method), std::move(params), std::move(caller),
                         [tape = tape_, asked, done = std::move(done)](Result<Outcome> outcome) {
                           if (!tape->over) tape->charge(asked->params);
                           if (!tape->over && outcome && *outcome) tape->charge(**outcome);
                           if (!tape->over) {
                             asked->outcome = outcome;
                             tape->requests.push_back(*asked);
                           }
                           done(std::move(outcome));
                         });
}

bool Recorder::is_over() const {
  return tape_->over;
}

Result<Recording> Recorder::take(const std::optional<Json>& given) {
  const auto too_much = [] {
    return fail(ErrorId::kRecordingLimit, "more was called than a recording holds",
                {.why = "nothing was written", .fix = "record a shorter run, or several"});
  };
  if (tape_->over) return too_much();
  Recording recording;
  Cleaner cleaner(servers_, lock_);
  for (const auto& call : tape_->calls) {
    tape_->end(*call, std::nullopt);
    if (auto learnt = cleaner.learn(*call); !learnt) return pass_on(learnt);
  }
  bool has_unknown = false;
  for (const auto& call : tape_->calls) {
    cleaner.clean(*call);
    has_unknown = has_unknown || !call->arguments;
    if (const auto& digest = cleaner.tool(call->tool).digest; !digest.empty())
      recording.header.tools.emplace(call->tool, digest);
    recording.calls.push_back(std::move(*call));
  }
  // A call with an unknown secret may have it from the arguments.
  if (given && !has_unknown) recording.header.arguments = cleaner.clean_arguments(*given);
  for (RecordedRequest& request : tape_->requests) {
    cleaner.clean(request);
    recording.requests.push_back(std::move(request));
  }
  for (const auto& server : lock_.servers) {
    if (const Json* capabilities = offers_.capabilities(server.name))
      recording.servers.push_back({server.name, *capabilities, offers_.is_stateless(server.name)});
  }
  tape_->stop();
  return recording;
}

}  // namespace mcpac::history
