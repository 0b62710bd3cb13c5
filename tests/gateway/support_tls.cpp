#include "gateway/support_tls.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <array>

namespace mcpac::gateway::testing {

CertificateFiles make_certificate(const std::filesystem::path& folder, const std::string& name,
                                  long serial, int days) {
  const std::shared_ptr<EVP_PKEY> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::shared_ptr<X509> made(X509_new(), X509_free);
  REQUIRE((key && made));
  constexpr long kDay = 24 * 60 * 60;
  X509_set_version(made.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -2 * kDay);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), days * kDay);
  X509_set_pubkey(made.get(), key.get());
  X509_NAME* subject = X509_get_subject_name(made.get());
  const auto* common = reinterpret_cast<const unsigned char*>("localhost");
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, common, -1, -1, 0);
  X509_set_issuer_name(made.get(), subject);
  X509_EXTENSION* names =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
  X509_add_ext(made.get(), names, -1);
  X509_EXTENSION_free(names);
  REQUIRE(X509_sign(made.get(), key.get(), EVP_sha256()) > 0);
  CertificateFiles files{folder / (name + ".crt"), folder / (name + ".key")};
  const auto close = [](FILE* file) { std::fclose(file); };
  {
    const std::unique_ptr<FILE, decltype(close)> out(std::fopen(files.certificate.c_str(), "w"),
                                                     close);
    REQUIRE(PEM_write_X509(out.get(), made.get()) == 1);
  }
  const std::unique_ptr<FILE, decltype(close)> out(std::fopen(files.key.c_str(), "w"), close);
  REQUIRE(PEM_write_PrivateKey(out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
  REQUIRE(::chmod(files.key.c_str(), 0600) == 0);
  return files;
}

TlsClient::TlsClient(std::uint16_t port, const Options& options)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval patience{10, 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  REQUIRE(::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0);
  SSL_CTX_set_security_level(context_.get(), 0);  // so that it offers what it is told to
  if (options.newest != 0) SSL_CTX_set_max_proto_version(context_.get(), options.newest);
  if (options.oldest != 0) SSL_CTX_set_min_proto_version(context_.get(), options.oldest);
  if (!options.ciphers.empty())
    REQUIRE(SSL_CTX_set_cipher_list(context_.get(), options.ciphers.c_str()) == 1);
  ssl_ = {SSL_new(context_.get()), SSL_free};
  if (!options.protocol.empty()) {
    std::string list(1, static_cast<char>(options.protocol.size()));
    list += options.protocol;
    SSL_set_alpn_protos(ssl_.get(), reinterpret_cast<const unsigned char*>(list.data()),
                        static_cast<unsigned>(list.size()));
  }
  SSL_set_fd(ssl_.get(), fd_.get());
  open_ = SSL_connect(ssl_.get()) == 1;
}

std::string TlsClient::protocol() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

long TlsClient::serial() const {
  const X509* certificate = SSL_get0_peer_certificate(ssl_.get());
  REQUIRE(certificate != nullptr);
  return ASN1_INTEGER_get(X509_get0_serialNumber(certificate));
}

void TlsClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const int sent = SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string TlsClient::read_until(std::string_view text) {
  std::string received;
  std::array<char, 16'384> piece{};
  while (received.find(text) == std::string::npos) {
    const int got = SSL_read(ssl_.get(), piece.data(), static_cast<int>(piece.size()));
    if (got <= 0) return "";
    received.append(piece.data(), static_cast<std::size_t>(got));
  }
  return received;
}

void TlsClient::leave() {
  SSL_shutdown(ssl_.get());
  fd_.reset();
}

}  // namespace mcpac::gateway::testing
