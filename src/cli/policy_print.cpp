// SPDX-License-Identifier: Apache-2.0

// mcpac policy print: the rules that a run with these options has, layer by layer.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/policy_commands.h"
#include "cli/rule_reader.h"
#include "core/printable.h"

namespace mcpac::cli {
namespace {

void print_policy(Context& context, const GrantOptions& options) {
  auto reader = RuleReader::open(context);
  if (!reader) return context.fail(reader.error());
  const auto authority = (*reader)->run(options);
  if (!authority) return context.fail(authority.error());
  Json layers = Json::array();
  for (const auto& layer : authority->layers()) {
    if (!context.json) fmt::print("# {}\n", printable_in_place(layer.name));
    Json rules = Json::array();
    for (const auto& rule : layer.rules) {
      rules.push_back(
          {{"rule", rule.text}, {"place", rule.place}, {"effect", to_string(rule.effect)}});
      if (!context.json) fmt::print("{}\n", printable_in_place(rule.text));
    }
    Json places = Json::array();
    for (const auto& place : layer.places) {
      places.push_back({{"statement", place.text}, {"place", place.place}});
      if (!context.json) fmt::print("{}\n", printable_in_place(place.text));
    }
    if (layer.rules.empty() && !context.json) fmt::print("# no rules: no tool is allowed\n");
    layers.push_back(
        {{"layer", layer.name}, {"rules", std::move(rules)}, {"places", std::move(places)}});
  }
  if (context.json) context.print({{"layers", std::move(layers)}});
}

}  // namespace

void add_policy_print(CLI::App& policy, Context& context) {
  auto* command = policy.add_subcommand(
      "print", "the rules of a run with these options, layer by layer; a call needs every layer");
  add_common_options(*command, context);
  const auto options = add_grant_options(*command);
  command->callback([&context, options] { print_policy(context, *options); });
}

}  // namespace mcpac::cli
