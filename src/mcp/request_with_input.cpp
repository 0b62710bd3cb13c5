#include "mcp/request_with_input.h"

#include <fmt/format.h>

#include <utility>

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

// Who answers for one request, and what they said that they do.
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

// Of a result that is complete nobody reads these, unless they take it for one that asks.
void forget_questions(Json& result) {
  if (!result.is_object()) return;
  for (const char* name : {"inputRequests", "requestState"}) result.erase(name);
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

}  // namespace

asio::awaitable<Result<Reply>> request_with_input(std::shared_ptr<Session> session,
                                                  std::string method, Json params,
                                                  std::chrono::milliseconds timeout,
                                                  RequestOptions options) {
  const About about{session->server(),
                    options.name.empty()
                        ? method
                        : fmt::format("{} of \"{}\"", method, printable(options.name, 100))};
  for (int round = 0; round < kMaxRounds; ++round) {
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) {
      co_return fail(ErrorId::kServerCancelled, method + " was cancelled before it began");
    }
    const auto id = session->begin_with(method, params, options);
    auto reply = co_await session->wait(id, timeout);
    if (!reply || reply->refusal) co_return reply;
    const Json* said = find_member(reply->result, "resultType");
    if (said != nullptr && !said->is_string())
      co_return about.refuse(ErrorId::kServerProtocol,
                             "answered with a result type that is no text");
    const std::string type = said == nullptr ? "complete" : said->get<std::string>();
    if (type == "complete") {
      forget_questions(reply->result);
      co_return reply;
    }
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

}  // namespace mcpac::mcp
