// SPDX-License-Identifier: Apache-2.0

#include "network/host_dialer.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "gate/dialer.h"
#include "mcp/http_connection.h"
#include "network/own_addresses.h"
#include "network/resolver.h"
#include "policy/match/ip_network.h"

namespace mcpac::network {
namespace asio = boost::asio;

// Connection: one way from a program into the network: dialled, then relayed, then gone.
//
// Nothing is read ahead: each direction has one buffer, filled only when it is empty, so a side
// that does not read stops the other. The end of one direction is passed on (over TLS as
// close_notify) and leaves the other open; what breaks ends both. close() may be called at any
// time: no callback comes after it, and the coroutines, which keep the object alive, run out.

// Shared state of a run's connections.
struct Shared {
  std::shared_ptr<Resolver> resolver;
  std::shared_ptr<boost::asio::ssl::context> tls;  // null: there is none
  RelayLimits limits;
  std::shared_ptr<std::uint64_t> bytes_left;
  std::string why_no_tls;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // `gone` is called once when it ended by itself, before the plan's callback.
  [[nodiscard]] static std::shared_ptr<Connection> make(boost::asio::any_io_executor executor,
                                                        gate::DialPlan plan, Shared shared,
                                                        std::function<void()> gone);
  void start();
  void close();
  [[nodiscard]] gate::Traffic traffic() const { return traffic_; }

 private:
  using Tcp = boost::asio::ip::tcp;
  using Local = boost::asio::local::stream_protocol;
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;
  static constexpr std::size_t kBuffer = std::size_t{64} << 10U;
  using Buffer = std::array<char, kBuffer>;

  Connection(boost::asio::any_io_executor executor, gate::DialPlan plan, Shared shared,
             std::function<void()> gone);

  Awaitable<void> run();
  Awaitable<Result<void>> dial();
  Awaitable<Result<void>> dial_one(const boost::asio::ip::address& address);
  Awaitable<Result<void>> speak_tls();
  // The socket pair; returns the program's end.
  Result<UniqueFd> make_ends();
  void begin_relay();
  Awaitable<void> relay_in();
  Awaitable<void> relay_out();
  // The bytes have come; false: they may not go on.
  bool count(std::uint64_t& counter, std::size_t bytes);
  Awaitable<bool> end_out();
  void direction_ended();
  void watch_idle();
  // After `time` what is waited for is cut off, unless the watch was stopped or set again. A name
  // server cannot be cut off: then the answer is given, and what comes later is dropped.
  void give_up_after(std::chrono::milliseconds time);
  void stop_watch();
  // It will not be: answers, once.
  void refuse(Error error);
  void close_sockets();
  // Ends by itself: the last event.
  void end(gate::ConnectionEnd how);

  boost::asio::any_io_executor executor_;
  gate::DialPlan plan_;
  Shared shared_;
  std::function<void()> gone_;
  Tcp::socket tcp_;  // of plain connections, and of TLS until it begins
  std::optional<boost::asio::ssl::stream<Tcp::socket&>> tls_;
  Local::socket program_;
  boost::asio::steady_timer watch_;
  std::chrono::steady_clock::time_point deadline_;
  std::string address_;
  Buffer in_{};
  Buffer out_{};
  gate::Traffic traffic_;
  std::uint64_t seen_ = 0;  // bytes at the last look of the idle watch
  int directions_ = 0;
  unsigned watch_turn_ = 0;  // a watch that has fired already may still be on its way
  bool resolving_ = false;
  bool gave_up_ = false;
  bool closed_ = false;
};

// An address as the network has it, and as rules read it.
[[nodiscard]] inline policy::IpAddress to_policy(const boost::asio::ip::address& address) {
  policy::IpAddress result;
  result.v4 = address.is_v4();
  if (result.v4) {
    std::ranges::copy(address.to_v4().to_bytes(), result.bytes.begin());
  } else {
    std::ranges::copy(address.to_v6().to_bytes(), result.bytes.begin());
  }
  return result;
}

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

std::unexpected<Error> timed_out(const gate::DialPlan& plan) {
  return fail(ErrorId::kNetworkTimeout,
              fmt::format("{}:{} did not answer in time", plan.host, plan.port));
}

std::shared_ptr<Connection> Connection::make(asio::any_io_executor executor, gate::DialPlan plan,
                                             Shared shared, std::function<void()> gone) {
  return std::shared_ptr<Connection>(
      new Connection(std::move(executor), std::move(plan), std::move(shared), std::move(gone)));
}

Connection::Connection(asio::any_io_executor executor, gate::DialPlan plan, Shared shared,
                       std::function<void()> gone)
    : executor_(executor),
      plan_(std::move(plan)),
      shared_(std::move(shared)),
      gone_(std::move(gone)),
      tcp_(executor),
      program_(executor),
      watch_(executor) {}

void Connection::start() {
  deadline_ = std::chrono::steady_clock::now() + shared_.limits.connect;
  asio::co_spawn(
      executor_, [self = shared_from_this()] { return self->run(); }, asio::detached);
}

Connection::Awaitable<void> Connection::run() {
  // Else a dial that ends at once would answer inside the call that asked for it.
  watch_.expires_after(std::chrono::seconds(0));
  std::ignore = co_await watch_.async_wait(kAwait);
  if (closed_) co_return;
  if (plan_.tls == gate::Tls::kYes && !shared_.tls)
    co_return refuse(fail(ErrorId::kNetworkTls, shared_.why_no_tls).error());
  auto dialled = co_await dial();
  if (closed_) co_return;
  stop_watch();
  Result<UniqueFd> end = dialled ? make_ends() : pass_on(dialled);
  if (!end) co_return refuse(std::move(end.error()));
  gate::Dialled made{std::move(*end), address_};
  std::exchange(plan_.done, nullptr)(std::move(made));
  if (!closed_) begin_relay();
}

void Connection::refuse(Error error) {
  if (std::exchange(closed_, true)) return;
  close_sockets();
  gone_();
  if (const auto done = std::exchange(plan_.done, nullptr)) done(std::unexpected(std::move(error)));
}

Connection::Awaitable<Result<void>> Connection::dial() {
  std::vector<asio::ip::address> addresses;
  boost::system::error_code not_address;
  const auto literal = asio::ip::make_address(plan_.host, not_address);
  if (!not_address) {
    addresses.push_back(literal);
  } else {
    resolving_ = true;
    give_up_after(shared_.limits.connect);
    auto found = co_await shared_.resolver->resolve(plan_.host);
    resolving_ = false;
    stop_watch();
    if (closed_) co_return timed_out(plan_);
    if (!found) co_return pass_on(found);
    addresses = std::move(*found);
  }
  Result<void> last = fail(ErrorId::kCallDenied, "no address may be dialled");
  for (const auto& address : addresses) {
    if (std::chrono::steady_clock::now() >= deadline_) co_return timed_out(plan_);
    if (!plan_.may_dial(to_policy(address))) continue;
    last = co_await dial_one(address);
    if (closed_ || last || last.error().id == ErrorId::kNetworkTls) break;
  }
  co_return last;
}

Connection::Awaitable<Result<void>> Connection::dial_one(const asio::ip::address& address) {
  boost::system::error_code ignored;
  tcp_.close(ignored);
  gave_up_ = false;
  give_up_after(shared_.limits.one_address);
  auto [refused] = co_await tcp_.async_connect({address, plan_.port}, kAwait);
  stop_watch();
  if (gave_up_) co_return timed_out(plan_);
  if (refused) {
    co_return fail(ErrorId::kNetworkConnect, fmt::format("cannot connect to {}:{}: {}", plan_.host,
                                                         plan_.port, refused.message()));
  }
  tcp_.set_option(Tcp::no_delay(true), ignored);
  address_ = address.to_string();
  if (plan_.tls == gate::Tls::kNo) co_return Result<void>();
  co_return co_await speak_tls();
}

Connection::Awaitable<Result<void>> Connection::speak_tls() {
  boost::system::error_code error;
  try {
    tls_.emplace(tcp_, *shared_.tls);
  } catch (const boost::system::system_error& failed) {
    error = failed.code();
  }
  if (error) co_return fail(ErrorId::kNetworkTls, "cannot begin TLS: " + error.message());
  // Whatever the context says: there is no way here that leaves this out.
  tls_->set_verify_mode(asio::ssl::verify_peer, error);
  if (!error) tls_->set_verify_callback(asio::ssl::host_name_verification(plan_.host), error);
  boost::system::error_code not_address;
  asio::ip::make_address(plan_.host, not_address);
  const bool is_named = !not_address ||  // an address has no place in SNI (RFC 6066)
                        SSL_set_tlsext_host_name(tls_->native_handle(), plan_.host.c_str()) == 1;
  if (error || !is_named) co_return fail(ErrorId::kNetworkTls, "cannot name the host");
  gave_up_ = false;
  give_up_after(shared_.limits.one_address);
  auto [untrusted] = co_await tls_->async_handshake(asio::ssl::stream_base::client, kAwait);
  stop_watch();
  if (gave_up_) co_return timed_out(plan_);
  if (untrusted) {
    co_return fail(ErrorId::kNetworkTls,
                   fmt::format("no trusted connection to {}:{}: {} (the certificate must be valid "
                               "for the host)",
                               plan_.host, plan_.port, untrusted.message()));
  }
  co_return Result<void>();
}

Result<UniqueFd> Connection::make_ends() {
  boost::system::error_code error;
  if (plan_.end.socket) {  // whichever family it has: what is asked of it, streams of all have
    program_.assign(Local(), plan_.end.socket.get(), error);
    if (error) return fail(ErrorId::kInternal, "cannot watch the program's socket");
    std::ignore = plan_.end.socket.release();
    return UniqueFd();
  }
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(ErrorId::kInternal, "cannot make the connection's socket pair");
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  program_.assign(Local(), ours.get(), error);
  if (error) return fail(ErrorId::kInternal, "cannot watch the connection's socket pair");
  std::ignore = ours.release();
  return theirs;
}

void Connection::begin_relay() {
  directions_ = 2;
  watch_idle();
  const auto self = shared_from_this();
  asio::co_spawn(
      executor_, [self] { return self->relay_in(); }, asio::detached);
  asio::co_spawn(
      executor_, [self] { return self->relay_out(); }, asio::detached);
}

bool Connection::count(std::uint64_t& counter, std::size_t bytes) {
  if (bytes > *shared_.bytes_left) {
    end(gate::ConnectionEnd::kLimit);
    return false;
  }
  *shared_.bytes_left -= bytes;
  counter += bytes;
  return true;
}

Connection::Awaitable<void> Connection::relay_in() {
  if (const std::string greeting = std::move(plan_.end.greeting); !greeting.empty()) {
    auto [failed, written] = co_await asio::async_write(program_, asio::buffer(greeting), kAwait);
    if (closed_) co_return;
    if (failed) co_return end(gate::ConnectionEnd::kEnded);
  }
  for (;;) {
    auto [error, size] = tls_ ? co_await tls_->async_read_some(asio::buffer(in_), kAwait)
                              : co_await tcp_.async_read_some(asio::buffer(in_), kAwait);
    if (closed_) co_return;
    if (error == asio::error::eof) break;
    // Over TLS an end without close_notify too: it may have been cut on the way.
    if (error) co_return end(gate::ConnectionEnd::kBroken);
    if (!count(traffic_.bytes_in, size)) co_return;
    auto [failed, written] = co_await asio::async_write(program_, asio::buffer(in_, size), kAwait);
    if (closed_) co_return;
    // The program closed its end: the rest has no receiver.
    if (failed) co_return end(gate::ConnectionEnd::kEnded);
  }
  boost::system::error_code ignored;
  program_.shutdown(Local::socket::shutdown_send, ignored);
  direction_ended();
}

Connection::Awaitable<void> Connection::relay_out() {
  const std::string early = std::move(plan_.end.early);
  for (bool is_first = !early.empty();; is_first = false) {
    boost::system::error_code error;
    asio::const_buffer piece(early.data(), early.size());
    if (!is_first) {
      auto [ended, size] = co_await program_.async_read_some(asio::buffer(out_), kAwait);
      error = ended;
      piece = asio::const_buffer(out_.data(), size);
    }
    if (closed_) co_return;
    if (error) break;  // its end, however it came: what the other side says is still brought
    if (!count(traffic_.bytes_out, piece.size())) co_return;
    auto [failed, written] = tls_ ? co_await asio::async_write(*tls_, piece, kAwait)
                                  : co_await asio::async_write(tcp_, piece, kAwait);
    if (closed_) co_return;
    if (failed) co_return end(gate::ConnectionEnd::kBroken);
  }
  const bool sent = co_await end_out();
  if (closed_) co_return;
  if (!sent) co_return end(gate::ConnectionEnd::kBroken);
  direction_ended();
}

// close_notify, and no TLS after it; then, for both, the end of the TCP direction only where TLS
// does not need it. Asio's own shutdown would also wait for the other side, and fail when that goes
// on sending: so the alert is taken from OpenSSL through a buffer of its own.
Connection::Awaitable<bool> Connection::end_out() {
  boost::system::error_code error;
  if (!tls_) {
    tcp_.shutdown(Tcp::socket::shutdown_send, error);
    co_return !error;
  }
  SSL* const ssl = tls_->native_handle();
  BIO* const usual = SSL_get_wbio(ssl);
  BIO* const own = BIO_new(BIO_s_mem());
  if (own == nullptr || BIO_up_ref(usual) != 1) {
    BIO_free(own);
    co_return false;
  }
  SSL_set0_wbio(ssl, own);
  const int result = SSL_shutdown(ssl);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(own, &bytes);
  const std::string alert(bytes, size > 0 ? static_cast<std::size_t>(size) : 0);
  SSL_set0_wbio(ssl, usual);  // and `own` is gone
  if (result < 0) co_return false;
  auto [failed, written] = co_await asio::async_write(tcp_, asio::buffer(alert), kAwait);
  co_return !failed;
}

void Connection::direction_ended() {
  if (--directions_ == 0) end(gate::ConnectionEnd::kEnded);
}

void Connection::watch_idle() {
  seen_ = traffic_.bytes_in + traffic_.bytes_out;
  watch_.expires_after(shared_.limits.idle);
  watch_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->closed_) return;
    if (self->traffic_.bytes_in + self->traffic_.bytes_out == self->seen_)
      return self->end(gate::ConnectionEnd::kIdle);
    self->watch_idle();
  });
}

void Connection::give_up_after(std::chrono::milliseconds time) {
  const auto now = std::chrono::steady_clock::now();
  watch_.expires_at(
      std::min(now + std::chrono::duration_cast<std::chrono::nanoseconds>(time), deadline_));
  const unsigned turn = ++watch_turn_;
  watch_.async_wait([weak = weak_from_this(), turn](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->closed_ || turn != self->watch_turn_) return;
    if (self->resolving_) return self->refuse(timed_out(self->plan_).error());
    self->gave_up_ = true;
    boost::system::error_code ignored;
    self->tcp_.close(ignored);
  });
}

void Connection::stop_watch() {
  ++watch_turn_;
  watch_.cancel();
}

void Connection::close_sockets() {
  boost::system::error_code ignored;
  stop_watch();
  tcp_.close(ignored);
  program_.close(ignored);
}

void Connection::close() {
  if (std::exchange(closed_, true)) return;
  close_sockets();
  // Callbacks may own what owns this: none is called any more.
  plan_.done = nullptr;
  plan_.ended = nullptr;
}

void Connection::end(gate::ConnectionEnd how) {
  if (std::exchange(closed_, true)) return;
  close_sockets();
  gone_();
  if (const auto ended = std::exchange(plan_.ended, nullptr)) ended(how, traffic_);
}

HostDialer::HostDialer(asio::any_io_executor executor, std::shared_ptr<Resolver> resolver,
                       std::shared_ptr<asio::ssl::context> tls, RelayLimits limits,
                       std::function<TlsContext()> make_tls)
    : executor_(std::move(executor)),
      resolver_(std::move(resolver)),
      tls_(std::move(tls)),
      limits_(limits),
      make_tls_(make_tls ? std::move(make_tls) : mcp::make_tls_context),
      bytes_left_(std::make_shared<std::uint64_t>(limits.bytes)) {}

HostDialer::~HostDialer() {
  for (const auto& [token, connection] : std::exchange(*connections_, {})) connection->close();
  resolver_->close();
}

gate::Dialer::Token HostDialer::dial(gate::DialPlan plan) {
  const Token token = ++last_;
  std::string why_no_tls;
  if (plan.tls == gate::Tls::kYes && !tls_) {
    auto made = make_tls_();
    if (made) {
      tls_ = std::move(*made);
    } else {
      why_no_tls = made.error().what;
    }
  }
  auto connection = Connection::make(executor_, std::move(plan),
                                     {resolver_, tls_, limits_, bytes_left_, std::move(why_no_tls)},
                                     [weak = std::weak_ptr(connections_), token] {
                                       if (const auto all = weak.lock()) all->erase(token);
                                     });
  connections_->emplace(token, connection);
  connection->start();
  return token;
}

bool HostDialer::is_own(const policy::IpAddress& address) const {
  return is_own_address(address);
}

gate::Traffic HostDialer::close(Token token) {
  const auto node = connections_->extract(token);
  if (node.empty()) return {};
  node.mapped()->close();
  return node.mapped()->traffic();
}

}  // namespace mcpac::network
