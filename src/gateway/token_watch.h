// SPDX-License-Identifier: Apache-2.0

// TokenWatch: ends what tokens of `mcpac token create` opened, soon after they open nothing more.
//
// Requests are asked for their token one by one; streams, subscriptions and calls that are in work
// are not asked again, so this looks every five seconds, in one read of the file for all of them.
// Where the file cannot be read it is unknown who may stay: all clients are disconnected, and may
// come back when it can. But for a while where it is the machine's fault and not the file's: else a
// client that uses up its descriptors for a moment ends the sessions of all. No new client is
// admitted then. On the loop; to be made and destroyed there.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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
    // Nor can it now, and they stay for a while; may be null.
    std::function<void(const Error& why)> later = nullptr;
  };
  // How long what a token opened may outlive it (docs/gateway.md).
  static constexpr std::chrono::milliseconds kEvery{5'000};
  // And how long where the file cannot be read by no fault of its own.
  static constexpr std::chrono::milliseconds kWhile{60'000};

  // `tokens` is borrowed.
  TokenWatch(const boost::asio::any_io_executor& executor, const TokenStore& tokens, Heard heard,
             std::chrono::milliseconds every = kEvery, std::chrono::milliseconds bears = kWhile)
      : timer_(executor), tokens_(tokens), heard_(std::move(heard)), every_(every), bears_(bears) {}

  // This client came in by this token.
  void watch(const std::string& client, const Token& token);
  // Now, and not only when its time comes.
  void look();

 private:
  void look_later();
  // It could not be read, and is to be asked for again before a client is disconnected.
  [[nodiscard]] bool bears(const Error& why);

  boost::asio::steady_timer timer_;
  const TokenStore& tokens_;
  Heard heard_;
  std::chrono::milliseconds every_;
  std::chrono::milliseconds bears_;
  std::optional<std::chrono::steady_clock::time_point> unread_since_;
  std::map<std::string, std::string> digests_;  // by client
  bool is_waiting_ = false;
};

}  // namespace mcpac::gateway
