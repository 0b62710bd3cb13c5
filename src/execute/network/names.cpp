#include "execute/network/names.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <sstream>

#include "core/file.h"
#include "policy/match/url.h"

namespace mcpac::execute {
namespace asio = boost::asio;
namespace {

// Lists of names that are to lead nowhere have some hundred thousand lines.
constexpr std::size_t kMaxHostsBytes = std::size_t{32} << 20U;

void add(Addresses& addresses, asio::ip::address address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  if (std::ranges::find(addresses, address) == addresses.end()) addresses.push_back(address);
}

bool is_same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// hosts(5): an address, then names, up to '#'.
Addresses in_hosts_file(const std::filesystem::path& path, const std::string& name) {
  Addresses found;
  const auto text = read_file(path, kMaxHostsBytes);
  if (!text) return found;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) continue;
    boost::system::error_code error;
    const auto address = asio::ip::make_address(word, error);
    while (!error && words >> word) {
      if (is_same_name(word, name)) add(found, address);
    }
  }
  return found;
}

Result<Addresses> ask_name_service(const std::string& name) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int failed = ::getaddrinfo(name.c_str(), nullptr, &hints, &list);
  if (failed != 0) return fail(ErrorId::kNetworkName, ::gai_strerror(failed));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  Addresses addresses;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family == AF_INET) {
      sockaddr_in v4{};
      std::memcpy(&v4, entry->ai_addr, sizeof v4);
      add(addresses, asio::ip::address_v4(ntohl(v4.sin_addr.s_addr)));
    } else if (entry->ai_family == AF_INET6) {
      sockaddr_in6 v6{};
      std::memcpy(&v6, entry->ai_addr, sizeof v6);
      asio::ip::address_v6::bytes_type bytes;
      std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
      add(addresses, asio::ip::address_v6(bytes, v6.sin6_scope_id));
    }
  }
  return addresses;
}

}  // namespace

Result<Addresses> look_up(const std::string& name, const NameSources& sources) {
  auto known = in_hosts_file(sources.hosts, name);
  if (!known.empty()) return known;
  // No name server has a say in these (RFC 6761, section 6.3).
  if (policy::is_localhost(name)) {
    return Addresses{asio::ip::address_v4::loopback(), asio::ip::address_v6::loopback()};
  }
  const std::string whole = name.ends_with('.') ? name : name + ".";
  auto found = sources.ask ? sources.ask(whole) : ask_name_service(whole);
  if (!found) {
    return fail(ErrorId::kNetworkName,
                fmt::format("cannot find the host {}: {}", name, found.error().what));
  }
  if (found->empty())
    return fail(ErrorId::kNetworkName, fmt::format("the host {} has no address", name));
  return found;
}

}  // namespace mcpac::execute
