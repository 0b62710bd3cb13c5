#include "execute/host/ask_caller.h"

#include <optional>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace mcpac::execute {
namespace {

namespace asio = boost::asio;

// One question on its way. The bell rings when there is a reply, or when nobody can give one any
// more: whoever asked must not wait for ever.
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

asio::awaitable<Result<Json>> ask(asio::any_io_executor executor,
                                  std::shared_ptr<gate::Caller> caller, std::string method,
                                  Json params) {
  // A page to visit (mode "url") is another thing than the form that a client says it shows.
  const std::string mode = string_member(params, "mode");
  if (method == "elicitation/create" && !mode.empty() && mode != "form") {
    co_return fail(ErrorId::kServerError, "nobody is shown an address of a server's");
  }
  if (!caller->answers(method)) {
    co_return fail(ErrorId::kServerError, "the client that made the call answers no " + method);
  }
  const auto question = std::make_shared<Question>(executor);
  {
    const auto reply = std::make_shared<Reply>(question);
    caller->ask(method, std::move(params),
                [reply](Result<Json> given) { reply->give(std::move(given)); });
  }
  if (!question->reply) co_await question->bell.async_wait(asio::as_tuple(asio::use_awaitable));
  if (question->reply) co_return std::move(*question->reply);
  co_return fail(ErrorId::kServerCancelled, "the call was taken back");
}

}  // namespace

mcp::CallEvents events_for(asio::any_io_executor executor, std::shared_ptr<gate::Caller> caller,
                           std::string server) {
  mcp::CallEvents events;
  if (!caller) return events;
  events.client = caller->client();
  events.heard = [caller](const Json& report) { caller->progress(report); };
  events.answer = [executor, caller, server](std::string method, Json params) {
    if (method == "elicitation/create" && params.contains("message") &&
        params["message"].is_string())
      params["message"] = "[" + server + "] " + params["message"].get<std::string>();
    return ask(executor, caller, std::move(method), std::move(params));
  };
  return events;
}

}  // namespace mcpac::execute
