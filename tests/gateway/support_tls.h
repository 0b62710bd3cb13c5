// A certificate of a test's own, and a client that speaks TLS over a socket of its own.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/file.h"

namespace mcpac::gateway::testing {

struct CertificateFiles {
  std::filesystem::path certificate;
  std::filesystem::path key;  // mode 0600
};
// For localhost, self-signed, with this serial number; over already where `days` is negative.
[[nodiscard]] CertificateFiles make_certificate(const std::filesystem::path& folder,
                                                const std::string& name, long serial = 1,
                                                int days = 1);

class TlsClient {
 public:
  struct Options {
    int newest = 0;  // TLS1_2_VERSION and its like; 0: whatever is newest
    int oldest = 0;
    std::string protocol{};  // offered by ALPN
    std::string ciphers{};   // of TLS 1.2
  };
  // Connects and shakes hands; is_open() says whether that came to an end.
  explicit TlsClient(std::uint16_t port) : TlsClient(port, Options()) {}
  TlsClient(std::uint16_t port, const Options& options);

  [[nodiscard]] bool is_open() const { return open_; }
  [[nodiscard]] int version() const { return SSL_version(ssl_.get()); }
  [[nodiscard]] std::string protocol() const;
  // The serial number of the server's certificate.
  [[nodiscard]] long serial() const;
  void send(std::string_view bytes);
  // Until the text has come; empty: the connection ended before.
  std::string read_until(std::string_view text);
  // Says goodbye and goes, as clients do.
  void leave();

 private:
  UniqueFd fd_;
  std::shared_ptr<SSL_CTX> context_;
  std::shared_ptr<SSL> ssl_;
  bool open_ = false;
};

}  // namespace mcpac::gateway::testing
