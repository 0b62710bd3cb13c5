// A server on 127.0.0.1 in a thread of its own, plain or with TLS, with certificates made on the
// spot; and a dialer on a loop that the test turns by hand.
#pragma once

#include <openssl/ssl.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>

#include "core/file.h"
#include "network/host_dialer.h"

namespace mcpac::network::testing {

// A key and a certificate for one name or address, signed by itself.
struct Certificate {
  explicit Certificate(const std::string& subject);  // "DNS:localhost", "IP:127.0.0.1"
  std::shared_ptr<EVP_PKEY> key;
  std::shared_ptr<X509> certificate;
  // A client's context that trusts this one and nothing else.
  [[nodiscard]] std::shared_ptr<boost::asio::ssl::context> trusted() const;
};

// What the server has of one connection: blocking.
class Peer {
 public:
  Peer(int fd, SSL* ssl) : fd_(fd), ssl_(ssl) {}
  // Empty at the end.
  std::string read();
  std::string read_all();
  bool write(std::string_view bytes);
  // The end of what this side says: close_notify, or FIN.
  void finish();
  // Gone without a word.
  void abort();

 private:
  int fd_;
  SSL* ssl_;
};

class Server {
 public:
  // Takes one connection and does `script` with it.
  explicit Server(std::function<void(Peer&)> script, const Certificate* certificate = nullptr);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  UniqueFd listener_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

// Names lead where the test says: at the n-th question to the n-th list, the last from then on.
class ScriptedResolver final : public Resolver {
 public:
  explicit ScriptedResolver(std::vector<std::vector<std::string>> answers)
      : answers_(std::move(answers)) {}
  boost::asio::awaitable<Result<std::vector<boost::asio::ip::address>>> resolve(
      std::string host) override;
  std::size_t asked = 0;

 private:
  std::vector<std::vector<std::string>> answers_;
};

// One dialer, one connection.
struct Dialling {
  explicit Dialling(std::shared_ptr<Resolver> resolver = nullptr,
                    std::shared_ptr<boost::asio::ssl::context> tls = nullptr,
                    RelayLimits limits = {});
  void dial(std::string host, std::uint16_t port, gate::Tls tls);
  // Dials, and waits for the answer.
  void connect(std::string host, std::uint16_t port, gate::Tls tls = gate::Tls::kNo);
  void until(const std::function<bool()>& condition);
  // The program's side.
  std::string read();  // what has come; empty at the end
  std::string read_all();
  void write(std::string_view bytes);
  void finish_writing() const;

  boost::asio::io_context loop;
  std::unique_ptr<HostDialer> dialer;
  gate::Dialer::Token token = 0;
  std::function<bool(const policy::IpAddress&)> may_dial = [](const policy::IpAddress&) {
    return true;
  };
  std::vector<std::string> asked_about;
  std::optional<Result<gate::Dialled>> result;
  UniqueFd program;
  std::optional<gate::ConnectionEnd> ended;
  gate::Traffic traffic;
};

}  // namespace mcpac::network::testing
