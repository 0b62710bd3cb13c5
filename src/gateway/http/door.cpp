// SPDX-License-Identifier: Apache-2.0

#include "gateway/http/door.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <utility>

#include <boost/asio/ip/address.hpp>

#include "core/clock.h"
#include "gateway/http/peer.h"

namespace mcpac::gateway::http {
namespace asio = boost::asio;
using asio::ip::tcp;
namespace {

constexpr auto kPause = std::chrono::milliseconds(100);
constexpr auto kSweep = std::chrono::seconds(60);
constexpr std::size_t kSessionBytes = 16;  // 128 unguessable bits

std::string new_session_id() {
  std::array<unsigned char, kSessionBytes> bytes{};
  randombytes_buf(bytes.data(), bytes.size());
  std::string id;
  for (const unsigned char byte : bytes) id += fmt::format("{:02x}", byte);
  return id;
}

}  // namespace

HttpDoor::HttpDoor(const asio::any_io_executor& executor, HttpDoorSetup setup)
    : executor_(executor),
      setup_(std::move(setup)),
      acceptor_(executor),
      pause_(executor),
      sweep_(executor),
      long_bodies_(executor) {}

HttpDoor::~HttpDoor() {
  close();
}

Result<std::shared_ptr<HttpDoor>> HttpDoor::open(const asio::any_io_executor& executor,
                                                 HttpDoorSetup setup) {
  std::shared_ptr<HttpDoor> door(new HttpDoor(executor, std::move(setup)));
  if (auto listens = door->listen(); !listens) return pass_on(listens);
  door->accept();
  door->sweep();
  return door;
}

Result<void> HttpDoor::listen() {
  boost::system::error_code error;
  const auto address = asio::ip::make_address(setup_.address, error);
  if (error) return fail(ErrorId::kUsage, fmt::format("--http {} is no address", setup_.address));
  if (!address.is_loopback() && !setup_.tls) {
    return fail(ErrorId::kUsage, fmt::format("--http {} is no loopback address", setup_.address),
                {.why = "tokens would travel unencrypted",
                 .fix = "--http 127.0.0.1:PORT, or --tls-cert and --tls-key"});
  }
  const tcp::endpoint place(address, setup_.port);
  acceptor_.open(place.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(place, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return fail(ErrorId::kServerHttp,
                fmt::format("cannot listen on {}:{}", setup_.address, setup_.port),
                {.why = error.message(), .fix = "another port, or 0 for any that is free"});
  }
  names_ = {.hosts = names_of(address),
            .port = acceptor_.local_endpoint(error).port(),
            .tls = setup_.tls != nullptr,
            .urls = setup_.urls};
  for (const std::string& host : setup_.hosts) names_.hosts.push_back(lower(host));
  return {};
}

void HttpDoor::accept() {
  acceptor_.async_accept(
      [weak = weak_from_this()](const boost::system::error_code& error, tcp::socket socket) {
        const auto self = weak.lock();
        if (!self || self->closed_ || error == asio::error::operation_aborted) return;
        if (error) return self->accept_later();
        self->welcome(std::move(socket));
        self->accept();
      });
}

// Without a descriptor for it (EMFILE) a connection stays in the queue, and accepting again at once
// would fail again at once.
void HttpDoor::accept_later() {
  std::ignore = make_room();
  pause_.expires_after(kPause);
  pause_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!error && self && !self->closed_) self->accept();
  });
}

void HttpDoor::welcome(tcp::socket socket) {
  // Connections that made room may still stand, until their token was checked: no more than as
  // many.
  const bool is_over_full = peers_.size() >= 2 * setup_.limits.max_connections;
  const bool is_full = peers_.size() >= setup_.limits.max_connections;
  if (finishing_ || is_over_full || (is_full && !make_room())) return;
  const auto peer = std::make_shared<Peer>(shared_from_this(), std::move(socket), ++peers_so_far_);
  peers_.insert(peer);
  peer->start();
}

bool HttpDoor::make_room(const ClientShare* guest) {
  std::shared_ptr<Peer> oldest;
  for (const auto& peer : peers_) {
    if (peer->is_closed() || (peer->has_shown_token() && !peer->is_idle())) continue;
    if (guest != nullptr && peer->share() != guest) continue;
    const auto rank = [](const Peer& one) { return std::pair(one.has_shown_token(), one.turn()); };
    if (!oldest || rank(*peer) < rank(*oldest)) oldest = peer;
  }
  if (!oldest) return false;
  oldest->close();
  return true;
}

std::shared_ptr<ClientShare> HttpDoor::share_of(const AdmittedClient& guest) {
  std::weak_ptr<ClientShare>& known = shares_[guest.name];
  auto share = known.lock();
  if (!share) known = share = std::make_shared<ClientShare>(setup_.limits.share);
  return share;
}

std::chrono::steady_clock::duration HttpDoor::rest_of(const std::string& guest) const {
  const auto found = paces_.find(guest);
  return found == paces_.end() ? std::chrono::steady_clock::duration::zero()
                               : found->second.rest(std::chrono::steady_clock::now());
}

void HttpDoor::took(const std::string& guest, std::chrono::steady_clock::time_point begun) {
  const auto now = std::chrono::steady_clock::now();
  if (now - begun > mcp::ReadThrottle::kShort) paces_[guest].took(begun, now);
}

std::size_t HttpDoor::held_for(const std::string& guest) const {
  const auto found = shares_.find(guest);
  const auto share = found == shares_.end() ? nullptr : found->second.lock();
  return share ? share->held() : 0;
}

void HttpDoor::sweep() {
  sweep_.expires_after(kSweep);
  sweep_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->closed_) return;
    const auto old = SystemClock().steady_now() - self->setup_.limits.session_time;
    std::erase_if(self->sessions_, [&](const auto& entry) {
      const auto& conversation = *entry.second.conversation;
      const bool is_over =
          conversation.is_closed() || (entry.second.last_used < old && !conversation.is_busy());
      if (is_over) entry.second.conversation->close();
      return is_over;
    });
    std::erase_if(self->shares_, [](const auto& entry) { return entry.second.expired(); });
    std::erase_if(self->paces_, [now = std::chrono::steady_clock::now()](const auto& entry) {
      return entry.second.rest(now) <= std::chrono::steady_clock::duration::zero();
    });
    self->sweep();
  });
}

std::string HttpDoor::add_session(const AdmittedClient& guest,
                                  const std::shared_ptr<HttpSession>& conversation) {
  const auto theirs = [&](const auto& entry) { return entry.second.guest == guest.name; };
  if (static_cast<std::size_t>(std::ranges::count_if(sessions_, theirs)) >=
      setup_.limits.max_sessions) {
    // The one that was silent for longest goes, where it has nothing in work.
    auto oldest = sessions_.end();
    for (auto at = sessions_.begin(); at != sessions_.end(); ++at) {
      if (!theirs(*at) || at->second.conversation->is_busy()) continue;
      if (oldest == sessions_.end() || at->second.last_used < oldest->second.last_used) oldest = at;
    }
    if (oldest == sessions_.end()) return "";
    oldest->second.conversation->close();
    sessions_.erase(oldest);
  }
  std::string id = new_session_id();
  sessions_.emplace(id, Session{guest.name, conversation, SystemClock().steady_now()});
  return id;
}

std::shared_ptr<HttpSession> HttpDoor::find_session(const AdmittedClient& guest,
                                                    std::string_view id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || found->second.guest != guest.name) return nullptr;
  // Hung up on: its client is to begin another.
  if (found->second.conversation->is_closed()) {
    sessions_.erase(found);
    return nullptr;
  }
  found->second.last_used = SystemClock().steady_now();
  return found->second.conversation;
}

void HttpDoor::end_session(std::string_view id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  found->second.conversation->close();
  sessions_.erase(found);
}

void HttpDoor::finish() {
  if (std::exchange(finishing_, true)) return;
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  for (const auto& [id, session] : sessions_) session.conversation->session().finish();
  for (const auto& peer : std::set(peers_)) peer->finish();
}

void HttpDoor::close() {
  if (std::exchange(closed_, true)) return;
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  sweep_.cancel();
  for (const auto& [id, session] : std::exchange(sessions_, {})) session.conversation->close();
  for (const auto& peer : std::exchange(peers_, {})) peer->close();
}

}  // namespace mcpac::gateway::http
