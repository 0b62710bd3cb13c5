// ServeDoors: the doors of one `mcpac serve`: opened, watched, and closed in order.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "gateway/gateway.h"
#include "gateway/http/door.h"
#include "gateway/stdio_door.h"
#include "gateway/tokens.h"

namespace mcpac::cli {

// "127.0.0.1:8080", "[::1]:0". kUsage otherwise.
struct HttpPlace {
  std::string address;
  std::uint16_t port = 0;
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
  };
  explicit ServeDoors(Setup setup) : setup_(std::move(setup)), tokens_(token_file(), clock_) {}
  // Closes what is open. Not from the loop.
  ~ServeDoors();
  ServeDoors(const ServeDoors&) = delete;
  ServeDoors& operator=(const ServeDoors&) = delete;

  [[nodiscard]] Result<void> open_stdio();
  // The port that it listens on.
  [[nodiscard]] Result<std::uint16_t> open_http(const HttpPlace& place);
  // The client at the other end of stdio has gone, and there is no other door.
  [[nodiscard]] bool all_left() const { return stdio_left_ && http_.empty(); }
  // Lets nobody in any more, and waits for what is in work.
  void drain();
  void close(std::string_view verdict);

 private:
  [[nodiscard]] std::expected<gateway::http::Guest, gateway::http::Refusal> admit(
      std::string_view token);
  [[nodiscard]] std::filesystem::path token_file() const {
    return setup_.token_file.value_or(std::filesystem::path());
  }

  const SystemClock clock_;
  Setup setup_;
  gateway::TokenStore tokens_;
  std::shared_ptr<gateway::StdioDoor> stdio_;  // made and taken down on the loop, as the others
  std::vector<std::shared_ptr<gateway::http::HttpDoor>> http_;
  std::atomic<bool> stdio_left_ = false;
};

}  // namespace mcpac::cli
