// SPDX-License-Identifier: Apache-2.0

// TLS of the door: a certificate and its key, as they are in two files of PEM.
//
// TLS 1.2 and 1.3 with forward secrecy and authenticated encryption alone; no renegotiation, no
// compression, no session tickets; http/1.1 where a client negotiates. The key must be kept from
// others: a file that they may read or change is refused. Both files are read once; new ones need a
// new context, which later connections get.
#pragma once

#include <filesystem>
#include <memory>

#include <boost/asio/ssl/context.hpp>

#include "core/error.h"

namespace mcpac::gateway::http {

struct TlsFiles {
  std::filesystem::path certificate;  // with the chain behind it
  std::filesystem::path key;
};

// kServerTls: a file that cannot be used, a key of another certificate, one that is over.
[[nodiscard]] Result<std::shared_ptr<boost::asio::ssl::context>> make_server_tls(
    const TlsFiles& files);

}  // namespace mcpac::gateway::http
