// SPDX-License-Identifier: Apache-2.0

#include "gateway/token_watch.h"

#include <algorithm>
#include <vector>

#include "core/clock.h"

namespace mcpac::gateway {

void TokenWatch::watch(const std::string& client, const Token& token) {
  digests_.emplace(client, token.digest);
  if (!is_waiting_) look_later();
}

void TokenWatch::look_later() {
  is_waiting_ = true;
  timer_.expires_after(every_);
  timer_.async_wait([weak = weak_from_this()](const auto& error) {
    const auto self = weak.lock();
    if (error || !self) return;
    self->is_waiting_ = false;
    self->look();
    if (!self->digests_.empty() && !self->is_waiting_) self->look_later();
  });
}

bool TokenWatch::bears(const Error& why) {
  if (why.id != ErrorId::kFileUnreadable) return false;
  const auto now = SystemClock().steady_now();
  if (!unread_since_) unread_since_ = now;
  return now - *unread_since_ < bears_;
}

// The callback may come back here: nothing is held meanwhile.
void TokenWatch::look() {
  const auto keep = shared_from_this();
  const auto known = digests_;
  const auto tokens = tokens_.list();
  if (tokens) unread_since_.reset();
  if (!tokens && bears(tokens.error())) {
    if (heard_.later) heard_.later(tokens.error());
    return;
  }
  for (const auto& [client, digest] : known) {
    if (!tokens) {
      heard_.unknown(client, tokens.error());
      continue;
    }
    const auto found = std::ranges::find(*tokens, digest, &Token::digest);
    if (found != tokens->end() && !tokens_.is_over(*found)) continue;
    digests_.erase(client);
    heard_.over(client);
  }
}

}  // namespace mcpac::gateway
