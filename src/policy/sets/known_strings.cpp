// SPDX-License-Identifier: Apache-2.0

#include "policy/sets/known_strings.h"

#include <fmt/format.h>

#include <iterator>

namespace mcpac::policy {
namespace {

// Everything that the answer is made of: the arguments as printed (with their exceptions), the test
// of each that is meant, how it is read, its server, whether the tool acts on one entry, and
// what strings of the place are for.
std::string key_of(const std::vector<StringProbe>& probes, const StringLimits& limits,
                   const Bases& bases) {
  const auto acts_on_entry = [&](const StringProbe& probe) {
    return probe.view.tool != nullptr && bases.entry_only.contains(*probe.view.tool);
  };
  std::string key;
  const auto out = std::back_inserter(key);
  for (const auto& probe : probes) {
    fmt::format_to(out, "{}{}{}{}{}{}{} {}:{} {}:{}\n", probe.matcher,
                   probe.view.reading == Reading::kAdmit ? '+' : '-',
                   probe.view.any_string ? '*' : '.', probe.view.lexical ? 't' : 'f',
                   probe.arg->steps.empty() ? '*' : '.', acts_on_entry(probe) ? 'e' : '.',
                   static_cast<int>(probe.view.meant), probe.view.server.size(), probe.view.server,
                   probe.arg->text.size(), probe.arg->text);
  }
  for (const std::size_t length : limits.lengths) fmt::format_to(out, "len {}\n", length);
  for (const auto& value : limits.values) fmt::format_to(out, "{}:{}\n", value.size(), value);
  return key;
}

}  // namespace

StringClasses KnownStrings::classes(const std::vector<StringProbe>& probes,
                                    const StringLimits& limits, StepBudget& budget) {
  std::string key = key_of(probes, limits, environment_.bases);
  if (const auto known = known_.find(key); known != known_.end()) {
    if (budget.spend(known->second.steps)) return known->second.found;
    return {.classes = {}, .gap = "the step budget"};
  }
  const std::size_t before = budget.left();
  auto found = string_classes(probes, limits, environment_, budget);
  if (!budget.is_spent()) known_.emplace(std::move(key), Known{found, before - budget.left()});
  return found;
}

}  // namespace mcpac::policy
