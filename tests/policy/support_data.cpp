// The files of data/, where the tests are built.
#include "places.h"
#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

std::string data_file(const std::string& name) {
  return read_file(mcpac::testing::in_source("tests/policy/data/") + name).value();
}

}  // namespace

Json data(const std::string& name) {
  return parse_json(data_file(name), name).value();
}

std::vector<Json> vectors() {
  return lines_of("grants.jsonl");
}

std::vector<Json> lines_of(const std::string& name) {
  std::vector<Json> cases;
  const std::string text = data_file(name);
  std::size_t at = 0;
  while (at < text.size()) {
    const auto end = std::min(text.find('\n', at), text.size());
    if (end > at) cases.push_back(parse_json(std::string_view(text).substr(at, end - at)).value());
    at = end + 1;
  }
  return cases;
}

}  // namespace mcpac::policy::testing
