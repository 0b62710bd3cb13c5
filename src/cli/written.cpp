// SPDX-License-Identifier: Apache-2.0

#include "cli/written.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <set>

#include "core/claims.h"
#include "core/printable.h"
#include "core/quantity.h"
#include "core/shell_quote.h"
#include "run/check/server_root.h"

namespace mcpac::cli {
namespace {

// Many notes have one cause; a screen of them does not help. --json and -v show all.
constexpr std::size_t kShownNotes = 12;

void show_notes(const Context& context, const std::vector<codegen::Note>& notes, Notes wanted) {
  std::size_t shown = 0;
  for (const auto& note : notes) {
    if (wanted == Notes::kSome && ++shown > kShownNotes) {
      context.say(fmt::format("note: {} more; -v shows all", notes.size() - kShownNotes));
      return;
    }
    context.say(note.place.empty()
                    ? fmt::format("note: {} {}", note.permission, note.message)
                    : fmt::format("note: {} {}: {}", note.permission, note.place, note.message));
  }
}

void show_drift(const Context& context, const project::GenerateReport& report) {
  for (const auto& name : report.other_servers) {
    context.warn(fmt::format(
        "{} is another server now than mcpac.lock approved (its entry in mcpac.json changed); the "
        "locked tools stand, and none of them can be called",
        name));
  }
  for (const auto& name : report.drifted) {
    if (std::ranges::find(report.reworded, name) != report.reworded.end()) {
      context.warn(
          fmt::format("{} is described in other words now than the lock approved; the locked ones "
                      "stand, and calls will be refused",
                      name));
      continue;
    }
    context.warn(
        fmt::format("{} is another tool now than the lock approved; the locked form stands, and "
                    "calls will be refused",
                    name));
  }
  for (const auto& name : report.withdrawn) {
    context.warn(fmt::format("{} is locked, but its server does not offer it any more", name));
  }
  if (!report.drifted.empty() || !report.withdrawn.empty() || !report.other_servers.empty()) {
    context.say("  fix: `mcpac lock diff` shows the changes, `mcpac lock accept` approves them");
  }
}

// What is new, in its own words: claims, which grant nothing.
void show_claims(const Context& context, const project::GenerateReport& report) {
  std::set<std::string> servers;
  std::vector<std::string> lines;
  for (const std::string& name : report.added) {
    const auto dot = name.find('.');
    const auto* server = report.output.lock.find_server(name.substr(0, dot));
    const auto* tool = report.output.lock.find_tool(name.substr(0, dot), name.substr(dot + 1));
    if (server == nullptr || tool == nullptr) continue;
    if (servers.insert(server->name).second && !server->claims.empty())
      lines.push_back(fmt::format("{} {}", server->name, text_of(server->claims)));
    if (const auto claims = claims_of_tool(tool->definition).list; !claims.empty())
      lines.push_back(fmt::format("{} {}", name, text_of(claims)));
  }
  for (const std::string& line : lines | std::views::take(kShownNotes))
    context.say(printable(line, 4'000));
  if (lines.size() > kShownNotes)
    context.say(fmt::format("{} more say what they need: `mcpac tools describe` shows it",
                            lines.size() - kShownNotes));
}

// A name as a word of a command, where that would be read as it is printed.
bool can_be_pasted(const ToolDefinition& tool) {
  return printable(tool.name) == tool.name;
}

// Said last: it is what is left to do.
void show_pending(const Context& context, const std::vector<ToolDefinition>& pending) {
  constexpr std::size_t kNamed = 4;
  if (pending.empty()) return;
  std::vector<std::string> names;
  for (const auto& tool : pending | std::views::take(kNamed)) names.push_back(tool.name);
  context.say(fmt::format("waiting to be accepted, and not callable before: {} ({}{})",
                          counted(pending.size(), "tool"), fmt::join(names, ", "),
                          pending.size() > kNamed ? ", …" : ""));
  std::string words;
  if (pending.size() <= kNamed && std::ranges::all_of(pending, can_be_pasted)) {
    for (const std::string& name : names) words += " " + shell_quoted(name);
  }
  context.say(fmt::format(
      "  fix: `mcpac lock diff{0}` shows {1}, `mcpac lock accept{2}` approves {1}", words,
      pending.size() == 1 ? "it" : "them", words.empty() ? " SERVER.TOOL" : words));
}

}  // namespace

std::vector<ToolDefinition> fresh_in(const project::GenerateReport& report) {
  std::vector<ToolDefinition> fresh = report.pending;
  for (const std::string& name : report.added) {
    const auto dot = name.find('.');
    const auto* tool = report.output.lock.find_tool(name.substr(0, dot), name.substr(dot + 1));
    if (tool != nullptr) fresh.push_back({name, tool->definition});
  }
  return fresh;
}

void show_written(const Context& context, const project::GenerateReport& report,
                  const std::vector<FallsUnder>& covering, Notes notes) {
  if (!report.added.empty()) {
    context.say(fmt::format("new in the lock: {} ({}{})", counted(report.added.size(), "tool"),
                            fmt::join(report.added | std::views::take(4), ", "),
                            report.added.size() > 4 ? ", …" : ""));
  }
  show_claims(context, report);
  std::size_t runtime = 0;
  for (const auto& name : report.written) {
    if (name.starts_with("servers/mcpac/")) {
      ++runtime;
    } else {
      context.say(fmt::format("wrote {}", name));
    }
  }
  if (runtime > 0) context.say(fmt::format("wrote servers/mcpac/ ({})", counted(runtime, "file")));
  for (const auto& name : report.removed) context.say(fmt::format("removed {}", name));
  if (report.written.empty() && report.removed.empty()) context.say("nothing changed");
  show_drift(context, report);
  show_notes(context, report.output.notes, notes);
  if (std::string lines = to_lines(covering); !lines.empty()) {
    lines.pop_back();
    context.say(lines);
  }
  show_pending(context, report.pending);
}

Json to_json(const project::GenerateReport& report, const std::vector<FallsUnder>& covering) {
  Json pending = Json::array();
  for (const auto& tool : report.pending) pending.push_back(tool.name);
  Json notes = Json::array();
  for (const auto& note : report.output.notes) {
    notes.push_back(
        {{"permission", note.permission}, {"place", note.place}, {"message", note.message}});
  }
  std::size_t tools = 0;
  for (const auto& server : report.output.lock.servers) tools += server.tools.size();
  return {{"tools", tools},
          {"added", report.added},
          {"pending", pending},
          {"covered_by", to_json(covering)},
          {"drifted", report.drifted},
          {"reworded", report.reworded},
          {"withdrawn", report.withdrawn},
          {"other_servers", report.other_servers},
          {"written", report.written},
          {"removed", report.removed},
          {"notes", notes}};
}

project::Project with_servers(project::Project project, const std::set<std::string>& servers) {
  std::erase_if(project.config.servers, [&](const mcp::ServerConfig& server) {
    return !servers.contains(server.name) && !servers.contains("*");
  });
  return project;
}

void propose_roots(const Context& context, const std::vector<std::string>& servers) {
  const auto project = context.project();
  if (!project) return;
  const auto named = with_servers(*project, {servers.begin(), servers.end()});
  for (const auto& line : run::servers_without_root(named)) context.say("note: " + line);
}

project::OnProgress progress_of(const Context& context, Counts counts) {
  return [&context, counts](const project::ServerProgress& progress) {
    using State = project::ServerProgress::State;
    if (context.json) return;
    if (progress.state == State::kConnecting) {
      if (context.interactive) context.say(fmt::format("{}: connecting …", progress.server));
    } else if (progress.state == State::kLeftOut || progress.state == State::kSlow) {
      context.warn(progress.error.what);
    } else if (counts == Counts::kQuiet) {
      return;
    } else if (progress.state == State::kListed) {
      context.say(progress.server + ": " + counted(progress.tools, "tool"));
    }
  };
}

}  // namespace mcpac::cli
