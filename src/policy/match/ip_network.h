// SPDX-License-Identifier: Apache-2.0

// IP addresses and networks, IPv4 and IPv6, as tests on URLs compare them.
//
// An IPv6 form that only wraps an IPv4 address (mapped, NAT64) is that IPv4 address. Special ranges
// (loopback, private, link-local, metadata and the like) are covered only by a network that lies
// within the range: 0.0.0.0/0 means the public addresses.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace mcpac::policy {

struct IpAddress {
  bool v4 = false;
  std::array<std::uint8_t, 16> bytes{};  // the first four of an IPv4 address
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

// "93.184.216.0/24", "::1/128": nothing for a prefix that is too long or bits behind the prefix.
class IpNetwork {
 public:
  static std::optional<IpNetwork> parse(std::string_view text);
  [[nodiscard]] const IpAddress& first() const { return first_; }
  [[nodiscard]] IpAddress last() const;
  [[nodiscard]] bool contains(const IpAddress& address) const;
  // As an allow reads it: special addresses need a network within their range.
  [[nodiscard]] bool admits(const IpAddress& address) const;

 private:
  [[nodiscard]] bool lies_within(const IpNetwork& outer) const;
  IpAddress first_;
  unsigned prefix_ = 0;
};

// Loopback, private, link-local, metadata and the like.
[[nodiscard]] const std::vector<IpNetwork>& special_ranges();
// Dotted decimal with four parts only (the text of a rule).
[[nodiscard]] std::optional<IpAddress> parse_ipv4(std::string_view text);
[[nodiscard]] std::optional<IpAddress> parse_ipv6(std::string_view text);
[[nodiscard]] IpAddress unwrap(const IpAddress& address);
// The readings of an address: each that a connection to it may reach, itself first. The unspecified
// address is this machine, and IPv6 carries IPv4 inside: IPv4-compatible (RFC 4291, 2.5.5.1), 6to4
// (RFC 3056), Teredo (RFC 4380), ISATAP (RFC 5214), translated (RFC 2765; RFC 6052 with the prefix
// of RFC 8215). What a network translates by a prefix of its own is not known.
[[nodiscard]] std::vector<IpAddress> addresses_reached(const IpAddress& address);
// Beside the one below, which would hide it.
using ::mcpac::to_text;
// As it stands in a URL: dotted decimal, or IPv6 in square brackets.
[[nodiscard]] std::string to_text(const IpAddress& address);

}  // namespace mcpac::policy
