// SPDX-License-Identifier: Apache-2.0

#include "network/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "core/ascii.h"
#include "core/file.h"
#include "policy/match/url.h"

namespace mcpac::network {
namespace asio = boost::asio;
namespace {

// Lists of names that are to lead nowhere have some hundred thousand lines.
constexpr std::size_t kMaxHostsBytes = std::size_t{32} << 20U;

bool is_same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, to_lower, to_lower);
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
      if (is_same_name(word, name)) ipc::add_address(found, address);
    }
  }
  return found;
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
  auto found = sources.ask ? sources.ask(whole) : ipc::ask_name_service(whole);
  if (!found) {
    return fail(ErrorId::kNetworkName,
                fmt::format("cannot find the host {}: {}", name, found.error().what));
  }
  if (found->empty())
    return fail(ErrorId::kNetworkName, fmt::format("the host {} has no address", name));
  return found;
}

}  // namespace mcpac::network
