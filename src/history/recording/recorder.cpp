// SPDX-License-Identifier: Apache-2.0

#include "history/recording/recorder.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gate/result_line.h"
#include "gate/upstream.h"
#include "history/recording/recorded_tool.h"
#include "history/recording/recording.h"
#include "history/recording/secret_marks.h"
#include "mcp/secrets.h"

namespace mcpac::history {
namespace {

// Cleaner: takes secrets out of what goes into a recording.
//
// Three kinds: values of the configuration (as src/mcp takes them out of results), what a tool's
// schemas call secret, and the texts that stood in such places wherever else they occur, in calls
// before as well as after. So a recording is cleaned as a whole, when it ends. On the loop.
class Cleaner {
 public:
  // Borrowed: `servers` know the values of the configuration.
  Cleaner(const gate::Upstream& servers, const codegen::Lock& lock)
      : servers_(servers), lock_(lock) {}

  // Looks at a call before any is cleaned. kRecordingLimit: more secrets than can be looked for,
  // and then none is: a recording with half of them taken out is none.
  [[nodiscard]] Result<void> learn(const RecordedCall& call);
  void clean(RecordedCall& call);
  void clean(RecordedRequest& request) const;
  // The program's arguments. After every call was learnt from.
  [[nodiscard]] Cleaned clean_arguments(const Json& given) const;
  [[nodiscard]] const RecordedTool& tool(const std::string& name);

 private:
  void remember(const Json& before, const Json& after);
  void remember_all(const Json& value);
  // False: the server that has them never started, and its secrets are not known.
  [[nodiscard]] bool take_out(const Permission& tool, Json& value) const;
  [[nodiscard]] Error without_secrets(const Permission& tool, const Error& error) const;
  void without_secrets(const Permission& tool, ipc::ErrorObject& refused) const;

  const gate::Upstream& servers_;
  const codegen::Lock& lock_;
  std::map<std::string, RecordedTool> tools_;
  std::set<std::string> texts_;  // in places that schemas call secret
  mcp::SecretValues found_;      // ... as they are looked for
  bool is_too_much_ = false;     // of them
};

// All of them are held in memory, and with them what finds them in a text.
constexpr std::size_t kMaxSecrets = 1'000;
// In all the forms in which they are looked for; finding takes some forty times as much.
constexpr std::size_t kMaxSecretBytes = std::size_t{4} << 20U;

constexpr const char* kStructured = "structuredContent";

const RecordedTool& Cleaner::tool(const std::string& name) {
  const auto found = tools_.find(name);
  if (found != tools_.end()) return found->second;
  const auto permission = Permission::parse(name);
  return tools_.emplace(name, permission ? recorded_tool(lock_, *permission) : RecordedTool())
      .first->second;
}

void Cleaner::remember_all(const Json& value) {
  if (value.is_structured()) {
    for (const Json& child : value) remember_all(child);
    return;
  }
  if (value.is_null() || value.is_boolean() || is_too_much_) return;
  const std::string text = value.is_string() ? value.get<std::string>() : mcpac::to_text(value);
  if (texts_.contains(text)) return;
  is_too_much_ = texts_.size() >= kMaxSecrets || text.size() > kMaxSecretBytes;
  if (is_too_much_) return;
  texts_.insert(text);
  found_.know(text, gate::kRedactedText);
  is_too_much_ = found_.bytes() > kMaxSecretBytes;
}

void Cleaner::remember(const Json& before, const Json& after) {
  if (before == after) return;
  if (before.is_object() && after.is_object()) {
    for (const auto& [name, member] : before.items()) remember(member, after.at(name));
  } else if (before.is_array() && after.is_array()) {
    for (std::size_t i = 0; i < before.size(); ++i) remember(before[i], after[i]);
  } else {
    remember_all(before);
  }
}

Result<void> Cleaner::learn(const RecordedCall& call) {
  const RecordedTool& known = tool(call.tool);
  if (known.input != nullptr && call.arguments) {
    Json after = call.arguments->value;
    if (known.input->redact(after)) remember(call.arguments->value, after);
  }
  if (known.output != nullptr && call.answer && *call.answer) {
    if (const Json* structured = find_member(**call.answer, kStructured)) {
      Json after = *structured;
      if (known.output->redact(after)) remember(*structured, after);
    }
  }
  if (!is_too_much_) return {};
  return fail(ErrorId::kRecordingLimit, "there are more secrets in it than a recording looks for",
              {.why = fmt::format("at most {} values that schemas call secret, and {} MiB in the "
                                  "forms in which they may stand elsewhere; nothing was written",
                                  kMaxSecrets, kMaxSecretBytes >> 20U),
               .fix = "record a shorter run, or several"});
}

bool Cleaner::take_out(const Permission& tool, Json& value) const {
  using Secrecy = gate::Upstream::Secrecy;
  Json redacted;
  const auto own = servers_.redact(tool, value, redacted);
  auto secrecy = own;
  // Asked about a server that never started they say nothing of the others either.
  for (const auto& server : lock_.servers) {
    if (secrecy != Secrecy::kUnknown) break;
    if (const auto other = Permission::of(server.name, tool.tool()))
      secrecy = servers_.redact(*other, value, redacted);
  }
  if (secrecy == Secrecy::kRedacted) value = std::move(redacted);
  found_.redact(value);
  return own != Secrecy::kUnknown;
}

Error Cleaner::without_secrets(const Permission& tool, const Error& error) const {
  Json texts{error.what, error.where, error.why, error.fix};
  std::ignore = take_out(tool, texts);
  return {error.id, texts[0].get<std::string>(), texts[1].get<std::string>(),
          texts[2].get<std::string>(), texts[3].get<std::string>()};
}

void Cleaner::without_secrets(const Permission& tool, ipc::ErrorObject& refused) const {
  Json texts{refused.message, refused.data};
  std::ignore = take_out(tool, texts);
  refused.message = texts[0].get<std::string>();
  refused.data = texts[1];
}

void Cleaner::clean(RecordedCall& call) {
  const auto permission = Permission::parse(call.tool);
  if (!permission) return;
  const RecordedTool& known = tool(call.tool);
  if (call.arguments) {
    // What a schema calls secret is taken out of the calls that are compared, too: no need to hide.
    Json value = std::move(call.arguments->value);
    if (known.input != nullptr) std::ignore = known.input->redact(value);
    Json after = value;
    if (take_out(*permission, after) && after.is_object())
      call.arguments = cleaned(value, std::move(after));
    else
      call.arguments.reset();
  }
  for (Said& said : call.said) {
    std::ignore = take_out(*permission, said.said);
    if (!said.reply) continue;
    if (!*said.reply) {
      said.reply = std::unexpected(without_secrets(*permission, said.reply->error()));
      continue;
    }
    Json after = (*said.reply)->value;
    std::ignore = take_out(*permission, after);
    said.reply = cleaned((*said.reply)->value, std::move(after));
  }
  if (call.refused) without_secrets(*permission, *call.refused);
  if (!call.answer) return;
  if (!*call.answer) {
    call.answer = std::unexpected(without_secrets(*permission, call.answer->error()));
    return;
  }
  Json& result = **call.answer;
  if (known.output != nullptr && result.contains(kStructured))
    std::ignore = known.output->redact(result[kStructured]);
  std::ignore = take_out(*permission, result);
}

Cleaned Cleaner::clean_arguments(const Json& given) const {
  Json after = given;
  if (!lock_.servers.empty()) {
    // Whichever server is known speaks for all of them.
    const auto any = Permission::of(lock_.servers.front().name, "arguments");
    if (any) std::ignore = take_out(*any, after);
  }
  return cleaned(given, std::move(after));
}

// Lists and the like: they are found again by what is left of their params.
void Cleaner::clean(RecordedRequest& request) const {
  const auto server = Permission::of(request.server, request.method);
  if (!server) return;
  std::ignore = take_out(*server, request.params);
  if (!request.outcome) {
    request.outcome = std::unexpected(without_secrets(*server, request.outcome.error()));
  } else if (*request.outcome) {
    std::ignore = take_out(*server, **request.outcome);
  } else {
    without_secrets(*server, request.outcome->error());
  }
}

}  // namespace

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
