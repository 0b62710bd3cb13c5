// Every line of data/grants.jsonl and data/inclusion.jsonl. The program grant-vectors runs them as
// well, on whatever files it is given.
#include <doctest/doctest.h>

#include <set>

#include "policy/support_vectors.h"
#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

// How many lines, of how many topics.
std::pair<std::size_t, std::size_t> run_all(const std::string& file) {
  const Json tools = data("tools.json");
  std::set<std::string> topics;
  const auto lines = lines_of(file);
  for (const Json& line : lines) {
    const std::string id = line["id"];
    CAPTURE(id);
    topics.insert(line["topic"].get<std::string>());
    const auto difference = run_vector(line, tools);
    if (difference) {
      FAIL_CHECK("expected " << difference->expected << ", got " << difference->got << " ("
                             << line["why"] << ")");
    }
  }
  return {lines.size(), topics.size()};
}

}  // namespace

TEST_CASE("the shared vectors of the grant language hold") {
  CHECK(run_all("grants.jsonl") == std::pair<std::size_t, std::size_t>{203, 22});
}

TEST_CASE("the shared vectors of inclusion hold, and every witness is one") {
  CHECK(run_all("inclusion.jsonl").first == 64);
}

}  // namespace mcpac::policy::testing
