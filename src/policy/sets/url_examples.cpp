#include "policy/sets/url_examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "policy/match/ip_network.h"
#include "policy/match/url.h"

namespace mcpac::policy {
namespace {

constexpr const char* kSchemes[] = {"https", "http", "wss", "ws", "ftp"};

// The next address, or the one before; around the end at the ends.
IpAddress neighbour(IpAddress address, bool up) {
  for (std::size_t i = address.v4 ? 4 : 16; i > 0; --i) {
    std::uint8_t& byte = address.bytes[i - 1];
    byte = static_cast<std::uint8_t>(up ? byte + 1 : byte - 1);
    if (byte != (up ? 0x00 : 0xFF)) break;
  }
  return address;
}

// 6to4, which carries an IPv4 address.
IpAddress carrying(const IpAddress& v4) {
  IpAddress address;
  address.bytes[0] = 0x20;
  address.bytes[1] = 0x02;
  std::copy_n(v4.bytes.begin(), 4, address.bytes.begin() + 2);
  return address;
}

void add_ends(const IpNetwork& network, std::set<std::string>& hosts) {
  for (const auto& end : {network.first(), network.last()}) {
    for (const auto& address : {end, neighbour(end, true), neighbour(end, false)})
      hosts.insert(to_text(address));
  }
}

// A name below `name` that is not in use.
std::string fresh_below(const std::string& name, const std::set<std::string>& known) {
  std::string made = "a." + name;
  while (known.contains(made)) made = "a" + made;
  return made;
}

// A name that lies below none of those.
std::string unrelated(const std::set<std::string>& known) {
  std::string top = "test";
  const auto is_taken = [&](const std::string& name) {
    return name == top || name.ends_with("." + top);
  };
  while (std::ranges::any_of(known, is_taken)) top += "t";
  return "a." + top;
}

}  // namespace

void UrlWords::add(const ast::Test& test) {
  if (const auto* host = std::get_if<ast::HostTest>(&test.body))
    hosts.insert(hosts.end(), host->hosts.begin(), host->hosts.end());
  if (const auto* ip = std::get_if<ast::IpTest>(&test.body))
    networks.insert(networks.end(), ip->networks.begin(), ip->networks.end());
  if (const auto* port = std::get_if<ast::PortTest>(&test.body)) {
    for (const auto& number : port->ports) ports.push_back(number.spelling);
  }
}

void UrlWords::add(const ast::Exception& exception) {
  if (const auto* host = std::get_if<ast::HostException>(&exception.body))
    hosts.push_back(host->host);
  if (const auto* ip = std::get_if<ast::NetworkException>(&exception.body))
    networks.push_back(ip->network);
}

namespace {

std::set<std::string> example_hosts(const UrlWords& words) {
  std::set<std::string> names;
  for (const auto& text : words.hosts) {
    if (text == "*") continue;
    const auto host = read_host(text.starts_with("*.") ? text.substr(2) : text);
    if (!host) continue;
    if (const auto* name = std::get_if<std::string>(&*host)) names.insert(*name);
  }
  std::set<std::string> hosts = names;
  for (const auto& name : names) hosts.insert(fresh_below(name, names));
  hosts.insert({unrelated(names), "localhost", "93.184.216.34", "127.0.0.1", "[::1]", "0.0.0.0",
                "[::]", "metadata.google.internal"});
  for (const auto& range : special_ranges()) {
    if (!words.networks.empty()) add_ends(range, hosts);
  }
  for (const auto& text : words.networks) {
    const auto network = IpNetwork::parse(text);
    if (!network) continue;
    add_ends(*network, hosts);
    if (network->first().v4) hosts.insert(to_text(carrying(network->first())));
  }
  return hosts;
}

// ":443", as rules name them, one that no rule names, and none.
std::set<std::string> example_ports(const UrlWords& words) {
  std::set<std::string> ports = {""};
  for (const auto& port : words.ports) ports.insert(":" + port);
  // Of more ports than there are names of ports.
  unsigned free = 1024;
  while (ports.contains(fmt::format(":{}", free))) ++free;
  ports.insert(fmt::format(":{}", free));
  return ports;
}

}  // namespace

std::vector<std::string> url_examples(const UrlWords& words) {
  const auto hosts = example_hosts(words);
  const auto ports = example_ports(words);
  std::vector<std::string> urls;
  for (const char* scheme : kSchemes) {
    for (const auto& host : hosts) {
      for (const auto& port : ports) urls.push_back(fmt::format("{}://{}{}/p", scheme, host, port));
    }
  }
  return urls;
}

std::vector<std::string> loose_url_examples(const UrlWords& words) {
  std::vector<std::string> urls;
  const auto ports = example_ports(words);
  for (const auto& host : example_hosts(words)) {
    for (const auto& port : ports) {
      urls.push_back(fmt::format("//{}{}/p", host, port));
      urls.push_back(fmt::format("x://{}{}/p", host, port));
    }
  }
  return urls;
}

}  // namespace mcpac::policy
