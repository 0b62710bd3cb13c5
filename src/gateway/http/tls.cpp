// SPDX-License-Identifier: Apache-2.0

#include "gateway/http/tls.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/buffer.hpp>

#include "core/file.h"

namespace mcpac::gateway::http {
namespace asio = boost::asio;
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;
constexpr const char* kCiphers12 = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr const char* kCiphers13 =
    "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256";
constexpr std::string_view kHttp11 = "http/1.1";

std::unexpected<Error> refuse(const std::filesystem::path& file, std::string what,
                              std::string why) {
  return fail(ErrorId::kServerTls, std::move(what),
              {.where = file.string(), .why = std::move(why)});
}

// Its rights are looked at where its bytes come from: the descriptor.
Result<std::string> read_key(const std::filesystem::path& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat facts {};
  if (!fd || ::fstat(fd.get(), &facts) != 0 || !S_ISREG(facts.st_mode))
    return refuse(file, "the TLS key cannot be read", "it is no file that we may read");
  if (facts.st_uid != ::geteuid() && facts.st_uid != 0)
    return refuse(file, "the TLS key is not used", "it belongs to another user");
  constexpr mode_t kTooMuch = S_IRWXO | S_IWGRP | S_IXGRP;
  if ((facts.st_mode & kTooMuch) != 0) {
    return fail(
        ErrorId::kServerTls, "the TLS key is not used",
        {.where = file.string(),
         .why = fmt::format("others may read or change it (mode {:04o})", facts.st_mode & 07777U),
         .fix = fmt::format("chmod 600 {}", file.string())});
  }
  return read_descriptor(fd.get(), file.string(), kMaxBytes);
}

// "\x08http/1.1" among what the client speaks; a client that speaks only others is turned away.
int choose_protocol(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* in, unsigned int size, void* /*nothing*/) {
  for (unsigned int at = 0; at < size;) {
    const unsigned int length = in[at];
    if (at + 1 + length > size) break;
    if (std::string_view(reinterpret_cast<const char*>(in + at + 1), length) == kHttp11) {
      *out = in + at + 1;
      *out_size = static_cast<unsigned char>(length);
      return SSL_TLSEXT_ERR_OK;
    }
    at += 1 + length;
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

bool is_in_force(SSL_CTX* context) {
  const X509* certificate = SSL_CTX_get0_certificate(context);
  return certificate != nullptr && X509_cmp_current_time(X509_get0_notBefore(certificate)) < 0 &&
         X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0;
}

}  // namespace

Result<std::shared_ptr<asio::ssl::context>> make_server_tls(const TlsFiles& files) {
  auto certificate = read_file(files.certificate, kMaxBytes);
  if (!certificate) return pass_on(certificate);
  auto key = read_key(files.key);
  if (!key) return pass_on(key);
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  SSL_CTX* native = context->native_handle();
  boost::system::error_code error;
  // A key that wants a passphrase is refused: there is no person to ask.
  context->set_password_callback([](std::size_t, auto) { return std::string(); }, error);
  context->use_certificate_chain(asio::buffer(*certificate), error);
  if (error)
    return refuse(files.certificate, "the TLS certificate cannot be used", error.message());
  context->use_private_key(asio::buffer(*key), asio::ssl::context::pem, error);
  OPENSSL_cleanse(key->data(), key->size());
  if (error) return refuse(files.key, "the TLS key cannot be used", error.message());
  if (SSL_CTX_check_private_key(native) != 1)
    return refuse(files.key, "the TLS key cannot be used", "it is not that of the certificate");
  if (!is_in_force(native))
    return refuse(files.certificate, "the TLS certificate cannot be used",
                  "it is over, or not yet in force");
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
                                  SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_num_tickets(native, 0);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(native, choose_protocol, nullptr);
  const bool is_strict = SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION) == 1 &&
                         SSL_CTX_set_cipher_list(native, kCiphers12) == 1 &&
                         SSL_CTX_set_ciphersuites(native, kCiphers13) == 1;
  if (!is_strict)
    return refuse(files.certificate, "no TLS can be offered", "OpenSSL has too little");
  return context;
}

}  // namespace mcpac::gateway::http
