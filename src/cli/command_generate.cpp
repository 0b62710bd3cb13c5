#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
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
  if (context.json) return context.print(to_json(*report));
  show(context, *report, verbose);
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
  command->callback([&context, verbose, accepted] { generate(context, *verbose, *accepted); });
}

}  // namespace mcpac::cli
