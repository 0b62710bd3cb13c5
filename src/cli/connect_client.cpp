// SPDX-License-Identifier: Apache-2.0

#include "cli/connect_client.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "cli/config_file.h"
#include "cli/confine_entry.h"
#include "cli/grant_options.h"
#include "cli/persons_word.h"
#include "cli/rule_reader.h"
#include "cli/secret_files.h"
#include "cli/written.h"
#include "core/json_text.h"
#include "core/line_diff.h"
#include "core/printable.h"
#include "core/shell_quote.h"
#include "mcp/environment.h"
#include "mcp/secrets.h"
#include "project/clients/adopt.h"
#include "project/clients/literal_secrets.h"
#include "run/check/authorities.h"

namespace mcpac::cli {
namespace {

namespace fs = std::filesystem;
using project::ClientFile;
using project::ClientKind;

// How the client starts us: by a path, since desktop programs know another PATH than shells; and in
// the project, wherever the client stands: "./" of rules and the commands of servers are of there.
Result<OrderedJson> entry_of(const Context& context, const ClientKind& kind,
                             const ConnectOptions& options) {
  const fs::path config = fs::absolute(context.config_file).lexically_normal();
  std::vector<std::string> words{"-C", config.parent_path().string()};
  if (config.filename() != "mcpac.json") words.insert(words.end(), {"--config", config.string()});
  words.insert(words.end(), {"serve", "--names", options.tool_names});
  const auto add = [&words](const char* option, const std::vector<std::string>& values) {
    for (const auto& value : values) words.insert(words.end(), {option, value});
  };
  for (const auto& policy : options.policies) {
    const fs::path file = fs::absolute(policy).lexically_normal();
    if (auto rules = run::read_rules(file); !rules) return pass_on(rules);
    add("--policy", {file.string()});
  }
  add("--grant", options.grants);
  add("--ask", options.asks);
  add("--deny", options.denies);
  if (options.code) words.emplace_back("--code");
  OrderedJson entry = OrderedJson::object();
  if (kind.says_type) entry["type"] = "stdio";
  // Where libexec is a link to elsewhere, bin/ is not beside it, and all of mcpac does as well.
  const auto front = context.folders.front();
  entry["command"] = (fs::exists(front) ? front : context.folders.whole()).string();
  entry["args"] = words;
  return entry;
}

struct Move {
  std::string original;  // its name in the client
  std::string name;      // and in mcpac.json
  project::Adopted adopted;
  bool is_there = false;  // mcpac.json has it already
};

struct Past {
  std::string server;
  std::string why;
};

struct Chosen {
  std::vector<Move> moves;
  std::vector<Past> past;  // what the client still reaches without mcpac

  [[nodiscard]] Json past_json() const {
    Json all = Json::array();
    for (const Past& one : past) all.push_back({{"server", one.server}, {"why", one.why}});
    return all;
  }
};

std::string with_fix(const Error& error) {
  return error.fix.empty() ? error.what : fmt::format("{}; {}", error.what, error.fix);
}

// Why it cannot go behind mcpac; or as it goes.
Result<Move> move_of(const Context& context, const ClientKind& kind, const ClientFile& file,
                     const ConfigFile& config, Move move, const OrderedJson& entry) {
  auto adopted = project::adopt(kind, move.name, entry);
  if (!adopted) return pass_on(adopted);
  move.adopted = std::move(*adopted);
  std::error_code error;
  const auto project = fs::weakly_canonical(context.config_file, error).parent_path();
  const auto part = project::relative_part(move.adopted.entry);
  if (!part.empty() && project::folder_of_entries(file.path()) != project)
    return fail(ErrorId::kConfigInvalid,
                fmt::format("{} is relative to a folder that {} knows, and would be another one "
                            "here",
                            part, kind.title),
                {.fix = "write its whole path there"});
  if (config.has(move.name)) {
    move.is_there = project::is_same_server(config.entry(move.name), move.adopted.entry);
    if (!move.is_there)
      return fail(ErrorId::kConfigInvalid, "mcpac.json has another server of this name",
                  {.fix = fmt::format("call it otherwise in {}, or `mcpac server remove {}`",
                                      kind.title, move.name)});
  }
  if (move.name != move.original && !move.original.empty())
    move.adopted.entry["original_name"] = move.original;
  return move;
}

// An entry that starts this mcpac as a gate. One by its words alone (project::is_ours) may start
// any program of that name, past all rules.
bool is_gate(const Context& context, const OrderedJson& entry) {
  if (!project::is_ours(entry)) return false;
  const auto program =
      mcp::find_program(entry.at("command").get<std::string>(), mcp::make_environment({}))
          .value_or("");
  std::error_code error;
  return fs::equivalent(program, context.folders.front(), error) ||
         fs::equivalent(program, context.folders.whole(), error);
}

constexpr std::string_view kAnotherMcpac =
    "it starts a program called mcpac that is not this one; take it out there, or connect anew";

// Servers in the client's other configurations, which this command does not write.
void add_elsewhere(const Context& context, const ClientKind& kind, const ClientFile& file,
                   const project::ClientPlaces& places, const fs::path& project,
                   std::vector<Past>& past) {
  for (const std::string& server : file.servers_of_projects())
    past.push_back({server, "servers of single projects are not moved; take it out there"});
  for (const auto& one : project::extensions_of(kind, places))
    past.push_back({fmt::format("{} (an extension, {})", one.name, one.file.string()),
                    "mcpac reads and moves no extension (.mcpb, .dxt); take it out there, and put "
                    "what it starts into mcpac.json: mcpac server add NAME -- COMMAND ARGS…"});
  for (const auto& [other, table] : project::other_files(kind, places, project)) {
    std::error_code error;
    if (!fs::exists(other, error) || fs::equivalent(other, file.path(), error)) continue;
    const auto opened = ClientFile::open(kind, other);
    if (!opened) {
      past.push_back({other.string(),
                      fmt::format("it is not known what servers it has: {}", opened.error().what)});
      continue;
    }
    const OrderedJson servers = table.empty() ? opened->servers() : opened->servers(table);
    for (const auto& [name, entry] : servers.items()) {
      if (is_gate(context, entry)) continue;
      past.push_back(
          {fmt::format("{} (in {})", name, other.string()),
           project::is_ours(entry) ? std::string(kAnotherMcpac)
           : table.empty()
               ? fmt::format("mcpac connect {} --file {} --adopt with the same rules moves it",
                             kind.id, shell_quoted(other.string()))
               : fmt::format("\"{}\" of that file is not written; take it out there, or into the "
                             "file that this command writes",
                             fmt::join(table, "."))});
    }
  }
}

// What of the client's entries goes behind mcpac; what stays is said, with why.
Chosen choose(Context& context, const ClientKind& kind, const ClientFile& file,
              const ConfigFile& config, const project::ClientPlaces& places,
              const std::string& own) {
  Chosen chosen;
  const OrderedJson entries = file.servers();
  std::vector<std::string> originals;
  for (const auto& [original, entry] : entries.items()) {
    if (original == own || is_gate(context, entry)) continue;
    if (project::is_ours(entry)) {
      chosen.past.push_back({original, std::string(kAnotherMcpac)});
      context.warn(printable(
          fmt::format("{} reaches {} past mcpac: {}", kind.title, original, kAnotherMcpac)));
    } else {
      originals.push_back(original);
    }
  }
  const auto names =
      project::legal_names(originals, [&](const std::string& name, const std::string& original) {
        return config.has(name) && config.original_name(name) != original;
      });
  for (const std::string& original : originals) {
    auto move = move_of(context, kind, file, config, {original, names.at(original), {}, false},
                        entries[original]);
    if (!move) {
      chosen.past.push_back({original, with_fix(move.error())});
      context.warn(printable(
          fmt::format("{} stays in {}: {}", original, kind.title, chosen.past.back().why)));
      continue;
    }
    if (move->name != original)
      context.say(printable(fmt::format("\"{}\" is called {} here", original, move->name)));
    for (const std::string& note : move->adopted.notes)
      context.say(printable(fmt::format("{}: {}", move->name, note)));
    if (move->is_there)
      context.say(printable(fmt::format("{} is in mcpac.json already, as it is here", move->name)));
    chosen.moves.push_back(std::move(*move));
  }
  const auto in_file = chosen.past.size();
  add_elsewhere(context, kind, file, places,
                fs::absolute(context.config_file).lexically_normal().parent_path(), chosen.past);
  for (std::size_t i = in_file; i < chosen.past.size(); ++i)
    context.warn(printable(fmt::format("{} reaches {} past mcpac: {}", kind.title,
                                       chosen.past[i].server, chosen.past[i].why)));
  return chosen;
}

// The exit code is not 0 as long as one server is reached past mcpac.
Result<void> check_none_past(const ClientKind& kind, const ClientFile& file,
                             const std::vector<Past>& past) {
  if (past.empty()) return {};
  std::vector<std::string> names;
  for (const Past& one : past) names.push_back(one.server);
  return fail(
      ErrorId::kConfigInvalid,
      printable(fmt::format("{} still reaches past mcpac: {}", kind.title, fmt::join(names, ", "))),
      {.where = file.path().string(),
       .why = "no rule of mcpac holds for a call that does not come through it",
       .fix = "what each warning above says; then the same command again"});
}

bool is_shown_member(const std::string& name) {
  constexpr std::array<std::string_view, 12> kShown = {
      "command", "args",      "cwd",     "type", "transport",     "url",
      "httpUrl", "serverUrl", "timeout", "root", "original_name", "sandbox"};
  return std::ranges::find(kShown, name) != kShown.end();
}

void mask(OrderedJson& value) {
  if (value.is_structured()) {
    for (auto& member : value) mask(member);
  } else if (value.is_string()) {
    value = "…";
  }
}

// A value that is a reference and no more than the scheme before it: "Bearer ${env:TOKEN}".
bool is_reference(const std::string& value) {
  const auto begin = value.find("${");
  const auto before = value.substr(0, begin);
  return begin != std::string::npos && value.find(":-") == std::string::npos &&
         value.find('}') + 1 == value.size() &&
         (before.empty() || before == "Bearer " || before == "Basic " || before == "token ");
}

// What a person must see of it: what is started or called, with which variables. Values of these,
// what looks like a secret, and what mcpac does not read are "…".
OrderedJson shown_entry(const OrderedJson& entry) {
  OrderedJson shown = entry;
  if (!shown.is_object()) return shown;
  for (auto& [name, member] : shown.items()) {
    const bool has_values = (name == "env" || name == "headers") && member.is_object();
    if (!has_values && !is_shown_member(name)) mask(member);
    if (!has_values) continue;
    for (auto& value : member) {
      if (!value.is_string() || !is_reference(value.get<std::string>())) mask(value);
    }
  }
  for (const std::string& place : project::literal_secrets(entry)) {
    std::size_t at = 0;
    const auto digits = std::string_view(place).substr(std::min<std::size_t>(5, place.size()));
    if (place.starts_with("args[") &&
        std::from_chars(digits.data(), digits.data() + digits.size(), at).ec == std::errc()) {
      auto& word = shown["args"][at];
      const auto text = word.get<std::string>();
      const auto equals = text.find('=');
      word = text.starts_with("--") && equals != std::string::npos
                 ? text.substr(0, equals + 1) + "…"
                 : std::string("…");
    } else if (shown.contains(place)) {
      shown[place] = "…";  // "url"
    }
  }
  return shown;
}

// What it would write into mcpac.json.
std::vector<std::string> config_diff(const ConfigFile& config, const std::vector<Move>& moves) {
  const auto shown = [](const ConfigFile& file) {
    OrderedJson all{{"mcpServers", OrderedJson::object()}};
    for (const auto& [name, entry] : file.entries().items())
      all["mcpServers"][name] = shown_entry(entry);
    return all.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
  };
  ConfigFile after = config;
  for (const Move& move : moves) {
    if (!move.is_there) after.put(move.name, move.adopted.entry);
  }
  return shown_diff(shown(config), shown(after));
}

// What a server wrote before it ended, without the values that go into files of their own.
Error without_secrets(const Move& move, Error error) {
  mcp::SecretValues values;
  for (const auto& secret : move.adopted.secrets) {
    const auto& value = move.adopted.entry[secret.group][secret.name];
    if (value.is_string()) values.know(value.get<std::string>(), "…");
  }
  return values.redact(std::move(error));
}

// Never without a word: --confine, or a yes. What worked goes on working: a server that does not
// start so stays as it is. Ctrl-C ends all of it, before anything is written.
Result<void> confine_adopted(Context& context, const ConnectOptions& options,
                             std::vector<Move>& moves) {
  std::vector<std::string> left;
  for (Move& move : moves) {
    OrderedJson& entry = move.adopted.entry;
    if (move.is_there || !entry.contains("command") || entry.contains("sandbox")) continue;
    const bool is_asked = context.interactive && !context.json && !options.dry_run &&
                          !options.confine && !options.no_confine;
    const bool is_meant =
        options.confine ||
        (is_asked && says_yes_at_terminal(fmt::format(
                         "mcpac: start {} once in a sandbox, with the files that its command names "
                         "and no network,\r\nand leave it there if it lists its tools? [y/N] ",
                         move.name)));
    if (options.dry_run || !is_meant) {
      left.push_back(move.name);
      continue;
    }
    if (auto confined = confine_entry(context, move.name, entry, {}); !confined) {
      Error error = without_secrets(move, std::move(confined.error()));
      if (error.id == ErrorId::kInterrupted) {
        error.what = "nothing was written: " + error.what;
        return std::unexpected(std::move(error));
      }
      context.warn(printable_lines(
          fmt::format("{} stays as it is, with all that you have: {}", move.name, error.what)));
      if (!error.why.empty()) context.say(fmt::format("  why: {}", error.why));
      left.push_back(move.name);
    }
  }
  if (left.empty()) return {};
  context.say(
      fmt::format("{}: {}: {}",
                  options.dry_run && options.confine ? "to be tried in a sandbox" : "not confined",
                  fmt::join(left, ", "),
                  options.dry_run && options.confine
                      ? "each is started once"
                      : "they have all that you have, and rules hold what they are asked "
                        "(--confine; later: mcpac server confine NAME --learn)"));
  return {};
}

// mcpac.json and the secrets first: until the client's file is written, nothing has changed for it.
Result<void> take_in(ConfigFile& config, std::vector<Move>& moves) {
  const SecretFiles secrets(configuration_folder() / "secrets");
  bool has_new = false;
  for (Move& move : moves) {
    if (move.is_there) continue;
    has_new = true;
    for (const auto& secret : move.adopted.secrets) {
      auto& value = move.adopted.entry[secret.group][secret.name];
      auto reference = secrets.keep(move.name, secret.name, value.get<std::string>());
      if (!reference) return pass_on(reference);
      value = *reference;
    }
    config.put(move.name, move.adopted.entry);
  }
  return has_new ? config.save() : Result<void>();
}

void show(const std::filesystem::path& file, const std::vector<std::string>& diff) {
  if (diff.empty()) return;
  fmt::print("--- {0}\n+++ {0}\n", printable(file.string()));
  for (const auto& line : diff) fmt::print("{}\n", line);
}

// Both halves: what the client's file loses and gets, and what mcpac.json does.
void show_both(Context& context, const ClientFile& file, const ConfigFile& config,
               const Chosen& chosen, const ConnectOptions& options) {
  const std::vector<Move>& moves = chosen.moves;
  const auto of_client = file.diff(options.name);
  const auto of_config = config_diff(config, moves);
  Json secrets = Json::array();
  for (const Move& move : moves) {
    if (move.is_there) continue;
    for (const auto& secret : move.adopted.secrets)
      secrets.push_back({{"server", move.name}, {"name", secret.name}});
  }
  if (context.json) {
    if (!options.dry_run) return;
    return context.print({{"file", file.path().string()},
                          {"diff", of_client},
                          {"config", fs::absolute(context.config_file).string()},
                          {"config_diff", of_config},
                          {"secrets", secrets},
                          {"past", chosen.past_json()}});
  }
  show(file.path(), of_client);
  show(context.config_file, of_config);
  for (const Json& secret : secrets) {
    context.say(fmt::format("a file of its own, for you alone: {} of {}",
                            secret["name"].get<std::string>(),
                            secret["server"].get<std::string>()));
  }
}

void tell(Context& context, const ClientKind& kind, const ClientFile& file, const Chosen& chosen,
          const ConnectOptions& options) {
  Json moved = Json::array();
  bool has_new = false;
  for (const Move& move : chosen.moves) {
    moved.push_back(move.name);
    has_new = has_new || !move.is_there;
  }
  if (context.json)
    return context.print({{"client", kind.id},
                          {"file", file.path().string()},
                          {"backup", connection_records(context).backup_of(file).string()},
                          {"moved", moved},
                          {"past", chosen.past_json()}});
  context.say(fmt::format("written: {}", file.path().string()));
  if (file.exists())
    context.say(
        fmt::format("  as it was: {}", connection_records(context).backup_of(file).string()));
  const std::string where =
      options.file.empty() ? "" : fmt::format(" --file {}", shell_quoted(file.path().string()));
  context.say(fmt::format("  undo: mcpac connect {}{} --undo", kind.id, where));
  if (!chosen.moves.empty())
    context.say(fmt::format("moved behind mcpac: {}",
                            fmt::join(moved.get<std::vector<std::string>>(), ", ")));
  if (has_new)
    context.say(
        "  next: mcpac generate, which reads and locks their tools; until then the client cannot "
        "call them (--keep-going leaves out those that do not start)");
  propose_roots(context, moved.get<std::vector<std::string>>());
  context.say(fmt::format("then start {} again", kind.title));
  if (!options.code)
    context.say("with --code it may write programs that call these tools, too: docs/gateway.md");
}

// What `mcpac serve` would refuse at its start is refused now. Servers that are adopted are not in
// the lock yet, and before the first `generate` there is none.
Result<void> check_rules(const Context& context, const ConnectOptions& options) {
  auto project = context.project();
  if (!project) return pass_on(project);
  std::error_code error;
  if (options.adopt || !fs::exists(project->lock_file(), error)) return {};
  auto reader = RuleReader::open(context);
  if (!reader) return pass_on(reader);
  GrantOptions rules;
  rules.grants = options.grants;
  rules.asks = options.asks;
  rules.denies = options.denies;
  rules.policy_files = options.policies;
  if (auto loaded = (*reader)->run(rules); !loaded) return pass_on(loaded);
  return {};
}

// What does not get a file of its own stays in the open: arguments, mostly.
void warn_of_secrets(Context& context, const std::vector<Move>& moves) {
  for (const Move& move : moves) {
    if (move.is_there) continue;
    OrderedJson rest = move.adopted.entry;
    for (const auto& secret : move.adopted.secrets) rest[secret.group].erase(secret.name);
    for (const std::string& place : project::literal_secrets(rest)) {
      context.warn(printable(
          fmt::format("{}: {} looks like a secret, and is moved to mcpac.json as it is: better "
                      "${{env:NAME}} or ${{file:PATH}}",
                      move.name, place)));
    }
  }
}

// Policy files may name it; of the rules on the command line that is easily seen.
void warn_of_ungranted(Context& context, const std::vector<Move>& moves,
                       const ConnectOptions& options) {
  if (!options.policies.empty()) return;
  for (const Move& move : moves) {
    const auto names_it = [&](const std::string& rule) {
      return rule.find('*') == 0 || rule.contains(move.name + ".");
    };
    if (std::ranges::any_of(options.grants, names_it) ||
        std::ranges::any_of(options.asks, names_it))
      continue;
    context.warn(
        printable(fmt::format("no rule grants anything of {0}: the client cannot call it "
                              "any more (--ask '{0}.*')",
                              move.name)));
  }
}

// Never over a foreign entry.
Result<void> check_own(const ClientKind& kind, const ClientFile& file, const OrderedJson& entries,
                       const std::string& name) {
  if (!entries.contains(name) || project::is_ours(entries[name])) return {};
  return fail(ErrorId::kUsage,
              fmt::format("{} has an entry {} that is not mcpac", kind.title, name),
              {.where = file.path().string(), .fix = "--as NAME"});
}

// There is one record a file: another one would say that our entry of now was there before us.
Result<std::optional<project::ConnectionRecord>> last_connection(const Context& context,
                                                                 const ClientKind& kind,
                                                                 const ClientFile& file,
                                                                 const std::string& name) {
  auto last = connection_records(context).find(file);
  if (last && *last && (*last)->name != name) {
    return fail(ErrorId::kUsage,
                fmt::format("{} is connected as {}", kind.title, printable((*last)->name)),
                {.where = file.path().string(),
                 .fix = fmt::format("mcpac connect {} --undo first", kind.id)});
  }
  return last;
}

}  // namespace

project::ConnectionRecords connection_records(const Context& context) {
  return project::ConnectionRecords(context.folders.state / "connect");
}

Result<void> connect_client(Context& context, const ClientKind& kind, ClientFile& file,
                            const project::ClientPlaces& places, const ConnectOptions& options) {
  auto entry = entry_of(context, kind, options);
  if (!entry) return pass_on(entry);
  const OrderedJson before = file.servers();
  if (auto own = check_own(kind, file, before, options.name); !own) return own;
  if (std::error_code error; !fs::exists(context.config_file, error)) {
    return fail(ErrorId::kFileUnreadable,
                fmt::format("there is no {}", fs::absolute(context.config_file).string()),
                {.why = "the client would start mcpac for this project",
                 .fix = "in the project's folder, or `mcpac init` first"});
  }
  auto config = ConfigFile::open(context.config_file);
  if (!config) return pass_on(config);
  if (auto fits = check_rules(context, options); !fits) return fits;
  Chosen chosen;
  if (options.adopt) chosen = choose(context, kind, file, *config, places, options.name);
  std::vector<Move>& moves = chosen.moves;
  warn_of_ungranted(context, moves, options);
  warn_of_secrets(context, moves);
  auto last = last_connection(context, kind, file, options.name);
  if (!last) return pass_on(last);
  std::set<std::string> variables;
  std::set<std::string> optional;
  for (const Move& move : moves) {
    variables.merge(std::set(move.adopted.variables));
    optional.merge(std::set(move.adopted.optional));
  }
  for (const Move& move : moves) {
    for (const std::string& name : move.adopted.variables)
      if (!move.adopted.optional.contains(name)) optional.erase(name);
  }
  // What servers that were moved before need stays.
  if (before.contains(options.name)) {
    for (const char* group : {"env", "env_vars"}) {
      if (before[options.name].contains(group)) (*entry)[group] = before[options.name][group];
    }
  }
  project::give_variables(kind, variables, *entry, optional);
  for (const Move& move : moves) {
    if (auto removed = file.remove(move.original); !removed) return removed;
  }
  if (auto put = file.put(options.name, *entry); !put) return put;
  if (!file.is_changed()) {
    context.say(fmt::format("{} is connected already", kind.title));
    return check_none_past(kind, file, chosen.past);
  }
  if (auto confined = confine_adopted(context, options, moves); !confined) return confined;
  show_both(context, file, *config, chosen, options);
  if (options.dry_run) {
    context.say("dry run: nothing was written");
    return {};
  }
  if (auto taken = take_in(*config, moves); !taken) return taken;
  const auto record = project::record_of(file, options.name, before, *last);
  if (auto kept = connection_records(context).keep(file, record); !kept) return kept;
  if (auto saved = file.save(); !saved) return saved;
  tell(context, kind, file, chosen, options);
  return check_none_past(kind, file, chosen.past);
}

Result<void> disconnect_client(Context& context, const ClientKind& kind, ClientFile& file,
                               const ConnectOptions& options) {
  auto record = connection_records(context).find(file);
  if (!record) return pass_on(record);
  if (!*record) {
    return fail(
        ErrorId::kUsage, fmt::format("mcpac did not connect {}", kind.title),
        {.where = file.path().string(),
         .why = "nothing is kept of what it was before",
         .fix = "--file FILE, where its configuration lies elsewhere; mcpac connect --list"});
  }
  const bool exactly = (*record)->is_exact && project::is_as_written(**record, file);
  const OrderedJson before = file.servers();
  if (const auto& name = (*record)->name;
      !exactly && before.contains(name) && !project::is_ours(before[name]))
    context.warn(printable(fmt::format("{} stays in {}: it is not mcpac", name, kind.title)));
  if (auto taken = project::take_back(**record, file); !taken && !exactly) return taken;
  if (!context.json) show(file.path(), file.diff((*record)->name));
  if (options.dry_run) {
    context.say("dry run: nothing was written");
    return {};
  }
  auto done = exactly             ? file.restore((*record)->before, (*record)->existed)
              : file.is_changed() ? file.save()
                                  : Result<void>();
  if (!done) return done;
  connection_records(context).forget(file);
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

}  // namespace mcpac::cli
