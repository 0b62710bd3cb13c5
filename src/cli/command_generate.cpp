// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/confine_entry.h"
#include "cli/falls_under.h"
#include "cli/written.h"
#include "core/printable.h"
#include "mcp/placeholders.h"
#include "policy/explain/lint.h"
#include "project/editor_files.h"
#include "project/list_servers.h"
#include "project/project_use.h"
#include "run/check/authorities.h"
#include "run/check/server_root.h"
#include "toolchain/build_headers.h"

namespace mcpac::cli {
namespace {

struct Options {
  bool verbose = false;
  bool offline = false;
  bool keep_going = false;
  bool accept_new = false;
  std::filesystem::path lock;
  std::filesystem::path output;  // of a build, which takes the runtime headers from mcpac::runtime
};

// What servers answered, and which of them did not.
struct Answers {
  std::vector<ServerListing> listings;
  std::map<std::string, Error> failures;
};

// A failure is told when it comes, and not again at the end: another server may take long, and a
// user who gives up on that one learns why this one failed.
project::OnProgress told_at_once(Context& context) {
  return [&context,
          rest = progress_of(context, Counts::kShow)](const project::ServerProgress& progress) {
    const bool failed = progress.state == project::ServerProgress::State::kFailed;
    if (failed && !context.json) return context.fail(progress.error);
    rest(progress);
  };
}

Result<Answers> ask(Context& context, const project::Project& project) {
  for (const auto& server : project.config.servers) {
    for (const auto& text : mcp::left_as_text(server.command, server.arguments, server.environment))
      context.warn(printable(fmt::format("{}: {}", server.name, text)));
  }
  const project::ProjectUse use(context.folders, project.config_file);
  Answers answers;
  std::vector<mcp::ServerConfig> asked;
  for (const auto& server : project.config.servers) {
    if (auto installed = ensure_installed(context, server); !installed) {
      if (!context.json) context.fail(installed.error());
      answers.failures.emplace(server.name, std::move(installed.error()));
    } else {
      asked.push_back(server);
    }
  }
  auto outcomes = project::ask_servers(asked, told_at_once(context));
  if (!outcomes) return pass_on(outcomes);
  for (auto& [name, outcome] : *outcomes) {
    if (outcome) {
      answers.listings.push_back(std::move(*outcome));
    } else {
      answers.failures.emplace(name, std::move(outcome.error()));
    }
  }
  return answers;
}

// What the lock has of a server that did not answer stands: it was approved, and whether the server
// is still the same is looked at whenever it is started.
void show_unreached(const Context& context, const codegen::Lock& lock, const Answers& answers) {
  for (const auto& [name, error] : answers.failures) {
    context.warn(fmt::format("{} did not answer: {}", name,
                             lock.find_server(name) == nullptr
                                 ? "nothing of it is in mcpac.lock yet"
                                 : "what mcpac.lock has of it stands as it was"));
  }
}

// Nothing: it was said why.
std::optional<project::GenerateReport> write(Context& context, const project::Project& project,
                                             const Options& options, Json& unreached) {
  const auto written = [&](Result<project::GenerateReport> report) {
    if (!report) context.fail(report.error());
    return report ? std::optional(std::move(*report)) : std::nullopt;
  };
  if (options.offline) return written(project::write_from_lock(project, context.folders));
  // A lock that cannot be read is said before servers are started.
  const auto before = project::read_lock_file(project);
  if (!before) return context.fail(before.error()), std::nullopt;
  auto answers = ask(context, project);
  if (!answers) return context.fail(answers.error()), std::nullopt;
  for (const auto& [name, error] : answers->failures) {
    if (context.json) context.fail(error);
    context.exit_code = static_cast<int>(exit_code_of(error.id));
    unreached.push_back(name);
  }
  const bool goes_on = options.keep_going && !answers->listings.empty();
  if (!answers->failures.empty() && !goes_on) {
    if (!context.json)
      context.say(options.keep_going ? "nothing was written: no server answered"
                                     : "nothing was written; --keep-going goes on without it, "
                                       "\"disabled\": true in mcpac.json leaves a server out");
    return std::nullopt;
  }
  if (!context.json) show_unreached(context, before->lock, *answers);
  return written(project::write_project(
      project, context.folders, std::move(answers->listings),
      options.accept_new ? project::NewTools::kAccept : project::NewTools::kWait));
}

void generate(Context& context, const Options& options) {
  auto project = context.project();
  if (!project) return context.fail(project.error());
  Json unreached = Json::array();
  auto report = write(context, *project, options, unreached);
  if (!report) return;
  auto editor = project::write_editor_files(project->folder);
  if (!editor) return context.fail(editor.error());
  if (!editor->empty()) report->written.push_back(*editor);
  // Of servers that the project's policy holds by paths, when there is news of them: `policy check`
  // and `doctor` say it at any time.
  std::vector<std::string> rootless;
  std::vector<std::string> entry_only;
  std::vector<std::string> unconfined;
  const auto ceiling = run::read_ceiling(*project);
  const bool is_new = !report->written.empty() || !report->removed.empty();
  if (is_new && !options.offline && ceiling && *ceiling) {
    const auto rules = policy::summarize({(*ceiling)->name, (*ceiling)->text});
    const auto held = with_servers(*project, rules ? rules->path_servers : std::set<std::string>());
    rootless = run::servers_without_root(held);
    unconfined = notes_on_unconfined(held);
    if (rules && rules->names_place_within)
      entry_only = run::proposed_entry_only(held, report->output.lock);
  }
  const auto covering = falls_under(context, *project, report->output.lock, fresh_in(*report));
  if (!context.json) {
    show_written(context, *report, covering, options.verbose ? Notes::kAll : Notes::kSome);
    for (const auto& line : rootless) context.say("note: " + line);
    for (const auto& line : entry_only) context.say("note: " + line);
    for (const auto& line : unconfined) context.say("note: " + line);
    return;
  }
  Json json = to_json(*report, covering);
  json["without_root"] = rootless;
  json["entry_only"] = entry_only;
  json["unconfined"] = unconfined;
  json["unreached"] = std::move(unreached);
  context.print(json);
}

void generate_for_build(Context& context, const Options& options) {
  const auto lock =
      options.lock.empty() ? context.config_file.parent_path() / "mcpac.lock" : options.lock;
  auto changes = toolchain::write_build_headers(lock, options.output);
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
  auto* command =
      app.add_subcommand("generate",
                         "read the tools of every server; write servers/ and put servers that are "
                         "new into mcpac.lock; "
                         "the tools that a locked server gained wait for `mcpac lock accept`");
  add_common_options(*command, context);
  command->add_flag("-v,--verbose", options->verbose, "show every note");
  auto* offline = command->add_flag("--offline", options->offline,
                                    "write servers/ from mcpac.lock as it is; no server is asked");
  command
      ->add_flag("--keep-going", options->keep_going,
                 "where servers do not answer, write what the others offer; the exit code says it")
      ->excludes(offline);
  command
      ->add_flag(
          "--accept-new", options->accept_new,
          "put the tools that locked servers gained into mcpac.lock, too, unseen: for scripts")
      ->excludes(offline);
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
