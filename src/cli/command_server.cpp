// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/config_file.h"
#include "cli/confine_entry.h"
#include "cli/written.h"
#include "codegen/lock_entry.h"
#include "core/file.h"
#include "core/nearest_name.h"
#include "core/permission.h"
#include "core/printable.h"
#include "core/quantity.h"
#include "core/shell_quote.h"
#include "mcp/placeholders.h"
#include "policy/explain/entry_only.h"
#include "project/clients/adopt.h"
#include "project/clients/foreign_servers.h"
#include "project/clients/literal_secrets.h"
#include "project/generate_project.h"
#include "project/list_servers.h"
#include "project/project.h"
#include "project/project_use.h"
#include "run/check/server_root.h"
#include "servers/confine/server_packages.h"
#include "servers/confine/server_places.h"

namespace mcpac::cli {
namespace {

struct AddOptions {
  std::string name;
  std::string url;
  std::vector<std::string> headers;
  std::vector<std::string> environment;
  std::string working_directory;
  std::string root;
  std::string import_file;
  bool force = false;
  bool confine = false;
  std::vector<std::string> files;    // of its sandbox, in place of what its command names
  std::vector<std::string> network;  // likewise: hosts and ports
  std::vector<std::string> command;

  [[nodiscard]] bool confines() const { return confine || !files.empty() || !network.empty(); }
};

// "K=V" or "K: V" pairs of --header and --env.
Result<std::map<std::string, std::string>> pairs(const std::vector<std::string>& texts,
                                                 const char* option) {
  std::map<std::string, std::string> result;
  for (const std::string& text : texts) {
    const auto at = text.find('=');
    if (at == std::string::npos || at == 0) {
      return fail(ErrorId::kUsage, fmt::format("{} wants NAME=VALUE", option),
                  {.fix = "secrets are best written as NAME=${env:VARIABLE}"});
    }
    result[text.substr(0, at)] = text.substr(at + 1);
  }
  return result;
}

Result<mcp::ServerConfig> make_server(const AddOptions& options) {
  if (!is_server_name(options.name)) {
    return fail(ErrorId::kUsage, fmt::format("'{}' is not a server name", options.name),
                {.why = "a server name is 1 to 64 letters, digits, '_' or '-', and not mcpac",
                 .fix = "mcpac server add NAME -- COMMAND ARGS…"});
  }
  if (options.url.empty() == options.command.empty()) {
    return fail(
        ErrorId::kUsage, "a server is a command or a URL, one of both",
        {.fix = "mcpac server add NAME -- COMMAND ARGS…   or   mcpac server add NAME --url URL"});
  }
  if (!options.command.empty() && options.command.front().starts_with('-')) {
    return fail(ErrorId::kUsage,
                fmt::format("'{}' is no program", printable(options.command.front())),
                {.why = "options of mcpac stand before --, and behind it the server's command",
                 .fix = "mcpac server add NAME OPTIONS… -- COMMAND ARGS…"});
  }
  mcp::ServerConfig server;
  server.name = options.name;
  auto headers = pairs(options.headers, "--header");
  if (!headers) return pass_on(headers);
  auto environment = pairs(options.environment, "--env");
  if (!environment) return pass_on(environment);
  server.headers = std::move(*headers);
  server.environment = std::move(*environment);
  server.url = options.url;
  server.working_directory = options.working_directory;
  server.root = options.root;
  if (!options.command.empty()) {
    server.command = options.command.front();
    server.arguments.assign(options.command.begin() + 1, options.command.end());
  }
  return server;
}

// Warns of secrets that every reader of mcpac.json sees; says the place, never the value.
void warn_of_secrets(Context& context, const std::string& server, const OrderedJson& entry) {
  for (const std::string& place : project::literal_secrets(entry)) {
    context.warn(printable(
        fmt::format("{}: {} looks like a secret, and stands in mcpac.json as it is: better "
                    "${{env:NAME}} or ${{file:PATH}}",
                    server, place)));
  }
}

// Takes what it can of another client's file. What it cannot is said, each by itself, and is the
// exit code.
Result<std::vector<std::string>> import(Context& context, ConfigFile& config,
                                        const AddOptions& options) {
  auto text = read_file(options.import_file);
  if (!text) return pass_on(text);
  auto servers = project::read_foreign_servers(
      *text, options.import_file, [&config](const std::string& name, const std::string& original) {
        return config.has(name) && config.original_name(name) != original;
      });
  if (!servers) return pass_on(servers);
  std::vector<std::string> names;
  const auto folder = std::filesystem::absolute(context.config_file).parent_path();
  const auto theirs = std::filesystem::absolute(options.import_file).parent_path();
  for (auto& [name, entry, notes, original] : *servers) {
    if (entry && config.has(name) && !options.force) {
      entry =
          mcpac::fail(ErrorId::kConfigInvalid, fmt::format("there is already a server {}", name),
                      {.where = context.config_file.string(), .fix = "--force replaces it"});
    }
    // What it may do was asked to be less: nothing comes in with more.
    if (entry && options.confine && entry->contains("command")) {
      if (auto confined = confine_entry(context, name, *entry, {}); !confined) {
        if (confined.error().id == ErrorId::kInterrupted) return pass_on(confined);
        entry = std::unexpected(std::move(confined.error()));
      }
    }
    if (!entry) {
      entry.error().what =
          printable(fmt::format("{} is not imported: {}", original, entry.error().what));
      context.fail(entry.error());
      continue;
    }
    warn_of_secrets(context, name, *entry);
    if (name != original)
      context.say(printable(fmt::format("\"{}\" is called {} here", original, name)));
    for (const std::string& note : notes) context.say(printable(fmt::format("{}: {}", name, note)));
    if (const auto part = project::relative_part(*entry);
        !part.empty() && folder.lexically_normal() != theirs.lexically_normal())
      context.warn(
          printable(fmt::format("{}: {} is relative, and counts from the folder that mcpac "
                                "is started in: write its whole path, or \"cwd\"",
                                name, part)));
    config.put(name, std::move(*entry));
    names.push_back(name);
  }
  return names;
}

// What is to be done for servers that were written into mcpac.json.
std::string next_step(Context& context, const std::vector<std::string>& names) {
  // " NAME NAME": the lock has another of that name, whose tools are approved.
  std::string replaced;
  std::size_t known = 0;
  const auto project = context.project();
  const auto lock = project ? project::load_lock(*project) : Result<codegen::Lock>();
  for (const std::string& name : names) {
    const auto* locked = project && lock ? lock->find_server(name) : nullptr;
    if (locked == nullptr) continue;
    const auto* server = project->config.find(name);
    if (server != nullptr && server->identity() == locked->identity &&
        !codegen::starts_another(codegen::compare_entries(locked->entry, server->entry())))
      ++known;
    else
      replaced += " " + name;
  }
  if (!replaced.empty())
    return fmt::format("mcpac lock diff{0}, then mcpac lock accept{0}", replaced);
  if (known < names.size()) return "mcpac generate";
  return "nothing: mcpac.lock has it as it was approved (mcpac lock status asks whether it still "
         "is)";
}

// An entry that gives a locked server no more than was approved is in the lock at once.
void keep_narrower(Context& context, const std::vector<std::string>& names) {
  const auto project = context.project();
  if (!project) return;
  for (const std::string& name : names) {
    const auto kept = project::keep_narrower_entry(*project, context.folders, name);
    if (!kept) context.warn(kept.error().what);
    if (kept && *kept) context.say(fmt::format("mcpac.lock has the entry of {} now", name));
  }
}

// In a folder of a project that is mostly one meant: a second mcpac.json has none of its servers.
Result<void> check_first(const std::filesystem::path& config_file) {
  std::error_code error;
  if (std::filesystem::exists(config_file, error)) return {};
  const auto above = project::config_above(config_file);
  if (above.empty()) return {};
  return fail(
      ErrorId::kUsage,
      fmt::format("there is no {} here, and one in {}", printable(config_file.filename().string()),
                  printable(above.parent_path().string())),
      {.why = "a project of its own here would have none of the servers there",
       .fix = fmt::format("`mcpac -C {} server add …`, with paths from there; or `mcpac "
                          "init` first, for a project of its own",
                          printable(shell_quoted(above.parent_path().string())))});
}

void add_one(Context& context, const AddOptions& options) {
  if (auto meant = check_first(context.config_file); !meant) return context.fail(meant.error());
  auto config = ConfigFile::open(context.config_file);
  if (!config) return context.fail(config.error());
  std::vector<std::string> names;
  if (!options.import_file.empty()) {
    auto imported = import(context, *config, options);
    if (!imported) return context.fail(imported.error());
    names = std::move(*imported);
    if (names.empty()) return context.say("nothing was added");
  } else {
    auto server = make_server(options);
    if (!server) return context.fail(server.error());
    if (config->has(server->name) && !options.force) {
      return context.fail({ErrorId::kUsage,
                           fmt::format("there is already a server {}", server->name), "", "",
                           "--force replaces it"});
    }
    warn_of_secrets(context, server->name, mcp::to_json(*server));
    for (const auto& text :
         mcp::left_as_text(server->command, server->arguments, server->environment))
      context.warn(printable(fmt::format("{}: {}", server->name, text)));
    if (options.confines()) {
      auto sandbox = proposed_sandbox(context, *server, options.files, options.network);
      if (!sandbox) return context.fail(sandbox.error());
      server->sandbox = std::move(*sandbox);
      if (auto tried = try_in_sandbox(context, *server); !tried) {
        context.fail(tried.error());
        return context.say(
            config->has(server->name)
                ? fmt::format("nothing was replaced: {} stays as it was", server->name)
                : std::string("nothing was added"));
      }
    }
    config->put(*server);
    names.push_back(server->name);
  }
  if (auto saved = config->save(); !saved) return context.fail(saved.error());
  for (const auto& name : names) context.say(fmt::format("added {}", name));
  keep_narrower(context, names);
  propose_roots(context, names);
  context.say("next: " + next_step(context, names));
}

void add_add(CLI::App& server, Context& context) {
  auto options = std::make_shared<AddOptions>();
  auto* command =
      server.add_subcommand("add", "add a server: NAME -- COMMAND ARGS…, or NAME --url URL");
  add_common_options(*command, context);
  auto* import = command
                     ->add_option("--import", options->import_file,
                                  "take the servers of another client's configuration file")
                     ->type_name("FILE");
  // Nothing of one server is said of all of them.
  const auto of_one = [&](const char* option, auto& into, const char* help) {
    return command->add_option(option, into, help)->excludes(import);
  };
  of_one("NAME", options->name, "how grants and C++ call it");
  of_one("--url", options->url, "an MCP server over Streamable HTTP");
  of_one("--header", options->headers, "NAME=VALUE, e.g. Authorization=Bearer ${env:TOKEN}")
      ->allow_extra_args(false);
  of_one("--env", options->environment, "NAME=VALUE for the server's environment")
      ->allow_extra_args(false);
  of_one("--cwd", options->working_directory, "the folder the server starts in");
  of_one("--root", options->root,
         "the folder that relative paths in calls are counted from, by the server and by grants "
         "(@server/); without it grants count them from the folder that mcpac is started in");
  command->add_flag("--confine", options->confine,
                    "run it in a sandbox, with the files that its command names and no network, "
                    "where it starts so: it is tried once");
  of_one("--files", options->files,
         "PATH or PATH:rw, relative to mcpac.json's folder: with --confine these files, and not "
         "those that its command names")
      ->type_name("PATH[:rw]")
      ->allow_extra_args(false);
  of_one("--network", options->network,
         "with --confine: a host and port that it reaches (api.example.com:443), or any")
      ->type_name("HOST:PORT|any")
      ->allow_extra_args(false);
  command->add_flag("--force", options->force, "replace a server of the same name");
  of_one("COMMAND", options->command, "the server's program and its arguments, after --");
  command->callback([&context, options] { add_one(context, *options); });
}

struct SetOptions {
  std::string name;
  std::string root;
  bool no_root = false;
  std::vector<std::string> entry_only;
  std::vector<std::string> no_entry_only;
  std::vector<std::string> server_checks;
  std::vector<std::string> no_server_checks;
};

Result<void> check_names(const codegen::Lock& lock, const std::string& server,
                         const std::vector<std::string>& tools, const char* option) {
  std::vector<std::string> names;
  for (const auto& tool : lock.find_server(server)->tools) names.push_back(tool.name);
  for (const auto& tool : tools) {
    if (lock.find_tool(server, tool) == nullptr)
      return fail(ErrorId::kUsage, fmt::format("{} has no tool '{}'", server, printable(tool)),
                  {.where = option, .fix = did_you_mean(tool, names)});
  }
  return {};
}

Result<void> check_tools(const Context& context, const SetOptions& options) {
  auto project = context.project();
  if (!project) return pass_on(project);
  const auto lock = project::load_lock(*project);
  const auto* locked = lock ? lock->find_server(options.name) : nullptr;
  if (locked == nullptr) return {};  // nothing of it is known yet
  for (const auto& [tools, option] : {std::pair(&options.entry_only, "--entry-only"),
                                      std::pair(&options.server_checks, "--server-checks")}) {
    if (auto known = check_names(*lock, options.name, *tools, option); !known) return known;
  }
  for (const auto& tool : options.entry_only) {
    const auto* definition = lock->find_tool(options.name, tool);
    const Json said = parse_json(definition->definition.dump()).value_or(Json::object());
    if (const auto why = policy::speaks_against_entry_only(said); !why.empty())
      return fail(ErrorId::kUsage,
                  fmt::format("{} does not act on one entry alone: {}", printable(tool), why),
                  {.where = "--entry-only",
                   .why = "it would reach what a rule denies in a folder that it may have",
                   .fix = "leave it out; grant the folders beside the denied one"});
    if (const auto why = policy::suggests_more_than_entry(said); !why.empty())
      context.warn(
          fmt::format("{} may reach what is below a folder, for {}: a denied place in it "
                      "is open to this tool now",
                      printable(tool), why));
  }
  return {};
}

// One member of an entry that lists tools, and what is to become of it.
struct ToolList {
  const char* member;
  const char* option;  // that takes back
  const char* said;    // of a tool that is in it
  const std::vector<std::string>& added;
  const std::vector<std::string>& taken;
};

void add(OrderedJson& entry, const ToolList& list) {
  for (const auto& tool : list.added) {
    OrderedJson& tools = entry[list.member];
    if (std::ranges::find(tools, OrderedJson(tool)) == tools.end()) tools.push_back(tool);
  }
}

// The member goes with the last of its tools. The lock is not asked: a tool that the server does
// not have any more can be taken back as well.
Result<void> take_back(OrderedJson& entry, const std::string& server, const ToolList& list) {
  std::vector<std::string> declared;
  if (entry.contains(list.member)) declared = entry[list.member].get<std::vector<std::string>>();
  for (const auto& tool : list.taken) {
    if (std::erase(declared, tool) == 0)
      return fail(ErrorId::kUsage,
                  fmt::format("{} is not declared to {}", printable(tool), list.said),
                  {.where = list.option,
                   .fix = declared.empty()
                              ? fmt::format("nothing of {} is to be taken back", server)
                              : printable(fmt::format("one of {}", fmt::join(declared, ", ")))});
  }
  if (list.taken.empty()) return {};
  entry[list.member] = declared;
  if (declared.empty()) entry.erase(list.member);
  return {};
}

std::array<ToolList, 2> lists_of(const SetOptions& options) {
  return {{{"entry_only", "--no-entry-only", "act on one entry alone", options.entry_only,
            options.no_entry_only},
           {"server_checks", "--no-server-checks", "have patterns that its server alone checks",
            options.server_checks, options.no_server_checks}}};
}

void set(Context& context, const SetOptions& options) {
  auto config = ConfigFile::open(context.config_file);
  if (!config) return context.fail(config.error());
  if (!config->has(options.name)) {
    return context.fail({ErrorId::kUnknownServer,
                         fmt::format("there is no server {}", printable(options.name)),
                         context.config_file.string(), "", "mcpac server list"});
  }
  const auto lists = lists_of(options);
  const bool sets_tools = std::ranges::any_of(
      lists, [](const ToolList& list) { return !list.added.empty() || !list.taken.empty(); });
  if (options.root.empty() && !options.no_root && !sets_tools) {
    return context.fail({ErrorId::kUsage, "what of it is to be set?", "", "",
                         "--root DIR, --no-root, --entry-only TOOL,…, --no-entry-only TOOL,…, "
                         "--server-checks TOOL,…, or --no-server-checks TOOL,…"});
  }
  if (!options.root.empty()) {
    const auto project = context.project();
    if (!project) return context.fail(project.error());
    const auto* server = project->config.find(options.name);
    if (server != nullptr) {
      const auto doubt = run::check_root(*server, options.root, project->folder);
      if (!doubt) return context.fail(doubt.error());
      if (!doubt->empty()) context.warn(*doubt);
    }
  }
  if (auto known = check_tools(context, options); !known) return context.fail(known.error());
  OrderedJson& entry = config->entry(options.name);
  if (!options.root.empty()) entry["root"] = options.root;
  const bool had_root = options.no_root && entry.erase("root") > 0;
  for (const ToolList& list : lists) {
    add(entry, list);
    if (auto taken = take_back(entry, options.name, list); !taken)
      return context.fail(taken.error());
  }
  if (auto saved = config->save(); !saved) return context.fail(saved.error());
  if (!options.root.empty())
    context.say(fmt::format("{}: relative paths in calls are counted from {}", options.name,
                            printable(options.root)));
  if (options.no_root)
    context.say(fmt::format("{}: {}", options.name,
                            had_root ? "has no root any more" : "has no root, as before"));
  if (options.no_root) propose_roots(context, {options.name});
  if (!options.entry_only.empty())
    context.say(fmt::format("{}: act on one entry alone: {}", options.name,
                            printable(fmt::format("{}", fmt::join(options.entry_only, ", ")))));
  if (!options.no_entry_only.empty())
    context.say(fmt::format("{}: may reach what is below a folder again: {}", options.name,
                            printable(fmt::format("{}", fmt::join(options.no_entry_only, ", ")))));
  if (!options.server_checks.empty())
    context.say(fmt::format("{}: patterns that mcpac cannot check are its server's to check: {}",
                            options.name,
                            printable(fmt::format("{}", fmt::join(options.server_checks, ", ")))));
  if (!options.no_server_checks.empty())
    context.say(
        fmt::format("{}: not called where a pattern cannot be checked: {}", options.name,
                    printable(fmt::format("{}", fmt::join(options.no_server_checks, ", ")))));
}

void add_set(CLI::App& server, Context& context) {
  auto options = std::make_shared<SetOptions>();
  auto* command = server.add_subcommand("set", "say more of a server that mcpac.json has");
  add_common_options(*command, context);
  command->add_option("NAME", options->name)->required();
  auto* root = command
                   ->add_option("--root", options->root,
                                "the folder that relative paths in its calls are counted from, "
                                "relative to the folder of mcpac.json")
                   ->type_name("DIR");
  command->add_flag("--no-root", options->no_root, "take the root back")->excludes(root);
  const auto tools = [command](const char* option, auto& into, const char* help) {
    command->add_option(option, into, help)
        ->type_name("TOOL,…")
        ->delimiter(',')
        ->allow_extra_args(false);
  };
  tools("--entry-only", options->entry_only,
        "tools that act on the one entry which a path names and on nothing below it: "
        "they may have folders that a denied or excepted place lies in");
  tools("--no-entry-only", options->no_entry_only,
        "take that back of these tools: they are refused such folders again");
  tools("--server-checks", options->server_checks,
        "tools with patterns that mcpac cannot check (look-behind, back-references): their server "
        "alone does");
  tools("--no-server-checks", options->no_server_checks,
        "take that back of these tools: they are not called");
  command->callback([&context, options] { set(context, *options); });
}

std::string root_text(const mcp::ServerConfig& server) {
  return server.root.empty() ? "" : printable(fmt::format("  (root {})", server.root));
}

std::string entry_only_text(const mcp::ServerConfig& server) {
  return server.entry_only.empty()
             ? ""
             : printable(fmt::format("  (entry only {})", fmt::join(server.entry_only, ",")));
}

// `tier`: in which it would be started.
std::string sandbox_text(const mcp::ServerConfig& server, sandbox::Tier tier) {
  if (server.is_http()) return "";
  if (!server.sandbox) return "  (not confined)";
  std::string text = fmt::format("{}", fmt::join(server.sandbox->files, ","));
  if (!server.sandbox->network.empty())
    text += fmt::format("; network {}", fmt::join(server.sandbox->network, ","));
  if (server.sandbox->memory > 0)
    text += fmt::format("; memory {}", size_text(server.sandbox->memory));
  if (tier != sandbox::Tier::kA) text += fmt::format("; tier {}", sandbox::to_string(tier));
  if (server.sandbox->share == mcp::Share::kClient) text += "; share client";
  return printable(fmt::format("  (sandbox{}{})", text.empty() || text[0] == ';' ? "" : " ", text));
}

// What is run of a confined launcher that downloads; nothing for other servers.
struct PackageState {
  bool is_package = false;
  std::optional<servers::InstalledServer> installed;
};
PackageState packages_of(const Context& context, const mcp::ServerConfig& server) {
  if (!server.sandbox) return {};
  const auto run = servers::package_run_of(server);
  if (!run || !*run) return {};
  return {true, servers::installed_server(**run, context.folders)};
}

std::string installed_text(const PackageState& state, const std::string& server) {
  if (!state.is_package) return "";
  if (!state.installed) return fmt::format("  (not installed: mcpac server install {})", server);
  return printable(fmt::format("  (installed {})", state.installed->text()));
}

Json installed_json(const PackageState& state) {
  return state.installed ? Json(state.installed->versions) : Json(nullptr);
}

void show_servers(Context& context) {
  auto project = context.project();
  if (!project) return context.fail(project.error());
  const auto file = ConfigFile::open(context.config_file);
  if (!file) return context.fail(file.error());
  const auto original_of = [&file](const mcp::ServerConfig& server) {
    const std::string original = file->has(server.name) ? file->original_name(server.name) : "";
    return original == server.name ? std::string() : original;
  };
  const sandbox::Tier tier = project->confined ? project->confined->tier() : sandbox::Tier::kA;
  if (context.json) {
    Json all = Json::array();
    for (const auto& server : project->config.servers) {
      const auto original = original_of(server);
      all.push_back({{"name", server.name},
                     {"original_name", original.empty() ? Json(nullptr) : Json(original)},
                     {"identity", server.identity()},
                     {"root", server.root.empty() ? Json(nullptr) : Json(server.root)},
                     {"entry_only", server.entry_only},
                     {"server_checks", server.server_checks},
                     {"sandbox", server.sandbox ? Json(server.sandbox->files) : Json(nullptr)},
                     {"network", server.sandbox ? Json(server.sandbox->network) : Json(nullptr)},
                     {"memory", server.sandbox && server.sandbox->memory > 0
                                    ? Json(size_text(server.sandbox->memory))
                                    : Json(nullptr)},
                     {"tier", server.sandbox ? Json(sandbox::to_string(tier)) : Json(nullptr)},
                     {"share", server.sandbox && server.sandbox->share == mcp::Share::kClient
                                   ? Json("client")
                                   : Json(nullptr)},
                     {"installed", installed_json(packages_of(context, server))},
                     {"disabled", server.disabled},
                     {"transport", server.is_http() ? "http" : "stdio"}});
    }
    return context.print(all);
  }
  for (const auto& server : project->config.servers) {
    const auto original = original_of(server);
    fmt::print("{:<20} {}{}{}{}{}{}{}\n", server.name, server.identity(),
               original.empty() ? "" : printable(fmt::format("  (originally \"{}\")", original)),
               root_text(server), entry_only_text(server), sandbox_text(server, tier),
               installed_text(packages_of(context, server), server.name),
               server.disabled ? "  (disabled)" : "");
  }
  if (project->config.servers.empty())
    context.say("no servers yet: mcpac server add NAME -- COMMAND ARGS…");
}

void add_list(CLI::App& server, Context& context) {
  auto* command = server.add_subcommand("list", "the configured servers");
  add_common_options(*command, context);
  command->callback([&context] { show_servers(context); });
}

void add_remove(CLI::App& server, Context& context) {
  auto name = std::make_shared<std::string>();
  auto* command = server.add_subcommand("remove", "take a server out of mcpac.json");
  add_common_options(*command, context);
  command->add_option("NAME", *name)->required();
  command->callback([&context, name] {
    auto config = ConfigFile::open(context.config_file);
    if (!config) return context.fail(config.error());
    if (!config->remove(*name)) {
      return context.fail({ErrorId::kUnknownServer, fmt::format("there is no server {}", *name),
                           context.config_file.string(), "", "mcpac server list"});
    }
    if (auto saved = config->save(); !saved) return context.fail(saved.error());
    context.say(fmt::format("removed {}; `mcpac generate` removes its header and its lock", *name));
  });
}

struct InstallOptions {
  std::string name;
  bool scripts = false;
  bool updates = false;
};

void install(Context& context, const InstallOptions& options) {
  auto project = context.project();
  if (!project) return context.fail(project.error());
  const auto* server = project->config.find(options.name);
  if (server == nullptr)
    return context.fail({ErrorId::kUnknownServer,
                         fmt::format("there is no server {}", printable(options.name)),
                         context.config_file.string(), "", "mcpac server list"});
  if (!server->sandbox)
    return context.fail(
        {ErrorId::kUsage, fmt::format("{} has no sandbox", server->name), "server " + server->name,
         "what it runs is installed apart for a server that is confined",
         "mcpac server add " + server->name + " --force --confine -- COMMAND ARGS…"});
  auto run = servers::package_run_of(*server);
  if (!run) return context.fail(run.error());
  if (!*run)
    return context.say(
        fmt::format("{} is started as it is: nothing is to be installed", server->name));
  const auto before = servers::installed_server(**run, context.folders);
  const bool has_scripts = before && before->scripts == servers::InstallScripts::kRun;
  if (before && !options.updates && (has_scripts || !options.scripts)) {
    context.say(
        printable(fmt::format("{} is installed; mcpac server update {} installs what it is "
                              "now",
                              before->text(), server->name)));
  } else {
    const bool runs = options.scripts || has_scripts;
    const auto done =
        install_packages(context, *server, **run,
                         runs ? servers::InstallScripts::kRun : servers::InstallScripts::kLeftOut);
    if (!done) return context.fail(done.error());
    if (before)
      context.say(
          fmt::format("next: mcpac lock diff {0}, where its tools are others now", server->name));
  }
  if (!context.json) return;
  const auto installed = servers::installed_server(**run, context.folders);
  context.print({{"name", server->name},
                 {"installed", installed_json({true, installed})},
                 {"left_out", installed ? Json(installed->left_out) : Json::array()}});
}

void add_install(CLI::App& server, Context& context) {
  for (const bool updates : {false, true}) {
    auto options = std::make_shared<InstallOptions>();
    options->updates = updates;
    auto* command = server.add_subcommand(
        updates ? "update" : "install",
        updates ? "install what the packages of a confined npx or uvx server are now"
                : "install what a confined server's npx or uvx would download: with network, apart "
                  "from its runs");
    add_common_options(*command, context);
    command->add_option("NAME", options->name)->required();
    command->add_flag("--scripts", options->scripts,
                      "run install scripts and builds of its packages: programs of theirs with all "
                      "that you have");
    command->callback([&context, options] { install(context, *options); });
  }
}

void test(Context& context, const std::string& name) {
  auto project = context.project();
  if (!project) return context.fail(project.error());
  std::vector<mcp::ServerConfig> servers = project->config.servers;
  if (!name.empty()) {
    const auto* one = project->config.find(name);
    if (one == nullptr) {
      return context.fail({ErrorId::kUnknownServer, fmt::format("there is no server {}", name),
                           context.config_file.string(), "", "mcpac server list"});
    }
    servers = {*one};
  }
  const project::ProjectUse use(context.folders, project->config_file);
  Json all = Json::array();
  for (const auto& server : servers) {
    if (auto installed = ensure_installed(context, server); !installed) {
      context.fail(installed.error());
      continue;
    }
    auto listings = project::list_servers({server}, [](const project::ServerProgress&) {});
    if (!listings) {
      context.fail(listings.error());
      if (listings.error().id == ErrorId::kInterrupted) break;
      continue;
    }
    for (const auto& listing : *listings) {
      all.push_back({{"name", listing.server},
                     {"tools", listing.tools.size()},
                     {"implementation", listing.implementation},
                     {"protocolVersion", listing.protocol_version},
                     {"root", server.root.empty() ? Json(nullptr) : Json(server.root)}});
      if (!context.json) {
        fmt::print("{}: ok, {}, {}, MCP {}{}\n", listing.server,
                   counted(listing.tools.size(), "tool"), listing.implementation,
                   listing.protocol_version, root_text(server));
      }
    }
  }
  if (context.json) context.print(all);
}

void add_test(CLI::App& server, Context& context) {
  auto name = std::make_shared<std::string>();
  auto* command =
      server.add_subcommand("test", "connect to one server, or all, and list its tools");
  add_common_options(*command, context);
  command->add_option("NAME", *name);
  command->callback([&context, name] { test(context, *name); });
}

}  // namespace

void add_server(CLI::App& app, Context& context) {
  auto* server = app.add_subcommand("server", "the MCP servers of this project");
  server->require_subcommand(1);
  add_common_options(*server, context);
  add_add(*server, context);
  add_set(*server, context);
  add_list(*server, context);
  add_remove(*server, context);
  add_install(*server, context);
  add_test(*server, context);
  add_server_confine(*server, context);
}

}  // namespace mcpac::cli
