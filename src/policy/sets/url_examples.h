// URL examples: for tests of host, scheme, port and ip, URLs that stand for all others.
//
// Such a test sees of a URL its scheme, its host and its port. Hosts differ by the patterns that
// cover them, addresses by the networks that they lie in: so the patterns' own names, one name
// below each, one that no pattern names, and the ends of every network are all there is to tell
// apart.
#pragma once

#include <string>
#include <vector>

#include "policy/text/ast.h"

namespace mcpac::policy {

struct UrlWords {
  std::vector<std::string> hosts;  // as rules write them: "example.com", "*.example.com", "*"
  std::vector<std::string> networks;
  std::vector<std::string> ports;

  void add(const ast::Test& test);
  void add(const ast::Exception& exception);
};

[[nodiscard]] std::vector<std::string> url_examples(const UrlWords& words);
// For tests over any string: texts that are read as the same hosts and ports, without a scheme that
// any test names (match/url.h).
[[nodiscard]] std::vector<std::string> loose_url_examples(const UrlWords& words);

}  // namespace mcpac::policy
