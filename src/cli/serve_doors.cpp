#include "cli/serve_doors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <thread>
#include <utility>

#include "execute/check/authorities.h"

namespace mcpac::cli {
namespace {

// What is in work when the end is asked for may take this long to be answered.
constexpr auto kDrain = std::chrono::seconds(10);
constexpr auto kLook = std::chrono::milliseconds(20);
constexpr const char* kStdioClient = "mcpac serve, stdio";
constexpr const char* kHttpClient = "mcpac serve, http";
constexpr std::size_t kDigestShown = 8;

policy::LayerText rules_of(const gateway::Token& token, policy::PolicyFile file) {
  policy::LayerText layer;
  layer.name = "token " + token.name;
  layer.files.push_back(std::move(file));
  return layer;
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
                                         **run, [this] { stdio_left_ = true; });
    if (!door) return pass_on(door);
    stdio_ = std::move(*door);
    return {};
  });
}

Result<std::uint16_t> ServeDoors::open_http(const HttpPlace& place) {
  auto& host = setup_.gateway->host();
  return host.on_loop([&]() -> Result<std::uint16_t> {
    auto door = gateway::http::HttpDoor::open(
        host.executor(), {.address = place.address,
                          .port = place.port,
                          .admit = [this](std::string_view token) { return admit(token); }});
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

std::expected<gateway::http::Guest, gateway::http::Refusal> ServeDoors::admit(
    std::string_view token) {
  const auto refuse = [](unsigned status, const char* why) {
    return std::unexpected(gateway::http::Refusal(status, why));
  };
  std::string name = kHttpClient;
  gateway::Gateway::Rules rules = [this] { return setup_.rules; };
  const bool is_one_time =
      setup_.one_time_token && gateway::is_same_secret(token, *setup_.one_time_token);
  if (!is_one_time) {
    if (!setup_.token_file) return refuse(401, "nobody has this token");
    auto found = tokens_.find(token);
    if (!found) {
      setup_.warning(found.error().to_text());
      return refuse(503, "tokens cannot be read");
    }
    if (!*found) return refuse(401, "nobody has this token");
    const gateway::Token& known = **found;
    name =
        fmt::format("mcpac serve, token {} ({})", known.name, known.digest.substr(0, kDigestShown));
    rules = [known]() -> Result<policy::LayerText> {
      auto file = execute::read_rules(known.policy);
      if (!file) return pass_on(file);
      return rules_of(known, std::move(*file));
    };
  }
  auto run = setup_.gateway->let_in(name, rules);
  if (run) return gateway::http::Guest{name, std::move(*run)};
  // Why is the user's business.
  setup_.warning(run.error().to_text());
  return refuse(403, "what this token was given cannot be used now");
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
  setup_.gateway->host().on_loop([&] {
    setup_.gateway->end_all(verdict);
    if (stdio_) stdio_->close();
    for (const auto& door : http_) door->close();
    stdio_.reset();
    http_.clear();
  });
}

}  // namespace mcpac::cli
