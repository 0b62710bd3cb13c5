// Whatever the URL reader accepts it writes as a text that reads back to the same place and the
// same text, in printable ASCII, with nothing of a user in it: so deciding on that text and sending
// it are one thing.
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
  if (!host) return;
  const auto* name = std::get_if<std::string>(&*host);
  const auto again =
      policy::read_host(name == nullptr ? to_text(std::get<policy::IpAddress>(*host)) : *name);
  demand(again && *again == *host);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_url(text);
  check_url("http://" + std::string(text));
  check_host(text);
  return 0;
}
