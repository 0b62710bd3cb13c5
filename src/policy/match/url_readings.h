// URL readings: what a string that nobody promised to be a URL may be one of.
//
// A deny or ask over "*" looks at every string of a call. A text that begins as URLs do, blanks and
// control bytes left out, is a URL to some parser even where read_url() refuses it; where parsers
// read it apart it is unclear, and caught. Beside the schemes of ours there are other ways to name
// a host: "ssh://h", "git+https://h", "//h", "git@h:path", "h:443", "h/path" and the name alone.
// A name needs a dot there, so that words are no hosts, and prose has none: what has blanks within
// it is a URL up to the first, or none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/match/url.h"

namespace mcpac::policy {

// A host that is named in another way than by a URL of our schemes. What the text leaves open may
// be anything.
struct NamedHost {
  std::string scheme;  // in lower case: "ssh", "git+https"; empty: none is written
  Host host;
  std::optional<std::uint16_t> port;
};

struct UrlReadings {
  std::vector<Url> urls;  // each is what some parser reads
  bool unclear = false;   // whatever the test, it may hold
  std::vector<NamedHost> hosts;
};

[[nodiscard]] UrlReadings url_readings(std::string_view text);

}  // namespace mcpac::policy
