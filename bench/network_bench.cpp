// SPDX-License-Identifier: Apache-2.0

// What the relay of connections costs: bench_network [MiB per row, default 256] [connects, 500]
//
// Method. A server thread on 127.0.0.1 sends what it is asked for. "plain" reads it from a socket
// of its own; "relay" has the host's dialer connect and relay, and reads the program's end, as a
// program does; the loop runs in a thread of its own, as the host's does. Both in turn, in one run,
// five rounds; median, least and most are printed. A connect is one connection, one byte and its
// end, one after the other. TLS and the gate's decisions are not in here (bench_gate has those).
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "network/host_dialer.h"

namespace {

using namespace mcpac;
using namespace mcpac::network;
using Seconds = std::chrono::duration<double>;

constexpr int kRounds = 5;

[[noreturn]] void die(const std::string& why) {
  fmt::print(stderr, "bench_network: {}\n", why);
  std::exit(1);
}

// Sends as many bytes as the eight that it is sent say, then ends the connection.
class Server {
 public:
  Server() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_.get(), any, size) != 0 || ::listen(listener_.get(), 64) != 0 ||
        ::getsockname(listener_.get(), any, &size) != 0)
      die("no server");
    address_ = address;
    thread_ = std::thread([this] { serve(); });
  }
  ~Server() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  [[nodiscard]] const sockaddr_in& address() const { return address_; }

 private:
  void serve() const {
    const std::string piece(std::size_t{1} << 16U, 's');
    for (;;) {
      const UniqueFd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!peer) return;
      std::uint64_t left = 0;
      if (::recv(peer.get(), &left, sizeof left, MSG_WAITALL) != sizeof left) continue;
      while (left > 0) {
        const auto size = std::min<std::uint64_t>(left, piece.size());
        const ssize_t sent = ::send(peer.get(), piece.data(), size, MSG_NOSIGNAL);
        if (sent <= 0) break;
        left -= static_cast<std::uint64_t>(sent);
      }
    }
  }
  UniqueFd listener_;
  sockaddr_in address_{};
  std::thread thread_;
};

void take(const UniqueFd& from, std::uint64_t wanted) {
  if (::send(from.get(), &wanted, sizeof wanted, MSG_NOSIGNAL) != sizeof wanted) die("not asked");
  std::string buffer(std::size_t{1} << 16U, '\0');
  for (std::uint64_t got = 0;;) {
    const ssize_t size = ::read(from.get(), buffer.data(), buffer.size());
    if (size < 0) die("the connection broke off");
    if (size == 0 && got != wanted) die("bytes are missing");
    if (size == 0) return;
    got += static_cast<std::uint64_t>(size);
  }
}

UniqueFd plain(const Server& server) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* const address = reinterpret_cast<const sockaddr*>(&server.address());
  if (::connect(fd.get(), address, sizeof(sockaddr_in)) != 0) die("no connection");
  return fd;
}

// The host's side: a loop in a thread, and its dialer, which is the loop's alone.
class Relay {
 public:
  Relay() : work_(boost::asio::make_work_guard(loop_)), thread_([this] { loop_.run(); }) {
    on_loop([this] {
      dialer_ =
          std::make_unique<HostDialer>(loop_.get_executor(), system_resolver(loop_.get_executor()));
    });
  }
  ~Relay() {
    on_loop([this] { dialer_.reset(); });
    work_.reset();
    thread_.join();
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  UniqueFd connect(const Server& server) {
    std::promise<UniqueFd> end;
    boost::asio::post(loop_, [&] {
      gate::DialPlan plan;
      plan.host = "127.0.0.1";
      plan.port = ::ntohs(server.address().sin_port);
      plan.tls = gate::Tls::kNo;
      plan.may_dial = [](const policy::IpAddress&) { return true; };
      plan.done = [&end](Result<gate::Dialled> made) {
        if (!made) die(made.error().to_text());
        end.set_value(std::move(made->program_end));
      };
      plan.ended = [](gate::ConnectionEnd, gate::Traffic) {};
      dialer_->dial(std::move(plan));
    });
    return end.get_future().get();
  }

 private:
  template <class Work>
  void on_loop(Work work) {
    std::promise<void> done;
    boost::asio::post(loop_, [&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }
  boost::asio::io_context loop_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
  std::unique_ptr<HostDialer> dialer_;
};

template <class Work>
double seconds_of(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return Seconds(std::chrono::steady_clock::now() - start).count();
}

void print(const char* row, std::vector<double> values, const char* unit) {
  std::ranges::sort(values);
  fmt::print("{:<16} {:>10.0f} {}   ({:.0f} to {:.0f})\n", row, values[values.size() / 2], unit,
             values.front(), values.back());
}

}  // namespace

int main(int argc, char** argv) {
  const int megabytes = argc > 1 ? std::atoi(argv[1]) : 256;
  const int connects = argc > 2 ? std::atoi(argv[2]) : 500;
  if (megabytes <= 0 || connects <= 0) die("wants MiB and a number of connects");
  const Server server;
  Relay relay;
  const std::uint64_t bytes = static_cast<std::uint64_t>(megabytes) << 20U;
  std::vector<double> plain_bytes, relay_bytes, plain_connects, relay_connects;
  for (int round = 0; round < kRounds; ++round) {
    plain_bytes.push_back(megabytes / seconds_of([&] { take(plain(server), bytes); }));
    relay_bytes.push_back(megabytes / seconds_of([&] { take(relay.connect(server), bytes); }));
    plain_connects.push_back(connects / seconds_of([&] {
                               for (int i = 0; i < connects; ++i) take(plain(server), 1);
                             }));
    relay_connects.push_back(connects / seconds_of([&] {
                               for (int i = 0; i < connects; ++i) take(relay.connect(server), 1);
                             }));
  }
  print("plain", plain_bytes, "MiB/s");
  print("relay", relay_bytes, "MiB/s");
  print("plain", plain_connects, "connects/s");
  print("relay", relay_connects, "connects/s");
  return 0;
}
