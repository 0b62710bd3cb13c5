// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>

#include "cli/approver_options.h"
#include "cli/commands.h"
#include "cli/grant_options.h"
#include "cli/persons_word.h"
#include "cli/run_arguments.h"
#include "cli/run_options.h"
#include "cli/source_argument.h"
#include "cli/through_host.h"
#include "project/files/obeyed_commands.h"
#include "run/pipeline.h"
#include "servers/confine/confine_servers.h"

namespace mcpac::cli {
namespace {

struct ExecuteOptions {
  SourceNames files;
  std::string code;
  bool dry_run = false;
  bool expect_denials = false;
  std::shared_ptr<GrantOptions> grants;
  std::shared_ptr<RunOptions> run;
};

void execute(Context& context, const ExecuteOptions& options) {
  const ThroughHost host(context, *options.run);
  if (host.is_done()) return;
  auto source = read_source(options.files.all(), options.code);
  if (!source) return context.fail(source.error());
  auto project = context.project();
  if (!project) return context.fail(project.error());
  auto limits = to_limits(*options.run);
  if (!limits) return context.fail(limits.error());
  auto arguments = to_arguments(options.run->arguments);
  if (!arguments) return context.fail(arguments.error());
  RunView view(context, *options.run, limits->wall);
  auto layer = to_layer(*options.grants);
  if (!layer) return view.refuse(layer.error(), source->display, options.dry_run);
  auto word = persons_word(*options.run, limits->lowest_tier);
  if (!word) return view.refuse(word.error(), source->display, options.dry_run);
  auto questions = view.questions(*options.run);
  if (!questions) return context.fail(questions.error());
  const auto texts = texts_of(*source);
  project::obey(*project, *layer, words_of(*options.run->approver));
  // Which hold what is obeyed now, too.
  servers::confine_servers(*project, context.folders, limits->lowest_tier);
  const auto outcome = run::execute(
      *project, context.folders,
      {.source = std::move(*source),
       .granted = std::move(*layer),
       .enforcement =
           options.run->observe ? run::Enforcement::kObserve : run::Enforcement::kEnforce,
       .mode = options.dry_run ? run::RunMode::kDryRun : run::RunMode::kRun,
       .denied_uses = options.expect_denials ? run::DeniedUses::kExpect : run::DeniedUses::kRefuse,
       .limits = *limits,
       .questions = std::move(*questions),
       .standby = context.standby,
       .recording = options.run->recording,
       .arguments = std::move(*arguments),
       .lifted_by = std::move(*word)},
      view.listener());
  host.tell(outcome);
  view.finish(outcome, texts);
  if (options.dry_run && !outcome.error)
    context.say("dry run: analysed, checked and compiled; no server was asked, nothing was run");
}

}  // namespace

void add_execute(CLI::App& app, Context& context) {
  auto options = std::make_shared<ExecuteOptions>();
  auto* command =
      app.add_subcommand("execute", "analyse, check, compile and run a C++ program in the sandbox");
  add_common_options(*command, context);
  command
      ->add_option("-f,--file", options->files.options,
                   "a source of the program, or a folder of them; more than once for several")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command->add_option("-c,--code", options->code, "the program's source as text")
      ->type_name("CODE");
  command->add_option("SOURCE", options->files.arguments,
                      "files or folders, or - for standard input");
  auto* dry_run = command->add_flag("--dry-run", options->dry_run,
                                    "do everything but start servers and run it");
  options->grants = add_grant_options(*command);
  add_expect_denials(*command, options->expect_denials);
  options->run = add_run_options(*command);
  dry_run->excludes("--record", "--replay");
  command->callback([&context, options] { execute(context, *options); });
}

}  // namespace mcpac::cli
