// mcpac connect: an entry for mcpac in the configuration of an MCP client, and the servers that
// stood there behind mcpac (docs/gateway.md, "Connect a client").
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/config_file.h"
#include "cli/grant_options.h"
#include "cli/secret_files.h"
#include "core/nearest_name.h"
#include "core/permission.h"
#include "core/printable.h"
#include "execute/clients/adopt.h"
#include "execute/clients/connection_record.h"

namespace mcpac::cli {
namespace {

namespace fs = std::filesystem;
using execute::ClientFile;
using execute::ClientKind;
using execute::ConnectionRecords;

struct ConnectOptions {
  std::string client;
  std::string file;
  std::string name = "mcpac";
  std::string tool_names = "plain";
  std::vector<std::string> grants;
  std::vector<std::string> asks;
  std::vector<std::string> denies;
  std::vector<std::string> policies;
  bool adopt = false;
  bool undo = false;
  bool dry_run = false;
  bool list = false;
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

execute::ClientPlaces places() {
  // Both are ".../mcpac" below what we look for.
  return {.home = variable("HOME"),
          .config = configuration_folder().parent_path(),
          .codex = variable("CODEX_HOME"),
          .claude = variable("CLAUDE_CONFIG_DIR")};
}

ConnectionRecords records(const Context& context) {
  return ConnectionRecords(context.folders.state / "connect");
}

void list(Context& context) {
  Json all = Json::array();
  for (const ClientKind& kind : execute::client_kinds()) {
    const auto place = execute::place_of(kind, places());
    Json one{{"client", kind.id},
             {"title", kind.title},
             {"file", place.file.string()},
             {"found", place.is_found},
             {"connected", false}};
    if (place.is_found) {
      auto file = ClientFile::open(kind, place.file);
      if (file) {
        auto record = records(context).find(*file);
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

// How the client starts us: by a path, since desktop programs know another PATH than shells.
Result<OrderedJson> entry_of(const Context& context, const ClientKind& kind,
                             const ConnectOptions& options) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return fail(ErrorId::kInternal, "mcpac does not find itself");
  std::vector<std::string> words{"--config", fs::absolute(context.config_file).string(), "serve",
                                 "--names", options.tool_names};
  const auto add = [&words](const char* option, const std::vector<std::string>& values) {
    for (const auto& value : values) words.insert(words.end(), {option, value});
  };
  for (const auto& policy : options.policies) {
    const fs::path file = fs::absolute(policy);
    if (!fs::exists(file, error))
      return fail(ErrorId::kFileUnreadable, fmt::format("there is no policy {}", file.string()),
                  {.where = "--policy"});
    add("--policy", {file.string()});
  }
  add("--grant", options.grants);
  add("--ask", options.asks);
  add("--deny", options.denies);
  OrderedJson entry = OrderedJson::object();
  if (kind.says_type) entry["type"] = "stdio";
  entry["command"] = self.string();
  entry["args"] = words;
  return entry;
}

Result<void> check(const ConnectOptions& options) {
  if (options.undo && options.adopt)
    return fail(ErrorId::kUsage, "--undo and --adopt are opposites");
  if (!options.undo && options.grants.empty() && options.asks.empty() && options.policies.empty()) {
    return fail(ErrorId::kUsage, "a client without a grant sees no tool",
                {.fix = "--policy FILE, --ask 'SERVER.*' (the person is asked), or --grant RULE"});
  }
  for (const auto* rules : {&options.grants, &options.asks, &options.denies}) {
    for (const auto& rule : *rules) {
      if (rule.find("./") == std::string::npos || rule.find("@") != std::string::npos) continue;
      return fail(ErrorId::kUsage, "a rule names a place from where the client starts mcpac",
                  {.where = printable(rule),
                   .why = "nobody knows where that is",
                   .fix = "write the whole path, or the rule in a policy file"});
    }
  }
  if (is_server_name(options.name) || options.name == kControlServer) return {};
  return fail(ErrorId::kUsage, "--as wants 1 to 64 letters, digits, '_' or '-'");
}

struct Move {
  std::string name;
  execute::Adopted adopted;
};

// What of the client's entries goes behind mcpac; what stays is said, with why.
std::vector<Move> choose(Context& context, const ClientKind& kind, const ClientFile& file,
                         const ConfigFile& config, const std::string& own) {
  std::vector<Move> moves;
  const OrderedJson entries = file.servers();
  for (const auto& [name, entry] : entries.items()) {
    if (name == own) continue;
    const auto stays = [&](std::string_view why) {
      context.warn(printable(fmt::format("{} stays in {}: {}", name, kind.title, why)));
    };
    if (config.has(name)) {
      stays("mcpac.json has a server of this name");
      continue;
    }
    auto adopted = execute::adopt(kind, name, entry);
    if (!adopted) {
      stays(adopted.error().what);
      continue;
    }
    moves.push_back({name, std::move(*adopted)});
  }
  return moves;
}

// mcpac.json and the secrets first: until the client's file is written, nothing has changed for it.
Result<void> take_in(ConfigFile& config, std::vector<Move>& moves) {
  const SecretFiles secrets(configuration_folder() / "secrets");
  for (Move& move : moves) {
    for (const auto& secret : move.adopted.secrets) {
      auto& value = move.adopted.entry[secret.group][secret.name];
      auto reference = secrets.keep(move.name, secret.name, value.get<std::string>());
      if (!reference) return pass_on(reference);
      value = *reference;
    }
    config.put(move.name, move.adopted.entry);
  }
  return moves.empty() ? Result<void>() : config.save();
}

void show(Context& context, const ClientFile& file, const std::string& name) {
  if (context.json) return;
  fmt::print("--- {0}\n+++ {0}\n", printable(file.path().string()));
  for (const auto& line : file.diff(name)) fmt::print("{}\n", line);
}

void tell(Context& context, const ClientKind& kind, const ClientFile& file,
          const std::vector<Move>& moves) {
  Json moved = Json::array();
  for (const Move& move : moves) moved.push_back(move.name);
  if (context.json)
    return context.print({{"client", kind.id},
                          {"file", file.path().string()},
                          {"backup", records(context).backup_of(file).string()},
                          {"moved", moved}});
  context.say(fmt::format("written: {}\n  as it was: {}\n  undo: mcpac connect {} --undo",
                          file.path().string(), records(context).backup_of(file).string(),
                          kind.id));
  if (!moves.empty())
    context.say(
        fmt::format("moved behind mcpac: {}\n  next: mcpac generate, which reads and locks "
                    "their tools; until then the client cannot call them",
                    fmt::join(moved.get<std::vector<std::string>>(), ", ")));
  context.say(fmt::format("then start {} again", kind.title));
}

Result<void> connect(Context& context, const ClientKind& kind, ClientFile& file,
                     const ConnectOptions& options) {
  auto entry = entry_of(context, kind, options);
  if (!entry) return pass_on(entry);
  const OrderedJson before = file.servers();
  if (before.contains(options.name) && !execute::is_ours(before[options.name])) {
    return fail(ErrorId::kUsage,
                fmt::format("{} has an entry {} that is not mcpac", kind.title, options.name),
                {.where = file.path().string(), .fix = "--as NAME"});
  }
  auto config = ConfigFile::open(context.config_file);
  if (!config) return pass_on(config);
  std::vector<Move> moves;
  if (options.adopt) moves = choose(context, kind, file, *config, options.name);
  auto last = records(context).find(file);
  if (!last) return pass_on(last);
  // There is one record a file: another one would say that our entry of now was there before us.
  if (*last && (*last)->name != options.name) {
    return fail(ErrorId::kUsage,
                fmt::format("{} is connected as {}", kind.title, printable((*last)->name)),
                {.where = file.path().string(),
                 .fix = fmt::format("mcpac connect {} --undo first", kind.id)});
  }
  std::set<std::string> variables;
  for (const Move& move : moves) variables.merge(std::set(move.adopted.variables));
  // What servers that were moved before need stays.
  if (before.contains(options.name)) {
    for (const char* group : {"env", "env_vars"}) {
      if (before[options.name].contains(group)) (*entry)[group] = before[options.name][group];
    }
  }
  execute::give_variables(kind, variables, *entry);
  for (const Move& move : moves) {
    if (auto removed = file.remove(move.name); !removed) return removed;
  }
  if (auto put = file.put(options.name, *entry); !put) return put;
  if (!file.is_changed()) {
    context.say(fmt::format("{} is connected already", kind.title));
    return {};
  }
  show(context, file, options.name);
  if (options.dry_run) {
    if (context.json)
      context.print({{"file", file.path().string()}, {"diff", file.diff(options.name)}});
    return {};
  }
  if (auto taken = take_in(*config, moves); !taken) return taken;
  const auto record = execute::record_of(file, options.name, before, *last);
  if (auto kept = records(context).keep(file, record); !kept) return kept;
  if (auto saved = file.save(); !saved) return saved;
  tell(context, kind, file, moves);
  return {};
}

Result<void> undo(Context& context, const ClientKind& kind, ClientFile& file,
                  const ConnectOptions& options) {
  auto record = records(context).find(file);
  if (!record) return pass_on(record);
  if (!*record) {
    return fail(ErrorId::kUsage, fmt::format("mcpac did not connect {}", kind.title),
                {.where = file.path().string(), .why = "nothing is kept of what it was before"});
  }
  const bool exactly = (*record)->is_exact && execute::is_as_written(**record, file);
  const OrderedJson before = file.servers();
  if (const auto& name = (*record)->name;
      !exactly && before.contains(name) && !execute::is_ours(before[name]))
    context.warn(printable(fmt::format("{} stays in {}: it is not mcpac", name, kind.title)));
  if (auto taken = execute::take_back(**record, file); !taken && !exactly) return taken;
  show(context, file, (*record)->name);
  if (options.dry_run) return {};
  auto done = exactly             ? file.restore((*record)->before, (*record)->existed)
              : file.is_changed() ? file.save()
                                  : Result<void>();
  if (!done) return done;
  records(context).forget(file);
  if (context.json)
    context.print({{"client", kind.id}, {"file", file.path().string()}, {"exact", exactly}});
  else
    context.say(fmt::format(
        "{}: {}", file.path().string(),
        exactly ? "as it was before mcpac" : "without mcpac; what others changed meanwhile stays"));
  if (!(*record)->moved.empty())
    context.say("the servers that were moved stay in mcpac.json as well");
  return {};
}

void run(Context& context, const ConnectOptions& options) {
  if (options.list) return list(context);
  std::vector<std::string> ids;
  for (const ClientKind& kind : execute::client_kinds()) ids.emplace_back(kind.id);
  const ClientKind* kind = execute::find_client_kind(options.client);
  if (kind == nullptr) {
    return context.fail(
        {ErrorId::kUsage,
         options.client.empty()
             ? "which client?"
             : fmt::format("'{}' is no client that mcpac knows", printable(options.client)),
         "", did_you_mean(options.client, ids), fmt::format("one of: {}", fmt::join(ids, ", "))});
  }
  if (auto fits = check(options); !fits) return context.fail(fits.error());
  execute::ClientPlace place{options.file, true};
  if (options.file.empty()) place = execute::place_of(*kind, places());
  if (!place.is_found) {
    return context.fail(
        {ErrorId::kFileUnreadable, fmt::format("{} was not found on this machine", kind->title),
         place.file.string(), "", "--file FILE, where its configuration lies elsewhere"});
  }
  auto file = ClientFile::open(*kind, place.file);
  if (!file) return context.fail(file.error());
  auto done =
      options.undo ? undo(context, *kind, *file, options) : connect(context, *kind, *file, options);
  if (!done) context.fail(done.error());
}

}  // namespace

void add_connect(CLI::App& app, Context& context) {
  auto options = std::make_shared<ConnectOptions>();
  auto* command = app.add_subcommand(
      "connect", "put mcpac into the configuration of an MCP client: mcpac connect cursor --ask …");
  add_common_options(*command, context);
  command->add_option("CLIENT", options->client,
                      "claude-desktop, claude-code, cursor, vscode, codex or gemini");
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
  command->add_flag("--adopt", options->adopt,
                    "move the servers that it has into mcpac.json, and out of its configuration");
  command->add_flag("--undo", options->undo, "take back what mcpac connect wrote there");
  command->add_flag("--dry-run", options->dry_run, "show what would change, without values");
  command->callback([&context, options] { run(context, *options); });
}

}  // namespace mcpac::cli
