// SPDX-License-Identifier: Apache-2.0

#include "servers/confine/server_network.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <expected>
#include <functional>
#include <future>
#include <limits>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "core/clock.h"
#include "core/ids.h"
#include "core/printable.h"
#include "gate/approver.h"
#include "gate/network_gate.h"
#include "gate/network_record.h"
#include "network/host_dialer.h"
#include "policy/authority.h"
#include "policy/match/url.h"
#include "policy/policy_digest.h"
#include "policy/policy_record.h"
#include "policy/text/printer.h"
#include "project/claimed_needs.h"
#include "servers/confine/failed_calls.h"
#include "servers/confine/name_answers.h"
#include "servers/confine/proxy_talk.h"

namespace mcpac::servers {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using Udp = asio::ip::udp;
using std::chrono::seconds;

constexpr auto kServeAwait = asio::as_tuple(asio::use_awaitable);

// No program takes it by accident: a server has no power over low ports, and its host has its own.
constexpr std::uint16_t kFirstProxyPort = 880;
constexpr std::uint16_t kNamePort = 53;
constexpr std::array<std::uint16_t, 2> kUsualPorts = {80, 443};
// Sockets that are there in any case: the proxy's, and two for names.
constexpr std::size_t kOwnSockets = 3;
constexpr std::size_t kMostSockets = 16;

// Connections of one server: that say what they want, and that are open or being opened. Each has
// two or three descriptors here.
constexpr std::size_t kMostBegun = 32;
constexpr std::size_t kMostOpen = 64;
// To say what it wants, in whole.
constexpr seconds kToSay{30};
// A server is long-lived, and so are connections that it keeps to another service.
constexpr std::chrono::minutes kIdle{15};
// Refusals that are decided and recorded: so many at once, and one a second after that. What is
// asked for beyond them ends undecided.
constexpr double kMostRefused = 256;
// Of refusals what its user is told, one a destination.
constexpr std::size_t kMostTold = 32;
// Of a server's own record.
constexpr std::size_t kOwnRecord = std::size_t{64} << 20U;

// A line at the server's standard error, as if the server had said it: there people look for why it
// failed, and it has the bounds of all that servers say. Any thread.
class Notices {
 public:
  explicit Notices(UniqueFd standard_error) : out_(std::move(standard_error)) {}
  // False: it was told, or too much was.
  bool say(const std::string& about, const std::string& text) {
    const std::scoped_lock alone(mutex_);
    if (told_.size() >= kMostTold || !told_.insert(about).second) return false;
    const std::string line = "mcpac: " + printable(text.substr(0, 1024)) + "\n";
    // One without a reader is full.
    if (out_) std::ignore = ::write(out_.get(), line.data(), line.size());
    return true;
  }
  // The end of the stream is the server's to give.
  void close() {
    const std::scoped_lock alone(mutex_);
    out_.reset();
  }

 private:
  std::mutex mutex_;
  UniqueFd out_;
  std::set<std::string> told_;
};

std::string unquoted_place(std::string_view would_grant) {
  constexpr std::string_view kOption = "--network ";
  if (!would_grant.starts_with(kOption)) return {};
  std::string place(would_grant.substr(kOption.size()));
  std::erase(place, '\'');
  return place;
}

}  // namespace

// Its threads' work, and what of it all sessions share; all but `mutex` and `thread` on the loop.
struct ServerConnections::Loop {
  using Note = ServerConnections::Note;

  explicit Loop(std::filesystem::path folder, MakeResolver make)
      : audit_folder(std::move(folder)),
        make_resolver(make ? std::move(make) : MakeResolver(network::system_resolver)) {}

  void start() {
    const std::scoped_lock alone(mutex);
    if (thread.joinable()) return;
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before);
    thread = std::thread([this] { loop.run(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  // Runs it on the loop, and waits for that; at once where there is no thread yet.
  void on_loop(const std::function<void()>& what) {
    {
      const std::scoped_lock alone(mutex);
      if (!thread.joinable()) return what();
    }
    // The other thread's use of it may end after the wait has.
    const auto done = std::make_shared<std::promise<void>>();
    asio::post(loop, [&what, done] {
      try {
        what();
        done->set_value();
      } catch (...) {
        done->set_exception(std::current_exception());
      }
    });
    done->get_future().get();
  }

  // Where notes stand that no run has a record for. On the loop.
  audit::Sink* record_of_notes(const std::string& server);

  // What a server is refused, for its user. On the loop.
  void tell_refusal(const std::string& server, const std::string& text) {
    if (tell || untold_refusals[server]++ < kMostTold) tell_user(text, false);
  }
  // For who bounds how many there are. On the loop.
  void tell_user(const std::string& text, bool is_bounded) {
    if (tell) return tell(text, is_bounded);
    untold.emplace_back(text, is_bounded);
  }
  void take_note(Note note);
  void record_note(const Note& note);

  const SystemClock clock;
  const std::filesystem::path audit_folder;
  const MakeResolver make_resolver;
  audit::Sink* log = nullptr;  // of a run
  Tell tell;
  std::vector<std::pair<std::string, bool>> untold;    // until there is a listener
  std::map<std::string, std::size_t> untold_refusals;  // by server
  std::map<std::pair<std::string, Note::Kind>, std::set<std::string>> noted;
  std::map<std::string, std::unique_ptr<audit::RunLog>> own;  // of notes, by server
  std::mutex mutex;
  asio::io_context loop{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{loop.get_executor()};
  std::list<std::weak_ptr<Session::State>> sessions;
  std::thread thread;
};

struct ServerConnections::Session::State
    : std::enable_shared_from_this<ServerConnections::Session::State>,
      audit::Sink {
  using Answer = std::expected<gate::Connected, gate::CallError>;
  template <class T>
  using Awaitable = asio::awaitable<T>;

  State(Loop& of, ServerNetwork what, policy::Authority rules, UniqueFd standard_error)
      : loop(of),
        network(std::move(what)),
        authority(std::move(rules)),
        notices(std::move(standard_error)),
        names([this](const std::string& name) { return admits_name(name); }) {}

  Result<void> take(std::vector<UniqueFd> sockets);
  void start();
  void close(std::string_view outcome);

  // audit::Sink: where its connections are recorded.
  Result<std::string> append(std::string_view kind, Json payload) override;
  [[nodiscard]] std::string keyed_digest(std::string_view bytes) const override {
    return loop.log != nullptr ? loop.log->keyed_digest(bytes) : std::string();
  }
  Result<audit::Sink*> own_record();

  Awaitable<void> accept(Tcp::acceptor& acceptor);
  Awaitable<void> serve_begun(std::shared_ptr<Tcp::socket> client);
  Awaitable<void> serve(std::shared_ptr<Tcp::socket> client);
  Awaitable<void> serve_proxy(std::shared_ptr<Tcp::socket> client);
  Awaitable<void> relay(std::shared_ptr<Tcp::socket> client, std::string host, std::uint16_t port);
  Awaitable<void> serve_names();
  Awaitable<void> serve_names_of(std::shared_ptr<Tcp::socket> client);
  Awaitable<Answer> connect(std::string host, std::uint16_t port, gate::ProgramEnd end);
  bool admits_name(const std::string& name);
  void tell_refusal(const gate::Check& check);
  void tell_user(const std::string& about, const std::string& text) {
    if (notices.say(about, text)) loop.tell_refusal(network.server, printable(text));
  }
  bool may_be_refused();

  Loop& loop;
  ServerNetwork network;
  policy::Authority authority;
  const std::vector<std::string> declared = {policy::kNetworkPermission};
  Notices notices;
  std::vector<Tcp::acceptor> acceptors;
  std::optional<Udp::socket> name_socket;
  NameAnswers names;
  std::unique_ptr<network::HostDialer> dialer;
  std::unique_ptr<gate::NetworkGate> gate;
  std::unique_ptr<audit::RunLog> own;
  std::map<std::uint64_t, audit::Sink*> recorded_in;  // connections that are not over
  std::map<std::uint64_t, std::string> asked;         // by connections that are being decided
  std::set<Tcp::socket*> clients;
  std::set<std::string> refused_names;
  std::uint64_t last_id = 0;
  std::size_t begun = 0;
  double refusals_left = kMostRefused;
  std::chrono::steady_clock::time_point refilled = std::chrono::steady_clock::now();
  bool is_noted = false;
  bool is_closed = false;
};

using State = ServerConnections::Session::State;

Result<void> ServerConnections::Session::State::take(std::vector<UniqueFd> sockets) {
  boost::system::error_code error;
  for (UniqueFd& fd : sockets) {
    int type = 0;
    int family = AF_INET;
    socklen_t size = sizeof type;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
        ::getsockopt(fd.get(), SOL_SOCKET, SO_DOMAIN, &family, &size) != 0)
      return fail(ErrorId::kInternal, "a socket of a server is none");
    if (type == SOCK_DGRAM) {
      name_socket.emplace(loop.loop);
      name_socket->assign(Udp::v4(), fd.get(), error);
    } else {
      acceptors.emplace_back(loop.loop);
      acceptors.back().assign(family == AF_INET6 ? Tcp::v6() : Tcp::v4(), fd.get(), error);
    }
    if (error) return fail(ErrorId::kInternal, "cannot listen for a server: " + error.message());
    std::ignore = fd.release();
  }
  return {};
}

void ServerConnections::Session::State::start() {
  network::RelayLimits limits;
  limits.idle = kIdle;
  limits.bytes = std::numeric_limits<std::uint64_t>::max();
  dialer = std::make_unique<network::HostDialer>(
      loop.loop.get_executor(), loop.make_resolver(loop.loop.get_executor()), nullptr, limits);
  gate = std::make_unique<gate::NetworkGate>(gate::NetworkSetup{
      .authority = &authority,
      .dialer = dialer.get(),
      .audit = this,
      .clock = &loop.clock,
      .declared = &declared,
      .limits = {.open = kMostOpen, .total = std::numeric_limits<std::size_t>::max()},
      .on_denied = [this](const gate::Check& check) { tell_refusal(check); },
      .on_refused = [this] { refusals_left -= 1; }});
  const auto self = shared_from_this();
  for (Tcp::acceptor& acceptor : acceptors) {
    asio::co_spawn(
        loop.loop, [self, &acceptor] { return self->accept(acceptor); }, asio::detached);
  }
  if (name_socket)
    asio::co_spawn(
        loop.loop, [self] { return self->serve_names(); }, asio::detached);
}

void ServerConnections::Session::State::close(std::string_view outcome) {
  if (std::exchange(is_closed, true)) return;
  notices.close();
  boost::system::error_code ignored;
  for (Tcp::acceptor& acceptor : acceptors) acceptor.close(ignored);
  if (name_socket) name_socket->close(ignored);
  if (gate) gate->close_all(outcome);
  for (Tcp::socket* client : clients) client->close(ignored);
  gate.reset();
  dialer.reset();
  if (!own) return;
  std::ignore = own->append("RunEnded", {{"verdict", "server-ended"}});
  std::ignore = own->close();
  own.reset();
}

// A connection's events stand in one record, from its first to its last.
Result<std::string> ServerConnections::Session::State::append(std::string_view kind, Json payload) {
  payload["server"] = network.server;
  const auto id = payload.at("connection").get<std::uint64_t>();
  const auto known = recorded_in.find(id);
  audit::Sink* sink = known == recorded_in.end() ? nullptr : known->second;
  if (sink == nullptr) {
    auto chosen = loop.log != nullptr ? Result<audit::Sink*>(loop.log) : own_record();
    if (!chosen) return pass_on(chosen);
    sink = *chosen;
  }
  const bool is_over = kind == "ConnectionEnded" ||
                       (payload.at("address").is_null() && payload.at("allowed") == false);
  if (is_over) {
    recorded_in.erase(id);
  } else {
    recorded_in[id] = sink;
  }
  return sink->append(kind, std::move(payload));
}

namespace {

// The record of a server that no run has to itself.
Result<std::unique_ptr<audit::RunLog>> begin_record_of_server(const std::filesystem::path& folder,
                                                              const Clock& clock,
                                                              const std::string& server,
                                                              const policy::Authority& authority,
                                                              const Json& declared) {
  auto log = audit::RunLog::create(folder, new_uuid_v7(clock), clock, {}, kOwnRecord);
  if (!log) return pass_on(log);
  Json places = Json::array();
  for (const auto& place : authority.networks()) {
    places.push_back(
        {{"place", policy::print_network(place.host, place.port)}, {"said_in", place.said_in}});
  }
  gate::Binding binding;
  binding.policy = policy::policy_digest(authority);
  Json policy = policy::policy_record(authority);
  std::string digest = policy::digest_of_record(policy);
  auto begun_record = (*log)->append("RunStarted", {{"program", "server " + server},
                                                    {"files", Json::array()},
                                                    {"network", std::move(places)},
                                                    {"declared", declared},
                                                    {"permissions", Json::array()},
                                                    {"declared_in", "mcpac.json"},
                                                    {"mode", "enforce"},
                                                    {"binding", gate::recorded(binding, **log)},
                                                    {"policy", std::move(policy)},
                                                    {"policy_digest", std::move(digest)}});
  if (!begun_record) return pass_on(begun_record);
  return log;
}

}  // namespace

Result<audit::Sink*> ServerConnections::Session::State::own_record() {
  if (own) return own.get();
  auto log =
      begin_record_of_server(loop.audit_folder, loop.clock, network.server, authority, declared);
  if (!log) return pass_on(log);
  own = std::move(*log);
  return own.get();
}

audit::Sink* ServerConnections::Loop::record_of_notes(const std::string& server) {
  if (log != nullptr) return log;
  if (const auto found = own.find(server); found != own.end()) return found->second.get();
  const auto nothing = project::authority_of_network({});
  if (!nothing) return nullptr;
  auto begun = begin_record_of_server(audit_folder, clock, server, *nothing, Json::array());
  return begun ? own.emplace(server, std::move(*begun)).first->second.get() : nullptr;
}

namespace {

// Of one kind: how many are told of a server, and what is said of those past them.
struct NoteBudget {
  std::size_t most;
  std::string past;
  std::string remedy;
};

NoteBudget budget_of_notes(ServerConnections::Note::Kind kind, const std::string& server) {
  using Kind = ServerConnections::Note::Kind;
  if (kind == Kind::kFailedCall) {
    return {ServerConnections::kMostFailedCalls, "why more of its calls failed is not told",
            advice_for_calls(server)};
  }
  const bool is_name = kind == Kind::kNewName;
  return {is_name ? ServerConnections::kMostNewNames : ServerConnections::kMostUnseen,
          is_name ? "more names that came to be in what it may write are not told"
                  : "more of what it may write cannot be looked through, and is not told",
          "look through all that it may write before you go on"};
}

}  // namespace

void ServerConnections::Loop::record_note(const Note& note) {
  Json payload = note.anomaly;
  payload["server"] = note.server;
  if (audit::Sink* sink = record_of_notes(note.server); sink != nullptr)
    std::ignore = sink->append("Anomaly", std::move(payload));
  tell_user(note.text, true);
}

void ServerConnections::Loop::take_note(Note note) {
  std::set<std::string>& known = noted[{note.server, note.kind}];
  if (known.contains(note.key)) return;
  const NoteBudget budget = budget_of_notes(note.kind, note.server);
  if (known.size() > budget.most) return;
  if (known.size() == budget.most) {
    note.text = fmt::format("{}: {}; {}", printable(note.server), budget.past, budget.remedy);
    note.anomaly = {{"what", budget.past}};
  }
  record_note(note);
  known.insert(std::move(note.key));
}

bool ServerConnections::Session::State::may_be_refused() {
  const auto now = std::chrono::steady_clock::now();
  const double passed = std::chrono::duration<double>(now - refilled).count();
  refusals_left = std::min(kMostRefused, refusals_left + passed);
  refilled = now;
  if (refusals_left >= 1) {
    is_noted = is_noted && refusals_left < kMostRefused / 2;
    return true;
  }
  if (!std::exchange(is_noted, true)) {
    auto* sink = loop.log != nullptr ? loop.log : own.get();
    if (sink != nullptr) {
      std::ignore = sink->append("Anomaly", {{"what",
                                              "a server asks for many connections that it "
                                              "may not have; more are ended undecided"},
                                             {"server", network.server}});
    }
    tell_user("", fmt::format("server {} asks for many connections that it may not have: the "
                              "next ones are closed undecided, one a second is decided",
                              network.server));
  }
  return false;
}

void ServerConnections::Session::State::tell_refusal(const gate::Check& check) {
  const auto found = asked.find(check.call_id);
  if (found == asked.end()) return;
  const std::string place = unquoted_place(check.would_grant);
  std::string fix = check.no_grant;
  if (!place.empty()) {
    // A name alone was asked for: no connection, and so no port, was seen.
    const bool has_port = found->second.contains(':');
    fix = fmt::format("add \"{}\" to sandbox.network of server {} in {}{}",
                      has_port ? place : found->second + ":PORT", network.server, network.file,
                      has_port ? "" : ", with the port that it connects to");
  }
  tell_user(found->second,
            fmt::format("server {} was refused a connection to {}: {}{}{}", network.server,
                        found->second, check.reason, fix.empty() ? "" : "; ", fix));
}

asio::awaitable<void> ServerConnections::Session::State::accept(Tcp::acceptor& acceptor) {
  const auto self = shared_from_this();
  constexpr std::chrono::milliseconds kRest{20};
  asio::steady_timer rest(loop.loop);
  while (!is_closed) {
    if (begun >= kMostBegun || !may_be_refused()) {
      rest.expires_after(kRest);
      std::ignore = co_await rest.async_wait(kServeAwait);
      continue;
    }
    auto [error, socket] = co_await acceptor.async_accept(kServeAwait);
    if (is_closed) co_return;
    if (error) {  // no descriptors, a connection that went before it was taken
      rest.expires_after(kRest);
      std::ignore = co_await rest.async_wait(kServeAwait);
      continue;
    }
    auto client = std::make_shared<Tcp::socket>(std::move(socket));
    asio::co_spawn(
        loop.loop, [self, client] { return self->serve_begun(client); }, asio::detached);
  }
}

// Counted and known for as long as it is served, also where that ends by an exception.
asio::awaitable<void> ServerConnections::Session::State::serve_begun(
    std::shared_ptr<Tcp::socket> client) {
  struct Begun {
    Begun(State& of, Tcp::socket* what) : state(of), socket(what) {
      state.clients.insert(socket);
      ++state.begun;
    }
    ~Begun() {
      state.clients.erase(socket);
      --state.begun;
    }
    Begun(const Begun&) = delete;
    Begun& operator=(const Begun&) = delete;
    State& state;
    Tcp::socket* socket;
  };
  const auto self = shared_from_this();
  const Begun here(*this, client.get());
  co_await serve(client);
}

// A reset and no end: nothing was said to it by whom it meant.
void reset_connection(Tcp::socket& client) {
  boost::system::error_code ignored;
  client.set_option(asio::socket_base::linger(true, 0), ignored);
  client.close(ignored);
}

asio::awaitable<void> ServerConnections::Session::State::serve(
    std::shared_ptr<Tcp::socket> client) {
  boost::system::error_code error;
  const auto meant = client->local_endpoint(error);
  if (error) co_return;
  client->set_option(Tcp::no_delay(true), error);
  auto address = meant.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  const bool is_own = address == asio::ip::address_v4::loopback();
  if (meant.port() == network.proxy_port) {
    if (is_own) co_return co_await serve_proxy(std::move(client));
    co_return reset_connection(*client);
  }
  if (is_own && meant.port() == kNamePort) co_return co_await serve_names_of(std::move(client));
  const auto name = address.is_v4() ? names.name_of(address.to_v4()) : std::nullopt;
  co_await relay(std::move(client), name.value_or(address.to_string()), meant.port());
}

// Copied, so that it can be told of a refusal.
UniqueFd same_socket(Tcp::socket& client) {
  return UniqueFd(::fcntl(client.native_handle(), F_DUPFD_CLOEXEC, 3));
}

asio::awaitable<void> ServerConnections::Session::State::relay(std::shared_ptr<Tcp::socket> client,
                                                               std::string host,
                                                               std::uint16_t port) {
  gate::ProgramEnd end;
  end.socket = same_socket(*client);
  if (!end.socket) co_return reset_connection(*client);
  const auto connected = co_await connect(std::move(host), port, std::move(end));
  if (!connected) reset_connection(*client);
}

asio::awaitable<void> ServerConnections::Session::State::serve_proxy(
    std::shared_ptr<Tcp::socket> client) {
  asio::steady_timer patience(loop.loop, kToSay);
  patience.async_wait([weak = std::weak_ptr(client)](const boost::system::error_code& error) {
    boost::system::error_code ignored;
    if (const auto late = weak.lock(); late && !error) late->close(ignored);
  });
  auto request = co_await read_asked(*client);
  patience.cancel();
  if (is_closed) co_return;
  std::string reply;
  if (request) {
    ProxyAsked& what = **request;
    boost::system::error_code not_address;
    const auto literal = asio::ip::make_address_v4(what.host, not_address);
    const auto name = not_address ? std::nullopt : names.name_of(literal);
    gate::ProgramEnd end;
    if (!what.forwarded) {
      end.socket = same_socket(*client);
      end.greeting = what.granted;
      end.early = std::move(what.early);
    }
    auto connected = co_await connect(name.value_or(what.host), what.port, std::move(end));
    if (is_closed) co_return;
    if (connected) {
      if (what.forwarded) co_await what.forwarded->relay(std::move(connected->descriptor));
      co_return;
    }
    reply = what.refusal(connected.error());
  } else {
    reply = request.error().reply;
  }
  boost::system::error_code ignored;
  if (!reply.empty()) std::ignore = client->write_some(asio::buffer(reply), ignored);
  client->shutdown(Tcp::socket::shutdown_send, ignored);
  // What it still says is taken for a moment: a reset would take the reply away from it.
  patience.expires_after(seconds(1));
  patience.async_wait([weak = std::weak_ptr(client)](const boost::system::error_code& error) {
    boost::system::error_code closing;
    if (const auto late = weak.lock(); late && !error) late->close(closing);
  });
  std::array<char, 4096> rest{};
  for (std::size_t taken = 0; taken < (std::size_t{1} << 20U);) {
    const auto [error, size] = co_await client->async_read_some(asio::buffer(rest), kServeAwait);
    if (error) break;
    taken += size;
  }
}

asio::awaitable<State::Answer> ServerConnections::Session::State::connect(std::string host,
                                                                          std::uint16_t port,
                                                                          gate::ProgramEnd end) {
  if (is_closed || !may_be_refused()) {
    co_return std::unexpected(gate::budget("too many connections that are refused", Sent::kUnsaid));
  }
  const std::uint64_t id = ++last_id;
  const bool is_v6 = host.find(':') != std::string::npos && !host.starts_with('[');
  asked.emplace(id, is_v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port));
  auto answer = std::make_shared<std::optional<Answer>>();
  auto answered = std::make_shared<asio::steady_timer>(loop.loop);
  gate->connect(
      id, {std::move(host), port, gate::Tls::kNo},
      [answer, answered](Answer given) {
        *answer = std::move(given);
        answered->cancel();
      },
      std::move(end));
  while (!*answer) {
    answered->expires_after(std::chrono::hours(1));
    std::ignore = co_await answered->async_wait(kServeAwait);
  }
  asked.erase(id);
  co_return std::move(**answer);
}

// By its name, for direct connections: on one of the ports that are listened on. What is refused is
// recorded here, as no connection follows.
bool ServerConnections::Session::State::admits_name(const std::string& name) {
  constexpr std::size_t kMostNames = 1024;
  policy::NetworkAnswer first;
  for (const std::uint16_t port : network.ports) {
    auto answer = authority.decide_network(name, port);
    if (answer.allowed) return true;
    if (first.reason.empty()) first = std::move(answer);
  }
  if (!gate::canonical_host(name) || refused_names.contains(name) || !may_be_refused())
    return false;
  if (refused_names.size() >= kMostNames) refused_names.clear();
  refused_names.insert(name);
  refusals_left -= 1;
  gate::NetworkRecord record;
  record.connection = ++last_id;
  record.host = name;
  record.port = network.ports.empty() ? 0 : network.ports.front();
  record.tls = gate::Tls::kNo;
  record.rule = first.said_in;
  record.layer = first.layer;
  record.reason = first.reason;
  std::ignore = append("NetworkCheck", gate::check_payload(record));
  asked.emplace(record.connection, name);
  tell_refusal(gate::as_check(record, first));
  asked.erase(record.connection);
  return false;
}

asio::awaitable<void> ServerConnections::Session::State::serve_names() {
  const auto self = shared_from_this();
  std::array<char, 1232> query{};
  while (!is_closed) {
    Udp::endpoint from;
    const auto [error, size] =
        co_await name_socket->async_receive_from(asio::buffer(query), from, kServeAwait);
    if (is_closed) co_return;
    if (error) continue;
    const auto reply = names.answer(std::string_view(query.data(), size));
    boost::system::error_code ignored;
    if (reply) name_socket->send_to(asio::buffer(*reply), from, 0, ignored);
  }
}

// RFC 1035, section 4.2.2: two bytes of size before each message.
asio::awaitable<void> ServerConnections::Session::State::serve_names_of(
    std::shared_ptr<Tcp::socket> client) {
  asio::steady_timer patience(loop.loop, kToSay);
  patience.async_wait([weak = std::weak_ptr(client)](const boost::system::error_code& error) {
    boost::system::error_code ignored;
    if (const auto late = weak.lock(); late && !error) late->close(ignored);
  });
  for (;;) {
    std::array<unsigned char, 2> size{};
    auto [error, read] = co_await asio::async_read(*client, asio::buffer(size), kServeAwait);
    if (error || is_closed) co_return;
    std::string query((std::size_t{size[0]} << 8U) | size[1], '\0');
    auto [failed, whole] = co_await asio::async_read(*client, asio::buffer(query), kServeAwait);
    if (failed || is_closed) co_return;
    const auto reply = names.answer(query);
    if (!reply) co_return;
    std::string message;
    message += static_cast<char>(reply->size() >> 8U);
    message += static_cast<char>(reply->size() & 0xffU);
    message += *reply;
    auto [broken, sent] = co_await asio::async_write(*client, asio::buffer(message), kServeAwait);
    if (broken || is_closed) co_return;
  }
}

ServerConnections::Session::Session(std::shared_ptr<Loop> loop, std::shared_ptr<State> state)
    : loop_(std::move(loop)), state_(std::move(state)) {}

// Its standard error ends with the server at once; a waiter for that is not kept.
ServerConnections::Session::~Session() {
  state_->notices.close();
  loop_->on_loop([this] { state_->close("server-ended"); });
}

ServerConnections::ServerConnections(std::filesystem::path audit_folder, MakeResolver resolver)
    : loop_(std::make_shared<Loop>(std::move(audit_folder), std::move(resolver))) {}

ServerConnections::~ServerConnections() {
  loop_->on_loop([this] {
    for (const auto& session : loop_->sessions) {
      if (const auto state = session.lock()) state->close("server-ended");
    }
  });
  for (const auto& [server, own] : loop_->own) {
    std::ignore = own->append("RunEnded", {{"verdict", "server-ended"}});
    std::ignore = own->close();
  }
  if (!loop_->thread.joinable()) return;
  loop_->loop.stop();
  loop_->thread.join();
}

Result<std::unique_ptr<ServerConnections::Session>> ServerConnections::serve(
    ServerNetwork network, std::vector<UniqueFd> sockets, UniqueFd standard_error) {
  auto authority = project::authority_of_network(network.layers);
  if (!authority) return pass_on(authority);
  auto state = std::make_shared<Session::State>(*loop_, std::move(network), std::move(*authority),
                                                std::move(standard_error));
  if (auto taken = state->take(std::move(sockets)); !taken) return pass_on(taken);
  loop_->start();
  loop_->on_loop([&] {
    std::erase_if(loop_->sessions, [](const auto& session) { return session.expired(); });
    loop_->sessions.push_back(state);
    state->start();
  });
  return std::unique_ptr<Session>(new Session(loop_, std::move(state)));
}

void ServerConnections::record_in(audit::Sink* log) {
  loop_->on_loop([&] {
    for (const auto& session : loop_->sessions) {
      const auto state = session.lock();
      if (state && state->gate && loop_->log != nullptr) state->gate->close_all("run-ended");
    }
    loop_->log = log;
  });
}

void ServerConnections::note(Note note) {
  loop_->on_loop([&] { loop_->take_note(std::move(note)); });
}

void ServerConnections::tell_refusals(Tell tell) {
  loop_->on_loop([&] {
    loop_->tell = std::move(tell);
    if (!loop_->tell) return;
    loop_->untold_refusals.clear();
    for (const auto& [text, is_bounded] : std::exchange(loop_->untold, {}))
      loop_->tell(text, is_bounded);
  });
}

Result<ServerNetwork> network_of_server(const std::string& server, const std::string& file,
                                        const std::vector<std::string>& places,
                                        ServersReach reach) {
  const std::string where = fmt::format("{}: mcpServers.{}.sandbox.network", file, server);
  for (const std::string& place : places) {
    if (auto alone = project::authority_of_network({project::network_layer(server, {place})});
        !alone) {
      Error error = std::move(alone.error());
      error.what =
          fmt::format("\"{}\" is no place of the network: {}", printable(place), error.what);
      error.where = where;
      // Statements of a policy, as items of a list.
      constexpr std::string_view kStatement = "network ";
      std::vector<std::string> items;
      for (auto at = error.fix.find(kStatement); at != std::string::npos;
           at = error.fix.find(kStatement, at)) {
        at += kStatement.size();
        items.push_back(fmt::format("\"{}\"", error.fix.substr(at, error.fix.find(' ', at) - at)));
      }
      if (!items.empty())
        error.fix = fmt::format("{} {}", error.fix.starts_with("e.g.") ? "e.g." : "write",
                                fmt::join(items, ", "));
      error.id = ErrorId::kConfigInvalid;
      return std::unexpected(std::move(error));
    }
  }
  ServerNetwork network{
      .server = server, .file = file, .layers = {project::network_layer(server, places)}};
  auto authority = project::authority_of_network(network.layers);
  if (!authority) return pass_on(authority);
  std::set<std::uint16_t> ports;
  for (const auto& place : authority->networks()) {
    if (place.port != 0) {
      ports.insert(place.port);
    } else {
      ports.insert(kUsualPorts.begin(), kUsualPorts.end());
    }
  }
  if (ports.size() > kMostSockets - kOwnSockets) {
    return fail(ErrorId::kConfigInvalid,
                fmt::format("the places of \"network\" have {} ports, and at most {} are possible",
                            ports.size(), kMostSockets - kOwnSockets),
                {.where = where, .fix = "write \"HOST:*\" for several ports of a host"});
  }
  network.ports.assign(ports.begin(), ports.end());
  network.proxy_port = kFirstProxyPort;
  while (ports.contains(network.proxy_port)) ++network.proxy_port;
  if (reach == ServersReach::kNothing) {
    policy::LayerText denied;
    denied.name = "the rules of the run";
    denied.places = {"deny network"};
    network.layers.push_back(std::move(denied));
  }
  return network;
}

void give_network(const ServerNetwork& network, sandbox::Spec& spec) {
  using Kind = sandbox::Listen::Kind;
  spec.listens = {{Kind::kStream, network.proxy_port},
                  {Kind::kDatagram, kNamePort},
                  {Kind::kStream, kNamePort}};
  for (const std::uint16_t port : network.ports) {
    if (port != kNamePort) spec.listens.push_back({Kind::kStream, port});
  }
  spec.arguments.front() += fmt::format("+{}", spec.listens.size());
  const auto set = [&](const std::string& name, const std::string& value) {
    const bool is_set = std::ranges::any_of(spec.environment, [&](const std::string& variable) {
      return variable.starts_with(name + "=");
    });
    if (!is_set) spec.environment.push_back(fmt::format("{}={}", name, value));
  };
  const std::string proxy = fmt::format("http://127.0.0.1:{}", network.proxy_port);
  for (const char* name :
       {"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"})
    set(name, proxy);
  for (const char* name : {"NO_PROXY", "no_proxy"}) set(name, "localhost,127.0.0.1,::1");
  set("NODE_USE_ENV_PROXY", "1");
}

}  // namespace mcpac::servers
