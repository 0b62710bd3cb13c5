// SPDX-License-Identifier: Apache-2.0

// Session: requests and answers of one MCP connection, whatever carries them.
//
// It numbers requests, matches answers, keeps the time of each, tells the server about what is
// taken back, answers what the server asks (ping, what we declared, else "no such method"),
// and redacts secrets in everything that comes in. When the transport ends, every request ends with
// the reason. Single-threaded; after close() or kill() nothing is reported but the end of what was
// in work.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/error.h"
#include "core/json.h"
#include "ipc/coarse_timer.h"
#include "ipc/json_rpc.h"
#include "mcp/client.h"
#include "mcp/secrets.h"
#include "mcp/transport.h"

namespace mcpac::mcp {

// OpenQuestions: a server's unanswered questions, counted for each client that it works for.
//
// A person answers one question at a time; this many at once is a flood. Many share a
// server of the gateway, and one of them may never answer: so each has its own number, and all
// together a higher one.
class OpenQuestions {
 public:
  static constexpr std::size_t kMost = 16;  // of one client
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20U;
  static constexpr std::size_t kMostOfAll = 64;
  static constexpr std::size_t kMostBytesOfAll = 4 * kMostBytes;

  // False: this one is too many. One alone may be of any size.
  [[nodiscard]] bool add(const std::string& client, std::size_t bytes) {
    if (!all_.has_room(bytes, kMostOfAll, kMostBytesOfAll)) return false;
    Sum& own = of_client_[client];
    if (!own.has_room(bytes, kMost, kMostBytes)) return false;
    own.add(bytes);
    all_.add(bytes);
    return true;
  }
  void remove(const std::string& client, std::size_t bytes) {
    const auto own = of_client_.find(client);
    own->second.remove(bytes);
    if (own->second.count == 0) of_client_.erase(own);
    all_.remove(bytes);
  }

 private:
  struct Sum {
    std::size_t count = 0;
    std::size_t bytes = 0;
    [[nodiscard]] bool has_room(std::size_t more, std::size_t most, std::size_t most_bytes) const {
      return count < most && (count == 0 || bytes + more <= most_bytes);
    }
    void add(std::size_t more) {
      ++count;
      bytes += more;
    }
    void remove(std::size_t less) {
      --count;
      bytes -= less;
    }
  };
  std::map<std::string, Sum, std::less<>> of_client_;
  Sum all_;
};

struct RequestOptions {
  // g++ 12 destroys an aggregate twice that is made inside a co_await; this makes it none.
  RequestOptions() {}  // NOLINT(modernize-use-equals-default)
  std::string name{};  // params.name or params.uri, for the transport's headers
  std::map<std::string, std::string> headers{};  // Mcp-Param-*
  bool wants_progress = false;                   // each report of progress starts the timeout anew
  // Hears of it, and answers what the server asks meanwhile. Shared: a request that is made
  // again with answers has the same.
  std::shared_ptr<const CallEvents> events = no_events();
  bool keeps_order = false;   // the reply keeps the order of members
  bool keeps_errors = false;  // a JSON-RPC error is a Reply with a `refusal`, no Error

  [[nodiscard]] static std::shared_ptr<const CallEvents> no_events();
};

struct Reply {
  Json result;
  OrderedJson ordered{};                      // the same, when the request keeps_order
  std::optional<ipc::ErrorObject> refusal{};  // when the request keeps_errors; then no result
  std::size_t size = 0;                       // of the text it came in
};

// What becomes of a request whose time is up.
enum class OnTimeout : std::uint8_t { kCancel, kKeepWaiting };

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(boost::asio::any_io_executor executor, std::string server,
          std::shared_ptr<Transport> transport, std::shared_ptr<const SecretValues> secrets,
          Events events);
  void start();

  // Sends now; the answer is fetched with wait().
  std::int64_t begin(std::string method, Json params, RequestOptions options = {});
  // The same with the caller's params, maybe once more: what belongs to the protocol is
  // put into them.
  std::int64_t begin_with(std::string method, Json& params, RequestOptions options);
  // Cancelling the awaiting coroutine takes the request back (kServerCancelled).
  boost::asio::awaitable<Result<Reply>> wait(std::int64_t id, std::chrono::milliseconds timeout,
                                             OnTimeout on_timeout = OnTimeout::kCancel);
  boost::asio::awaitable<Result<Reply>> request(std::string method, Json params,
                                                std::chrono::milliseconds timeout,
                                                RequestOptions options);
  // Where no coroutine waits, which costs a tenth of what a gateway does with a small call: `done`
  // hears of the end, once, in a step of the loop of its own.
  using Done = std::function<void(Result<Reply>)>;
  std::int64_t begin_then(std::string method, Json& params, RequestOptions options,
                          std::chrono::milliseconds timeout, Done done);
  // Takes back what was begun so (kServerCancelled); nothing where it has ended.
  void cancel(std::int64_t id);
  // The same, where the server may still be starting: `quiet` begins anew as long as it has not
  // read what was sent, and with whatever it says; `at_most` holds for all of it. Keeps waiting as
  // OnTimeout::kKeepWaiting does.
  struct Patience {
    std::chrono::milliseconds quiet{};
    std::chrono::milliseconds at_most{};
  };
  boost::asio::awaitable<Result<Reply>> wait_for_start(std::int64_t id, Patience patience);
  // Its answer is there, and has not been fetched.
  [[nodiscard]] bool is_answered(std::int64_t id) const;
  // Its answer, should it come, is dropped.
  void forget(std::int64_t id);
  // Adds to `error` what the server wrote besides messages, for a person: the last lines that it
  // said of itself, and the first one where only messages belong, which is told once.
  void explain(Error& error);
  [[nodiscard]] std::string last_words() const { return transport_->last_words(); }
  // `client`: as Outgoing has it.
  void notify(std::string method, Json params = nullptr,
              std::shared_ptr<const std::string> client = nullptr);

  // What we declare; an object without members when there is no handler.
  [[nodiscard]] const Json& capabilities() const { return events_.capabilities; }
  [[nodiscard]] Json meta() const;  // the `_meta` of the stateless era
  // What is declared for one request: by its caller, else for all.
  [[nodiscard]] const Json& capabilities_for(const CallEvents& events) const;
  // The handler of questions for calls without a caller; may be null.
  [[nodiscard]] const Answer& usual_answer() const { return events_.answer; }

  // From here on messages have the form of this era.
  void set_protocol(Era era, const std::string& version);
  void listen() { transport_->listen(); }
  boost::asio::awaitable<void> until_listening(std::chrono::milliseconds at_most) {
    return transport_->until_listening(at_most);
  }

  [[nodiscard]] bool is_dead() const { return death_.has_value(); }
  // The server has forgotten it: dead for what is new.
  [[nodiscard]] bool is_lost() const { return is_lost_; }
  [[nodiscard]] bool is_idle() const { return pending_.empty(); }
  [[nodiscard]] const std::string& server() const { return server_; }
  [[nodiscard]] const SecretValues& secrets() const { return *secrets_; }
  [[nodiscard]] const boost::asio::any_io_executor& executor() const { return executor_; }
  boost::asio::awaitable<void> close();
  void kill();

 private:
  struct Pending {
    std::string method;
    RequestOptions options;
    // Its waiter sleeps on it; cancelled to wake it.
    std::optional<boost::asio::steady_timer> timer{};
    Done done{};  // or there is no waiter, and this is told
    std::chrono::steady_clock::time_point deadline{};
    std::chrono::steady_clock::time_point last_deadline{};
    std::chrono::milliseconds timeout{0};
    std::optional<Result<Reply>> outcome{};
    std::string junk{};  // the first line since it was sent that is no message, as it is shown

    void begin_time(std::chrono::milliseconds limit);
  };

  void receive(std::string_view line, std::optional<std::int64_t> carrier);
  void receive_response(ipc::Response response, std::string_view line);
  void receive_request(ipc::Request request, std::size_t size, std::optional<std::int64_t> carrier);
  // The handler of a question that belongs to `carrier`, or to whatever is the only call under way.
  struct Answerer {
    Answer answer;
    std::string client{};
  };
  [[nodiscard]] Answerer answer_for(std::optional<std::int64_t> carrier) const;
  boost::asio::awaitable<void> answer(ipc::Request request, std::size_t size, Answerer who);
  void receive_notification(const ipc::Notification& notification,
                            std::optional<std::int64_t> carrier);
  void receive_log(const Json& params, std::optional<std::int64_t> carrier);
  // The call that a log message came for; null: for none that can be told.
  [[nodiscard]] std::shared_ptr<Pending> logging_call(std::optional<std::int64_t> carrier) const;
  void receive_progress(const Json& params);
  [[nodiscard]] std::optional<std::int64_t> meant_request(std::string_view line) const;
  // True: it was an answer, and what could be read of it is one.
  bool receive_readable(std::string_view line, const ipc::RpcError& error);
  void receive_junk(std::string_view line, const ipc::RpcError& error);
  // A line where only messages belong, in words; told once.
  [[nodiscard]] std::string take_junk(const Pending* pending);
  void settle(std::int64_t id, Result<Reply> outcome);
  void end(Error error);
  void lose(std::optional<std::int64_t> id, Error error);
  // Ends what has no waiter and no time left.
  void look_at_times();
  void tell(std::shared_ptr<Pending> pending);
  // False: nothing of it has gone to the server, and nothing will.
  bool take_back(std::int64_t id, const Pending& pending, std::string_view reason);
  [[nodiscard]] Result<Reply> make_reply(const Pending& pending, ipc::Response& response,
                                         std::string_view line) const;
  [[nodiscard]] Error rpc_error(const std::string& method, const ipc::ErrorObject& error) const;
  [[nodiscard]] std::unexpected<Error> was_cancelled(const Pending& pending, bool was_sent) const;
  [[nodiscard]] std::unexpected<Error> too_late(const Pending& pending, bool was_sent);
  [[nodiscard]] std::unexpected<Error> failure(ErrorId id, std::string what,
                                               std::string fix = "") const;

  boost::asio::any_io_executor executor_;
  std::string server_;
  std::shared_ptr<Transport> transport_;
  std::shared_ptr<const SecretValues> secrets_;
  Events events_;
  std::map<std::int64_t, std::shared_ptr<Pending>> pending_;
  std::int64_t next_id_ = 1;
  std::size_t junk_lines_ = 0;
  std::string last_junk_{};            // as it is shown
  std::string first_junk_{};           // likewise, since the last one that was told
  std::optional<std::string> client_;  // whose calls that can be asked about were carried
  bool serves_several_ = false;
  OpenQuestions asked_;
  bool stateless_ = false;
  std::optional<Error> death_;
  bool is_lost_ = false;
  bool has_ended_ = false;
  ipc::CoarseTimer clock_;  // of requests without a waiter: by then the first time is up
};

}  // namespace mcpac::mcp
