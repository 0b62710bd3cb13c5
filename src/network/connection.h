// Connection: one way from a program into the network: dialled, then relayed, then gone.
//
// Nothing is read ahead: each direction has one buffer, filled only when it is empty, so a side
// that does not read stops the other. The end of one direction is passed on (over TLS as
// close_notify) and leaves the other open; what breaks ends both. close() may be called at any
// time: no callback comes after it, and the coroutines, which keep the object alive, run out.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>

#include "gate/dialer.h"
#include "network/host_dialer.h"
#include "network/resolver.h"

namespace mcpac::network {

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

}  // namespace mcpac::network
