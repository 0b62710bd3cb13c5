// SPDX-License-Identifier: Apache-2.0

#include "servers/ask_caller.h"

#include <optional>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "servers/server_form.h"

namespace mcpac::servers {
namespace {

namespace asio = boost::asio;

// One question on its way. The bell rings when there is a reply, or when none can come any more:
// the asker must not wait for ever.
struct Question {
  explicit Question(const asio::any_io_executor& executor)
      : bell(executor, asio::steady_timer::time_point::max()) {}
  asio::steady_timer bell;
  std::optional<Result<Json>> reply{};
};

class Reply {
 public:
  explicit Reply(std::shared_ptr<Question> question) : question_(std::move(question)) {}
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;
  ~Reply() { give(fail(ErrorId::kServerCancelled, "the client is gone")); }
  void give(Result<Json> reply) {
    if (question_->reply) return;
    question_->reply = std::move(reply);
    question_->bell.cancel();
  }

 private:
  std::shared_ptr<Question> question_;
};

// The params as the client gets them.
Result<Json> checked(const gate::Caller& caller, const std::string& server,
                     const std::string& method, Json params) {
  if (!caller.answers(method))
    return fail(ErrorId::kServerError, "the client that made the call answers no " + method);
  if (method == "elicitation/create") return shown_form(server, params);
  return params;
}

// The caller's answer to the question of `put`.
using Put = std::function<void(gate::Caller::Replied)>;
asio::awaitable<Result<Json>> wait_for_reply(asio::any_io_executor executor, Put put) {
  const auto question = std::make_shared<Question>(executor);
  {
    const auto reply = std::make_shared<Reply>(question);
    put([reply](Result<Json> given) { reply->give(std::move(given)); });
  }
  if (!question->reply) co_await question->bell.async_wait(asio::as_tuple(asio::use_awaitable));
  if (question->reply) co_return std::move(*question->reply);
  co_return fail(ErrorId::kServerCancelled, "the call was taken back");
}

asio::awaitable<Result<Json>> ask(asio::any_io_executor executor,
                                  std::shared_ptr<gate::Caller> caller, std::string server,
                                  std::string method, Json params) {
  auto asked = checked(*caller, server, method, std::move(params));
  if (!asked) co_return pass_on(asked);
  Put put = [caller, &server, &method, &asked](gate::Caller::Replied done) {
    caller->ask_for(server, method, std::move(*asked), std::move(done));
  };
  co_return co_await wait_for_reply(executor, std::move(put));
}

asio::awaitable<Result<Json>> ask_all(asio::any_io_executor executor,
                                      std::shared_ptr<gate::Caller> caller, std::string server,
                                      Json questions) {
  for (auto& question : questions) {
    const std::string method = string_member(question, "method");
    const Json* given = find_member(question, "params");
    auto asked = checked(*caller, server, method,
                         given != nullptr && given->is_object() ? *given : Json::object());
    if (!asked) co_return pass_on(asked);
    question = Json{{"method", method}, {"params", std::move(*asked)}};
  }
  Put put = [caller, &server, &questions](gate::Caller::Replied done) {
    caller->ask_all(server, std::move(questions), std::move(done));
  };
  co_return co_await wait_for_reply(executor, std::move(put));
}

// A server must not count on what the client that made the call does not do.
Json capabilities_of(const gate::Caller& caller) {
  Json answered = Json::object();
  if (caller.answers("elicitation/create")) answered["elicitation"]["form"] = Json::object();
  if (caller.answers("sampling/createMessage")) answered["sampling"] = Json::object();
  if (caller.answers("roots/list")) answered["roots"] = Json::object();
  return answered;
}

}  // namespace

mcp::CallEvents events_for(asio::any_io_executor executor, std::shared_ptr<gate::Caller> caller,
                           std::string server) {
  mcp::CallEvents events;
  if (!caller) return events;
  events.client = caller->client();
  events.heard = [caller](const Json& report) { caller->progress(report); };
  events.capabilities = capabilities_of(*caller);
  events.log_level = caller->log_level();
  events.meta = caller->request_meta();
  events.logged = [caller, server](const Json& message) { caller->logged(server, message); };
  events.refused = [caller](const ipc::ErrorObject& error) { caller->refused(error); };
  events.answer = [executor, caller, server](std::string method, Json params) {
    return ask(executor, caller, server, std::move(method), std::move(params));
  };
  events.answer_all = [executor, caller, server](Json questions) {
    return ask_all(executor, caller, server, std::move(questions));
  };
  return events;
}

}  // namespace mcpac::servers
