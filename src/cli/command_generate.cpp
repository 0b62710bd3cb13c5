#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/written.h"
#include "execute/build/build_headers.h"
#include "execute/project/editor_files.h"
#include "execute/project/project_use.h"

namespace mcpac::cli {
namespace {

struct Options {
  bool verbose = false;
  bool offline = false;
  std::filesystem::path lock;
  std::filesystem::path output;  // of a build, which takes the runtime headers from mcpac::runtime
};

Result<execute::GenerateReport> write(const Context& context, const execute::Project& project,
                                      const Options& options) {
  if (options.offline) return execute::write_from_lock(project);
  // A lock that cannot be read is said before servers are started.
  if (auto lock = execute::read_lock_file(project); !lock) return pass_on(lock);
  const execute::ProjectUse use(context.folders, project.config_file);
  auto listings =
      execute::list_servers(project.config.servers, progress_of(context, Counts::kShow));
  if (!listings) return pass_on(listings);
  return execute::write_project(project, std::move(*listings));
}

void generate(Context& context, const Options& options) {
  auto project = context.project();
  if (!project) return context.fail(project.error());
  auto report = write(context, *project, options);
  if (!report) {
    context.fail(report.error());
    if (!context.json && !options.offline)
      context.say("nothing was written; \"disabled\": true in mcpac.json leaves a server out");
    return;
  }
  auto editor = execute::write_editor_files(project->folder);
  if (!editor) return context.fail(editor.error());
  if (!editor->empty()) report->written.push_back(*editor);
  if (context.json) return context.print(to_json(*report));
  show_written(context, *report, options.verbose ? Notes::kAll : Notes::kSome);
}

void generate_for_build(Context& context, const Options& options) {
  const auto lock =
      options.lock.empty() ? context.config_file.parent_path() / "mcpac.lock" : options.lock;
  auto changes = execute::write_build_headers(lock, options.output);
  if (!changes) return context.fail(changes.error());
  if (context.json)
    return context.print({{"written", changes->written}, {"removed", changes->removed}});
  for (const auto& name : changes->written)
    context.say(fmt::format("wrote {}", (options.output / name).string()));
  for (const auto& name : changes->removed)
    context.say(fmt::format("removed {}", (options.output / name).string()));
}

}  // namespace

void add_generate(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand(
      "generate",
      "read the tools of every server; write servers/ and add what is new to mcpac.lock");
  add_common_options(*command, context);
  command->add_flag("-v,--verbose", options->verbose, "show every note");
  auto* offline = command->add_flag("--offline", options->offline,
                                    "write servers/ from mcpac.lock as it is; no server is asked");
  auto* output = command
                     ->add_option("--output", options->output,
                                  "with --offline: write there instead, for a build that links "
                                  "mcpac::runtime")
                     ->type_name("FOLDER")
                     ->needs(offline);
  command->add_option("--lock", options->lock, "with --output: the lock, if not beside mcpac.json")
      ->type_name("FILE")
      ->needs(output);
  command->callback([&context, options] {
    options->output.empty() ? generate(context, *options) : generate_for_build(context, *options);
  });
}

}  // namespace mcpac::cli
