// SPDX-License-Identifier: Apache-2.0

// notice_dead_peer(): ends a connection whose peer disappeared without closing it.
//
// A laptop that sleeps, a network that changes, a machine that lost its power: no packet says that
// the connection ended. Left to itself TCP waits two hours where nothing is sent, and a quarter of
// an hour where something is, and what the connection stands for is held as long (RFC 9293, section
// 3.8.4; RFC 5482; tcp(7)).
#pragma once

#include <chrono>

#include <boost/asio/ip/tcp.hpp>

namespace mcpac::ipc {

// Without traffic the other side is asked after a minute, and again each 15 seconds.
inline constexpr std::chrono::seconds kAskedAfter{60};
inline constexpr std::chrono::seconds kAskedAgain{15};
inline constexpr int kAskedTimes = 4;
// Data or a probe that is not acknowledged for so long means a dead peer; a live peer that reads
// nothing is treated alike.
inline constexpr std::chrono::seconds kUntaken{120};

// Of an open socket. A kernel that does not know one of the options goes without it.
void notice_dead_peer(boost::asio::ip::tcp::socket& socket);

}  // namespace mcpac::ipc
