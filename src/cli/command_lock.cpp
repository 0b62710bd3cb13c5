// mcpac lock status | diff | accept: what servers offer now against what was approved.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/falls_under.h"
#include "cli/written.h"
#include "core/printable.h"
#include "execute/project/project_use.h"
#include "execute/project/review.h"

namespace mcpac::cli {
namespace {

using codegen::ServerDiff;
using Kind = codegen::ToolDiff::Kind;

// ---- status

std::string counts_of(const ServerDiff& diff) {
  std::vector<std::string> parts;
  const auto add = [&](Kind kind, const char* word) {
    if (const auto count = diff.count(kind); count > 0)
      parts.push_back(fmt::format("{} {}", count, word));
  };
  if (diff.kind == ServerDiff::Kind::kKept && diff.identity) parts.emplace_back("ANOTHER SERVER");
  const std::size_t texts = diff.count_texts_only();
  const std::size_t drifted = diff.count(Kind::kChanged) - (diff.keeps_texts ? texts : 0);
  if (drifted > 0) {
    parts.push_back(fmt::format("{} drifted", drifted));
    if (texts > 0 && !diff.keeps_texts)
      parts.back() += texts == drifted ? " (texts only)" : fmt::format(" ({} texts only)", texts);
  }
  add(Kind::kWithdrawn, "withdrawn");
  add(Kind::kAdded, "new");
  if (diff.kind == ServerDiff::Kind::kKept && diff.version) parts.emplace_back("other version");
  if (texts > 0 && diff.keeps_texts)
    parts.push_back(fmt::format("{} with other texts (the locked ones hold)", texts));
  return parts.empty() ? "ok" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string state_of(const execute::ServerStatus& server) {
  if (server.error)
    return fmt::format("cannot be asked: {} [{}]", server.error->what,
                       mcpac::to_string(server.error->id));
  if (server.disabled) return "disabled, not asked";
  if (!server.diff) return "not asked";
  if (server.diff->kind == ServerDiff::Kind::kGone)
    return "no longer in mcpac.json; mcpac generate removes it";
  if (server.diff->kind == ServerDiff::Kind::kNew) return "not locked; mcpac generate adds it";
  return counts_of(*server.diff);
}

void show(const execute::Status& status) {
  for (const auto& server : status.servers) {
    fmt::print("{:<20} {:>4} locked  {}\n", server.server, server.locked, state_of(server));
    if (!server.diff || server.diff->kind != ServerDiff::Kind::kKept) continue;
    for (const auto& tool : server.diff->tools) {
      const bool tolerated = tool.texts_only && server.diff->keeps_texts;
      fmt::print("  {:<10} {}{}\n",
                 tolerated                       ? "texts"
                 : tool.kind == Kind::kChanged   ? "drifted"
                 : tool.kind == Kind::kWithdrawn ? "withdrawn"
                                                 : "new",
                 printable(tool.permission),
                 tool.texts_only && !tolerated ? "  (texts only)"
                 : tool.kind == Kind::kAdded   ? "  (waits for `mcpac lock accept`)"
                                               : "");
    }
  }
  if (!status.lock_fits_itself) fmt::print("mcpac.lock names other headers than its tools give\n");
  if (status.headers.empty()) return fmt::print("servers/ fits mcpac.lock\n");
  for (const auto& problem : status.headers) {
    fmt::print("{} {}\n", problem.file,
               problem.kind == execute::HeaderProblem::Kind::kMissing
                   ? "is missing"
                   : "is not the file that mcpac.lock names");
  }
}

Json to_json(const execute::Status& status) {
  Json servers = Json::array();
  for (const auto& server : status.servers) {
    Json entry = {
        {"server", server.server}, {"locked", server.locked}, {"disabled", server.disabled}};
    entry["diff"] = server.diff ? codegen::to_json(*server.diff) : Json();
    if (server.error) entry["error"] = cli::to_json(*server.error)["error"];
    servers.push_back(std::move(entry));
  }
  Json headers = Json::array();
  for (const auto& problem : status.headers) {
    const bool missing = problem.kind == execute::HeaderProblem::Kind::kMissing;
    headers.push_back({{"file", problem.file}, {"problem", missing ? "missing" : "differs"}});
  }
  return {{"drifted", status.drifted()},
          {"headers_fit", status.headers.empty()},
          {"lock_fits_itself", status.lock_fits_itself},
          {"servers", servers},
          {"headers", headers}};
}

// The worst that was found decides the exit code: drift, then headers, then servers that cannot be
// asked.
std::optional<Error> verdict(const execute::Project& project, const execute::Status& status) {
  const auto in_texts_alone = [](const execute::ServerStatus& server) {
    return !server.diff || !server.diff->drifted() || server.diff->drifted_in_texts_alone();
  };
  if (status.drifted() && std::ranges::all_of(status.servers, in_texts_alone)) {
    return Error{
        ErrorId::kLockDrift, "servers describe tools in other words than mcpac.lock approved",
        project.config_file.string(), "drifted tools cannot be called: models read the words",
        "`mcpac lock diff` shows the changes, `mcpac lock accept` approves them; where words "
        "change all the time, \"texts\": \"locked\" in the server's entry keeps the "
        "approved ones"};
  }
  if (status.drifted()) {
    return Error{ErrorId::kLockDrift, "servers offer other tools than mcpac.lock approved",
                 project.config_file.string(), "drifted and withdrawn tools cannot be called",
                 "`mcpac lock diff` shows the changes, `mcpac lock accept` approves them"};
  }
  if (!status.headers.empty()) {
    return Error{
        ErrorId::kHeaderDrift, "servers/ does not fit mcpac.lock", project.headers().string(),
        "the headers were edited, or are older or newer than the lock", "mcpac generate --offline"};
  }
  if (!status.lock_fits_itself) {
    return Error{
        ErrorId::kHeaderDrift, "mcpac.lock names other headers than its tools give",
        project.lock_file().string(), "it was edited by hand, or is of another version of mcpac",
        "restore it from your repository, or look at its tools and `mcpac generate --offline`"};
  }
  for (const auto& server : status.servers) {
    if (server.error) return server.error;
  }
  return std::nullopt;
}

void status(Context& context, bool offline) {
  auto project = context.project();
  if (!project) return context.fail(project.error());
  auto found = execute::status(*project, offline ? execute::Ask::kNobody : execute::Ask::kServers,
                               progress_of(context, Counts::kQuiet));
  if (!found) return context.fail(found.error());
  if (context.json) {
    context.print(to_json(*found));
  } else {
    show(*found);
  }
  const auto error = verdict(*project, *found);
  if (!error) return;
  context.fail(*error);
}

// ---- diff

void show_notes(const Context& context, const execute::Review& review) {
  for (const auto& note : review.notes)
    context.warn(fmt::format("{} {}", note.permission, note.message));
}

std::vector<FallsUnder> covering(const Context& context, const execute::Project& project,
                                 const codegen::Lock& lock, const codegen::LockDiff& diff) {
  std::vector<ToolDefinition> fresh;
  for (const ServerDiff& server : diff)
    std::ranges::move(added_in(server), std::back_inserter(fresh));
  return falls_under(context, project, lock, fresh);
}

// Each with the rules that cover what is new in it.
Json to_json(const Context& context, const execute::Project& project, const codegen::Lock& lock,
             const codegen::LockDiff& diff) {
  Json all = Json::array();
  for (const ServerDiff& server : diff) {
    all.push_back(codegen::to_json(server));
    all.back()["covered_by"] = cli::to_json(falls_under(context, project, lock, added_in(server)));
  }
  return all;
}

// `to` is standard error where it is part of a question: standard output may be a file, and what
// is approved must have been seen.
void print_diff(const Context& context, const execute::Project& project,
                const execute::Review& review, std::FILE* to) {
  if (context.json)
    return context.print(to_json(context, project, review.before.lock, review.diff));
  for (const auto& server : review.diff) fmt::print(to, "{}", codegen::to_lines(server));
  fmt::print(to, "{}", cli::to_lines(covering(context, project, review.before.lock, review.diff)));
  show_notes(context, review);
  if (review.diff.empty()) context.say("mcpac.lock is what the servers offer");
}

void diff(Context& context, const std::vector<std::string>& names) {
  auto project = context.project();
  if (!project) return context.fail(project.error());
  const execute::ProjectUse use(context.folders, project->config_file);
  auto review = execute::review(*project, names, progress_of(context, Counts::kQuiet));
  if (!review) return context.fail(review.error());
  print_diff(context, *project, *review, stdout);
}

// ---- accept

struct AcceptOptions {
  std::vector<std::string> names;
  bool yes = false;
};

bool ask() {
  fmt::print(stderr, "Approve all of this, and write mcpac.lock and servers/? [y/N] ");
  std::fflush(stderr);
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "Y" || answer == "yes");
}

// The commands that it names are about the same servers and tools, not about everything.
Error nobody_there(const std::vector<std::string>& names) {
  std::string words;
  for (const std::string& name : names) words += " " + printable(name);
  return {ErrorId::kUsage, "nobody is there to approve the changes", "",
          "what is accepted must have been seen",
          fmt::format("look at `mcpac lock diff{0}`, then `mcpac lock accept{0} --yes`", words)};
}

void accept(Context& context, const AcceptOptions& options) {
  auto project = context.project();
  if (!project) return context.fail(project.error());
  const execute::ProjectUse use(context.folders, project->config_file);
  auto review = execute::review(*project, options.names, progress_of(context, Counts::kQuiet));
  if (!review) return context.fail(review.error());
  if (review->diff.empty()) return print_diff(context, *project, *review, stderr);
  if (!options.yes && (!context.interactive || context.json))
    return context.fail(nobody_there(options.names));
  if (!context.json) print_diff(context, *project, *review, stderr);
  if (!options.yes && !ask()) {
    return context.fail({ErrorId::kLockDrift, "not approved; nothing was written",
                         project->lock_file().string(), "what was approved before stays",
                         "mcpac lock accept SERVER.TOOL approves a part"});
  }
  Json shown =
      context.json ? to_json(context, *project, review->before.lock, review->diff) : Json();
  auto report = execute::accept(*project, context.folders, std::move(*review));
  if (!report) return context.fail(report.error());
  if (!context.json) return show_written(context, *report, {}, Notes::kSome);
  Json json = cli::to_json(*report, {});
  json["accepted"] = std::move(shown);
  context.print(json);
}

void add_accept(CLI::App& lock, Context& context) {
  auto options = std::make_shared<AcceptOptions>();
  auto* command =
      lock.add_subcommand("accept", "show the difference, ask, and approve exactly what was shown");
  add_common_options(*command, context);
  command->add_option("NAMES", options->names, "only these servers and tools")
      ->type_name("SERVER[.TOOL]");
  command->add_flag("--yes", options->yes, "approve without being asked");
  command->callback([&context, options] { accept(context, *options); });
}

}  // namespace

void add_lock(CLI::App& app, Context& context) {
  auto* lock =
      app.add_subcommand("lock", "what servers offer now, against what mcpac.lock approved");
  lock->require_subcommand(1);
  auto offline = std::make_shared<bool>(false);
  auto* state = lock->add_subcommand(
      "status", "per server what drifted, is new or withdrawn; whether servers/ fits the lock");
  add_common_options(*state, context);
  state->add_flag("--offline", *offline, "ask no server; only hold servers/ against the lock");
  state->callback([&context, offline] { status(context, *offline); });
  auto names = std::make_shared<std::vector<std::string>>();
  auto* difference = lock->add_subcommand("diff", "every difference, for a person to read");
  add_common_options(*difference, context);
  difference->add_option("NAMES", *names, "only these servers and tools")
      ->type_name("SERVER[.TOOL]");
  difference->callback([&context, names] { diff(context, *names); });
  add_accept(*lock, context);
}

}  // namespace mcpac::cli
