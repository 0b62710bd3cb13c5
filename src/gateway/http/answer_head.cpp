// SPDX-License-Identifier: Apache-2.0

#include "gateway/http/answer_head.h"

#include <boost/beast/http/status.hpp>

namespace mcpac::gateway::http {

std::string status_line(unsigned status) {
  constexpr std::size_t kUsual = 256;  // of a whole head
  const auto reason =
      boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(status));
  std::string line;
  line.reserve(kUsual);
  line.append("HTTP/1.1 ").append(std::to_string(status)).append(1, ' ');
  line.append(reason.data(), reason.size()).append("\r\n");
  return line;
}

void add_header(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace mcpac::gateway::http
