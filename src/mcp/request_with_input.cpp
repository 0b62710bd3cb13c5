// SPDX-License-Identifier: Apache-2.0

#include "mcp/request_with_input.h"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>

#include "core/printable.h"
#include "mcp/asked.h"

namespace mcpac::mcp {
namespace asio = boost::asio;
namespace {

// A conversation that has not ended by then is none.
constexpr int kMaxRounds = 16;
constexpr std::size_t kMaxQuestions = 16;  // in one round

struct About {
  std::string server;
  std::string what;  // "tools/call of \"deploy\""
  [[nodiscard]] std::unexpected<Error> refuse(ErrorId id, std::string text,
                                              std::string why = "") const {
    return fail(id, fmt::format("server {}: {} {}", server, what, text),
                {.where = "server " + server, .why = std::move(why)});
  }
};

// The handler of one request's questions, and its declared capabilities.
struct Answering {
  Answer one;
  AnswerAll all;
  Json capabilities;
};

Result<void> check_question(const Json& question, const Answering& who, const About& about) {
  const std::string method = string_member(question, "method");
  const auto capability = capability_of(method);
  if (!capability.empty() && who.capabilities.contains(capability) && (who.one || who.all))
    return {};
  return about.refuse(
      ErrorId::kServerError, "asks for input before it goes on",
      fmt::format("it wants \"{}\", which nobody here answers", printable(method, 60)));
}

// One entry of inputRequests: {"method": …, "params": …}.
asio::awaitable<Result<Json>> answer_one(const Answer& answer, const Json& question) {
  const std::string method = string_member(question, "method");
  const Json* given = find_member(question, "params");
  const Json params = given != nullptr && given->is_object() ? *given : Json::object();
  auto answered = co_await answer(method, params);
  if (!answered) co_return pass_on(answered);
  if (method == "elicitation/create") co_return with_defaults(std::move(*answered), params);
  co_return std::move(*answered);
}

// What forms left out gets its defaults; nothing else changes.
void complete(Json& answers, const Json& questions) {
  for (const auto& [key, question] : questions.items()) {
    const Json* params = find_member(question, "params");
    if (params != nullptr && string_member(question, "method") == "elicitation/create")
      answers[key] = with_defaults(std::move(answers[key]), *params);
  }
}

// In a complete result these are not read, except by a client that takes it for one that asks.
void forget_questions(Json& result) {
  if (!result.is_object()) return;
  for (const char* name : {"inputRequests", "requestState"}) result.erase(name);
}

// Whether this result is the last word, as most are.
bool take_complete(Json& result) {
  const Json* said = find_member(result, "resultType");
  if (said != nullptr && *said != "complete") return false;
  forget_questions(result);
  return true;
}

asio::awaitable<Result<Json>> answer_all(const Answering& who, const Json& questions,
                                         const About& about) {
  Json answers = Json::object();
  if (!questions.is_object() || questions.size() > kMaxQuestions) {
    co_return about.refuse(ErrorId::kServerProtocol, "asks for input in no usable form");
  }
  for (const Json& question : questions) {
    auto checked = check_question(question, who, about);
    if (!checked) co_return pass_on(checked);
  }
  if (who.all && !questions.empty()) {
    auto answered = co_await who.all(questions);
    if (answered) complete(*answered, questions);
    co_return answered;
  }
  for (const auto& [key, question] : questions.items()) {
    auto answered = co_await answer_one(who.one, question);
    if (!answered) co_return pass_on(answered);
    answers[key] = std::move(*answered);
  }
  co_return answers;
}

// `first`: the answer that is here already, to the request with these `params`.
asio::awaitable<Result<Reply>> go_on(std::shared_ptr<Session> session, std::string method,
                                     Json params, std::chrono::milliseconds timeout,
                                     RequestOptions options, std::optional<Reply> first) {
  const About about{session->server(),
                    options.name.empty()
                        ? method
                        : fmt::format("{} of \"{}\"", method, printable(options.name, 100))};
  const bool was_asked = first.has_value();
  for (int round = 0; round < kMaxRounds; ++round) {
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) {
      co_return fail(ErrorId::kServerCancelled, method + " was cancelled",
                     {.sent = was_asked ? Sent::kMaybeDone : Sent::kNo});
    }
    Result<Reply> reply;
    if (first) {
      reply = std::move(*first);
      first.reset();
    } else {
      const auto id = session->begin_with(method, params, options);
      reply = co_await session->wait(id, timeout);
      // It has seen the call, if not these answers: it must not be taken for one that was not sent.
      if (round > 0 && !reply && reply.error().id == ErrorId::kServerBusy)
        co_return about.refuse(ErrorId::kServerTimeout,
                               "asked for input, and had no turn for the answers in their time");
      if (round > 0 && !reply) reply.error().sent = Sent::kMaybeDone;
    }
    if (!reply || reply->refusal || take_complete(reply->result)) co_return reply;
    const Json& said = reply->result["resultType"];
    if (!said.is_string())
      co_return about.refuse(ErrorId::kServerProtocol,
                             "answered with a result type that is no text");
    const auto type = said.get<std::string>();
    if (type != "input_required") {
      co_return about.refuse(
          ErrorId::kServerProtocol,
          fmt::format("answered with the unknown result type \"{}\"", printable(type, 40)));
    }
    const Json* questions = find_member(reply->result, "inputRequests");
    const Json* kept = find_member(reply->result, "requestState");
    if (kept == nullptr ? questions == nullptr : !kept->is_string()) {
      co_return about.refuse(ErrorId::kServerProtocol, "asks for input in no usable form");
    }
    const Answer answer = options.events->answer ? options.events->answer : session->usual_answer();
    const Answering who{answer, options.events->answer_all,
                        session->capabilities_for(*options.events)};
    const Json asked = questions == nullptr ? Json::object() : *questions;
    auto answers = co_await answer_all(who, asked, about);
    if (!answers) co_return pass_on(answers);
    params["inputResponses"] = std::move(*answers);
    params.erase("requestState");
    if (kept != nullptr) params["requestState"] = *kept;
  }
  co_return about.refuse(ErrorId::kServerLimit,
                         fmt::format("asked for input more than {} times", kMaxRounds));
}

// A request of start_with_input().
class Started : public std::enable_shared_from_this<Started> {
 public:
  Started(std::shared_ptr<Session> session, StartedRequest request)
      : session_(std::move(session)), request_(std::move(request)) {}

  void begin() {
    const auto self = shared_from_this();
    const auto id =
        session_->begin_then(request_.method, request_.params, request_.options, request_.timeout,
                             [self](Result<Reply> reply) { self->replied(std::move(reply)); });
    if (!request_.slot.is_connected()) return;
    request_.slot.assign([self, id](asio::cancellation_type) {
      self->is_taken_back_ = true;
      self->session_->cancel(id);
    });
  }

 private:
  void replied(Result<Reply> reply) {
    if (request_.slot.is_connected()) request_.slot.clear();
    if (!reply || reply->refusal || take_complete(reply->result))
      return request_.done(std::move(reply));
    // After the answer came, and before it was told.
    if (is_taken_back_)
      return request_.done(fail(ErrorId::kServerCancelled, request_.method + " was cancelled",
                                {.sent = Sent::kMaybeDone}));
    asio::co_spawn(session_->executor(),
                   go_on(session_, std::move(request_.method), std::move(request_.params),
                         request_.timeout, std::move(request_.options), std::move(*reply)),
                   asio::bind_cancellation_slot(
                       request_.slot, [self = shared_from_this()](const std::exception_ptr& bug,
                                                                  Result<Reply> last) {
                         // A cancelled wait, or our bug; neither may pass for an answer.
                         if (bug)
                           last = fail(ErrorId::kServerError, "the call was cancelled",
                                       {.sent = Sent::kMaybeDone});
                         self->request_.done(std::move(last));
                       }));
  }

  std::shared_ptr<Session> session_;
  StartedRequest request_;
  bool is_taken_back_ = false;
};

}  // namespace

asio::awaitable<Result<Reply>> request_with_input(std::shared_ptr<Session> session,
                                                  std::string method, Json params,
                                                  std::chrono::milliseconds timeout,
                                                  RequestOptions options) {
  return go_on(std::move(session), std::move(method), std::move(params), timeout,
               std::move(options), std::nullopt);
}

void start_with_input(std::shared_ptr<Session> session, StartedRequest request) {
  std::make_shared<Started>(std::move(session), std::move(request))->begin();
}

}  // namespace mcpac::mcp
