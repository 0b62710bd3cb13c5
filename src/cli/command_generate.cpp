#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "execute/editor_files.h"
#include "execute/generate_offline.h"
#include "execute/generate_project.h"

namespace mcpac::cli {
namespace {

// Many notes have one cause; a screen of them helps nobody. --json and -v show all.
constexpr std::size_t kShownNotes = 12;

void show_progress(const Context& context, const execute::ServerProgress& progress) {
  using State = execute::ServerProgress::State;
  if (context.json) return;
  if (progress.state == State::kConnecting) {
    if (context.interactive) context.say(fmt::format("{}: connecting …", progress.server));
  } else if (progress.state == State::kListed) {
    context.say(fmt::format("{}: {} tools", progress.server, progress.tools));
  } else {
    context.say(fmt::format("{}: failed", progress.server));
  }
}

Json to_json(const execute::GenerateReport& report) {
  Json notes = Json::array();
  for (const auto& note : report.output.notes) {
    notes.push_back(
        {{"permission", note.permission}, {"place", note.place}, {"message", note.message}});
  }
  std::size_t tools = 0;
  for (const auto& server : report.output.lock.servers) tools += server.tools.size();
  return {{"tools", tools},
          {"added", report.added},
          {"drifted", report.drifted},
          {"withdrawn", report.withdrawn},
          {"written", report.written},
          {"removed", report.removed},
          {"notes", notes}};
}

void show(const Context& context, const execute::GenerateReport& report, bool verbose) {
  if (!report.added.empty()) {
    context.say(fmt::format("new in the lock: {} tools ({}{})", report.added.size(),
                            fmt::join(report.added | std::views::take(4), ", "),
                            report.added.size() > 4 ? ", …" : ""));
  }
  for (const auto& name : report.written) context.say(fmt::format("wrote {}", name));
  for (const auto& name : report.removed) context.say(fmt::format("removed {}", name));
  if (report.written.empty() && report.removed.empty()) context.say("nothing changed");
  for (const auto& name : report.drifted) {
    context.warn(
        fmt::format("{} is another tool now than the lock approved; the locked form stands, and "
                    "calls will be refused",
                    name));
  }
  for (const auto& name : report.withdrawn) {
    context.warn(fmt::format("{} is locked, but its server does not offer it any more", name));
  }
  if (!report.drifted.empty() || !report.withdrawn.empty()) {
    context.say("  fix: look at the change; `mcpac generate --accept SERVER.TOOL` approves it");
  }
  std::size_t shown = 0;
  for (const auto& note : report.output.notes) {
    if (!verbose && ++shown > kShownNotes) {
      context.say(
          fmt::format("note: {} more; -v shows all", report.output.notes.size() - kShownNotes));
      break;
    }
    context.say(fmt::format("note: {} {}: {}", note.permission, note.place, note.message));
  }
}

void generate(Context& context, bool verbose, const std::vector<std::string>& accepted) {
  auto project = context.project();
  if (!project) return context.fail(project.error());
  auto listings = execute::list_servers(
      project->config.servers,
      [&context](const execute::ServerProgress& progress) { show_progress(context, progress); });
  if (!listings) return context.fail(listings.error());
  auto report = execute::write_project(*project, std::move(*listings), accepted);
  if (!report) return context.fail(report.error());
  auto editor = execute::write_editor_files(project->folder);
  if (!editor) return context.fail(editor.error());
  if (context.json) return context.print(to_json(*report));
  show(context, *report, verbose);
  if (!editor->empty()) context.say(fmt::format("wrote {}, for clangd", *editor));
}

struct Offline {
  bool asked = false;
  std::filesystem::path lock;
  std::filesystem::path output;  // of a build, which takes the runtime headers from mcpac::runtime
};

void generate_offline(Context& context, const Offline& options) {
  const auto beside = [&context](const char* name) {
    return context.config_file.parent_path() / name;
  };
  const bool for_build = !options.output.empty();
  const auto folder = for_build ? options.output : beside("servers");
  auto report = execute::generate_offline(
      options.lock.empty() ? beside("mcpac.lock") : options.lock, folder,
      for_build ? execute::RuntimeHeaders::kInstalled : execute::RuntimeHeaders::kWrite);
  if (!report) return context.fail(report.error());
  if (!report->as_locked && !for_build) {
    context.warn(
        "the lock was written by another mcpac: these headers are not the ones that it names");
    context.say("  fix: mcpac generate");
  }
  if (context.json)
    return context.print({{"written", report->written}, {"removed", report->removed}});
  for (const auto& name : report->written)
    context.say(fmt::format("wrote {}", (folder / name).string()));
  for (const auto& name : report->removed)
    context.say(fmt::format("removed {}", (folder / name).string()));
}

void add_offline_options(CLI::App& command, Offline& options) {
  auto* offline = command.add_flag("--offline", options.asked,
                                   "write headers from mcpac.lock alone; no server is started");
  command.add_option("--lock", options.lock, "with --offline: the lock, if not beside mcpac.json")
      ->type_name("FILE")
      ->needs(offline);
  command
      .add_option("--output", options.output,
                  "with --offline: a folder of a build that links mcpac::runtime")
      ->type_name("FOLDER")
      ->needs(offline);
}

}  // namespace

void add_generate(CLI::App& app, Context& context) {
  auto verbose = std::make_shared<bool>(false);
  auto accepted = std::make_shared<std::vector<std::string>>();
  auto* command = app.add_subcommand(
      "generate", "read the tools of every server; write servers/ and mcpac.lock");
  add_common_options(*command, context);
  command->add_flag("-v,--verbose", *verbose, "show every note");
  command
      ->add_option("--accept", *accepted,
                   "approve the changes of a server or tool that is locked already")
      ->type_name("SERVER[.TOOL]")
      ->expected(1)
      ->take_all();
  auto offline = std::make_shared<Offline>();
  add_offline_options(*command, *offline);
  command->callback([&context, verbose, accepted, offline] {
    offline->asked ? generate_offline(context, *offline) : generate(context, *verbose, *accepted);
  });
}

}  // namespace mcpac::cli
