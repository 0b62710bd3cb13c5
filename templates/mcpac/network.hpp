// Network: connections to what the user granted, in a program that declares mcpac.network.
//
//   int agent_main(mcpac::Requires<mcpac::network> rt) {
//     mcpac::Connection api = rt.network.connect("api.example.com", 443);
//     api.write("GET / HTTP/1.0\r\nHost: api.example.com\r\n\r\n");
//     const std::string answer = api.read_all(1 << 20);
//
// The program has no socket of its own: the host decides, looks the name up, dials, speaks TLS with
// the system's certificates and relays. What the program reads and writes are plain bytes on a
// descriptor that came over its channel; a certificate that is not right is an error of connect(),
// and nothing here can leave the check out.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "expected.hpp"
#include "method.hpp"
#include "session.hpp"

namespace mcpac {

struct network;

// Bytes both ways, until one side ends. Owns its descriptor; one thread may read while another
// writes. Errors are TransportError.
class Connection {
 public:
  Connection(Connection&& other) noexcept : fd_(::std::exchange(other.fd_, -1)) {}
  Connection& operator=(Connection&& other) noexcept {
    ::std::swap(fd_, other.fd_);
    return *this;
  }
  ~Connection() { close(); }

  // What has come, at most `limit` bytes (not 0); waits for the first. Empty at the end.
  [[nodiscard]] ::std::string read_some(::std::size_t limit = 65536) {
    ::std::string bytes(limit, '\0');
    ::ssize_t got = 0;
    do {
      got = ::read(open_descriptor(), bytes.data(), bytes.size());
    } while (got < 0 && errno == EINTR);
    if (got < 0) throw failure("the connection broke off");
    bytes.resize(static_cast<::std::size_t>(got));
    return bytes;
  }
  // Everything to the end; throws BudgetExceeded when that is more than `limit` bytes.
  [[nodiscard]] ::std::string read_all(::std::size_t limit) {
    ::std::string all;
    for (;;) {
      const ::std::string piece = read_some();
      if (piece.empty()) return all;
      if (piece.size() > limit - all.size()) {
        throw BudgetExceeded({.kind = ErrorKind::budget,
                              .permission = "mcpac.network",
                              .message = "more came than the limit given"});
      }
      all += piece;
    }
  }
  // Writes all of it; waits while the other side reads more slowly.
  void write(::std::string_view bytes) {
    while (!bytes.empty()) {
      const ::ssize_t n = ::write(open_descriptor(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw failure("the other side reads no more");
      bytes.remove_prefix(static_cast<::std::size_t>(n));
    }
  }
  // No more will be written: the other side reads the end. Reading goes on.
  void shut_down_writing() {
    if (::shutdown(open_descriptor(), SHUT_WR) != 0) throw failure("the connection is gone");
  }
  // Ends both ways at once. Idempotent.
  void close() noexcept {
    if (fd_ >= 0) ::close(::std::exchange(fd_, -1));
  }
  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }

 private:
  template <class P>
  friend class Method;
  explicit Connection(int descriptor) noexcept : fd_(descriptor) {}
  [[nodiscard]] static TransportError failure(const char* what) {
    return TransportError(
        {.kind = ErrorKind::transport, .permission = "mcpac.network", .message = what});
  }
  [[nodiscard]] int open_descriptor() const {
    if (fd_ < 0) throw failure("the connection was closed here");
    return fd_;
  }
  int fd_;
};

// The methods of rt.network. `host` is a name or an address, as the grant has it.
template <>
class Method<network> {
 public:
  explicit constexpr Method(Session* session) noexcept : session_(session) {}

  // Over TLS, with the host's certificate checked for this name.
  [[nodiscard]] Connection connect(::std::string_view host, ::std::uint16_t port) const {
    return open(host, port, true);
  }
  // Plain TCP: whoever is on the way can read and change it.
  [[nodiscard]] Connection connect_plain(::std::string_view host, ::std::uint16_t port) const {
    return open(host, port, false);
  }
  // The same without exceptions.
  [[nodiscard]] Expected<Connection> try_connect(::std::string_view host,
                                                 ::std::uint16_t port) const {
    return try_open(host, port, true);
  }
  [[nodiscard]] Expected<Connection> try_connect_plain(::std::string_view host,
                                                       ::std::uint16_t port) const {
    return try_open(host, port, false);
  }

 private:
  static constexpr ::std::string_view kPermission = "mcpac.network";

  [[nodiscard]] Connection open(::std::string_view host, ::std::uint16_t port, bool tls) const {
    Session& session = detail::session_of(session_);
    const auto pending =
        session.start_receiving("network/connect", {{"host", host}, {"port", port}, {"tls", tls}});
    session.wait(*pending);
    Connection connection(::std::exchange(pending->descriptor, -1));
    static_cast<void>(detail::result_of(*pending, kPermission));
    if (!connection.is_open())
      throw Connection::failure("the connection could not be taken: no descriptor is left");
    return connection;
  }
  [[nodiscard]] Expected<Connection> try_open(::std::string_view host, ::std::uint16_t port,
                                              bool tls) const {
    try {
      return open(host, port, tls);
    } catch (const Error& error) {
      return error;
    } catch (const ::std::exception& error) {
      return Error({.kind = ErrorKind::internal,
                    .permission = ::std::string(kPermission),
                    .message = error.what()});
    }
  }

  Session* session_;  // null: the process's session
};

namespace detail {

// What rt.network is a member of.
struct network_server {
  static constexpr ::std::string_view name = "mcpac.network";
  template <class F>
  struct Member {
    F network;
  };
};

}  // namespace detail

// The permission: declared as a tool is, and granted with `--network HOST:PORT`.
struct network {
  using server = detail::network_server;
  static constexpr ::std::string_view name = "network";
  static constexpr ::std::string_view permission = "mcpac.network";
  template <class P>
  struct Member : Method<P> {};
};

}  // namespace mcpac
