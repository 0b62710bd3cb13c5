#include "policy/explain/would_grant.h"

#include <optional>

#include "core/json_compare.h"
#include "core/printable.h"
#include "policy/decide/least_rule.h"
#include "policy/explain/foresee.h"
#include "policy/rules/schema_view.h"
#include "policy/text/printer.h"

namespace mcpac::policy {
namespace {

// What people still read before they paste it.
constexpr std::size_t kMaxText = 300;

// "a == 1, b.c == \"x\", d any": any where the language has no short test for exactly this value.
std::string tests_for(const std::string& path, const Json& value) {
  const std::string any = path + " any";
  if (value.is_array() || (value.is_object() && value.empty())) return any;
  std::string text = value.is_object() ? "" : path + " == " + printable_in_place(to_text(value));
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) {
      text += (text.empty() ? "" : ", ") + tests_for(path + "." + print_name(name), member);
      if (text.size() > kMaxText) break;
    }
  }
  return text.size() > kMaxText ? any : text;
}

// The tests for the arguments that are known; nothing where a rule cannot name them, or at length.
std::optional<std::string> tests_for_all(const Json& arguments, const SchemaView& schema) {
  std::string tests;
  for (const auto& [name, value] : arguments.items()) {
    const auto member = schema.member(name);
    const Json* filled = member ? member->default_value() : nullptr;
    if (filled != nullptr && json_equal(*filled, value)) continue;  // counts as absent
    if (!member) return std::nullopt;
    const std::string test = tests_for(print_name(name), value);
    if (tests.size() + test.size() > 2 * kMaxText) return std::nullopt;
    tests += (tests.empty() ? "" : ", ") + test;
  }
  return tests;
}

}  // namespace

std::string grant_for(const CallUnderTest& call) {
  const std::string whole = whole_tool(call.permission);
  const auto tests = tests_for_all(
      call.arguments, call.schema == nullptr ? SchemaView() : SchemaView(*call.schema));
  return tests ? whole + "(" + *tests + ")" : whole;
}

std::string grant_for(const PossibleCall& call) {
  const std::string whole = whole_tool(call.permission);
  auto tests = tests_for_all(call.known, call.view());
  if (!tests || call.open) return whole;
  for (const auto& name : call.unknown) {
    // Always there, but perhaps only because a default is filled in: that counts as absent.
    const bool there = call.always_there.contains(name) && !call.has_default.contains(name);
    *tests +=
        (tests->empty() ? "" : ", ") + std::string(there ? "" : "?") + print_name(name) + " any";
  }
  return tests->size() > 2 * kMaxText ? whole : whole + "(" + *tests + ")";
}

std::string whole_tool(const Permission& permission) {
  return print_name(permission.server()) + "." + print_name(permission.tool());
}

std::string least_rule(const Permission& permission, const CallInSource& call, const Json* schema) {
  const auto possible = possible_call(permission, call, schema);
  return possible ? grant_for(*possible) : whole_tool(permission);
}

}  // namespace mcpac::policy
