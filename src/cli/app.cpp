#include <fmt/format.h>

#include <csignal>
#include <exception>

#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace mcpac::cli {
namespace {

void add_all(CLI::App& app, Context& context) {
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("mcpac {}", MCPAC_VERSION));
  app.failure_message(CLI::FailureMessage::help);
  add_init(app, context);
  add_server(app, context);
  add_generate(app, context);
  add_tools(app, context);
  add_permissions(app, context);
  add_execute(app, context);
  add_run(app, context);
  add_audit(app, context);
  add_info(app, context);
  add_doctor(app, context);
}

bool wants_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--") return false;
    if (std::string_view(argv[i]) == "--json") return true;
  }
  return false;
}

int usage(Context& context, const CLI::ParseError& error) {
  context.fail(
      Error{ErrorId::kUsage, error.what(), "", "", "see `mcpac --help` or `mcpac COMMAND --help`"});
  return context.exit_code;
}

}  // namespace

int run(int argc, char** argv) {
  // A reader of ours that goes away (`mcpac … | head`) is an error of write(), not the end of us:
  // servers and sandboxes must be taken down in order.
  std::signal(SIGPIPE, SIG_IGN);
  Context context = make_context();
  CLI::App app(
      "mcpac: MCP as code. Programs against MCP servers that can do what they declare and what you "
      "granted.",
      "mcpac");
  try {
    add_all(app, context);
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {  // --help, --version
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    context.json = wants_json(argc, argv);
    return usage(context, error);
  } catch (const std::exception& bug) {
    context.fail(Error{ErrorId::kInternal, "mcpac met a bug of its own", "", bug.what(),
                       "please report it with the command line"});
  }
  return context.exit_code;
}

}  // namespace mcpac::cli
