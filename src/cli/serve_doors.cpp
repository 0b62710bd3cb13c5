// SPDX-License-Identifier: Apache-2.0

#include "cli/serve_doors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <thread>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/address.hpp>

#include "run/check/authorities.h"

namespace mcpac::cli {
namespace asio = boost::asio;
namespace {

// What is in work when the end is asked for may take this long to be answered.
constexpr auto kDrain = std::chrono::seconds(10);
constexpr auto kLook = std::chrono::milliseconds(20);
constexpr const char* kStdioClient = "mcpac serve, stdio";
constexpr const char* kHttpClient = "mcpac serve, http";
constexpr std::size_t kDigestShown = 8;

constexpr std::size_t kMetricsConnections = 32;
constexpr const char* kMetrics = "/metrics";

std::unexpected<gateway::http::Refusal> refuse(unsigned status, const char* why) {
  return std::unexpected(gateway::http::Refusal(status, why));
}

Result<policy::LayerText> rules_of_scopes(const std::vector<std::filesystem::path>& policies) {
  policy::LayerText layer;
  layer.name = "scopes";
  for (const auto& policy : policies) {
    auto file = run::read_rules(policy);
    if (!file) return pass_on(file);
    layer.files.push_back(std::move(*file));
  }
  return layer;
}

asio::awaitable<void> renew_keys(std::shared_ptr<gateway::oauth::ResourceServer> of) {
  co_await of->renew_keys();
}

}  // namespace

Result<HttpPlace> parse_http_place(const std::string& text) {
  const auto colon = text.rfind(':');
  HttpPlace place;
  const std::string port = colon == std::string::npos ? "" : text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), place.port);
  if (colon == std::string::npos || error != std::errc() || end != port.data() + port.size()) {
    return fail(ErrorId::kUsage, fmt::format("--http wants ADDRESS:PORT, not '{}'", text),
                {.fix = "--http 127.0.0.1:8080, or port 0 for any that is free"});
  }
  place.address = text.substr(0, colon);
  if (place.address.starts_with('[') && place.address.ends_with(']'))
    place.address = place.address.substr(1, place.address.size() - 2);
  if (place.address == "localhost") place.address = "127.0.0.1";
  boost::system::error_code unreadable;
  const auto address = boost::asio::ip::make_address(place.address, unreadable);
  if (unreadable) {
    return fail(ErrorId::kUsage, fmt::format("--http wants an address, not '{}'", place.address),
                {.fix = "--http 127.0.0.1:8080"});
  }
  place.is_loopback = address.is_loopback();
  place.is_everywhere = address.is_unspecified();
  return place;
}

ServeDoors::~ServeDoors() {
  close("gateway-ended");
}

Result<void> ServeDoors::open_stdio() {
  auto& host = setup_.gateway->host();
  return host.on_loop([&]() -> Result<void> {
    auto run = setup_.gateway->let_in(kStdioClient, [this] { return setup_.rules; });
    if (!run) return pass_on(run);
    auto door = gateway::StdioDoor::open(host.executor(),
                                         UniqueFd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)),
                                         UniqueFd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)),
                                         **run, [this](const std::string& why) {
                                           if (!why.empty()) warn_(why);
                                           stdio_left_ = true;
                                         });
    if (!door) return pass_on(door);
    stdio_ = std::move(*door);
    return {};
  });
}

Result<std::uint16_t> ServeDoors::open_http(const HttpPlace& place) {
  auto& host = setup_.gateway->host();
  auto tls = make_tls();
  if (!tls) return pass_on(tls);
  return host.on_loop([&]() -> Result<std::uint16_t> {
    if (!oauth_) make_resource_server();
    if (!watch_ && setup_.token_file) make_token_watch();
    std::map<std::string, gateway::http::Document, std::less<>> documents;
    if (oauth_) {
      documents.emplace(
          oauth_->document_path(),
          gateway::http::Document{.make = [text = oauth_->document()] { return text; }});
    }
    auto door = gateway::http::HttpDoor::open(
        host.executor(),
        {.address = place.address,
         .port = place.port,
         .hosts = setup_.hosts,
         .urls = setup_.urls,
         .tls = *tls,
         .admit = [this, is_loopback = place.is_loopback](
                      std::string token) { return admit(std::move(token), is_loopback); },
         .challenge = oauth_ ? oauth_->challenge() : "",
         .documents = std::move(documents),
         .limits = setup_.limits});
    if (!door) return pass_on(door);
    // A rule that does not load is said now, and not to the first client.
    if (setup_.one_time_token) {
      auto run = setup_.gateway->let_in(kHttpClient, [this] { return setup_.rules; });
      if (!run) return pass_on(run);
    }
    http_.push_back(std::move(*door));
    return http_.back()->port();
  });
}

Result<std::shared_ptr<boost::asio::ssl::context>> ServeDoors::make_tls() const {
  if (!setup_.tls) return nullptr;
  return gateway::http::make_server_tls(*setup_.tls);
}

Result<void> ServeDoors::reload(policy::LayerText rules) {
  auto tls = make_tls();
  if (!tls) return pass_on(tls);
  setup_.gateway->host().on_loop([&] {
    setup_.rules = std::move(rules);
    setup_.gateway->renew_rules();
    principals_.clear();
    // A client of a token that is gone, or of a key that the issuer took back, must not stay until
    // another client comes.
    if (watch_) watch_->look();
    if (oauth_)
      asio::co_spawn(setup_.gateway->host().executor(), renew_keys(oauth_), asio::detached);
    for (const auto& door : http_) {
      if (*tls) door->renew_tls(*tls);
    }
  });
  return {};
}

Result<std::uint16_t> ServeDoors::open_metrics(const HttpPlace& place) {
  auto& host = setup_.gateway->host();
  return host.on_loop([&]() -> Result<std::uint16_t> {
    gateway::http::HttpLimits limits;
    limits.max_connections = kMetricsConnections;
    std::map<std::string, gateway::http::Document, std::less<>> documents;
    documents.emplace(kMetrics,
                      gateway::http::Document{.type = "text/plain; version=0.0.4; charset=utf-8",
                                              .make = [this] { return to_prometheus(figures()); }});
    // Without TLS, so on a loopback address alone; and no client is admitted to anything else.
    auto door = gateway::http::HttpDoor::open(
        host.executor(), {.address = place.address,
                          .port = place.port,
                          .admit = [](const std::string&) -> asio::awaitable<Admission> {
                            co_return refuse(401, "there is nothing here but /metrics");
                          },
                          .documents = std::move(documents),
                          .limits = limits});
    if (!door) return pass_on(door);
    metrics_ = std::move(*door);
    return metrics_->port();
  });
}

gateway::Figures ServeDoors::figures() const {
  gateway::Figures figures = setup_.gateway->figures();
  for (const auto& door : http_) {
    figures.connections += door->connections();
    figures.sessions += door->sessions();
    for (std::size_t i = 0; i < figures.answers.size(); ++i)
      figures.answers[i] += door->answers()[i];
  }
  return figures;
}

asio::awaitable<ServeDoors::Admission> ServeDoors::admit(std::string token, bool is_loopback) {
  if (auto known = admit_known(token, is_loopback)) co_return std::move(*known);
  if (oauth_) co_return co_await admit_by_issuer(std::move(token));
  co_return refuse(401, "nobody has this token");
}

std::optional<ServeDoors::Admission> ServeDoors::admit_known(std::string_view token,
                                                             bool is_loopback) {
  // Other machines come in with tokens of their own alone.
  if (is_loopback && setup_.one_time_token &&
      gateway::is_same_secret(token, *setup_.one_time_token))
    return let_in({kHttpClient, kHttpClient}, [this] { return setup_.rules; });
  if (!setup_.token_file) return std::nullopt;
  auto found = tokens_.find(token);
  if (!found) {
    warn_(found.error().to_text());
    return refuse(503, "tokens cannot be read");
  }
  if (!*found) return std::nullopt;
  const gateway::Token& known = **found;
  const std::string name =
      fmt::format("mcpac serve, token {} ({})", known.name, known.digest.substr(0, kDigestShown));
  auto guest = let_in({name, name}, [known]() -> Result<policy::LayerText> {
    auto file = run::read_rules(known.policy);
    if (!file) return pass_on(file);
    policy::LayerText layer;
    layer.name = "token " + known.name;
    layer.files.push_back(std::move(*file));
    return layer;
  });
  if (guest && watch_) watch_->watch(name, known);
  return guest;
}

asio::awaitable<ServeDoors::Admission> ServeDoors::admit_by_issuer(std::string token) {
  const auto server = oauth_;  // which ends with the gateway
  auto who = co_await server->admit(std::move(token));
  // Meanwhile the gateway may have gone: nothing of it may be touched.
  if (ending_) co_return refuse(503, "mcpac serve ends");
  if (!who) co_return std::unexpected(std::move(who.error()));
  if (!principals_.has_room_for(who->name, who->subject)) {
    warn_(
        fmt::format("there is no room for one more client by the issuer's tokens: {}", who->name));
    co_return refuse(503, "too many clients");
  }
  auto guest = let_in({who->name, who->subject},
                      [policies = who->policies] { return rules_of_scopes(policies); });
  if (!guest) co_return guest;
  principals_.add(who->name, who->subject);
  // By the keys of then.
  guest->stands = [this, kept = std::move(*who)](std::chrono::milliseconds grace) {
    return oauth_ && oauth_->still_admits(kept, grace);
  };
  co_return guest;
}

ServeDoors::Admission ServeDoors::let_in(const gateway::Gateway::Principal& principal,
                                         const gateway::Gateway::Rules& rules) {
  auto run = setup_.gateway->let_in(principal, rules);
  if (run) return gateway::http::AdmittedClient{principal.client, std::move(*run)};
  // Why is the user's business.
  warn_(run.error().to_text());
  return refuse(403, "what this token was given cannot be used now");
}

// Once: what it knows of the issuer's keys lets clients in while the issuer is away.
void ServeDoors::make_resource_server() {
  if (!setup_.oauth) return;
  const auto executor = setup_.gateway->host().executor();
  auto fetch = setup_.oauth->keys.empty()
                   ? gateway::oauth::fetch_from_issuer(executor, setup_.oauth->issuer)
                   : gateway::oauth::fetch_from_file(setup_.oauth->keys);
  auto keys = std::make_unique<gateway::oauth::KeySource>(
      executor, std::move(fetch), clock_, [this](const std::string& why) { warn_(why); });
  oauth_ = std::make_shared<gateway::oauth::ResourceServer>(*setup_.oauth, std::move(keys), clock_);
}

void ServeDoors::make_token_watch() {
  auto* gateway = setup_.gateway;
  watch_ = std::make_shared<gateway::TokenWatch>(
      gateway->host().executor(), tokens_,
      gateway::TokenWatch::Heard{
          .over =
              [gateway](const std::string& client) { gateway->end_client(client, "token-ended"); },
          .unknown =
              [this](const std::string& client, const Error& why) {
                warn_(why.to_text());
                setup_.gateway->hang_up(client);
              },
          .later = [this](const Error& why) { warn_(why.to_text()); }});
}

void ServeDoors::drain() {
  auto& host = setup_.gateway->host();
  host.on_loop([&] {
    if (stdio_) stdio_->finish();
    for (const auto& door : http_) door->finish();
  });
  const auto until = std::chrono::steady_clock::now() + kDrain;
  while (std::chrono::steady_clock::now() < until) {
    if (host.on_loop([&] { return setup_.gateway->calls_in_flight(); }) == 0) break;
    std::this_thread::sleep_for(kLook);
  }
  std::this_thread::sleep_for(kLook);  // the last answers are on their way
}

void ServeDoors::close(std::string_view verdict) {
  if (std::exchange(closed_, true)) return;
  setup_.gateway->host().on_loop([&] {
    ending_ = true;
    setup_.gateway->end_all(verdict);
    if (stdio_) stdio_->close();
    for (const auto& door : http_) door->close();
    if (metrics_) metrics_->close();
    metrics_.reset();
    stdio_.reset();
    http_.clear();
    // Their timers are the loop's, which goes before this object does.
    watch_.reset();
    oauth_.reset();
  });
}

}  // namespace mcpac::cli
