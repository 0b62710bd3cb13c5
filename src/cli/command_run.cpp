// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>

#include "cli/approver_options.h"
#include "cli/commands.h"
#include "cli/grant_options.h"
#include "cli/persons_word.h"
#include "cli/run_arguments.h"
#include "cli/run_options.h"
#include "cli/through_host.h"
#include "project/files/obeyed_commands.h"
#include "run/run_prebuilt.h"
#include "servers/confine/confine_servers.h"

namespace mcpac::cli {
namespace {

void run_program(Context& context, const std::vector<std::string>& words,
                 const GrantOptions& grants, const RunOptions& options) {
  const ThroughHost host(context, options);
  if (host.is_done()) return;
  auto project = context.project();
  if (!project) return context.fail(project.error());
  auto limits = to_limits(options);
  if (!limits) return context.fail(limits.error());
  auto given = to_arguments(options.arguments);
  if (!given) return context.fail(given.error());
  RunView view(context, options, limits->wall);
  auto layer = to_layer(grants);
  if (!layer) return view.refuse(layer.error(), words.front(), false);
  auto word = persons_word(options, limits->lowest_tier);
  if (!word) return view.refuse(word.error(), words.front(), false);
  auto questions = view.questions(options);
  if (!questions) return context.fail(questions.error());
  project::obey(*project, *layer, words_of(*options.approver));
  // Which hold what is obeyed now, too.
  servers::confine_servers(*project, context.folders, limits->lowest_tier);
  const auto outcome = run::run_prebuilt(
      *project, context.folders,
      {.program = words.front(),
       .arguments = words,
       .granted = std::move(*layer),
       .enforcement = options.observe ? run::Enforcement::kObserve : run::Enforcement::kEnforce,
       .limits = *limits,
       .questions = std::move(*questions),
       .denied_uses = options.expect_denials ? run::DeniedUses::kExpect : run::DeniedUses::kRefuse,
       .standby = context.standby,
       .recording = options.recording,
       .given = std::move(*given),
       .lifted_by = std::move(*word)},
      view.listener());
  host.tell(outcome);
  view.finish(outcome, {});
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto* command = app.add_subcommand(
      "run", "run a prebuilt program in the sandbox: mcpac run --grant … -- ./program ARGS…");
  add_common_options(*command, context);
  command->add_option("PROGRAM", *words, "the program and its arguments, after --")->required();
  auto grants = add_grant_options(*command);
  auto options = add_run_options(*command);
  add_expect_denials(*command, options->expect_denials);
  command->callback(
      [&context, words, grants, options] { run_program(context, *words, *grants, *options); });
}

}  // namespace mcpac::cli
