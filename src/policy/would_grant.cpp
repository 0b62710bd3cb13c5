#include "policy/would_grant.h"

#include <optional>

#include "core/json_compare.h"
#include "policy/printer.h"
#include "policy/schema_view.h"

namespace mcpac::policy {
namespace {

// What people still read before they paste it.
constexpr std::size_t kMaxText = 300;

// "a == 1, b.c == \"x\"", or nothing where the language has no test for exactly this value.
std::optional<std::string> tests_for(const std::string& path, const Json& value) {
  if (value.is_array()) return std::nullopt;
  if (!value.is_object()) return path + " == " + to_text(value);
  if (value.empty()) return std::nullopt;
  std::string text;
  for (const auto& [name, member] : value.items()) {
    const auto below = tests_for(path + "." + print_name(name), member);
    if (!below || text.size() > kMaxText) return std::nullopt;
    text += (text.empty() ? "" : ", ") + *below;
  }
  return text;
}

}  // namespace

std::string grant_for(const CallUnderTest& call) {
  const std::string whole =
      print_name(call.permission.server()) + "." + print_name(call.permission.tool());
  const SchemaView schema = call.schema == nullptr ? SchemaView() : SchemaView(*call.schema);
  std::string tests;
  for (const auto& [name, value] : call.arguments.items()) {
    const auto member = schema.member(name);
    const Json* filled = member ? member->default_value() : nullptr;
    if (filled != nullptr && json_equal(*filled, value)) continue;  // counts as absent
    const auto test = member ? tests_for(print_name(name), value) : std::nullopt;
    if (!test || tests.size() + test->size() > kMaxText) return whole;
    tests += (tests.empty() ? "" : ", ") + *test;
  }
  return whole + "(" + tests + ")";
}

}  // namespace mcpac::policy
