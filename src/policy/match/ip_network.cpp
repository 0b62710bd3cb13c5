// SPDX-License-Identifier: Apache-2.0

#include "policy/match/ip_network.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

namespace mcpac::policy {
namespace {

bool same_start(const IpAddress& a, const IpAddress& b, unsigned bits) {
  const std::size_t whole = bits / 8;
  if (!std::equal(a.bytes.begin(), a.bytes.begin() + static_cast<std::ptrdiff_t>(whole),
                  b.bytes.begin()))
    return false;
  if (bits % 8 == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xFFU << (8 - bits % 8));
  return (a.bytes[whole] & mask) == (b.bytes[whole] & mask);
}

// The IPv4 address whose bytes stand at these places of an IPv6 address.
IpAddress v4_at(const IpAddress& address, std::array<std::size_t, 4> places) {
  IpAddress inner;
  inner.v4 = true;
  for (std::size_t i = 0; i < places.size(); ++i) inner.bytes[i] = address.bytes[places[i]];
  return inner;
}

// Where an IPv6 address may carry an IPv4 address.
struct Carrier {
  const char* prefix;
  std::array<std::size_t, 4> places;
  bool is_inverted = false;
};
constexpr std::array<std::size_t, 4> kLastPlaces = {12, 13, 14, 15};
constexpr Carrier kCarriers[] = {
    {"::/96", kLastPlaces},
    {"::ffff:0:0:0/96", kLastPlaces},
    {"2002::/16", {2, 3, 4, 5}},
    {"2001::/32", {4, 5, 6, 7}},        // the server of Teredo
    {"2001::/32", kLastPlaces, true},   // its client
    {"64:ff9b:1::/48", {6, 7, 9, 10}},  // RFC 6052, 2.2: by the length of the prefix
    {"64:ff9b:1::/48", {7, 9, 10, 11}},
    {"64:ff9b:1::/48", {9, 10, 11, 12}},
    {"64:ff9b:1::/48", kLastPlaces},
};

// ISATAP: an interface that is called by its IPv4 address, in any network.
bool is_isatap(const IpAddress& address) {
  return (address.bytes[8] & 0xFDU) == 0 && address.bytes[9] == 0 && address.bytes[10] == 0x5E &&
         address.bytes[11] == 0xFE;
}

}  // namespace

// IANA's special-purpose registries, the forms that carry another address inside, and the address
// under which Azure's host serves its guests (secrets among it), public as it looks.
const std::vector<IpNetwork>& special_ranges() {
  static const std::vector<IpNetwork> ranges = [] {
    std::vector<IpNetwork> made;
    for (
        const char* text :
        {"0.0.0.0/8",      "10.0.0.0/8",    "100.64.0.0/10",   "127.0.0.0/8",    "168.63.129.16/32",
         "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",    "192.0.2.0/24",   "192.88.99.0/24",
         "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4",
         "240.0.0.0/4",    "::/96",         "::ffff:0:0:0/96", "64:ff9b:1::/48", "100::/64",
         "2001::/23",      "2001:db8::/32", "2002::/16",       "3fff::/20",      "5f00::/16",
         "fc00::/7",       "fe80::/10",     "fec0::/10",       "ff00::/8"}) {
      made.push_back(IpNetwork::parse(text).value());
    }
    return made;
  }();
  return ranges;
}

std::optional<IpAddress> parse_ipv4(std::string_view text) {
  IpAddress address;
  address.v4 = true;
  if (::inet_pton(AF_INET, std::string(text).c_str(), address.bytes.data()) != 1)
    return std::nullopt;
  return address;
}

std::optional<IpAddress> parse_ipv6(std::string_view text) {
  IpAddress address;
  if (::inet_pton(AF_INET6, std::string(text).c_str(), address.bytes.data()) != 1)
    return std::nullopt;
  return address;
}

IpAddress unwrap(const IpAddress& address) {
  if (address.v4) return address;
  constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  constexpr std::array<std::uint8_t, 12> kNat64 = {0, 0x64, 0xFF, 0x9B};
  const auto starts = [&](const auto& prefix) {
    return std::equal(prefix.begin(), prefix.end(), address.bytes.begin());
  };
  if (!starts(kMapped) && !starts(kNat64)) return address;
  IpAddress inner;
  inner.v4 = true;
  std::copy(address.bytes.begin() + 12, address.bytes.end(), inner.bytes.begin());
  return inner;
}

std::vector<IpAddress> addresses_reached(const IpAddress& written) {
  static const auto kNetworks = [] {
    std::vector<IpNetwork> made;
    for (const auto& carrier : kCarriers) made.push_back(IpNetwork::parse(carrier.prefix).value());
    return made;
  }();
  static const std::vector<IpAddress> kUnspecified = {*parse_ipv6("::"), *parse_ipv4("0.0.0.0")};
  std::vector<IpAddress> reached = {unwrap(written)};
  const auto add = [&](const IpAddress& address) {
    if (std::ranges::find(reached, address) == reached.end()) reached.push_back(address);
  };
  const IpAddress address = reached.front();
  if (!address.v4) {
    for (std::size_t i = 0; i < kNetworks.size(); ++i) {
      if (!kNetworks[i].contains(address)) continue;
      IpAddress inner = v4_at(address, kCarriers[i].places);
      for (std::size_t at = 0; at < 4 && kCarriers[i].is_inverted; ++at)
        inner.bytes[at] = static_cast<std::uint8_t>(~inner.bytes[at]);
      if (inner.bytes[0] != 0) add(inner);  // "::1" carries none
    }
    if (is_isatap(address)) add(v4_at(address, kLastPlaces));
  }
  const bool is_unspecified = std::ranges::any_of(kUnspecified, [&](const auto& one) {
    return std::ranges::find(reached, one) != reached.end();
  });
  if (is_unspecified) add(*parse_ipv4("127.0.0.1"));
  if (address == kUnspecified.front()) add(*parse_ipv6("::1"));
  return reached;
}

std::optional<IpNetwork> IpNetwork::parse(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos || slash > 64) return std::nullopt;
  auto address = parse_ipv4(text.substr(0, slash));
  if (!address) address = parse_ipv6(text.substr(0, slash));
  if (!address) return std::nullopt;
  const auto digits = text.substr(slash + 1);
  IpNetwork network;
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, network.prefix_);
  const unsigned bits = address->v4 ? 32 : 128;
  if (parsed.ec != std::errc{} || parsed.ptr != end || network.prefix_ > bits) return std::nullopt;
  network.first_ = *address;
  for (unsigned bit = network.prefix_; bit < bits; ++bit) {
    if ((address->bytes[bit / 8] >> (7 - bit % 8) & 1U) != 0) return std::nullopt;
  }
  if (const IpAddress inner = unwrap(*address); inner.v4 != address->v4 && network.prefix_ >= 96) {
    network.first_ = inner;
    network.prefix_ -= 96;
  }
  return network;
}

IpAddress IpNetwork::last() const {
  IpAddress address = first_;
  for (unsigned bit = prefix_; bit < (address.v4 ? 32U : 128U); ++bit)
    address.bytes[bit / 8] = static_cast<std::uint8_t>(address.bytes[bit / 8] | 0x80U >> bit % 8);
  return address;
}

bool IpNetwork::contains(const IpAddress& address) const {
  return address.v4 == first_.v4 && same_start(first_, address, prefix_);
}

bool IpNetwork::lies_within(const IpNetwork& outer) const {
  return prefix_ >= outer.prefix_ && outer.contains(first_);
}

bool IpNetwork::admits(const IpAddress& address) const {
  return contains(address) && std::ranges::all_of(special_ranges(), [&](const IpNetwork& range) {
           return !range.contains(address) || lies_within(range);
         });
}

}  // namespace mcpac::policy
