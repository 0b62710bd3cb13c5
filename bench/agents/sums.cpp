// SPDX-License-Identifier: Apache-2.0

// Adds up the numbers of a file by means of the server, with a bounded number of calls in flight.
#include <deque>
#include <print>
#include <string>

#include <mcpac.hpp>

using namespace mcp;
using Sum = everything::get_sum;

static double last_number(const std::string& text) {
  const auto at = text.find_last_of(' ');
  return std::stod(at == std::string::npos ? text : text.substr(at + 1));
}

int agent_main(mcpac::Requires<filesystem::read_text_file, Sum> rt) {
  std::deque<mcpac::Future<Sum::Result>> flying;
  double total = 0;
  for (const auto& line : rt.filesystem.read_text_file({.path = "numbers.txt"}).lines()) {
    if (line.empty()) continue;
    flying.push_back(rt.everything.get_sum.async({.a = std::stod(line), .b = 0}));
    if (flying.size() < 8) continue;
    total += last_number(flying.front().get().text());
    flying.pop_front();
  }
  for (auto& future : flying) total += last_number(future.get().text());
  std::println("total {:.2f}", total);
  return 0;
}
