// SPDX-License-Identifier: Apache-2.0

// Readings of a value, held against every kind of rule: a deny that catches one of them catches the
// value, and an allow that admits the value admits each of them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "one_tool.h"
#include "policy/match/readings.h"

namespace {

using namespace mcpac;
using namespace mcpac::fuzz;
using policy::Authority;
using policy::Reading;
using policy::Subject;

struct Rule {
  std::string test;
  Subject subject;
  bool names_a_text;  // equality admits what it names, and not its readings
};

// Each as a deny and as an allow of its own.
struct Rules {
  Rule rule;
  Authority denies;
  Authority denies_anywhere;
  Authority admits;
};

std::vector<Rules> all_rules() {
  std::vector<Rules> rules;
  for (const Rule& rule : std::vector<Rule>{
           {"within ./secret", Subject::kPlace, false},
           {"matches ~/.ssh/*", Subject::kPlace, false},
           {"host {evil.example, *.evil.example}", Subject::kPlace, false},
           {"ip in {10.0.0.0/8}", Subject::kPlace, false},
           {"scheme https", Subject::kPlace, false},
           {"host evil.example starts \"https://evil.example/a\"", Subject::kPlace, false},
           {"== \"drop\"", Subject::kLiteral, true},
           {"in {\"drop\", \" a \", \"[1]\"}", Subject::kLiteral, true},
           {"!= \"drop\"", Subject::kExcluded, false},
           {"like \"rm *\"", Subject::kText, false},
           {"starts \"git \"", Subject::kText, false},
           {"ends \".pem\"", Subject::kText, false},
           {"re /(?i)rm.*/", Subject::kText, false},
           {"one-line", Subject::kText, false},
           {"len 2..9", Subject::kLength, false},
       }) {
    rules.push_back({rule, load({"t.use"}, {"t.use(text " + rule.test + ")"}),
                     load({"t.use"}, {"*.*(* " + rule.test + ")"}),
                     load({"t.use(text " + rule.test + ")"}, {})});
  }
  return rules;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::vector<Rules> all = all_rules();
  const Json value(std::string(reinterpret_cast<const char*>(data), size));
  for (auto& [rule, denies, denies_anywhere, admits] : all) {
    for (const auto& one : policy::readings_of(value, rule.subject, Reading::kCatch).others) {
      if (!one.value.is_string()) continue;
      if (!allows(denies, one.value)) demand(!allows(denies, value));
      // Under "*" a folder above a denied place is let through where a document names it
      // (match_path.cpp).
      const bool is_path = rule.test.starts_with("within ") || rule.test.starts_with("matches ");
      if (one.in_document && is_path) continue;
      if (!allows(denies_anywhere, one.value)) demand(!allows(denies_anywhere, value));
    }
    if (rule.names_a_text || !allows(admits, value)) continue;
    for (const auto& one : policy::readings_of(value, rule.subject, Reading::kAdmit).others) {
      if (one.value.is_string()) demand(allows(admits, one.value));
    }
  }
  return 0;
}
