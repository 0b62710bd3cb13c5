// SPDX-License-Identifier: Apache-2.0

// mcpac server confine: the smallest "sandbox" of a server, proposed, tried and written.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/config_file.h"
#include "cli/confine_entry.h"
#include "cli/grant_options.h"
#include "cli/rule_reader.h"
#include "cli/through_host.h"
#include "cli/tool_choice.h"
#include "cli/written.h"
#include "codegen/lock.h"
#include "codegen/lock_entry.h"
#include "core/call_arguments.h"
#include "core/permission.h"
#include "core/printable.h"
#include "core/quantity.h"
#include "core/shell_quote.h"
#include "project/claimed_needs.h"
#include "project/generate_project.h"
#include "project/list_servers.h"
#include "project/project_use.h"
#include "run/call_tool.h"
#include "servers/approved_entry.h"
#include "servers/confine/confine_servers.h"
#include "servers/confine/learn.h"
#include "servers/confine/learn_session.h"

namespace mcpac::cli {
namespace {

struct ConfineOptions {
  std::string name;
  bool learn = false;
  bool apply = false;
  bool off = false;
  bool force = false;
  std::vector<std::pair<std::string, std::string>> calls;  // tool, arguments
  std::vector<std::string> session;                        // a command and its arguments
  std::shared_ptr<GrantOptions> grants;
};

Error no_such_server(const Context& context, const std::string& name) {
  return {ErrorId::kUnknownServer, fmt::format("there is no server {}", printable(name)),
          context.config_file.string(), "", "mcpac server list"};
}

Result<void> check(const ConfineOptions& options) {
  if (options.off && (options.learn || options.apply))
    return fail(ErrorId::kUsage, "--off goes alone: it takes the sandbox away",
                {.fix = "leave --learn and --apply out"});
  for (const auto& [tool, arguments] : options.calls) {
    if (arguments.starts_with("--") || tool.starts_with("--"))
      return fail(
          ErrorId::kUsage, "--call wants a tool and its arguments in JSON",
          {.why = printable(fmt::format("it has {} {}", tool, arguments), 200),
           .fix = printable(fmt::format("--call {} '{{}}'", tool.starts_with("--") ? "TOOL" : tool),
                            200)});
  }
  if (!options.calls.empty() && !options.learn)
    return fail(ErrorId::kUsage, "--call is part of what is observed", {.fix = "add --learn"});
  if (!options.session.empty() && !options.learn)
    return fail(ErrorId::kUsage, "a command behind -- is a session that is observed",
                {.fix = "add --learn"});
  if (options.grants->are_given() && options.calls.empty())
    return fail(ErrorId::kUsage, "rules are for the calls of --call, and there is none",
                {.fix = "leave them out"});
  return {};
}

// ---- Observed

struct Observed {
  sandbox::Seen seen;
  ServerListing listing;
};

struct PlannedCalls {
  policy::LayerText layer;
  std::vector<std::pair<Permission, Json>> calls{};  // with their arguments
};

// Before anything is started: a tool that is not in the lock cannot be called.
Result<PlannedCalls> plan_calls(const project::Project& project, const ConfineOptions& options) {
  PlannedCalls planned;
  if (options.calls.empty()) return planned;
  auto lock = project::load_lock(project);
  if (!lock) return pass_on(lock);
  if (lock->find_server(options.name) == nullptr)
    return fail(ErrorId::kLockMissing,
                fmt::format("mcpac.lock has no server {}", printable(options.name)),
                {.where = project.lock_file().string(),
                 .why = "a tool that is not in the lock cannot be called",
                 .fix = "run `mcpac generate`, look at what it found, and commit mcpac.lock"});
  const auto* server = project.config.find(options.name);
  if (auto other = server == nullptr
                       ? std::nullopt
                       : servers::not_as_approved(*lock, *server, servers::entry_for_lock(*server)))
    return std::unexpected(std::move(*other));
  // Each call warns of what they leave open.
  const RuleReader rules(project, *lock, [](std::string_view) {});
  if (auto loaded = rules.run(*options.grants); !loaded) return pass_on(loaded);
  auto layer = to_layer(*options.grants);
  if (!layer) return pass_on(layer);
  planned.layer = std::move(*layer);
  for (const auto& [name, text] : options.calls) {
    const std::string full =
        name.starts_with(options.name + ".") ? name : options.name + "." + name;
    auto tool = choose_tool(*lock, full);
    if (!tool) return pass_on(tool);
    auto arguments = parse_call(text, "--call");
    if (!arguments) return pass_on(arguments);
    auto permission = Permission::of(tool->server->name, tool->tool->name);
    if (!permission) return pass_on(permission);
    planned.calls.emplace_back(std::move(*permission), std::move(*arguments));
  }
  return planned;
}

// Its tools are called through the gate, as everywhere: what rules refuse is not called here
// either.
Result<void> call_tools(Context& context, const project::Project& project, PlannedCalls planned) {
  for (auto& [permission, arguments] : planned.calls) {
    auto result =
        run::call_tool(project, context.folders, permission, std::move(arguments), planned.layer,
                       {.approver = nullptr, .warning = [&](auto words) { context.warn(words); }});
    if (!result) return pass_on(result);
    const Json* is_error = find_member(*result, "isError");
    const bool failed = is_error != nullptr && is_error->is_boolean() && is_error->get<bool>();
    context.say(printable(fmt::format("called {}{}", permission.text(),
                                      failed ? ": the tool answered that it failed" : "")));
  }
  return {};
}

// How the command of a session ended, where that is no success; empty: it is one.
std::string why_session_failed(int status, const ConfineOptions& options) {
  const std::string command = shell_quoted(options.session.front());
  if (WIFSIGNALED(status))
    return fmt::format("{} was ended by signal {}", command, WTERMSIG(status));
  if (WEXITSTATUS(status) != 0)
    return fmt::format("{} failed: exit status {}", command, WEXITSTATUS(status));
  return {};
}

// The command of a session, whose starts of the server are observed (learn_session.h).
Result<void> run_session(Context& context, const project::Project& project,
                         const servers::ServerObserver& observer, const ConfineOptions& options) {
  if (options.session.empty()) return {};
  const std::size_t before = observer.starts();
  auto session = servers::LearnSession::open(project, context.folders, options.name, observer);
  if (!session) return pass_on(session);
  auto status = (*session)->run(options.session);
  if (!status) return pass_on(status);
  const std::size_t starts = observer.starts() - before;
  const std::string failed = why_session_failed(*status, options);
  const std::string what = !failed.empty() ? failed
                           : starts == 0
                               ? fmt::format("{} did not start the server {}",
                                             shell_quoted(options.session.front()), options.name)
                               : std::string();
  if (what.empty()) {
    context.say(
        fmt::format("{} was started in the session {}", options.name, counted(starts, "time")));
    return {};
  }
  if (options.force) {
    context.warn(printable(what));
    return {};
  }
  return fail(
      ErrorId::kServerStart, printable(fmt::format("nothing is proposed: {}", what)),
      {.where = "server " + options.name,
       .why = failed.empty()
                  ? "the server is observed where an mcpac below that command starts it, "
                    "with this mcpac.json"
                  : "it did a part of its work, and a proposal would lack the rest",
       .fix = failed.empty()
                  ? "call the server there: `mcpac tools call`, `run`, `execute`, `serve`; --force "
                    "proposes what it used while it listed its tools"
                  : "run it by itself first; --force proposes what was seen"});
}

Result<Observed> observe(Context& context, const project::Project& project,
                         const mcp::ServerConfig& server, const ConfineOptions& options) {
  auto planned = plan_calls(project, options);
  if (!planned) return pass_on(planned);
  context.say(printable(fmt::format(
      "{} is started without a sandbox, with all files, programs and hosts that you have, and what "
      "it does is observed",
      server.name)));
  auto observer = servers::ServerObserver::begin(servers::options_for_learning(), server);
  if (!observer) return pass_on(observer);
  auto bare_server = servers::started_bare(server, context.folders);
  if (!bare_server) return pass_on(bare_server);
  auto& [started, said] = *bare_server;
  if (!said.empty()) context.say(said);
  started.observer = *observer;
  project::Project bare = project;
  for (auto& one : bare.config.servers) {
    if (one.name == server.name) one = started;
  }
  const auto visit = announce_alone(context);
  const project::ProjectUse use(context.folders, project.config_file);
  auto listings =
      project::list_servers({*bare.config.find(server.name)}, progress_of(context, Counts::kQuiet));
  if (!listings) return pass_on(listings);
  if (listings->empty())
    return fail(ErrorId::kUsage, fmt::format("{} is disabled", server.name),
                {.where = project.config_file.string(), .fix = "take \"disabled\" out first"});
  if (auto called = call_tools(context, bare, std::move(*planned)); !called) return pass_on(called);
  if (auto done = run_session(context, project, **observer, options); !done) return pass_on(done);
  return Observed{(*observer)->end(), std::move(listings->front())};
}

// ---- Shown

void show_lines(std::vector<servers::ProposedLine> lines,
                const std::vector<servers::ProposedLine>& more = {}) {
  lines.insert(lines.end(), more.begin(), more.end());
  std::size_t width = 0;
  for (const auto& line : lines) width = std::max(width, line.text.size());
  for (const auto& line : lines)
    fmt::print("  {:<{}}  {}\n", printable(line.text), width, line.reason);
}

Json to_json(const std::vector<servers::ProposedLine>& lines) {
  Json all = Json::array();
  for (const auto& line : lines) all.push_back({{"line", line.text}, {"reason", line.reason}});
  return all;
}

void show(const Context& context, const ConfineOptions& options,
          const servers::Proposal& proposal) {
  const OrderedJson entry = servers::entry_of(proposal);
  if (context.json) {
    return context.print({{"server", options.name},
                          {"observed", options.learn},
                          {"sandbox", parse_json(entry.dump()).value_or(Json(true))},
                          {"files", to_json(proposal.files)},
                          {"network", to_json(proposal.network)},
                          {"not_proposed", to_json(proposal.left)},
                          {"takes_away", to_json(proposal.taken)},
                          {"notes", proposal.notes}});
  }
  fmt::print("\"sandbox\": {}\n", printable_lines(entry.dump(2)));
  if (!proposal.files.empty() || !proposal.network.empty()) fmt::print("\n");
  show_lines(proposal.files, proposal.network);
  if (!proposal.left.empty()) {
    fmt::print("\nused, and not proposed; with the line that would give it, where one would:\n");
    show_lines(proposal.left);
  }
  if (!proposal.taken.empty()) {
    fmt::print("\ntakes away:\n");
    show_lines(proposal.taken);
  }
  for (const std::string& note : proposal.notes) fmt::print("\nnote: {}\n", note);
}

// ---- Tried and written

using Definitions = std::map<std::string, std::string>;

Definitions definitions_of(const std::vector<ToolDefinition>& tools) {
  Definitions all;
  for (const auto& tool : tools) all.emplace(tool.name, tool.definition.dump());
  return all;
}

// As it was before: observed just now, or approved once. Nothing: it is not known.
std::optional<Definitions> before(const project::Project& project, const mcp::ServerConfig& server,
                                  const std::optional<Observed>& observed) {
  if (observed) return definitions_of(observed->listing.tools);
  const auto lock = project::load_lock(project);
  const auto* locked = lock ? lock->find_server(server.name) : nullptr;
  if (locked == nullptr || locked->identity != server.identity()) return std::nullopt;
  Definitions all;
  for (const auto& tool : locked->tools) all.emplace(tool.name, tool.definition.dump());
  return all;
}

std::string difference(const Definitions& old, const Definitions& now) {
  std::vector<std::string> words;
  for (const auto& [name, text] : old) {
    const auto found = now.find(name);
    if (found == now.end())
      words.push_back(name + " is not there");
    else if (found->second != text)
      words.push_back(name + " is another");
  }
  for (const auto& [name, text] : now) {
    if (!old.contains(name)) words.push_back(name + " is new");
  }
  constexpr std::size_t kMostWords = 8;
  const std::size_t more = words.size() > kMostWords ? words.size() - kMostWords : 0;
  words.resize(words.size() - more);
  std::string text = fmt::format("{}", fmt::join(words, ", "));
  if (more > 0) text += fmt::format(" and {} more", more);
  return text;
}

// What it is given by now, but for what a proposal speaks of: a limit of memory stays.
OrderedJson proposed_beside(const OrderedJson& entry, const servers::Proposal& proposal) {
  OrderedJson made = servers::entry_of(proposal);
  const auto now = entry.find("sandbox");
  if (now == entry.end() || !now->is_object()) return made;
  OrderedJson kept = *now;
  kept.erase("files");
  kept.erase("network");
  if (kept.empty()) return made;
  if (made.is_object()) kept.update(made);
  return kept;
}

// With more than was approved its tools are not called until a person approves that.
void say_next(const Context& context, const project::Project& project, const std::string& name) {
  const auto lock = project::load_lock(project);
  const auto* locked = lock ? lock->find_server(name) : nullptr;
  const auto* server = project.config.find(name);
  if (locked == nullptr || server == nullptr ||
      !codegen::starts_another(codegen::compare_entries(locked->entry, server->entry())))
    return;
  context.say(fmt::format("next: mcpac lock accept {}", shell_quoted(name)));
}

Result<void> apply(Context& context, const project::Project& project, ConfigFile config,
                   const ConfineOptions& options, const servers::Proposal& proposal,
                   const std::optional<Observed>& observed) {
  const OrderedJson as_it_was = config.entry(options.name);
  const OrderedJson sandbox = proposed_beside(as_it_was, proposal);
  config.entry(options.name)["sandbox"] = sandbox;
  const auto& server = *project.config.find(options.name);
  auto proposed = server_of(options.name, config.entry(options.name));
  if (!proposed) return pass_on(proposed);
  auto confined = start_in_sandbox(context, project, options.name, *proposed->sandbox);
  if (!confined && !options.force) {
    Error error = std::move(confined.error());
    error.what = fmt::format("nothing was written: confined, {}", error.what);
    return std::unexpected(std::move(error));
  }
  if (!confined) {
    context.warn(printable(fmt::format("confined, it does not start: {}", confined.error().what)));
  } else if (!*confined) {
    context.say(fmt::format("{} is disabled, and was not tried", options.name));
  } else if (const auto known = before(project, server, observed)) {
    const auto now = definitions_of((*confined)->tools);
    if (const std::string differs = difference(*known, now); !differs.empty()) {
      if (!options.force)
        return fail(ErrorId::kLockDrift,
                    printable(fmt::format("nothing was written: confined, {} lists other tools: {}",
                                          options.name, differs)),
                    {.why = "what it does not reach may decide which tools it has",
                     .fix = "give it what it needs, or --force"});
      context.warn(printable(fmt::format("confined, it lists other tools: {}", differs)));
    } else {
      context.say(
          fmt::format("confined, {} lists the same {}", options.name, counted(now.size(), "tool")));
    }
  } else {
    context.say(fmt::format("confined, {} lists {}; what it listed before is not known here",
                            options.name, counted((*confined)->tools.size(), "tool")));
  }
  // Another process may have written meanwhile.
  auto again = ConfigFile::open(context.config_file);
  if (!again) return pass_on(again);
  if (!again->has(options.name) || again->entry(options.name) != as_it_was)
    return fail(
        ErrorId::kConfigInvalid,
        fmt::format("nothing was written: the entry of {} was changed meanwhile", options.name),
        {.where = context.config_file.string(), .fix = "try again"});
  again->entry(options.name)["sandbox"] = sandbox;
  if (auto saved = again->save(); !saved) return pass_on(saved);
  context.say(fmt::format("{} is confined from its next start on", options.name));
  auto written = context.project();
  if (!written) return pass_on(written);
  if (auto kept = project::keep_narrower_entry(*written, context.folders, options.name); !kept)
    context.warn(kept.error().what);
  say_next(context, *written, options.name);
  return {};
}

Result<void> take_away(Context& context, ConfigFile config, const std::string& name) {
  if (config.entry(name).erase("sandbox") == 0) {
    context.say(fmt::format("{} has no sandbox, as before", name));
    return {};
  }
  if (auto saved = config.save(); !saved) return pass_on(saved);
  context.say(
      fmt::format("{} has no sandbox any more: from its next start on it has all that you "
                  "have",
                  name));
  auto written = context.project();
  if (!written) return pass_on(written);
  say_next(context, *written, name);
  return {};
}

// What the server says of itself, where the lock has it: lines of files to begin with.
std::vector<servers::ProposedLine> claimed_files(const project::Project& project,
                                                 const std::string& name) {
  const auto lock = project::load_lock(project);
  const auto* locked = lock ? lock->find_server(name) : nullptr;
  if (locked == nullptr) return {};
  std::vector<servers::ProposedLine> lines;
  for (auto& line : project::entries_of_claims(*locked).files)
    lines.push_back({std::move(line.text), std::move(line.reason)});
  return lines;
}

// The same once more, written: with all that was observed for it.
std::string applying(const ConfineOptions& options) {
  std::string line = fmt::format("mcpac server confine {}{}", shell_quoted(options.name),
                                 options.learn ? " --learn" : "");
  for (const auto& [tool, arguments] : options.calls)
    line += fmt::format(" --call {} {}", shell_quoted(tool), shell_quoted(arguments));
  line += as_words(*options.grants);
  if (options.force) line += " --force";
  line += " --apply";
  if (options.session.empty()) return line;
  line += " --";
  for (const std::string& word : options.session) line += " " + shell_quoted(word);
  return line;
}

Result<void> confine(Context& context, const ConfineOptions& options) {
  if (auto fine = check(options); !fine) return fine;
  auto config = ConfigFile::open(context.config_file);
  if (!config) return pass_on(config);
  auto project = context.project();
  if (!project) return pass_on(project);
  const auto* server = project->config.find(options.name);
  if (server == nullptr || !config->has(options.name))
    return std::unexpected(no_such_server(context, options.name));
  if (server->is_http())
    return fail(
        ErrorId::kUsage,
        fmt::format("{} is reached over HTTP: it is no program of this machine's to confine",
                    options.name),
        {.where = context.config_file.string(), .why = "rules alone hold it, in what it is asked"});
  if (options.off) return take_away(context, std::move(*config), options.name);
  mcp::ServerConfig confined = *server;
  if (!confined.sandbox) confined.sandbox.emplace();
  if (auto installed = ensure_installed(context, confined); !installed) return installed;
  // What cannot be confined at all is said before anything is started.
  if (auto possible = servers::propose({*project, context.folders, *server}); !possible)
    return pass_on(possible);
  std::optional<Observed> observed;
  if (options.learn) {
    auto seen = observe(context, *project, *server, options);
    if (!seen) return pass_on(seen);
    observed = std::move(*seen);
  }
  auto proposal = servers::propose({.project = *project,
                                    .folders = context.folders,
                                    .server = *server,
                                    .first = claimed_files(*project, options.name),
                                    .seen = observed ? &observed->seen : nullptr});
  if (!proposal) return pass_on(proposal);
  show(context, options, *proposal);
  if (options.apply)
    return apply(context, *project, std::move(*config), options, *proposal, observed);
  const OrderedJson& entry = config->entry(options.name);
  if (const auto now = entry.find("sandbox");
      now != entry.end() && *now == proposed_beside(entry, *proposal))
    context.say("nothing to apply: its entry says this already");
  else
    context.say(printable("next: " + applying(options)));
  return {};
}

}  // namespace

void add_server_confine(CLI::App& server, Context& context) {
  auto options = std::make_shared<ConfineOptions>();
  auto* command = server.add_subcommand(
      "confine", "propose the smallest \"sandbox\" of a server; --apply writes it");
  add_common_options(*command, context);
  command->add_option("NAME", options->name)->required();
  command->add_flag("--learn", options->learn,
                    "start it without a sandbox, observe what it opens, dials and starts while it "
                    "lists its tools, and propose what it used");
  command
      ->add_option("--call", options->calls,
                   "with --learn: a call that is observed, too, as its tool and its arguments in "
                   "JSON; what may be called --grant says, as everywhere")
      ->type_name("TOOL JSON")
      ->allow_extra_args(false);
  options->grants = add_grant_options(*command);
  command->add_flag("--apply", options->apply,
                    "start it confined once, compare its tools, and write the entry");
  command->add_flag("--force", options->force,
                    "with --apply: also where its tools are others, or it does not start; with a "
                    "session: also where that failed");
  command->add_flag("--off", options->off, "take its \"sandbox\" out of mcpac.json");
  command->add_option("COMMAND", options->session,
                      "with --learn, after --: a session, in which each start of this server by "
                      "mcpac is observed, too");
  command->callback([&context, options] {
    if (auto done = confine(context, *options); !done) context.fail(done.error());
  });
}

}  // namespace mcpac::cli
