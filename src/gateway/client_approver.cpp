// SPDX-License-Identifier: Apache-2.0

#include "gateway/client_approver.h"

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "core/printable.h"

namespace mcpac::gateway {
namespace {

// A person reads this much; of a longer call they would approve what they did not see.
constexpr std::size_t kMaxShown = 4'000;
constexpr auto kPatience = std::chrono::minutes(5);
constexpr const char* kMethod = "elicitation/create";
constexpr const char* kWho = "the person at the client";

// What a client and its model hear of that is what the client did itself, in our words.
gate::Reply nobody(std::string why) {
  return {.answer = gate::Answered::kNobody,
          .until = {},
          .who = kWho,
          .detail = why,
          .for_caller = std::move(why)};
}

// The client's reply; or, where it is destroyed without one, that none can come any more: a waiter
// for a client that is gone would otherwise wait until the question's end.
class ClientReply {
 public:
  using Heard = std::function<void(const Result<Json>&)>;
  explicit ClientReply(Heard heard) : heard_(std::move(heard)) {}
  ClientReply(const ClientReply&) = delete;
  ClientReply& operator=(const ClientReply&) = delete;
  ~ClientReply() { give(fail(ErrorId::kServerCancelled, "the client is gone")); }
  void give(const Result<Json>& reply) {
    if (const auto heard = std::exchange(heard_, nullptr)) heard(reply);
  }

 private:
  Heard heard_;
};

}  // namespace

Json elicitation_of(const gate::Question& question) {
  const std::string arguments = to_text(question.arguments);
  std::string text =
      fmt::format("mcpac asks: may this call be made?\n{} {}\n",
                  printable(question.permission, 300), printable(arguments, std::string::npos));
  for (const auto& rule : question.rules)
    text += fmt::format("asked by {}: {}\n", printable(rule.layer, 200), printable(rule.rule, 500));
  Json answer{
      {"type", "string"},
      {"title", "Answer"},
      {"enum", {"once", "always", "no"}},
      {"enumNames",
       {"yes, this call",
        fmt::format("yes, every call of {} that these rules ask about, whatever its arguments",
                    printable(question.permission, 300)),
        "no"}}};
  return {{"message", std::move(text)},
          {"requestedSchema",
           {{"type", "object"},
            {"properties", {{"answer", std::move(answer)}}},
            {"required", {"answer"}}}}};
}

gate::Reply reply_of(const Result<Json>& result) {
  if (!result) {
    auto reply = nobody("the client answered with an error, or is gone");
    reply.detail = result.error().what;
    return reply;
  }
  const std::string action = string_member(*result, "action");
  gate::Reply reply{.answer = gate::Answered::kNo, .until = {}, .who = kWho};
  if (action == "decline") return reply;
  if (action != "accept") return nobody("the question was closed without an answer");
  const Json* content = find_member(*result, "content");
  const std::string answer = content == nullptr ? "" : string_member(*content, "answer");
  if (answer == "once") reply.answer = gate::Answered::kOnce;
  if (answer == "always") reply.answer = gate::Answered::kRun;
  if (answer == "once" || answer == "always" || answer == "no") return reply;
  return nobody("the form came back with another answer than it offers");
}

void ClientApprover::ask(const gate::Question& question, Done done) {
  if (!question.caller || !question.caller->answers(kMethod))
    return done(nobody("the client shows no forms (elicitation)"));
  if (to_text(question.arguments).size() > kMaxShown)
    return done(nobody("the call is too long to be shown in a form"));
  done_ = std::move(done);
  const auto number = ++question_;
  timer_.expires_after(kPatience);
  timer_.async_wait([this, alive = std::weak_ptr(alive_), number](const auto& error) {
    if (!error && !alive.expired()) reply(number, nobody("nobody answered in time"));
  });
  // A reply may take the question away; it comes when this one goes, at the earliest.
  const auto caller = question.caller;
  const auto said = std::make_shared<ClientReply>(
      [this, alive = std::weak_ptr(alive_), number](const Result<Json>& result) {
        if (!alive.expired()) reply(number, reply_of(result));
      });
  caller->ask(kMethod, elicitation_of(question),
              [said](const Result<Json>& result) { said->give(result); });
}

void ClientApprover::cancel() {
  ++question_;
  timer_.cancel();
  done_ = nullptr;
}

void ClientApprover::reply(std::uint64_t question, gate::Reply reply) {
  if (question != question_ || !done_) return;
  timer_.cancel();
  std::exchange(done_, nullptr)(std::move(reply));
}

}  // namespace mcpac::gateway
