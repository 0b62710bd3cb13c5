// SPDX-License-Identifier: Apache-2.0

// The names that a confined server asks for, and what they lead to there: an address of a range
// that no network has (198.18.0.0/15, RFC 2544), which stands for the name. A connection to it is
// one to the name. So nothing is asked of a name server before a connection is.
//
// Queries are hostile, answers are ours. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/ip/address_v4.hpp>

namespace mcpac::servers {

class NameAnswers {
 public:
  // Whether a connection to this name (as it was asked for) could be made; where not, why is told
  // and recorded there.
  using Admits = std::function<bool(const std::string& name)>;
  explicit NameAnswers(Admits admits) : admits_(std::move(admits)) {}

  // One message of RFC 1035; nothing for what is no query. An admitted name has one A record, and
  // no records of other types, and so has localhost; any other name does not exist (NXDOMAIN).
  [[nodiscard]] std::optional<std::string> answer(std::string_view query);
  // The name that an address stands for.
  [[nodiscard]] std::optional<std::string> name_of(
      const boost::asio::ip::address_v4& address) const;

 private:
  std::optional<std::uint32_t> address_of(const std::string& name);

  Admits admits_;
  std::map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace mcpac::servers
