#include "network/support_network.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <tuple>
#include <utility>

namespace mcpac::network::testing {
namespace {

// Not a measurement: only so that a test that would hang fails instead.
constexpr std::chrono::seconds kPatience{60};

}  // namespace

Certificate::Certificate(const std::string& subject)
    : key(EVP_EC_gen("P-256"), &EVP_PKEY_free), certificate(X509_new(), &X509_free) {
  REQUIRE(key != nullptr);
  X509* const x = certificate.get();
  X509_set_version(x, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
  X509_gmtime_adj(X509_getm_notBefore(x), -3600);
  X509_gmtime_adj(X509_getm_notAfter(x), 3600);
  X509_set_pubkey(x, key.get());
  X509_NAME* const name = X509_get_subject_name(x);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("a test"), -1, -1, 0);
  X509_set_issuer_name(x, name);
  X509_EXTENSION* const names =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, subject.c_str());
  REQUIRE(names != nullptr);
  X509_add_ext(x, names, -1);
  X509_EXTENSION_free(names);
  REQUIRE(X509_sign(x, key.get(), EVP_sha256()) > 0);
}

std::shared_ptr<boost::asio::ssl::context> Certificate::trusted() const {
  auto context = std::make_shared<boost::asio::ssl::context>(boost::asio::ssl::context::tls_client);
  X509_STORE* const store = SSL_CTX_get_cert_store(context->native_handle());
  REQUIRE(X509_STORE_add_cert(store, certificate.get()) == 1);
  return context;
}

std::string Peer::read() {
  std::string bytes(65536, '\0');
  const auto n = ssl_ != nullptr ? SSL_read(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                                 : ::recv(fd_, bytes.data(), bytes.size(), 0);
  bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return bytes;
}

std::string Peer::read_all() {
  std::string all;
  for (std::string piece = read(); !piece.empty(); piece = read()) all += piece;
  return all;
}

bool Peer::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = ssl_ != nullptr ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                                   : ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

void Peer::finish() {
  if (ssl_ != nullptr) {
    SSL_shutdown(ssl_);
  } else {
    ::shutdown(fd_, SHUT_WR);
  }
}

void Peer::abort() {
  const linger at_once{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

Server::Server(std::function<void(Peer&)> script, const Certificate* certificate)
    : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  std::signal(SIGPIPE, SIG_IGN);  // SSL_write to somebody who is gone
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
          0);
  REQUIRE(::listen(listener_.get(), 4) == 0);
  socklen_t size = sizeof address;
  REQUIRE(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port_ = ntohs(address.sin_port);
  std::shared_ptr<SSL_CTX> context;
  if (certificate != nullptr) {
    context.reset(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
    REQUIRE(SSL_CTX_use_certificate(context.get(), certificate->certificate.get()) == 1);
    REQUIRE(SSL_CTX_use_PrivateKey(context.get(), certificate->key.get()) == 1);
  }
  thread_ = std::thread([listener = listener_.get(), context, script = std::move(script)] {
    const UniqueFd fd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (!fd) return;
    std::shared_ptr<SSL> ssl;
    if (context) {
      ssl.reset(SSL_new(context.get()), &SSL_free);
      SSL_set_fd(ssl.get(), fd.get());
      if (SSL_accept(ssl.get()) != 1) return;
    }
    Peer peer(fd.get(), ssl.get());
    script(peer);
  });
}

Server::~Server() {
  ::shutdown(listener_.get(), SHUT_RDWR);  // wakes accept, where nobody came
  thread_.join();
}

boost::asio::awaitable<Result<std::vector<boost::asio::ip::address>>> ScriptedResolver::resolve(
    std::string /*host*/) {
  std::vector<boost::asio::ip::address> addresses;
  for (const auto& text : answers_.at(std::min(asked, answers_.size() - 1)))
    addresses.push_back(boost::asio::ip::make_address(text));
  ++asked;
  co_return addresses;
}

Dialling::Dialling(std::shared_ptr<Resolver> resolver,
                   std::shared_ptr<boost::asio::ssl::context> tls, RelayLimits limits) {
  if (!resolver) resolver = network::system_resolver(loop.get_executor());
  dialer = std::make_unique<HostDialer>(loop.get_executor(), std::move(resolver), std::move(tls),
                                        limits);
}

void Dialling::dial(std::string host, std::uint16_t port, gate::Tls tls) {
  gate::DialPlan plan;
  plan.host = std::move(host);
  plan.port = port;
  plan.tls = tls;
  plan.may_dial = [this](const policy::IpAddress& address) {
    asked_about.push_back(policy::to_text(address));
    return may_dial(address);
  };
  plan.done = [this](Result<gate::Dialled> given) { result = std::move(given); };
  plan.ended = [this](gate::ConnectionEnd how, gate::Traffic carried) {
    ended = how;
    traffic = carried;
  };
  token = dialer->dial(std::move(plan));
}

void Dialling::connect(std::string host, std::uint16_t port, gate::Tls tls) {
  dial(std::move(host), port, tls);
  until([this] { return result.has_value(); });
  if (!*result) return;
  program = std::move((*result)->program_end);
  ::fcntl(program.get(), F_SETFL, O_NONBLOCK);
}

void Dialling::until(const std::function<bool()>& condition) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    REQUIRE(std::chrono::steady_clock::now() < give_up);
    loop.restart();
    if (loop.poll() == 0) {
      loop.restart();
      loop.run_one_for(std::chrono::milliseconds(5));
    }
  }
}

std::string Dialling::read() {
  std::string bytes(65536, '\0');
  until([&] {
    const auto n = ::read(program.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EAGAIN) return false;
    bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return true;
  });
  return bytes;
}

std::string Dialling::read_all() {
  std::string all;
  for (std::string piece = read(); !piece.empty(); piece = read()) all += piece;
  return all;
}

void Dialling::write(std::string_view bytes) {
  until([&] {
    const auto n = ::send(program.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0) return errno != EAGAIN;
    bytes.remove_prefix(static_cast<std::size_t>(n));
    return bytes.empty();
  });
}

void Dialling::finish_writing() const {
  ::shutdown(program.get(), SHUT_WR);
}

}  // namespace mcpac::network::testing
