// SPDX-License-Identifier: Apache-2.0

// mcpac lock status | diff | accept: what servers offer now against what was approved.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/falls_under.h"
#include "cli/written.h"
#include "core/printable.h"
#include "core/shell_quote.h"
#include "project/project_use.h"
#include "project/review.h"
#include "project/shown_diff.h"

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
  if (diff.kind == ServerDiff::Kind::kKept && diff.identity)
    parts.emplace_back("ANOTHER SERVER in mcpac.json");
  else if (diff.is_another())
    parts.emplace_back("its entry in mcpac.json was changed");
  if (diff.kind == ServerDiff::Kind::kKept && !diff.claims.empty())
    parts.emplace_back("says that it needs other things");
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

std::string state_of(const project::ServerStatus& server) {
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

bool may_be_accepted(const ServerDiff& diff) {
  return diff.kind == ServerDiff::Kind::kKept &&
         (diff.is_another() || !diff.claims.empty() ||
          std::ranges::any_of(
              diff.tools, [&](const auto& tool) { return !tool.texts_only || !diff.keeps_texts; }));
}

// The command that approves what was looked at, and nothing that a server answers later.
std::string accepting(const std::vector<std::string>& names, const codegen::LockDiff& diff) {
  std::string words;
  for (const std::string& name : names) words += " " + printable(shell_quoted(name));
  return fmt::format("mcpac lock accept{} --digest {}", words, codegen::digest_of(diff));
}

void show_notes(const std::vector<codegen::Note>& notes) {
  constexpr std::size_t kShown = 12;
  for (const auto& note : notes | std::views::take(kShown))
    fmt::print("note: {} {}\n", printable(note.permission), printable(note.message));
  if (notes.size() > kShown) fmt::print("note: {} more; --json shows all\n", notes.size() - kShown);
}

void show(const project::Status& status) {
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
    if (may_be_accepted(*server.diff))
      fmt::print("  `mcpac lock diff {}` shows it; approve exactly this: {}\n", server.server,
                 accepting({server.server}, {*server.diff}));
  }
  show_notes(status.notes);
  if (!status.lock_fits_itself) fmt::print("mcpac.lock names other headers than its tools give\n");
  if (status.headers.empty()) return fmt::print("servers/ fits mcpac.lock\n");
  for (const auto& problem : status.headers) {
    fmt::print("{} {}\n", problem.file,
               problem.kind == project::HeaderProblem::Kind::kMissing
                   ? "is missing"
                   : "is not the file that mcpac.lock names");
  }
}

Json to_json(const project::Status& status) {
  Json servers = Json::array();
  for (const auto& server : status.servers) {
    Json entry = {
        {"server", server.server}, {"locked", server.locked}, {"disabled", server.disabled}};
    entry["diff"] = server.diff ? codegen::to_json(*server.diff) : Json();
    if (server.diff) entry["digest"] = codegen::digest_of({*server.diff});
    if (server.error) entry["error"] = cli::to_json(*server.error)["error"];
    servers.push_back(std::move(entry));
  }
  Json headers = Json::array();
  for (const auto& problem : status.headers) {
    const bool missing = problem.kind == project::HeaderProblem::Kind::kMissing;
    headers.push_back({{"file", problem.file}, {"problem", missing ? "missing" : "differs"}});
  }
  Json notes = Json::array();
  for (const auto& note : status.notes)
    notes.push_back({{"tool", note.permission}, {"message", note.message}});
  return {{"drifted", status.drifted()},
          {"headers_fit", status.headers.empty()},
          {"lock_fits_itself", status.lock_fits_itself},
          {"servers", servers},
          {"headers", headers},
          {"notes", std::move(notes)}};
}

// The worst that was found decides the exit code: drift, then headers, then servers that cannot be
// asked.
std::optional<Error> verdict(const project::Project& project, const project::Status& status) {
  const auto in_texts_alone = [](const project::ServerStatus& server) {
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
  const auto in_entries_alone = [](const project::ServerStatus& server) {
    return !server.diff || !server.diff->drifted() || server.diff->is_another();
  };
  if (status.drifted() && std::ranges::all_of(status.servers, in_entries_alone)) {
    return Error{
        ErrorId::kLockDrift, "servers in mcpac.json are not those that mcpac.lock approved",
        project.config_file.string(), "tools of a server whose entry was changed cannot be called",
        "`mcpac lock diff` shows the changes, `mcpac lock accept` approves them"};
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
  auto found = project::status(*project, offline ? project::Ask::kNobody : project::Ask::kServers,
                               progress_of(context, Counts::kQuiet));
  if (!found) return context.fail(found.error());
  if (context.json) {
    context.print(to_json(*found));
  } else {
    show(*found);
  }
  codegen::LockDiff shown;
  for (const auto& server : found->servers) {
    if (server.diff && server.diff->kind == ServerDiff::Kind::kKept) shown.push_back(*server.diff);
  }
  project::ShownDiff(context.folders, project->config_file)
      .note(shown, project::ShownDiff::Extent::kWhole);
  const auto error = verdict(*project, *found);
  if (!error) return;
  context.fail(*error);
}

// ---- diff

void show_review_notes(const Context& context, const project::Review& review) {
  for (const auto& note : review.notes)
    context.warn(fmt::format("{} {}", note.permission, note.message));
}

std::vector<FallsUnder> covering(const Context& context, const project::Project& project,
                                 const codegen::Lock& lock, const codegen::LockDiff& diff) {
  std::vector<ToolDefinition> fresh;
  for (const ServerDiff& server : diff)
    std::ranges::move(added_in(server), std::back_inserter(fresh));
  return falls_under(context, project, lock, fresh);
}

// "mcpac.policy:3:7: the lock knows no tool 'gone' of server notes"
std::string line_of(const Error& error) {
  return printable_in_place(
      fmt::format("{}: {}", error.where.substr(0, error.where.find('\n')), error.what));
}

// Each with the rules that cover what is new in it, and those that it breaks.
Json to_json(const Context& context, const project::Project& project,
             const project::Review& review) {
  const codegen::Lock& lock = review.before.lock;
  Json all = Json::array();
  for (const ServerDiff& server : review.diff) {
    all.push_back(codegen::to_json(server));
    all.back()["digest"] = codegen::digest_of({server});
    all.back()["covered_by"] = cli::to_json(falls_under(context, project, lock, added_in(server)));
    all.back()["no_longer_load"] = Json::array();
    for (const auto& error : no_longer_load(context, project, review, {server}))
      all.back()["no_longer_load"].push_back(line_of(error));
  }
  return all;
}

// `to` is standard error where it is part of a question: standard output may be a file, and what
// is approved must have been seen.
void print_diff(const Context& context, const project::Project& project,
                const project::Review& review, std::FILE* to) {
  if (context.json) return context.print(to_json(context, project, review));
  for (const auto& server : review.diff) fmt::print(to, "{}", codegen::to_lines(server));
  fmt::print(to, "{}", cli::to_lines(covering(context, project, review.before.lock, review.diff)));
  const auto broken = no_longer_load(context, project, review, review.diff);
  if (!broken.empty())
    fmt::print(to,
               "rules that no longer load once this is accepted, and no run starts under them:\n");
  for (const auto& error : broken) fmt::print(to, "  {}\n", line_of(error));
  show_review_notes(context, review);
  if (review.diff.empty()) context.say("mcpac.lock is what the servers offer");
}

void diff(Context& context, const std::vector<std::string>& names) {
  auto project = context.project();
  if (!project) return context.fail(project.error());
  const project::ProjectUse use(context.folders, project->config_file);
  auto review = project::review(*project, names, progress_of(context, Counts::kQuiet));
  if (!review) return context.fail(review.error());
  print_diff(context, *project, *review, stdout);
  const bool is_whole =
      std::ranges::none_of(names, [](const std::string& name) { return name.contains('.'); });
  const project::ShownDiff shown(context.folders, project->config_file);
  // Of servers that are as they are locked nothing differs, and that was shown as well.
  auto seen = review->diff;
  for (const auto& listing : review->live) {
    if (std::ranges::find(seen, listing.server, &ServerDiff::server) == seen.end())
      seen.push_back({.kind = ServerDiff::Kind::kKept, .server = listing.server});
  }
  shown.note(seen,
             is_whole ? project::ShownDiff::Extent::kWhole : project::ShownDiff::Extent::kPart);
  if (!context.json && !review->diff.empty())
    fmt::print("approve exactly this: {}\n", accepting(names, review->diff));
}

// ---- accept

struct AcceptOptions {
  std::vector<std::string> names;
  bool yes = false;
  std::string digest;  // of what was looked at
};

bool ask() {
  fmt::print(stderr, "Approve all of this, and write mcpac.lock and servers/? [y/N] ");
  std::fflush(stderr);
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "Y" || answer == "yes");
}

// The commands that it names are about the same servers and tools, not about everything.
Error no_person_there(const std::vector<std::string>& names, const codegen::LockDiff& diff) {
  std::string words;
  for (const std::string& name : names) words += " " + printable(shell_quoted(name));
  return {ErrorId::kUsage, "no person is there to approve the changes", "",
          "what is accepted must have been seen",
          fmt::format("look at `mcpac lock diff{}`, then `{}`", words, accepting(names, diff))};
}

// What was looked at is not what the servers answer now.
Error looked_at_another(Context& context, const project::Project& project,
                        const project::Review& review, const AcceptOptions& options,
                        const std::string& what, const char* why) {
  std::string words;
  for (const std::string& name : options.names) words += " " + printable(shell_quoted(name));
  if (!context.json) {
    print_diff(context, project, review, stderr);
    project::ShownDiff(context.folders, project.config_file)
        .note(review.diff, project::ShownDiff::Extent::kPart);
  }
  const std::string look =
      context.json ? fmt::format("look at `mcpac lock diff{}`", words) : "read it above";
  return {ErrorId::kLockDrift, what, project.lock_file().string(),
          fmt::format("{}; nothing was written", why),
          fmt::format("{}, then `{}`", look, accepting(options.names, review.diff))};
}

// Nothing where what would be written is what was looked at, as far as a look is known.
std::optional<Error> check_look(Context& context, const project::Project& project,
                                const project::Review& review, const AcceptOptions& options) {
  const project::ShownDiff shown(context.folders, project.config_file);
  if (!options.digest.empty()) {
    if (options.digest == codegen::digest_of(review.diff)) return std::nullopt;
    return looked_at_another(context, project, review, options,
                             "the servers offer something else than this digest is of",
                             "this is not the digest of what is waiting now");
  }
  const auto unlike = options.yes ? shown.unlike(review.diff) : std::vector<std::string>();
  if (unlike.empty()) return std::nullopt;
  return looked_at_another(context, project, review, options,
                           fmt::format("the servers offer something else than was shown last: {}",
                                       printable(fmt::format("{}", fmt::join(unlike, ", ")), 400)),
                           "a server answered differently the second time");
}

void accept(Context& context, const AcceptOptions& options) {
  auto project = context.project();
  if (!project) return context.fail(project.error());
  const project::ProjectUse use(context.folders, project->config_file);
  auto review = project::review(*project, options.names, progress_of(context, Counts::kQuiet));
  if (!review) return context.fail(review.error());
  if (review->diff.empty()) return print_diff(context, *project, *review, stderr);
  const bool is_told = options.yes || !options.digest.empty();
  if (!is_told && (!context.interactive || context.json))
    return context.fail(no_person_there(options.names, review->diff));
  if (const auto error = check_look(context, *project, *review, options))
    return context.fail(*error);
  if (!context.json) print_diff(context, *project, *review, stderr);
  if (!is_told && !ask()) {
    return context.fail({ErrorId::kLockDrift, "not approved; nothing was written",
                         project->lock_file().string(), "what was approved before stays",
                         "mcpac lock accept SERVER.TOOL approves a part"});
  }
  Json shown = context.json ? to_json(context, *project, *review) : Json();
  const codegen::LockDiff accepted = review->diff;
  auto report = project::accept(*project, context.folders, std::move(*review));
  if (!report) return context.fail(report.error());
  project::ShownDiff(context.folders, project->config_file).forget(accepted);
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
  auto* yes = command->add_flag(
      "--yes", options->yes,
      "approve without being asked: what is printed, and nothing that `lock status` or `lock diff` "
      "showed otherwise");
  command
      ->add_option("--digest", options->digest,
                   "approve without being asked, and only what this digest is of: `lock status` "
                   "and `lock diff` print it")
      ->type_name("DIGEST")
      ->excludes(yes)
      ->check([](const std::string& text) {
        const bool is_digest =
            text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
        return is_digest ? std::string() : "a digest has 32 hexadecimal digits";
      });
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
