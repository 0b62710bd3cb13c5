// SPDX-License-Identifier: Apache-2.0

// The parser of rules must never crash, and what it accepts must print to a text that parses back
// to the same print, whichever of the three entries the text goes in by.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "policy/text/parser.h"
#include "policy/text/printer.h"

namespace {

using namespace mcpac;

template <class Parse, class Print>
void check(std::string_view text, Parse parse, Print print) {
  const auto first = parse(text);
  if (!first) return;
  const std::string once = print(*first);
  const auto second = parse(once);
  if (!second || print(*second) != once) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(
      text,
      [](std::string_view t) {
        return policy::parse_rule({"fuzz", t}, policy::Effect::kAllow);
      },
      [](const policy::ast::Rule& rule) { return policy::print_body(rule); });
  check(
      text,
      [](std::string_view t) {
        return policy::parse_file({"fuzz", t});
      },
      [](const policy::ast::File& file) { return policy::print(file); });
  check(
      text,
      [](std::string_view t) {
        return policy::parse_brackets({"fuzz", t});
      },
      [](const policy::ast::Brackets& brackets) { return policy::print(brackets); });
  return 0;
}
