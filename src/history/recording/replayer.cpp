// SPDX-License-Identifier: Apache-2.0

#include "history/recording/replayer.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <map>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/canonical_json.h"
#include "core/json_compare.h"
#include "core/printable.h"
#include "history/recording/call_difference.h"
#include "history/recording/play_order.h"
#include "history/recording/recorded_tool.h"
#include "history/recording/secret_marks.h"

namespace mcpac::history {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kMaxDifferences = 20;

std::vector<bool> readers(const Recording& recording, const codegen::Lock& lock) {
  std::map<std::string, bool> known;
  std::vector<bool> reads;
  for (const RecordedCall& call : recording.calls) {
    auto [place, is_new] = known.try_emplace(call.tool, false);
    if (is_new) place->second = recorded_tool(lock, *Permission::parse(call.tool)).reads_only;
    reads.push_back(place->second);
  }
  return reads;
}

// Message to the caller; the whole is for the user.
Result<Json> not_recorded() {
  return fail(ErrorId::kServerError, "the recording does not have this call, or not now");
}

}  // namespace

struct Replayer::State : std::enable_shared_from_this<Replayer::State> {
  using Time = std::chrono::steady_clock::time_point;
  struct Call {
    CallToken token = 0;
    std::string tool;
    Json arguments;
    std::shared_ptr<gate::Caller> caller;
    std::function<void(Result<Json>)> done;
    std::optional<std::size_t> played{};  // the recorded call
    std::size_t said = 0;                 // of it, so far
    Time until{};                         // of one that waits for others
  };
  using Calls = std::list<Call>;

  State(asio::any_io_executor on, Recording given, const codegen::Lock& locked, Patience bounds)
      : executor(std::move(on)),
        recording(std::move(given)),
        lock(locked),
        patience(bounds),
        reads(readers(recording, lock)),
        order(recording.calls, reads),
        timer(executor) {}

  // The call is there, and its handler is not running.
  [[nodiscard]] Calls::iterator find(CallToken token) {
    auto call = calls.begin();
    while (call != calls.end() && call->token != token) ++call;
    return call;
  }

  void arrive(CallToken token) {
    const auto call = find(token);
    if (call == calls.end()) return;
    if (!begin(*call)) {
      call->until = std::chrono::steady_clock::now() + patience.out_of_order;
      watch();
    }
    look_again();
  }

  // False: it has to wait for others.
  bool begin(Call& call) {
    const auto found = order.find(call.tool, call.arguments);
    if (!found) {
      refuse(call, unknown_call(recording, order, call.tool, call.arguments));
      return true;
    }
    if (order.missing_before(*found)) return false;
    order.make(*found);
    call.played = *found;
    asio::post(executor, [self = shared_from_this(), token = call.token] { self->go_on(token); });
    return true;
  }

  // Every call that began may be what others wait for.
  void look_again() {
    for (bool again = true; again;) {
      again = false;
      for (Call& call : calls) {
        if (call.until == Time{} || call.played) continue;
        if (!begin(call)) continue;
        call.until = {};
        again = true;
      }
    }
  }

  // Those that waited long enough are out of order.
  void watch() {
    auto next = Time::max();
    for (const Call& call : calls) {
      if (call.until != Time{}) next = std::min(next, call.until);
    }
    if (next == Time::max()) return;
    timer.expires_at(next);
    timer.async_wait([weak = weak_from_this()](boost::system::error_code error) {
      const auto self = weak.lock();
      if (!self || error) return;
      const auto now = std::chrono::steady_clock::now();
      for (Call& call : self->calls) {
        if (call.until == Time{} || call.until > now) continue;
        call.until = {};
        const auto found = self->order.find(call.tool, call.arguments);
        const auto before = found ? self->order.missing_before(*found) : std::nullopt;
        self->refuse(
            call, before ? early_call(self->recording, *found, *before)
                         : unknown_call(self->recording, self->order, call.tool, call.arguments));
      }
      self->watch();
    });
  }

  void refuse(Call& call, Error why) {
    note(std::move(why));
    answer_later(call.token, not_recorded());
  }

  void note(Error why) {
    if (differences.size() < kMaxDifferences)
      differences.push_back(std::move(why));
    else
      ++others;
  }

  void answer_later(CallToken token, Result<Json> answer) {
    asio::post(executor, [self = shared_from_this(), token, answer = std::move(answer)] {
      self->answer(token, answer);
    });
  }

  void answer(CallToken token, Result<Json> answer) {
    const auto call = find(token);
    if (call == calls.end()) return;
    const auto done = std::move(call->done);
    calls.erase(call);
    done(std::move(answer));
  }

  // Says what was said, to the next question, and then the answer.
  void go_on(CallToken token) {
    const auto found = find(token);
    if (found == calls.end()) return;
    const RecordedCall& recorded = recording.calls[*found->played];
    while (found->said < recorded.said.size()) {
      const Said& said = recorded.said[found->said++];
      if (!said.method.empty()) return ask(*found, recorded, said);
      if (found->caller) found->caller->progress(said.said);
    }
    // What was taken back waits to be taken back again.
    if (!recorded.answer) return;
    if (found->caller && recorded.refused) found->caller->refused(*recorded.refused);
    answer(token, *recorded.answer);
  }

  void ask(Call& call, const RecordedCall& recorded, const Said& said) {
    if (!call.caller || !answers(*call.caller, said)) {
      return refuse(call, other_reply(recorded, said,
                                      fail(ErrorId::kServerError, "it answers no such question")));
    }
    const auto caller = call.caller;  // asking may take the call with it
    const std::string server = Permission::parse(call.tool)->server();
    gate::Caller::Replied done = [self = shared_from_this(), token = call.token, &recorded,
                                  &said](const Result<Json>& reply) {
      self->replied(token, recorded, said, reply);
    };
    if (said.method == kSeveral)
      caller->ask_all(server, said.said, std::move(done));
    else
      caller->ask_for(server, said.method, said.said, std::move(done));
  }

  static bool answers(const gate::Caller& caller, const Said& said) {
    if (said.method != kSeveral) return caller.answers(said.method);
    return std::ranges::all_of(said.said, [&](const Json& question) {
      return caller.answers(string_member(question, "method"));
    });
  }

  void replied(CallToken token, const RecordedCall& recorded, const Said& said,
               const Result<Json>& reply) {
    const auto call = find(token);
    if (call == calls.end()) return;
    const bool both_failed = said.reply && !*said.reply && !reply;
    const bool is_same =
        said.reply && *said.reply && reply && history::differences(**said.reply, *reply, 1).empty();
    if (!both_failed && !is_same) return refuse(*call, other_reply(recorded, said, reply));
    asio::post(executor, [self = shared_from_this(), token] { self->go_on(token); });
  }

  asio::any_io_executor executor;
  const Recording recording;
  const codegen::Lock& lock;
  const Patience patience;
  const std::vector<bool> reads;
  PlayOrder order;
  asio::steady_timer timer;
  Calls calls;
  std::vector<Error> differences;
  std::size_t others = 0;
  CallToken last_token = 0;
  std::map<std::string, std::size_t> asked;  // requests: which of equal ones was the last
  std::map<RequestToken, std::function<void(Result<Servers::Outcome>)>> requests;
};

Replayer::Replayer(asio::any_io_executor executor, Recording recording, const codegen::Lock& lock,
                   Patience patience)
    : state_(std::make_shared<State>(std::move(executor), std::move(recording), lock, patience)) {}

// A waiter is gone by now, and what was posted finds no call.
Replayer::~Replayer() {
  state_->calls.clear();
  state_->requests.clear();
  state_->timer.cancel();
}

gate::Upstream::CallToken Replayer::forward(const Permission& permission, Json arguments,
                                            std::shared_ptr<gate::Caller> caller,
                                            std::function<void(Result<Json>)> done) {
  const CallToken token = ++state_->last_token;
  // As the recording has it.
  if (const auto places = recorded_tool(state_->lock, permission).input)
    std::ignore = places->redact(arguments);
  state_->calls.push_back({.token = token,
                           .tool = permission.text(),
                           .arguments = std::move(arguments),
                           .caller = std::move(caller),
                           .done = std::move(done)});
  asio::post(state_->executor, [state = state_, token] { state->arrive(token); });
  return token;
}

void Replayer::cancel(CallToken token) {
  state_->answer_later(token, fail(ErrorId::kServerCancelled, "the call was taken back"));
}

Replayer::Findings Replayer::findings() const {
  Findings outcome{state_->differences, state_->others};
  for (std::size_t i = 0; i < state_->recording.calls.size(); ++i) {
    if (state_->order.is_made(i)) continue;
    if (outcome.differences.size() < kMaxDifferences)
      outcome.differences.push_back(unmade_call(state_->recording, i));
    else
      ++outcome.others;
  }
  return outcome;
}

const Json* Replayer::capabilities(const std::string& server) const {
  const auto& servers = state_->recording.servers;
  const auto found = std::ranges::find(servers, server, &RecordedServer::name);
  return found == servers.end() ? nullptr : &found->capabilities;
}

bool Replayer::is_stateless(const std::string& server) const {
  const auto& servers = state_->recording.servers;
  const auto found = std::ranges::find(servers, server, &RecordedServer::name);
  return found != servers.end() && found->is_stateless;
}

gate::Servers::RequestToken Replayer::request(const std::string& server, std::string method,
                                              Json params, std::shared_ptr<gate::Caller> /*caller*/,
                                              std::function<void(Result<Servers::Outcome>)> done) {
  const auto& all = state_->recording.requests;
  // Which of equal ones was the last; 0: none was asked for. Kept of those alone that are there.
  const std::string key = canonical_json(Json{server, method, params});
  const auto known = state_->asked.find(key);
  std::size_t last = known == state_->asked.end() ? 0 : known->second;
  const auto is_it = [&](const RecordedRequest& one) {
    return one.server == server && one.method == method && json_equal(one.params, params);
  };
  const auto next = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(last), all.end(), is_it);
  Result<Servers::Outcome> answer = Servers::Outcome(Json::object());
  if (next != all.end())
    state_->asked[key] = last = static_cast<std::size_t>(next - all.begin()) + 1;
  if (last > 0) {
    answer = all[last - 1].outcome;
  } else {
    state_->note({ErrorId::kRecordingDiffers,
                  fmt::format("a request that the recording does not have: {} of {} {}",
                              printable(method), server, printable(mcpac::to_text(params), 200)),
                  "", "", "record again if it is meant to be made: --record FILE"});
    answer = fail(ErrorId::kServerError, "the recording does not have this request");
  }
  const RequestToken token = ++state_->last_token;
  state_->requests.emplace(token, std::move(done));
  asio::post(state_->executor, [state = state_, token, answer = std::move(answer)] {
    auto node = state->requests.extract(token);
    if (!node.empty()) node.mapped()(answer);
  });
  return token;
}

gate::Servers::RequestToken Replayer::listen(const std::string& /*server*/, Json /*params*/,
                                             std::function<void()> /*ended*/) {
  return ++state_->last_token;
}

void Replayer::forget(RequestToken token) {
  state_->requests.erase(token);
}

}  // namespace mcpac::history
