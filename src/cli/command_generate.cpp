#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/written.h"

namespace mcpac::cli {
namespace {

struct Options {
  bool verbose = false;
  bool offline = false;
};

Result<execute::GenerateReport> write(const Context& context, const execute::Project& project,
                                      const Options& options) {
  if (options.offline) return execute::write_from_lock(project);
  // A lock that cannot be read is said before servers are started.
  if (auto lock = execute::read_lock_file(project); !lock) return pass_on(lock);
  auto listings =
      execute::list_servers(project.config.servers, progress_of(context, Counts::kShow));
  if (!listings) return pass_on(listings);
  return execute::write_project(project, std::move(*listings));
}

void generate(Context& context, const Options& options) {
  auto project = context.project();
  if (!project) return context.fail(project.error());
  auto report = write(context, *project, options);
  if (!report) return context.fail(report.error());
  if (context.json) return context.print(to_json(*report));
  show_written(context, *report, options.verbose ? Notes::kAll : Notes::kSome);
}

}  // namespace

void add_generate(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand(
      "generate",
      "read the tools of every server; write servers/ and add what is new to mcpac.lock");
  add_common_options(*command, context);
  command->add_flag("-v,--verbose", options->verbose, "show every note");
  command->add_flag("--offline", options->offline,
                    "write servers/ from mcpac.lock as it is; no server is asked");
  command->callback([&context, options] { generate(context, *options); });
}

}  // namespace mcpac::cli
