// SPDX-License-Identifier: Apache-2.0

// Authorizer: the token that travels to one server, and how a new one is got when it says 401 or
// 403.
//
// In this order: another request got one meanwhile, a refresh token, the client's own credentials,
// a person. Without a person, what the server wants is noted down, and `mcpac login` asks for
// it. One way is gone at a time, however many requests wait, and one process at a time renews a
// login; after a way that failed there is a rest of a minute, which ends when another mcpac has
// logged in. Tokens leave it as the header Authorization to this server, and nowhere else.
//
// A kept login is for one address and one authorization server. A server that names another one
// than at the last login gets nothing until the user has forgotten that login.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "core/error.h"
#include "core/file.h"
#include "mcp/http_connection.h"
#include "mcp/oauth/login.h"
#include "mcp/oauth/settings.h"
#include "mcp/oauth/store.h"
#include "mcp/url.h"

namespace mcpac::mcp::oauth {

struct AuthorizerOptions {
  std::string server;              // its name in mcpac.json
  Url url;                         // expanded
  std::string identity;            // url as it is written: names the file of tokens
  std::string place;               // SHA-256 of url: what is kept is for this address alone
  Settings settings;               // expanded
  std::filesystem::path folder{};  // of tokens; empty keeps them in memory
  ShowLogin show{};                // null: no person is there to log in
  std::function<void(const std::string& secret)> keep_secret{};  // takes tokens out of texts
};

class Authorizer : public std::enable_shared_from_this<Authorizer> {
 public:
  [[nodiscard]] static Result<std::shared_ptr<Authorizer>> make(
      boost::asio::any_io_executor executor, AuthorizerOptions options);

  // The value of Authorization; empty without a token.
  [[nodiscard]] std::string authorization() const;

  // What the server answered to a request that carried `used`. Ok when it is worth being sent
  // again; an Error says why there is no token.
  boost::asio::awaitable<Result<void>> challenged(HttpHead head, std::string used);

  // The login is forgotten, whatever comes of the rest: that its tokens are taken back at who gave
  // them. Another process that renews the login meanwhile is waited for so long; then it is said
  // who that is, for what it gets is not taken back.
  enum class TakenBack : std::uint8_t { kNothing, kYes, kNotOffered };
  boost::asio::awaitable<Result<TakenBack>> give_up(std::chrono::milliseconds others_turn);

 private:
  Authorizer(boost::asio::any_io_executor executor, AuthorizerOptions options);
  boost::asio::awaitable<Result<void>> get_token(bool step_up, Challenge challenge, Reach reach);
  boost::asio::awaitable<Result<void>> refresh(const Web& web, Discovered at, std::string scope);
  boost::asio::awaitable<Result<void>> use_credentials(const Web& web, Discovered at, Kept kept,
                                                       std::string scope);
  boost::asio::awaitable<Result<void>> ask_person(const Web& web, Discovered at, Kept kept,
                                                  std::string scope);
  Result<void> forget_refused(Kept kept, const Error& why);
  Result<void> forget_client(Kept kept);
  [[nodiscard]] std::string advice_after(const Error& why, const Kept& kept) const;
  boost::asio::awaitable<Result<void>> note_down(std::string issuer, std::string scope);
  boost::asio::awaitable<Result<TakenBack>> take_back(Kept kept);
  // A renewal ends before: its requests have limits.
  static constexpr std::chrono::minutes kOthersTurn{2};
  boost::asio::awaitable<Result<UniqueFd>> turn_at_store(
      std::chrono::milliseconds at_most = kOthersTurn);
  boost::asio::awaitable<void> take_turn();
  bool take_fresher();
  // store_, as far as it is for this server as it is configured now.
  [[nodiscard]] Result<Kept> load() const;
  Result<void> save(Kept kept);
  [[nodiscard]] Result<Bound> binding() const;
  [[nodiscard]] Result<Kept> login_at(const std::string& issuer) const;
  [[nodiscard]] bool has_login_elsewhere() const;
  void hide(const Kept& kept) const;
  Result<void> take(Kept kept, Tokens tokens, const std::string& scope);
  [[nodiscard]] Error named(Error error) const;

  boost::asio::any_io_executor executor_;
  AuthorizerOptions options_;
  Store store_;
  std::string access_;
  bool busy_ = false;
  int pages_ = 0;  // of logins, that were shown
  std::optional<Error> failed_;
  std::chrono::steady_clock::time_point rest_ends_{};
};

}  // namespace mcpac::mcp::oauth
