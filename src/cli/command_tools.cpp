// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/tool_choice.h"
#include "codegen/describe.h"
#include "codegen/prompt.h"
#include "codegen/search.h"
#include "codegen/signature.h"
#include "core/printable.h"
#include "core/quantity.h"
#include "project/claimed_needs.h"

namespace mcpac::cli {
namespace {

using codegen::ToolRef;

// More lines than this are a wall: then a line a server, unless a pattern asks for the tools.
constexpr std::size_t kMostListed = 100;
constexpr std::size_t kWidestName = 48;
constexpr std::size_t kWidestLine = 120;
constexpr std::size_t kMostFound = 10;

// The lock, and what tools of confined servers do not get of what they say that they need.
struct Locked {
  codegen::Lock lock;
  project::NeedsOfTools unmet;

  // "not offered: …", "degraded: …"; empty where nothing is unmet.
  [[nodiscard]] std::string needs(const ToolRef& ref) const {
    const auto permission = Permission::of(ref.server->name, ref.tool->name);
    const auto found = permission ? unmet.find(*permission) : unmet.end();
    return found == unmet.end() ? "" : project::needs_text(found->second);
  }
};

Result<Locked> lock_of(const Context& context) {
  auto project = context.project();
  if (!project) return pass_on(project);
  auto lock = project::load_lock(*project);
  if (!lock) return pass_on(lock);
  auto unmet = project::unmet_needs(*project, *lock, nullptr);
  return Locked{std::move(*lock), std::move(unmet)};
}

Json to_json(const Locked& locked, const ToolRef& ref) {
  const std::string needs = locked.needs(ref);
  return {{"permission", ref.permission()},
          {"cpp", ref.tool->cpp_name},
          {"digest", ref.tool->digest},
          {"needs", needs.empty() ? Json(nullptr) : Json(needs)},
          {"description", codegen::summary(*ref.tool, 200)}};
}

// "server.tool   what it does", the server's own words cut to one line.
void show_lines(const std::vector<ToolRef>& tools, const std::vector<std::string>& notes) {
  std::size_t width = 0;
  for (const ToolRef& ref : tools)
    width = std::max(width, std::min(kWidestName, printable(ref.permission()).size()));
  for (std::size_t i = 0; i < tools.size(); ++i) {
    const std::string note = i < notes.size() && !notes[i].empty() ? "  [" + notes[i] + "]" : "";
    const std::size_t room = kWidestLine - width - 2;
    fmt::print("{:<{}}  {}{}\n", printable(tools[i].permission()), width,
               codegen::summary(*tools[i].tool, room - std::min(room / 2, note.size())), note);
  }
}

void show_servers(const std::vector<ToolRef>& tools) {
  for (std::size_t i = 0; i < tools.size();) {
    const codegen::LockedServer& server = *tools[i].server;
    std::string names;
    for (const auto& tool : server.tools)
      if (names.size() < kWidestLine) names += (names.empty() ? "" : ", ") + tool.name;
    fmt::print("{:<28} {:>4} {}  {}\n", server.name, server.tools.size(),
               server.tools.size() == 1 ? "tool " : "tools", printable(names, 80));
    i += server.tools.size();
  }
}

void list_tools(Context& context, const std::vector<std::string>& patterns) {
  auto locked = lock_of(context);
  if (!locked) return context.fail(locked.error());
  const codegen::Lock& lock = locked->lock;
  auto tools = choose_tools(lock, patterns);
  if (!tools) return context.fail(tools.error());
  if (context.json) {
    Json all = Json::array();
    for (const ToolRef& ref : *tools) all.push_back(to_json(*locked, ref));
    return context.print(all);
  }
  if (tools->empty())
    return context.say("no tool of any server is approved; `mcpac generate` reads what they have");
  if (!patterns.empty() || tools->size() <= kMostListed) {
    std::vector<std::string> marks;
    for (const ToolRef& ref : *tools) {
      const std::string needs = locked->needs(ref);
      marks.push_back(needs.substr(0, needs.find(':')));
    }
    return show_lines(*tools, marks);
  }
  show_servers(*tools);
  context.say(fmt::format("{} of {}; `mcpac tools list SERVER` or '*' lists them",
                          counted(tools->size(), "tool"), counted(lock.servers.size(), "server")));
}

Json description_json(const Locked& locked, const ToolRef& ref) {
  const std::string needs = locked.needs(ref);
  return {{"permission", ref.permission()},
          {"needs", needs.empty() ? Json(nullptr) : Json(needs)},
          {"grant", codegen::grant_text(*ref.server, *ref.tool)},
          {"cpp", ref.tool->cpp_name},
          {"digest", ref.tool->digest},
          {"signature", codegen::signature(*ref.server, *ref.tool)},
          {"example", codegen::example_call(*ref.server, *ref.tool)},
          {"text", codegen::describe_tool(*ref.server, *ref.tool)},
          {"definition", Json(ref.tool->definition)}};
}

// One tool with every word; several as one line each.
void describe(Context& context, const std::vector<std::string>& patterns) {
  auto locked = lock_of(context);
  if (!locked) return context.fail(locked.error());
  auto tools = choose_tools(locked->lock, patterns);
  if (!tools) return context.fail(tools.error());
  if (context.json) {
    if (tools->size() == 1) return context.print(description_json(*locked, tools->front()));
    Json all = Json::array();
    for (const ToolRef& ref : *tools) all.push_back(description_json(*locked, ref));
    return context.print(all);
  }
  if (tools->size() == 1) {
    const ToolRef& ref = tools->front();
    fmt::print("{}", codegen::describe_tool(*ref.server, *ref.tool));
    if (const std::string needs = locked->needs(ref); !needs.empty())
      fmt::print("// {}\n", printable(needs, 2'000));
  } else {
    fmt::print("{}", codegen::tool_digest(*tools, codegen::PromptFormat::kSignatures));
  }
}

void search(Context& context, const std::vector<std::string>& words, std::size_t limit) {
  auto locked = lock_of(context);
  if (!locked) return context.fail(locked.error());
  const auto hits =
      codegen::search_tools(locked->lock, fmt::format("{}", fmt::join(words, " ")), limit);
  Json all = Json::array();
  std::vector<ToolRef> tools;
  std::vector<std::string> notes;
  for (const auto& hit : hits) {
    tools.push_back({hit.server, hit.tool});
    notes.push_back(hit.argument.empty() ? "" : "argument " + printable(hit.argument, 40));
    all.push_back(to_json(*locked, tools.back()));
    all.back()["argument"] = hit.argument;
    all.back()["score"] = hit.score;
  }
  if (context.json) return context.print(all);
  if (tools.empty()) context.say("no tool matches; `mcpac tools list` shows what there is");
  show_lines(tools, notes);
}

}  // namespace

void add_tools(CLI::App& app, Context& context) {
  auto* tools = app.add_subcommand("tools", "the approved tools (mcpac.lock), and single calls");
  tools->require_subcommand(1);
  add_common_options(*tools, context);

  auto listed = std::make_shared<std::vector<std::string>>();
  auto* listing = tools->add_subcommand("list", "the locked tools");
  add_common_options(*listing, context);
  listing->add_option("PATTERN", *listed, "a server, server.tool, or a pattern with * and ?");
  listing->callback([&context, listed] { list_tools(context, *listed); });

  auto described = std::make_shared<std::vector<std::string>>();
  auto* description = tools->add_subcommand("describe", "the C++ that calls a tool");
  add_common_options(*description, context);
  description
      ->add_option("TOOL", *described,
                   "server.tool or its C++ name; several, a server or a pattern: one line each")
      ->required();
  description->callback([&context, described] { describe(context, *described); });

  auto words = std::make_shared<std::vector<std::string>>();
  auto limit = std::make_shared<std::size_t>(kMostFound);
  auto* searching = tools->add_subcommand("search", "find tools by words");
  add_common_options(*searching, context);
  searching->add_option("WORDS", *words, "what the tool should do")->required();
  searching->add_option("--limit", *limit, "at most so many (default 10)")
      ->check(CLI::Range(1, 1000));
  searching->callback([&context, words, limit] { search(context, *words, *limit); });

  add_tools_call(*tools, context);
}

}  // namespace mcpac::cli
