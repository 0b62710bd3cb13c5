// Every line of data/inclusion.jsonl: what is expected, and that a witness is one.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/file.h"
#include "policy/support_inclusion.h"
#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

std::string statements(const World& world, const Json& line, const char* side) {
  std::string text;
  for (const auto& statement : line[side]) text += world.fill(statement.get<std::string>()) + "\n";
  return text;
}

// Empty when the case holds.
std::string run(const Json& line) {
  const World world;
  auto wider = policy_of(world, statements(world, line, "parent"));
  auto narrower = policy_of(world, statements(world, line, "child"));
  const Inclusion got = wider.includes(narrower);
  if (const auto* undecided = std::get_if<Undecided>(&got)) return "undecided: " + undecided->why;
  const bool included = std::holds_alternative<Included>(got);
  if (included != (line["expect"] == "included")) return included ? "included" : "not included";
  return included ? "" : why_no_witness(world, wider, narrower, std::get<Excess>(got));
}

}  // namespace

TEST_CASE("the shared vectors of inclusion hold, and every witness is one") {
  std::size_t count = 0;
  for (const Json& line : lines_of("inclusion.jsonl")) {
    const std::string difference = run(line);
    CHECK_MESSAGE(difference.empty(), line["id"] << ": expected " << line["expect"] << ", got "
                                                 << difference << " (" << line["why"] << ")");
    ++count;
  }
  CHECK(count == 64);
}

}  // namespace mcpac::policy::testing
