// TokenWatch: ends what tokens of `mcpac token create` opened, soon after they open nothing more.
//
// Requests are asked for their token one by one; streams, subscriptions and calls that are in work
// are not asked again, so this looks every five seconds, in one read of the file for all of them.
// Where the file cannot be read nobody knows who may stay: whoever is there is hung up on, and may
// come back when it can. On the loop; to be made and destroyed there.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "gateway/tokens.h"

namespace mcpac::gateway {

class TokenWatch : public std::enable_shared_from_this<TokenWatch> {
 public:
  struct Heard {
    // The token is over, or was revoked. Once.
    std::function<void(const std::string& client)> over;
    // It cannot be told.
    std::function<void(const std::string& client, const Error& why)> unknown;
  };
  // How long what a token opened may outlive it (docs/gateway.md).
  static constexpr std::chrono::milliseconds kEvery{5'000};

  // `tokens` is borrowed.
  TokenWatch(const boost::asio::any_io_executor& executor, const TokenStore& tokens, Heard heard,
             std::chrono::milliseconds every = kEvery)
      : timer_(executor), tokens_(tokens), heard_(std::move(heard)), every_(every) {}

  // This client came in by this token.
  void watch(const std::string& client, const Token& token);
  // Now, and not only when its time comes.
  void look();

 private:
  void look_later();

  boost::asio::steady_timer timer_;
  const TokenStore& tokens_;
  Heard heard_;
  std::chrono::milliseconds every_;
  std::map<std::string, std::string> digests_;  // by client
  bool is_waiting_ = false;
};

}  // namespace mcpac::gateway
