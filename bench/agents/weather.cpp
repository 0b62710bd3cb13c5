// SPDX-License-Identifier: Apache-2.0

// Asks for three cities at once and prints the warmest.
#include <print>
#include <vector>

#include <mcpac.hpp>

using namespace mcp;
using Weather = everything::get_structured_content;

int agent_main(mcpac::Requires<Weather> rt) {
  using enum Weather::Args::Location;
  std::vector<std::pair<const char*, mcpac::Future<Weather::Result>>> asked;
  asked.emplace_back("New York",
                     rt.everything.get_structured_content.async({.location = New_York}));
  asked.emplace_back("Chicago", rt.everything.get_structured_content.async({.location = Chicago}));
  asked.emplace_back("Los Angeles",
                     rt.everything.get_structured_content.async({.location = Los_Angeles}));
  double warmest = -300;
  const char* where = "nowhere";
  for (auto& [city, future] : asked) {
    const auto answer = future.get();
    std::println("{:<12} {:5.1f} degrees, {}", city, answer.temperature, answer.conditions);
    if (answer.temperature > warmest) {
      warmest = answer.temperature;
      where = city;
    }
  }
  std::println("warmest: {}", where);
  return 0;
}
