// SPDX-License-Identifier: Apache-2.0

// ServeDoors: the doors of one `mcpac serve`: opened, watched, and closed in order.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "gateway/bounded_warnings.h"
#include "gateway/gateway.h"
#include "gateway/http/door.h"
#include "gateway/http/tls.h"
#include "gateway/oauth/principal_counter.h"
#include "gateway/oauth/resource_server.h"
#include "gateway/stdio_door.h"
#include "gateway/token_watch.h"
#include "gateway/tokens.h"

namespace mcpac::cli {

// "127.0.0.1:8080", "[::1]:0". kUsage otherwise.
struct HttpPlace {
  std::string address;
  std::uint16_t port = 0;
  bool is_loopback = false;
  bool is_everywhere = false;  // 0.0.0.0, ::
};
[[nodiscard]] Result<HttpPlace> parse_http_place(const std::string& text);

class ServeDoors {
 public:
  struct Setup {
    gateway::Gateway* gateway = nullptr;              // borrowed
    policy::LayerText rules;                          // of the command line
    std::optional<std::string> one_time_token;        // opens what the command line grants
    std::optional<std::filesystem::path> token_file;  // of tokens with policies of their own
    std::function<void(std::string_view)> warning;
    gateway::http::HttpLimits limits{};  // of each door over HTTP
    std::optional<gateway::http::TlsFiles> tls;
    std::vector<std::string> hosts;              // by which clients call us
    std::vector<gateway::http::PublicUrl> urls;  // and by which they come through a proxy
    std::optional<gateway::oauth::OauthSettings> oauth;
  };
  explicit ServeDoors(Setup setup)
      : setup_(std::move(setup)), tokens_(token_file(), clock_), warn_(setup_.warning, clock_) {}
  // Closes what is open. Not from the loop. If it was closed before, the gateway was destroyed
  // first: what waits on the loop for an issuer comes back here.
  ~ServeDoors();
  ServeDoors(const ServeDoors&) = delete;
  ServeDoors& operator=(const ServeDoors&) = delete;

  [[nodiscard]] Result<void> open_stdio();
  // The port that it listens on.
  [[nodiscard]] Result<std::uint16_t> open_http(const HttpPlace& place);
  // Figures for Prometheus, at /metrics of a loopback address; nothing else is there.
  [[nodiscard]] Result<std::uint16_t> open_metrics(const HttpPlace& place);
  // Rules and certificate as they are now, for connections from now on. An error changes nothing.
  [[nodiscard]] Result<void> reload(policy::LayerText rules);
  // The client at the other end of stdio has gone, and there is no other door.
  [[nodiscard]] bool all_left() const { return stdio_left_ && http_.empty(); }
  // Admits no further client, and waits for calls in flight.
  void drain();
  void close(std::string_view verdict);

 private:
  // Null where there is none.
  [[nodiscard]] Result<std::shared_ptr<boost::asio::ssl::context>> make_tls() const;
  using Admission = std::expected<gateway::http::AdmittedClient, gateway::http::Refusal>;
  [[nodiscard]] boost::asio::awaitable<Admission> admit(std::string token, bool is_loopback);
  [[nodiscard]] boost::asio::awaitable<Admission> admit_by_issuer(std::string token);
  // By the one-time token (at a loopback door) or one that was made here; nothing: it is neither.
  [[nodiscard]] std::optional<Admission> admit_known(std::string_view token, bool is_loopback);
  [[nodiscard]] Admission let_in(const gateway::Gateway::Principal& principal,
                                 const gateway::Gateway::Rules& rules);
  void make_resource_server();
  void make_token_watch();
  [[nodiscard]] gateway::Figures figures() const;
  [[nodiscard]] std::filesystem::path token_file() const {
    return setup_.token_file.value_or(std::filesystem::path());
  }

  const SystemClock clock_;
  Setup setup_;
  gateway::TokenStore tokens_;
  gateway::BoundedWarnings warn_;                          // of what clients do
  std::shared_ptr<gateway::oauth::ResourceServer> oauth_;  // on the loop
  gateway::oauth::PrincipalCounter principals_;            // who came in by it
  std::shared_ptr<gateway::TokenWatch> watch_;             // on the loop; null without tokens
  std::shared_ptr<gateway::StdioDoor> stdio_;  // made and taken down on the loop, as the others
  std::vector<std::shared_ptr<gateway::http::HttpDoor>> http_;
  std::shared_ptr<gateway::http::HttpDoor> metrics_;
  bool closed_ = false;
  bool ending_ = false;  // on the loop: no client is admitted any more
  std::atomic<bool> stdio_left_ = false;
};

}  // namespace mcpac::cli
