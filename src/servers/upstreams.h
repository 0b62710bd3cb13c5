// SPDX-License-Identifier: Apache-2.0

// Upstreams: the real servers of a run, as the gate's view of them.
//
// start() returns at once: a server connects, and its tool list is held against the lock, while the
// source is analysed and compiled (design decision 9). A tool whose definition is not the locked
// one is not callable, at the start and after every list_changed; what has drifted once stays
// refused, also when the server takes the change back. The other tools go on. Texts that are not
// the locked ones are such a change, too, but where mcpac.json says that the locked ones hold
// ("texts"): there they are as if they had not been said. Everything but start() runs on the loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>

#include "codegen/lock.h"
#include "gate/servers.h"
#include "gate/upstream.h"
#include "mcp/client.h"
#include "servers/compare_pauses.h"

namespace mcpac::servers {

// Difference of a tool from the locked one.
enum class Drift : std::uint8_t { kChanged, kTexts, kGone, kClaims };
using Drifted = std::map<std::string, Drift>;  // of one server
[[nodiscard]] Error drift_error(const Permission& tool, Drift how);

class Upstreams final : public gate::Upstream, public gate::Servers {
 public:
  // `lock` is borrowed for the life of this object.
  Upstreams(boost::asio::any_io_executor executor, const codegen::Lock& lock);
  ~Upstreams() override;

  // What servers are told that callers answer ({"elicitation": {"form": {}}, …); before start().
  // Without it nothing is declared, and a server that asks is told that there is no such method.
  void declare(Json capabilities) { capabilities_ = std::move(capabilities); }

  // A server that ended is started again with the next call to it (upstream_restart.cpp).
  void start_again_what_ends() { revives_ = true; }

  // On the loop. The server ends when what is in work is answered, and is started again; calls that
  // come meanwhile wait. Nothing for one that is not there: it is started as things are then.
  void start_anew(const std::string& server);

  // A process of a server that is one client's: calls of the server by callers with this `client`
  // (gate::Caller) go to it, and it is asked for everything else by `name` ("fs#2").
  struct OwnProcess {
    std::string name;
    std::string client;
    mcp::ServerConfig config;
  };
  // On the loop. Starts it, also again after rest(), as `config` said the first time; nothing where
  // it is there.
  void start_own(OwnProcess process);
  // On the loop. It ends when it has started, by the shutdown ladder, and is not started by what is
  // asked of it; calls that come while it ends wait for that. What is known of it stays: secrets,
  // what it can do, and tools that drifted.
  void rest(const std::string& name);
  // What is true of quarantines() for calls of this client.
  [[nodiscard]] bool quarantines_for(const std::string& client, const Permission& permission) const;

  // Before start(): between the tries to compare the tools of a server that may have changed.
  void compare_after(const ComparePauses::Spans& pauses) { compare_pauses_ = pauses; }

  [[nodiscard]] std::uint64_t restarts() const { return restarts_; }

  // Hears, on the loop, why a server could not be started or used, or that it ended; each time, and
  // before the calls that end with it. For the user of mcpac: `error` has words of the server.
  using OnFailed = std::function<void(const std::string& server, const Error& error)>;
  void on_failed(OnFailed heard) { failed_ = std::move(heard); }

  // Hears, on the loop, of a server that takes long to start, again and again: how long, and what
  // it wrote last. For the user of mcpac.
  using OnSlowStart = std::function<void(const std::string& server, std::string_view text)>;
  void on_slow_start(OnSlowStart heard) { slow_ = std::move(heard); }

  // Hears, on the loop, of tools of a server that are other ones than the locked ones, and of those
  // that the lock does not have: each once.
  using OnTools = std::function<void(const std::string& server, const Drifted& drifted,
                                     const std::set<std::string>& gained)>;
  void on_tools(OnTools heard) { tools_ = std::move(heard); }
  // On the loop. Which of these servers are not as they should be now, in words that have none of
  // theirs; empty where all are.
  [[nodiscard]] std::string amiss(const std::set<std::string>& servers) const;

  // From any thread, once a server. The future holds the tools of this server that drifted from the
  // lock, or the Error that keeps the server from being used.
  std::shared_future<Result<Drifted>> start(const mcp::ServerConfig& config);

  CallToken forward(const Permission& permission, Json arguments,
                    std::shared_ptr<gate::Caller> caller,
                    std::function<void(Result<Json>)> done) override;
  [[nodiscard]] bool quarantines(const Permission& permission) const override;
  void cancel(CallToken token) override;
  [[nodiscard]] bool was_sent(CallToken token) const override;
  // Of all servers: a program may hand the secret of one to another.
  [[nodiscard]] Secrecy redact(const Permission& permission, const Json& arguments,
                               Json& redacted) const override;
  // Hears of tools that change while this is set, each once, and of servers that cannot be asked or
  // can again: `what` happened to `name`.
  using OnDrift = std::function<void(std::string_view what, const std::string& name)>;
  void on_drift(OnDrift heard) { heard_ = std::move(heard); }
  // Hears of servers that were of use, and whose connection ended, while this is set.
  using OnEnded = std::function<void(const std::string& server)>;
  void on_ended(OnEnded heard) { ended_ = std::move(heard); }
  [[nodiscard]] bool is_settled(const std::string& server) const override;
  [[nodiscard]] const Json* capabilities(const std::string& server) const override;
  [[nodiscard]] bool is_stateless(const std::string& server) const override;
  [[nodiscard]] std::uint64_t starts(const std::string& server) const override;
  [[nodiscard]] std::chrono::milliseconds timeout(const std::string& server) const override;
  RequestToken request(const std::string& server, std::string method, Json params,
                       std::shared_ptr<gate::Caller> caller,
                       std::function<void(Result<Outcome>)> done) override;
  RequestToken listen(const std::string& server, Json params, std::function<void()> ended) override;
  void forget(RequestToken token) override;
  void on_notified(OnNotified heard) override { notified_ = std::move(heard); }
  void on_settled(std::function<void()> heard) override { settled_ = std::move(heard); }

  // No server is down, and none has drifted. One that is still starting is not, nor one that rests.
  [[nodiscard]] bool all_well() const;
  // Ends every server by the shutdown ladder, all at the same time.
  boost::asio::awaitable<void> close();

 private:
  struct Server;
  struct Past;
  void begin(Server& server);
  boost::asio::awaitable<Result<Drifted>> connect(Server& server);
  // By which name the server of this call is known: its own, or that of the caller's own process.
  [[nodiscard]] std::string process_of(const Permission& permission,
                                       const std::string& client) const;
  [[nodiscard]] std::string process_of(const Permission& permission,
                                       const gate::Caller* caller) const;
  // Of this name, or any process of the server.
  [[nodiscard]] const Server* find_any(const std::string& server) const;
  // Whether it, or a process of it, was reached: what it was given is known.
  [[nodiscard]] bool was_reached(const std::string& server) const;
  // upstream_compare.cpp
  using Comparison = Result<Drifted>;
  boost::asio::awaitable<Comparison> compare_with_lock(Server& server);
  // Asks again as long as the server says that its tools changed meanwhile.
  boost::asio::awaitable<Comparison> compare_until_quiet(Server& server);
  [[nodiscard]] static bool may_come_back(const Server& server, const Comparison& outcome);
  boost::asio::awaitable<void> compare_again(Server& server);
  // The same for one whose calls are refused meanwhile.
  boost::asio::awaitable<void> compare_on(Server& server, ComparePauses pauses);
  // Answer to a call of a failed server.
  [[nodiscard]] static Error why_failed(const Server& server);
  // upstream_restart.cpp
  [[nodiscard]] static bool is_gone(const Server& server);
  [[nodiscard]] bool comes_back(const Server& server) const;
  void revive(Server& server);
  boost::asio::awaitable<void> begin_anew(Server& server);
  boost::asio::awaitable<void> begin_rest(Server& server);
  // Lets go of its client, which has ended.
  void keep_past(Server& server);
  // Until nothing of it is in work any more.
  boost::asio::awaitable<void> wait_until_idle(std::shared_ptr<mcp::Client> client,
                                               std::chrono::milliseconds at_most);
  // Once what it has in work is answered.
  boost::asio::awaitable<void> close_later(std::shared_ptr<mcp::Client> client,
                                           std::chrono::milliseconds at_most);
  // kAnew: it was well, and was ended for other places. kWoken: it had rested.
  enum class Returned : std::uint8_t { kRevived, kAnew, kWoken };
  boost::asio::awaitable<void> start_again(Server& server, Returned how);
  void begin_start_again(Server& server, Returned how);
  void come_back(Server& server, Result<Drifted> outcome, Returned how = Returned::kRevived);
  // Of a confined server that answered a call with a failure: what it lacked is told to the user.
  // Whatever becomes of it the call is answered.
  static void tell_of_failure(const Server& server, const Result<Json>& answer) noexcept;
  // What a call to it is answered with until it may be started again; nothing: it is there.
  // An answer to a call that this client made.
  static void note_answer(Server& server, const mcp::Client* client, const Result<Json>& answer);
  [[nodiscard]] std::optional<Error> why_gone(const Server& server) const;
  void settle(Server& server, Result<Drifted> outcome);
  void heard_end(const Server& server, const Error& error);
  using Ended = std::function<void(Result<Json>)>;
  // The call waits for what it must.
  void begin_waiting(CallToken token, Permission permission, Json arguments,
                     std::shared_ptr<gate::Caller> caller, Ended ended);
  // One attempt; `is_unmade`: the server did not know our session, and has not carried it out.
  boost::asio::awaitable<Result<Json>> call_once(CallToken token, const Permission& permission,
                                                 Json arguments,
                                                 std::shared_ptr<gate::Caller> caller,
                                                 std::shared_ptr<bool> is_unmade);
  // The server, where a call of this tool need not wait for it, as almost none must; else null, and
  // call() waits or says why not.
  [[nodiscard]] Server* at_hand(const Permission& permission, const gate::Caller* caller) const;
  boost::asio::awaitable<Result<Json>> call(CallToken token, Permission permission, Json arguments,
                                            std::shared_ptr<gate::Caller> caller);
  // The server, once it can be asked; an Error for one that cannot.
  boost::asio::awaitable<Result<Server*>> usable(std::string name);
  boost::asio::awaitable<Result<Outcome>> ask(std::string name, std::string method, Json params,
                                              std::shared_ptr<gate::Caller> caller);
  boost::asio::awaitable<void> hear(std::string name, Json params);

  boost::asio::any_io_executor executor_;
  const codegen::Lock& lock_;
  std::map<std::string, std::unique_ptr<Server>, std::less<>> servers_;  // by Server::name
  // By the server's configured name and the client: the name of its process.
  std::map<std::pair<std::string, std::string>, std::string> own_;
  // Those that have a client, by the same name: a gateway has many more that rest.
  std::map<std::string_view, const Server*> with_client_;
  std::vector<std::shared_ptr<const Past>> pasts_;  // each once
  struct Call {
    std::unique_ptr<boost::asio::cancellation_signal> signal{};
    bool was_sent = false;  // handed to the client of its server
    bool is_cancelled = false;
  };
  std::map<CallToken, Call> calls_;
  CallToken next_token_ = 1;
  Json capabilities_ = Json::object();
  OnDrift heard_;
  OnEnded ended_;
  OnFailed failed_;
  OnSlowStart slow_;
  OnTools tools_;
  OnNotified notified_;
  std::function<void()> settled_;
  std::map<RequestToken, std::shared_ptr<boost::asio::cancellation_signal>> requests_;
  bool revives_ = false;
  ComparePauses::Spans compare_pauses_;
  std::uint64_t restarts_ = 0;
  std::shared_ptr<mcp::ConnectionRoom> connections_;  // from the first server on
};

}  // namespace mcpac::servers
