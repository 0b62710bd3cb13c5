// URL readings: what a string that nobody promised to be a URL may be one of.
//
// A deny or ask over "*" looks at every string of a call. A text that begins as URLs do, blanks and
// control bytes left out, is a URL to some parser even where read_url() refuses it; where parsers
// read it apart it is unclear, and caught. A text without a scheme of ours at its beginning is
// none.
#pragma once

#include <string_view>
#include <vector>

#include "policy/match/url.h"

namespace mcpac::policy {

struct UrlReadings {
  std::vector<Url> urls;  // each is what some parser reads
  bool unclear = false;   // whatever the test, it may hold
};

[[nodiscard]] UrlReadings url_readings(std::string_view text);

}  // namespace mcpac::policy
