// SPDX-License-Identifier: Apache-2.0

// HTTP messages in pieces: received bytes are parsed at once, and what there is room for is written
// at once; the loop is waited for where neither is possible.
//
// The library's own operations ask the loop for each step of a message that has come whole, and
// read 512 bytes at a time unless the buffer has room for more.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/buffers_suffix.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>

namespace mcpac::ipc {

// A parser of requests that refuses a header line that goes on in the next one (obs-fold), as a
// server must (RFC 9112, section 5.2): the library makes one line of them, and what stands before
// this server may have made two. A reader of answers may make one line of them, and the library
// does.
template <class Body>
class UnfoldedRequestParser : public boost::beast::http::request_parser<Body> {
  using Base = boost::beast::http::request_parser<Body>;

 public:
  // As that of the library, for one buffer. Bytes of the head are looked at once.
  std::size_t put(boost::asio::const_buffer bytes, boost::system::error_code& error) {
    if (!this->is_header_done() && begins_with_fold(bytes)) {
      error = boost::beast::http::error::bad_obs_fold;
      return 0;
    }
    const std::size_t used = Base::put(bytes, error);
    looked_at_ -= std::min(used, looked_at_);
    return used;
  }

 private:
  // A line of the head that begins with a blank.
  bool begins_with_fold(boost::asio::const_buffer bytes) {
    const std::string_view text(static_cast<const char*>(bytes.data()), bytes.size());
    while (!is_over_) {
      const auto end = text.find('\n', looked_at_);
      looked_at_ = std::min(end, text.size());
      if (end == std::string_view::npos || end + 1 == text.size()) return false;
      const char next = text[end + 1];
      if (next == ' ' || next == '\t') return true;
      is_over_ = next == '\r' || next == '\n';
      looked_at_ = end + 1;
    }
    return false;
  }

  std::size_t looked_at_ = 0;  // of what was not understood yet
  bool is_over_ = false;       // an empty line has come
};

// Understands what is buffered; where that is too little, reads up to `size` bytes more, which are
// understood next time. Errors are those of the parser, or of the stream.
template <class Stream, class Parser>
boost::asio::awaitable<boost::system::error_code> read_piece(Stream& stream,
                                                             boost::beast::flat_buffer& buffer,
                                                             Parser& parser, std::size_t size) {
  namespace http = boost::beast::http;
  boost::system::error_code error = http::error::need_more;
  if (buffer.size() > 0) buffer.consume(parser.put(buffer.data(), error));
  if (error != http::error::need_more) co_return error;
  size = std::min(size, buffer.max_size() - buffer.size());
  if (size == 0) co_return http::error::buffer_overflow;
  const auto [failed, read] = co_await stream.async_read_some(
      buffer.prepare(size), boost::asio::as_tuple(boost::asio::use_awaitable));
  buffer.commit(read);
  if (failed != boost::asio::error::eof) co_return failed;
  if (!parser.got_some()) co_return http::error::end_of_stream;
  error = {};
  parser.put_eof(error);
  co_return error;
}

// Of a buffer of one connection, between two messages: room that nothing needs is given back. What
// is there of the next message stays, and may keep as much again; so what is moved for it is never
// more than what was read.
inline void give_back(boost::beast::flat_buffer& buffer, std::size_t usual) {
  const std::size_t most = buffer.size() == 0 ? usual : 2 * std::max(buffer.size(), usual);
  if (buffer.capacity() > most) buffer.shrink_to_fit();
}

using TwoBuffers = std::array<boost::asio::const_buffer, 2>;

// Number of bytes written to a socket that does not block. No room is no error.
inline std::size_t write_now(boost::asio::ip::tcp::socket& socket, const TwoBuffers& parts,
                             boost::system::error_code& error) {
  const std::size_t written = socket.write_some(parts, error);
  if (error == boost::asio::error::would_block || error == boost::asio::error::try_again)
    error = {};
  return written;
}

// The rest of what was written so far of.
template <class Stream>
boost::asio::awaitable<boost::system::error_code> write_rest(Stream& stream, TwoBuffers parts,
                                                             std::size_t written) {
  boost::beast::buffers_suffix<TwoBuffers> left(parts);
  left.consume(written);
  while (boost::asio::buffer_size(left) > 0) {
    const auto [error, size] =
        co_await stream.async_write_some(left, boost::asio::as_tuple(boost::asio::use_awaitable));
    if (error) co_return error;
    left.consume(size);
  }
  co_return boost::system::error_code();
}

}  // namespace mcpac::ipc
