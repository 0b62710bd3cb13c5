// SPDX-License-Identifier: Apache-2.0

// KeySource: the keys by which an issuer signs, from a file or from where its metadata say.
//
// Metadata and keys are fetched over https with the limits of Web (mcp/oauth/web.h): no redirects,
// bounded, and no addresses that the issuer itself cannot have. They are fetched when they are
// first needed, once an hour, and for a key that is not known; but never more often than the pause
// after the last attempt allows, which grows while attempts fail: tokens with made-up keys make no
// traffic. A request that comes meanwhile waits for the one attempt, unless keys of the last day
// verify the token. On the loop, like the doors.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/backoff.h"
#include "core/clock.h"
#include "core/error.h"
#include "gateway/oauth/access_token.h"

namespace mcpac::gateway::oauth {

class KeySource {
 public:
  // The issuer's set of keys, or why there is none.
  using Fetch = std::function<boost::asio::awaitable<Result<Json>>()>;
  // `clock` is borrowed; `failed` hears why an attempt failed.
  KeySource(const boost::asio::any_io_executor& executor, Fetch fetch, const Clock& clock,
            std::function<void(const std::string&)> failed);

  // True: one of the keys made this signature.
  [[nodiscard]] boost::asio::awaitable<bool> verify(const Claimed& token);
  // Of a token that was verified once: there were keys since, and none of those that hold made its
  // signature. Asks no server.
  [[nodiscard]] bool disowns(const Claimed& token) const;
  // One attempt to fetch them, where it is not too early for one.
  [[nodiscard]] boost::asio::awaitable<void> refresh();
  // One that begins now, whatever the pause: a person asked for it. Until it has succeeded those
  // that there are hold on.
  [[nodiscard]] boost::asio::awaitable<void> renew();

 private:
  enum class Known : std::uint8_t { kVerified, kForged, kNoSuchKey };
  [[nodiscard]] Known look(const Claimed& token) const;
  [[nodiscard]] bool is_old() const;
  [[nodiscard]] bool is_usable() const;
  [[nodiscard]] boost::asio::awaitable<void> wait_for_attempt();
  [[nodiscard]] boost::asio::awaitable<void> attempt();

  Fetch fetch_;
  const Clock& clock_;
  std::function<void(const std::string&)> failed_;
  std::vector<PublicKey> keys_;
  std::chrono::steady_clock::time_point fetched_{};  // those that there are
  std::chrono::steady_clock::time_point next_{};     // attempt, at the earliest
  ExponentialBackoff backoff_;
  bool have_ = false;
  bool fetching_ = false;
  // Waiters go on, also where the attempt ended by an exception.
  struct Attempt;
  boost::asio::steady_timer arrived_;  // cancelled when the attempt is over
};

// From the metadata of the issuer (RFC 8414, OpenID Connect Discovery).
[[nodiscard]] KeySource::Fetch fetch_from_issuer(boost::asio::any_io_executor executor,
                                                 std::string issuer);
// A set of keys in a file, read each time.
[[nodiscard]] KeySource::Fetch fetch_from_file(std::filesystem::path file);

}  // namespace mcpac::gateway::oauth
