// notice_dead_peer(): a connection ends whose other side is gone without a word.
//
// A laptop that sleeps, a network that changes, a machine that lost its power: nobody says that the
// connection ended. Left to itself TCP waits two hours where nothing is sent, and a quarter of an
// hour where something is, and what the connection stands for is held as long (RFC 9293, section
// 3.8.4; RFC 5482; tcp(7)).
#pragma once

#include <chrono>

#include <boost/asio/ip/tcp.hpp>

namespace mcpac::ipc {

// Without traffic the other side is asked after a minute, and again each 15 seconds.
inline constexpr std::chrono::seconds kAskedAfter{60};
inline constexpr std::chrono::seconds kAskedAgain{15};
inline constexpr int kAskedTimes = 4;
// What was sent, or asked, and not taken for so long has nobody to take it; a side that is there
// and reads nothing is no better.
inline constexpr std::chrono::seconds kUntaken{120};

// Of an open socket. A kernel that does not know one of the options goes without it.
void notice_dead_peer(boost::asio::ip::tcp::socket& socket);

}  // namespace mcpac::ipc
