// SPDX-License-Identifier: Apache-2.0

// mcpac connect: an entry for mcpac in the configuration of an MCP client, and the servers that
// stood there behind mcpac (docs/gateway.md, "Connect a client").
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/config_file.h"
#include "cli/connect_client.h"
#include "cli/grant_options.h"
#include "core/nearest_name.h"
#include "core/permission.h"
#include "core/printable.h"

namespace mcpac::cli {
namespace {

using project::ClientFile;
using project::ClientKind;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

project::ClientPlaces places() {
  // Both are ".../mcpac" below what we look for.
  return {.home = variable("HOME"),
          .config = configuration_folder().parent_path(),
          .codex = variable("CODEX_HOME"),
          .claude = variable("CLAUDE_CONFIG_DIR")};
}

void list_clients(Context& context) {
  Json all = Json::array();
  for (const ClientKind& kind : project::client_kinds()) {
    const auto place = project::place_of(kind, places());
    Json one{{"client", kind.id},
             {"title", kind.title},
             {"file", place.file.string()},
             {"found", place.is_found},
             {"connected", false}};
    if (place.is_found) {
      auto file = ClientFile::open(kind, place.file);
      if (file) {
        auto record = connection_records(context).find(*file);
        one["connected"] = record && *record && file->servers().contains((*record)->name);
        one["servers"] = file->servers().size();
      } else {
        one["error"] = file.error().what;
      }
    }
    all.push_back(std::move(one));
  }
  if (context.json) return context.print(all);
  for (const Json& one : all) {
    const std::string state = one.contains("error")      ? one["error"].get<std::string>()
                              : one["connected"] == true ? "connected"
                              : one["found"] == true     ? "found"
                                                         : "not found";
    fmt::print("{:<15} {:<10} {}\n", one["client"].get<std::string>(), printable(state),
               printable(one["file"].get<std::string>()));
  }
}

// "./" of a rule is the project's folder, where the client starts mcpac. Where that is not here, it
// is not what it seems.
bool is_here(const Context& context) {
  std::error_code error;
  const auto file = std::filesystem::weakly_canonical(context.config_file, error);
  return !error && file.parent_path() == std::filesystem::current_path(error);
}

Result<void> check(const Context& context, const ConnectOptions& options) {
  if (options.undo && options.adopt)
    return fail(ErrorId::kUsage, "--undo and --adopt are opposites",
                {.fix = "first the one, then the other"});
  if ((options.confine || options.no_confine) && !options.adopt)
    return fail(ErrorId::kUsage, "--confine and --no-confine are about servers that are adopted",
                {.fix = "with --adopt; or mcpac server add NAME --confine -- COMMAND ARGS…"});
  if (!options.undo && options.grants.empty() && options.asks.empty() && options.policies.empty()) {
    return fail(ErrorId::kUsage, "a client without a grant sees no tool",
                {.fix = "--policy FILE, --ask 'SERVER.*' (the person is asked), or --grant RULE"});
  }
  for (const auto* rules : {&options.grants, &options.asks, &options.denies}) {
    for (const auto& rule : *rules) {
      if (rule.find("./") == std::string::npos || rule.find("@") != std::string::npos) continue;
      if (is_here(context)) continue;
      return fail(
          ErrorId::kUsage, "a rule names a place that begins with ./",
          {.where = printable(rule),
           .why = "for the client that is the folder of mcpac.json, and this is another one",
           .fix = "write the whole path, or do it there: mcpac -C FOLDER connect …"});
    }
  }
  if (is_server_name(options.name) || options.name == kControlServer) return {};
  return fail(ErrorId::kUsage, "--as wants 1 to 64 letters, digits, '_' or '-'",
              {.fix = "--as mcpac"});
}

void run(Context& context, const ConnectOptions& options) {
  if (options.list) return list_clients(context);
  std::vector<std::string> ids;
  for (const ClientKind& kind : project::client_kinds()) ids.emplace_back(kind.id);
  const ClientKind* kind = project::find_client_kind(options.client);
  if (kind == nullptr) {
    return context.fail(
        {ErrorId::kUsage,
         options.client.empty()
             ? "which client?"
             : fmt::format("'{}' is no client that mcpac knows", printable(options.client)),
         "", did_you_mean(options.client, ids), fmt::format("one of: {}", fmt::join(ids, ", "))});
  }
  if (auto fits = check(context, options); !fits) return context.fail(fits.error());
  project::ClientPlace place{options.file, true};
  if (options.file.empty()) place = project::place_of(*kind, places());
  if (std::error_code error; !options.file.empty() && !options.undo) {
    const auto folder = std::filesystem::absolute(place.file, error).parent_path();
    if (!std::filesystem::is_directory(folder, error))
      return context.fail({ErrorId::kFileUnreadable,
                           fmt::format("there is no folder {}", printable(folder.string())),
                           "--file", "", "make it, or name another file"});
  }
  if (!place.is_found) {
    return context.fail(
        {ErrorId::kFileUnreadable, fmt::format("{} was not found on this machine", kind->title),
         place.file.string(), "", "--file FILE, where its configuration lies elsewhere"});
  }
  auto file = ClientFile::open(*kind, place.file);
  if (!file) return context.fail(file.error());
  auto done = options.undo ? disconnect_client(context, *kind, *file, options)
                           : connect_client(context, *kind, *file, places(), options);
  if (!done) context.fail(done.error());
}

}  // namespace

void add_connect(CLI::App& app, Context& context) {
  auto options = std::make_shared<ConnectOptions>();
  auto* command = app.add_subcommand(
      "connect", "put mcpac into the configuration of an MCP client: mcpac connect cursor --ask …");
  add_common_options(*command, context);
  command->add_option("CLIENT", options->client,
                      "claude-desktop, claude-code, cursor, vscode, codex, gemini or zed");
  command->add_flag("--list", options->list, "the clients that are found on this machine");
  command->add_option("--file", options->file, "its configuration, where that lies elsewhere")
      ->type_name("FILE");
  command->add_option("--as", options->name, "what the client calls mcpac")->capture_default_str();
  command->add_option("--policy", options->policies, "what the client may call: a policy file")
      ->type_name("FILE")
      ->allow_extra_args(false);
  const auto rules = [&](const char* name, std::vector<std::string>& into, const char* help) {
    command->add_option(name, into, help)->type_name("RULE")->allow_extra_args(false);
  };
  rules("--grant", options->grants, "what it may call");
  rules("--ask", options->asks, "what it may call where the person at the client says yes");
  rules("--deny", options->denies, "what it may never call");
  command
      ->add_option("--names", options->tool_names,
                   "how tools are called there (mcpac serve --help)")
      ->check(CLI::IsMember({"dotted", "plain", "bare"}))
      ->capture_default_str();
  command->add_flag("--code", options->code,
                    "let it write and run programs that call these tools, too (code mode; "
                    "mcpac serve --code)");
  command->add_flag("--adopt", options->adopt,
                    "move the servers that it has into mcpac.json, and out of its configuration");
  auto* confine =
      command->add_flag("--confine", options->confine,
                        "with --adopt: try each of them in a sandbox, and leave it there where it "
                        "starts so; without this switch a person is asked");
  command
      ->add_flag("--no-confine", options->no_confine,
                 "with --adopt: ask nothing, and leave them what they have")
      ->excludes(confine);
  command->add_flag("--undo", options->undo, "take back what mcpac connect wrote there");
  command->add_flag("--dry-run", options->dry_run, "show what would change, without values");
  command->callback([&context, options] { run(context, *options); });
}

}  // namespace mcpac::cli
