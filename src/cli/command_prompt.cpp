// SPDX-License-Identifier: Apache-2.0

// mcpac prompt: the text to give to a language model, for the tools of this project.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/grant_options.h"
#include "cli/tool_choice.h"
#include "codegen/prompt.h"
#include "core/clock.h"
#include "project/claimed_needs.h"
#include "run/check/authorities.h"
#include "run/check/require_granted.h"
#include "servers/confine/server_places.h"
#include "servers/tool_tables.h"

namespace mcpac::cli {
namespace {

using codegen::PromptFormat;
using codegen::ToolRef;

struct PromptChoice {
  std::vector<std::string> tools;
  std::string format = "auto";
  std::shared_ptr<GrantOptions> grants;
};

PromptFormat to_format(const std::string& name, std::size_t tools) {
  if (name == "signatures") return PromptFormat::kSignatures;
  if (name == "digest") return PromptFormat::kDigest;
  if (name == "names") return PromptFormat::kNames;
  return codegen::default_format(tools);
}

std::string_view to_text(PromptFormat format) {
  switch (format) {
    case PromptFormat::kSignatures: return "signatures";
    case PromptFormat::kDigest: return "digest";
    case PromptFormat::kNames: break;
  }
  return "names";
}

// With grants the model sees the tools that they can admit, and the conditions.
struct Granted {
  std::vector<ToolRef> tools;
  std::string conditions;
  std::string places;  // what the run is given beside tools
};

bool has_rules(const GrantOptions& options) {
  return !options.grants.empty() || !options.asks.empty() || !options.denies.empty() ||
         !options.policy_files.empty() || !options.profiles.empty();
}

bool has_places(const GrantOptions& options) {
  return !options.files.empty() || !options.networks.empty();
}

// As the user stated them: a deny, too.
std::string places_of(const policy::Authority& authority) {
  std::string lines;
  const auto layers = authority.layers();
  for (const auto& place : layers.front().places) lines += place.text + "\n";
  return lines;
}

// Says it, where it is. A program that calls it is refused.
bool is_withheld(const Context& context, const project::NeedsOfTools& unmet,
                 const Permission& tool) {
  const auto needs = unmet.find(tool);
  if (needs == unmet.end() || !needs->second.is_withheld()) return false;
  context.say(fmt::format("{} is {}", tool.text(), project::needs_text(needs->second)));
  return true;
}

Result<Granted> granted(const Context& context, const project::Project& project,
                        const codegen::Lock& lock, const std::vector<ToolRef>& chosen,
                        const GrantOptions& options) {
  auto layer = to_layer(options);
  if (!layer) return pass_on(layer);
  const SystemClock clock;
  run::PolicyWorld world(project, clock);
  world.tools = servers::tool_schemas(lock);
  run::warn_of_open_ends([&context](std::string_view text) { context.warn(text); }, *layer,
                         &world.tools);
  auto authority = run::load_authority(project, world, {std::move(*layer)});
  if (!authority) return pass_on(authority);
  Granted result{.tools = {}, .conditions = {}, .places = places_of(*authority)};
  // Places alone say nothing of the tools.
  if (!has_rules(options)) {
    result.tools = chosen;
    return result;
  }
  const auto places = servers::places_of_servers(project, context.folders, lock, *authority);
  const auto unmet = project::unmet_needs(project, lock, &places);
  for (const ToolRef& ref : chosen) {
    auto permission = Permission::of(ref.server->name, ref.tool->name);
    if (!permission) return pass_on(permission);
    const policy::Coverage coverage = authority->coverage(*permission, "");
    if (coverage == policy::Coverage::kMissing || is_withheld(context, unmet, *permission))
      continue;
    result.tools.push_back(ref);
    if (coverage == policy::Coverage::kConditional) result.conditions = authority->print();
  }
  return result;
}

void show(Context& context, const PromptChoice& choice) {
  auto project = context.project();
  if (!project) return context.fail(project.error());
  auto lock = project::load_lock(*project);
  if (!lock) return context.fail(lock.error());
  auto chosen = choose_tools(*lock, choice.tools);
  if (!chosen) return context.fail(chosen.error());
  const auto unmet = project::unmet_needs(*project, *lock, nullptr);
  std::erase_if(*chosen, [&](const ToolRef& ref) {
    const auto permission = Permission::of(ref.server->name, ref.tool->name);
    return permission && is_withheld(context, unmet, *permission);
  });
  codegen::PromptOptions options;
  if (has_rules(*choice.grants) || has_places(*choice.grants)) {
    auto allowed = granted(context, *project, *lock, *chosen, *choice.grants);
    if (!allowed) return context.fail(allowed.error());
    chosen = std::move(allowed->tools);
    options.granted = std::move(allowed->conditions);
    options.places = std::move(allowed->places);
    if (chosen->empty()) context.warn("the rules grant none of the chosen tools");
  }
  options.format = to_format(choice.format, chosen->size());
  const std::string text = codegen::prompt(*chosen, options);
  if (!context.json) {
    fmt::print("{}", text);
    return;
  }
  Json names = Json::array();
  for (const ToolRef& ref : *chosen) names.push_back(ref.permission());
  context.print({{"format", to_text(options.format)},
                 {"tools", names},
                 {"prompt", text},
                 {"examples", codegen::example_programs(*chosen)}});
}

}  // namespace

void add_prompt(CLI::App& app, Context& context) {
  auto choice = std::make_shared<PromptChoice>();
  auto* command = app.add_subcommand(
      "prompt", "the text that tells a language model how to write a program for these tools");
  add_common_options(*command, context);
  command
      ->add_option("--tools,TOOLS", choice->tools,
                   "servers, tools or patterns with * and ?; without: all tools")
      ->delimiter(',')
      ->type_name("PATTERN");
  command
      ->add_option("--format", choice->format,
                   "signatures (C++), digest (names and first words), names; auto: by the number")
      ->check(CLI::IsMember({"auto", "signatures", "digest", "names"}));
  choice->grants = add_grant_options(*command);
  command->callback([&context, choice] { show(context, *choice); });
}

}  // namespace mcpac::cli
