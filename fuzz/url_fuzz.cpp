// SPDX-License-Identifier: Apache-2.0

// Whatever the URL reader accepts it writes as a text that reads back to the same place and the
// same text, in printable ASCII, with nothing of a user in it: so deciding on that text and sending
// it are one thing. The same holds for each URL of a list. What a deny over any string finds in a
// text a deny of the argument finds, which reads it as a command.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "policy/match/url.h"

namespace {

using namespace mcpac;

void demand(bool holds) {
  if (!holds) std::abort();
}

void check_url(std::string_view text) {
  const auto url = policy::read_url(text);
  if (!url) return;
  const std::string canonical = url->text();
  demand(std::ranges::all_of(canonical, [](char c) { return c > 0x20 && c < 0x7f; }));
  const auto again = policy::read_url(canonical);
  demand(again && again->text() == canonical);
  demand(again->host == url->host && again->port == url->port && again->scheme == url->scheme);
  const auto authority = canonical.substr(canonical.find("://") + 3);
  demand(authority.substr(0, authority.find('/')).find('@') == std::string::npos);
}

void check_host(std::string_view text) {
  const auto host = policy::read_host(text);
  const auto meant = policy::hosts_meant(text);
  demand(!host || meant.front() == *host);
  if (!host) return;
  const auto* name = std::get_if<std::string>(&*host);
  const auto again =
      policy::read_host(name == nullptr ? to_text(std::get<policy::IpAddress>(*host)) : *name);
  demand(again && *again == *host);
}

// One place of each URL, and the texts that are sent part where the first ones did.
void check_list(std::string_view text) {
  std::string sent;
  std::size_t count = 0;
  std::size_t done = 0;
  bool is_plain = true;
  for (const auto one : policy::listed_urls(text)) {
    const auto url = policy::read_url(one);
    if (!url) return;
    const auto begin = static_cast<std::size_t>(one.data() - text.data());
    const std::string own = url->sent_text();
    is_plain = is_plain && policy::listed_urls(own).size() == 1;
    sent.append(text.substr(done, begin - done)).append(own);
    done = begin + one.size();
    ++count;
  }
  if (!is_plain) return;
  const auto again = policy::listed_urls(sent);
  demand(again.size() == count);
  for (const auto one : again) demand(policy::read_url(one).has_value());
}

void check_readings(std::string_view text) {
  const auto anywhere = policy::url_readings(text);
  const auto named = policy::url_readings(text, policy::TextIs::kCommand);
  if (named.unclear) return;
  demand(!anywhere.unclear);
  for (const auto& one : anywhere.hosts) {
    demand(std::ranges::any_of(named.hosts, [&](const policy::NamedHost& other) {
      return other.host == one.host && other.scheme == one.scheme && other.port == one.port;
    }));
  }
  for (const auto& one : anywhere.urls) {
    demand(std::ranges::any_of(
        named.urls, [&](const policy::Url& other) { return other.text() == one.text(); }));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_url(text);
  check_url("http://" + std::string(text));
  check_host(text);
  check_list(text);
  check_readings(text);
  return 0;
}
