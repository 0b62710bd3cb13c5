// SPDX-License-Identifier: Apache-2.0

#include "gateway/oauth/key_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "core/file.h"
#include "core/printable.h"
#include "mcp/oauth/metadata.h"
#include "mcp/oauth/web.h"

namespace mcpac::gateway::oauth {
namespace asio = boost::asio;
namespace {

constexpr std::chrono::seconds kFirstPause{30};
constexpr std::chrono::seconds kLongestPause{600};
constexpr std::chrono::hours kFresh{1};
// Keys that could not be fetched anew are believed for so long: an issuer that is away for a moment
// locks no client out, one that took a key back is heard the next day at the latest.
constexpr std::chrono::hours kLongestUse{24};
constexpr std::size_t kMaxFile = std::size_t{256} << 10U;

asio::awaitable<Result<Json>> fetch_keys(asio::any_io_executor executor, std::string issuer) {
  auto url = mcp::oauth::safe_url(issuer);
  if (!url) co_return pass_on(url);
  const auto reach = co_await mcp::oauth::reach_of(executor, *url);
  auto web = mcp::oauth::Web::make(executor, reach);
  if (!web) co_return pass_on(web);
  std::string why = "no metadata";
  for (const std::string& place : mcp::oauth::issuer_documents(*url)) {
    auto metadata = co_await web->fetch_object(place);
    if (!metadata) {
      why = metadata.error().what;
      continue;
    }
    if (string_member(*metadata, "issuer") != issuer) {
      why = fmt::format("{} is about another issuer", printable(place, 200));
      continue;
    }
    const std::string keys = string_member(*metadata, "jwks_uri");
    co_return co_await web->fetch_object(keys);
  }
  co_return fail(ErrorId::kServerHttp,
                 fmt::format("the keys of {} cannot be found: {}", printable(issuer, 200), why));
}

bool is_set(const Json& document) {
  const Json* keys = find_member(document, "keys");
  return keys != nullptr && keys->is_array();
}

asio::awaitable<Result<Json>> read_set(std::filesystem::path file) {
  auto text = read_file(file, kMaxFile);
  if (!text) co_return pass_on(text);
  co_return parse_json(*text, file.string());
}

}  // namespace

KeySource::KeySource(const asio::any_io_executor& executor, Fetch fetch, const Clock& clock,
                     std::function<void(const std::string&)> failed)
    : fetch_(std::move(fetch)),
      clock_(clock),
      failed_(std::move(failed)),
      backoff_(kFirstPause, kLongestPause),
      arrived_(executor, asio::steady_timer::time_point::max()) {
  backoff_.next();
}

KeySource::Known KeySource::look(const Claimed& token) const {
  bool is_known = false;
  for (const PublicKey& key : keys_) {
    if (!fits(key, token.algorithm)) continue;
    if (!token.key_id.empty() && key.id != token.key_id) continue;
    is_known = true;
    if (verifies(key, token.algorithm, token.signed_text, token.signature)) return Known::kVerified;
  }
  return is_known ? Known::kForged : Known::kNoSuchKey;
}

bool KeySource::is_old() const {
  return !have_ || clock_.steady_now() - fetched_ >= kFresh;
}

bool KeySource::is_usable() const {
  return have_ && clock_.steady_now() - fetched_ < kLongestUse;
}

asio::awaitable<bool> KeySource::verify(const Claimed& token) {
  // While a request waits for an issuer that perhaps hangs, keys that are young enough do for
  // others.
  if (is_old() && !(fetching_ && is_usable())) co_await refresh();
  if (!is_usable()) {
    have_ = false;
    keys_.clear();
  }
  Known known = look(token);
  if (known == Known::kNoSuchKey) {
    co_await refresh();
    known = look(token);
  }
  co_return known == Known::kVerified;
}

bool KeySource::disowns(const Claimed& token) const {
  const bool knew_any = fetched_ != std::chrono::steady_clock::time_point();
  return knew_any && (!is_usable() || look(token) != Known::kVerified);
}

struct KeySource::Attempt {
  explicit Attempt(KeySource& of) : source(of) { source.fetching_ = true; }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  ~Attempt() {
    source.fetching_ = false;
    source.next_ = source.clock_.steady_now() + source.backoff_.last();
    source.arrived_.cancel();
  }
  KeySource& source;
};

asio::awaitable<void> KeySource::wait_for_attempt() {
  co_await arrived_.async_wait(asio::as_tuple(asio::use_awaitable));
}

asio::awaitable<void> KeySource::refresh() {
  if (fetching_) co_return co_await wait_for_attempt();
  const bool too_early =
      next_ != std::chrono::steady_clock::time_point() && clock_.steady_now() < next_;
  if (!too_early) co_await attempt();
}

// One that is under way may have begun before what is to be read was written.
asio::awaitable<void> KeySource::renew() {
  while (fetching_) co_await wait_for_attempt();
  co_await attempt();
}

asio::awaitable<void> KeySource::attempt() {
  const Attempt under_way(*this);
  auto set = co_await fetch_();
  // What is no set of keys (RFC 7517, section 5) does not say that there are none.
  if (set && !is_set(*set))
    set = fail(ErrorId::kServerHttp, "what should be keys is no set of them");
  if (set) {
    keys_ = read_keys(*set);
    fetched_ = clock_.steady_now();
    have_ = true;
    backoff_.reset();
    backoff_.next();  // also of what is there
  } else {
    failed_(set.error().to_text());
    backoff_.next();
  }
}

KeySource::Fetch fetch_from_issuer(asio::any_io_executor executor, std::string issuer) {
  return [executor, issuer] { return fetch_keys(executor, issuer); };
}

KeySource::Fetch fetch_from_file(std::filesystem::path file) {
  return [file] { return read_set(file); };
}

}  // namespace mcpac::gateway::oauth
