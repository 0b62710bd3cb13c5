// SPDX-License-Identifier: Apache-2.0

#include "mcp/server_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/file.h"
#include "core/hash.h"
#include "core/nearest_name.h"
#include "core/permission.h"
#include "mcp/auth_config.h"
#include "mcp/config_member.h"
#include "mcp/placeholders.h"

namespace mcpac::mcp {
namespace {

constexpr std::size_t kMaxConfigBytes = std::size_t{4} << 20U;  // a thousand servers fit in 1 MiB
constexpr std::size_t kMaxServers = 1'000;

// Members of other clients' entries that change nothing here: labels, and their own lists of tools
// that need no question or are switched off. Authority in mcpac comes from grants alone, which
// start from nothing, so leaving those lists aside never allows more.
constexpr std::array<std::string_view, 18> kTolerated = {
    "autoApprove", "alwaysAllow", "disabledTools", "enabledTools", "includeTools", "excludeTools",
    "trust",       "description", "icon",          "name",         "title",        "gallery",
    "version",     "tags",        "note",          "$schema",      "id",           "author"};

constexpr std::array<std::string_view, 24> kKnown = {
    "type",       "transport", "command",       "args",          "env",     "cwd",
    "url",        "httpUrl",   "era",           "serverUrl",     "headers", "timeout",
    "root",       "disabled",  "enabled",       "envFile",       "prices",  "auth",
    "entry_only", "texts",     "original_name", "server_checks", "sandbox", "manifest"};

// Names of the table of servers in other clients.
constexpr std::array<std::string_view, 3> kOfOtherClients = {"servers", "context_servers", "mcp"};

Result<void> read_type(const ConfigMember& member, std::string& type) {
  auto text = member.string();
  if (!text) return pass_on(text);
  if (*text == "sse") {
    return member.refuse("the HTTP+SSE transport of revision 2024-11-05 is not supported",
                         "the MCP specification replaced it by Streamable HTTP in 2025",
                         R"(ask the server for its Streamable HTTP URL and write "type": "http")");
  }
  if (*text == "stdio") {
    type = "stdio";
  } else if (*text == "http" || *text == "streamable-http" || *text == "streamableHttp" ||
             *text == "streamable_http") {
    type = "http";
  } else {
    return member.refuse(fmt::format("\"{}\" is no transport", *text),
                         R"(known are "stdio" and "http" (also written "streamable-http"))");
  }
  return {};
}

Result<std::string> read_command(const ConfigMember& member) {
  const auto words = member.strings();
  if (!words || words->empty()) return member.string();
  return member.refuse("\"command\" must be a string", "its arguments stand in \"args\"",
                       command_fix(*words));
}

Result<std::vector<std::string>> read_arguments(const ConfigMember& member) {
  const auto line = member.string();
  if (!line) return member.strings();
  return member.refuse("\"args\" must be an array of strings", "no shell takes the text apart",
                       "write \"args\": " + to_text(OrderedJson(words_of(*line))));
}

Result<void> read_url(const ConfigMember& member, std::string& url) {
  auto text = member.string();
  if (!text) return pass_on(text);
  const bool scheme =
      text->starts_with("http://") || text->starts_with("https://") || text->starts_with("${");
  if (!scheme) {
    return member.refuse(fmt::format("\"{}\" is no http or https URL", *text), "", "");
  }
  if (!url.empty()) return member.refuse("the server has two URLs", "", R"(keep "url" alone)");
  url = *text;
  return {};
}

Result<void> read_era(const ConfigMember& member, Era& era) {
  auto text = member.string();
  if (!text) return pass_on(text);
  if (*text == "initialize") {
    era = Era::kInitialize;
  } else if (*text == "2026-07-28") {
    era = Era::kStateless;
  } else if (*text == "probe") {
    era = Era::kProbe;
  } else {
    return member.refuse(fmt::format("\"{}\" is no protocol era", *text),
                         R"(known are "probe", "initialize" and "2026-07-28")");
  }
  return {};
}

template <class Target, class Read>
Result<void> store(Target& target, Read&& value) {
  if (!value) return pass_on(value);
  target = std::move(*value);
  return {};
}

Result<void> read_flag(const ConfigMember& member, bool& disabled) {
  auto value = member.boolean();
  if (!value) return pass_on(value);
  disabled = member.name() == "disabled" ? *value : !*value;
  return {};
}

Result<void> read_texts(const ConfigMember& member, Texts& texts) {
  auto text = member.string();
  if (!text) return pass_on(text);
  if (*text != "locked" && *text != "strict") {
    return member.refuse(fmt::format("\"{}\" says nothing of texts", *text), "",
                         R"("strict": another description is another tool; "locked": the one in )"
                         "mcpac.lock holds, whatever the server says now");
  }
  texts = *text == "locked" ? Texts::kLocked : Texts::kStrict;
  return {};
}

Result<void> read_prices(const ConfigMember& member, std::map<std::string, Money>& prices) {
  auto texts = member.string_map();
  if (!texts) return pass_on(texts);
  for (const auto& [tool, text] : *texts) {
    const auto price = parse_money(text);
    if (!price) {
      return member.refuse(fmt::format("\"{}\" is no price", text), "",
                           R"(write the price of one call, for example "complete": "0.02 USD")");
    }
    prices.emplace(tool, *price);
  }
  return {};
}

constexpr std::array<std::string_view, 4> kKnownOfSandbox = {"files", "network", "memory", "share"};

// "512MB", or with a blank before the unit, as people write it.
Result<std::uint64_t> read_memory(const ConfigMember& member) {
  auto text = member.string();
  if (!text) return pass_on(text);
  const auto blank = text->find(' ');
  if (blank != std::string::npos) text->erase(blank, 1);
  constexpr std::uint64_t kLeast = 16'000'000;  // the loader, libc and the keeper need some of it
  const auto size = parse_size(*text);
  if (!size || *size < kLeast) {
    return member.refuse(fmt::format("\"{}\" is no memory of a server", *text),
                         "it is a whole number and B, KB, MB or GB, of at least 16MB",
                         R"(write "memory": "512MB", or leave it out: then there is no limit)");
  }
  return *size;
}

Result<Share> read_share(const ConfigMember& member) {
  auto text = member.string();
  if (!text) return pass_on(text);
  if (*text != "client") {
    return member.refuse(fmt::format("\"{}\" is no \"share\" of a server", *text),
                         "a process is shared by all clients of a gateway, or is one client's",
                         R"(write "share": "client", or leave it out: then all clients share one)");
  }
  return Share::kClient;
}

Result<void> read_of_sandbox(const ConfigMember& member, Confinement& into) {
  if (member.name() == "files") return store(into.files, member.strings());
  if (member.name() == "network") return store(into.network, member.strings());
  if (member.name() == "memory") return store(into.memory, read_memory(member));
  if (member.name() == "share") return store(into.share, read_share(member));
  return member.refuse(fmt::format("\"{}\" is no member of \"sandbox\"", member.name()),
                       "a server would have less or more than was meant",
                       did_you_mean(member.name(), kKnownOfSandbox));
}

OrderedJson sandbox_json(const Confinement& sandbox) {
  if (sandbox == Confinement()) return true;
  OrderedJson out = OrderedJson::object();
  if (!sandbox.files.empty()) out["files"] = sandbox.files;
  if (!sandbox.network.empty()) out["network"] = sandbox.network;
  if (sandbox.memory > 0) out["memory"] = size_text(sandbox.memory);
  if (sandbox.share == Share::kClient) out["share"] = "client";
  return out;
}

Result<void> read_sandbox(const ConfigMember& member, std::optional<Confinement>& sandbox) {
  const OrderedJson& value = member.value();
  if (value.is_boolean()) {
    sandbox = value.get<bool>() ? std::optional(Confinement()) : std::nullopt;
    return {};
  }
  if (!value.is_object()) {
    return member.refuse("\"sandbox\" is true, false, or what the server may reach", "",
                         R"(write "sandbox": {"files": ["./data:rw"]})");
  }
  Confinement given;
  for (const auto& [name, of_it] : value.items()) {
    const std::string place = member.place();
    if (auto read = read_of_sandbox(ConfigMember(name, of_it, place), given); !read) return read;
  }
  sandbox = std::move(given);
  return {};
}

Result<void> read_member(const ConfigMember& member, ServerConfig& server, std::string& type) {
  const std::string_view name = member.name();
  if (name == "type" || name == "transport") return read_type(member, type);
  if (name == "command") return store(server.command, read_command(member));
  if (name == "args") return store(server.arguments, read_arguments(member));
  if (name == "env") return store(server.environment, member.environment());
  if (name == "cwd") return store(server.working_directory, member.string());
  if (name == "url" || name == "httpUrl" || name == "serverUrl")
    return read_url(member, server.url);
  if (name == "headers") return store(server.headers, member.headers());
  if (name == "timeout") return store(server.timeout, member.duration());
  if (name == "root") return store(server.root, member.string());
  // A label: what another client calls the server, where that is no name here.
  if (name == "original_name") {
    auto text = member.string();
    if (!text) return pass_on(text);
    return {};
  }
  if (name == "entry_only") return store(server.entry_only, member.strings());
  if (name == "server_checks") return store(server.server_checks, member.strings());
  if (name == "disabled" || name == "enabled") return read_flag(member, server.disabled);
  if (name == "prices") return read_prices(member, server.prices);
  if (name == "texts") return read_texts(member, server.texts);
  if (name == "era") return read_era(member, server.era);
  if (name == "auth") return store(server.auth, read_auth(member));
  if (name == "sandbox") return read_sandbox(member, server.sandbox);
  if (name == "manifest") return store(server.manifest, member.string());
  if (name == "envFile") {
    return member.refuse(R"("envFile" is not supported)",
                         "a server started without the variables of that file would be another one",
                         R"(name them under "env", for example "TOKEN": "${env:TOKEN}")");
  }
  if (std::ranges::find(kTolerated, name) != kTolerated.end()) return {};
  return member.refuse(fmt::format("\"{}\" is no member of a server", name), "",
                       did_you_mean(name, kKnown));
}

Result<void> check_transport(const ServerConfig& server, const std::string& type,
                             const std::string& where) {
  const auto refuse = [&where](std::string what, std::string fix) {
    return fail(ErrorId::kConfigInvalid, std::move(what), {.where = where, .fix = std::move(fix)});
  };
  const bool has_command = !server.command.empty();
  if (has_command == server.is_http()) {
    return refuse(
        fmt::format("server {} needs exactly one of \"command\" and \"url\"", server.name),
        R"("command" starts a program, "url" calls a server over HTTP)");
  }
  if (has_command && type == "http") {
    return refuse("a server of type http has a \"url\", no \"command\"", "");
  }
  if (has_command && server.auth != oauth::Settings()) {
    return refuse("\"auth\" goes with \"url\"", R"(a program gets its secrets through "env")");
  }
  if (!has_command && type == "stdio") {
    return refuse("a server of type stdio has a \"command\", no \"url\"", "");
  }
  if (has_command && !server.headers.empty()) {
    return refuse("\"headers\" go with \"url\"", R"(a program gets its secrets through "env")");
  }
  if (!has_command && server.sandbox) {
    return refuse("\"sandbox\" goes with \"command\"",
                  "a server over HTTP runs elsewhere: rules alone hold what it is asked");
  }
  if (!has_command && (!server.arguments.empty() || !server.environment.empty() ||
                       !server.working_directory.empty())) {
    return refuse("\"args\", \"env\" and \"cwd\" go with \"command\"",
                  R"(a server over HTTP gets its secrets through "headers")");
  }
  return {};
}

std::unexpected<Error> refuse_foreign(const std::string& place, const std::string& member,
                                      const Foreign& found) {
  return fail(ErrorId::kConfigInvalid,
              fmt::format("{} holds {}{}{}", member, found.text, found.what.empty() ? "" : ", ",
                          found.what),
              {.where = fmt::format("{}.{}", place, member),
               .why = member.starts_with("sandbox.")
                          ? "a place of a sandbox is a path as it stands: no shell reads it"
                          : "the server would get it as it stands",
               .fix = found.fix});
}

// Nothing that another client would replace goes to a server as text.
Result<void> check_foreign(const ServerConfig& server, const std::string& place) {
  Result<void> result;
  const auto check = [&](const std::string& member, const std::string& text, TextRole role) {
    if (!result) return;
    if (const auto found = foreign_text(text, role)) result = refuse_foreign(place, member, *found);
  };
  if (const auto program = foreign_program(server.command, server.arguments)) {
    return fail(ErrorId::kConfigInvalid, fmt::format("{} is {}", program->text, program->what),
                {.where = place + ".command", .fix = program->fix});
  }
  check("command", server.command, TextRole::kProgram);
  check("cwd", server.working_directory, TextRole::kFolder);
  check("root", server.root, TextRole::kFolder);
  check("manifest", server.manifest, TextRole::kFolder);
  check("url", server.url, TextRole::kUrl);
  for (std::size_t i = 0; i < server.arguments.size(); ++i) {
    if (!is_script(server.command, server.arguments, i))
      check(fmt::format("args[{}]", i), server.arguments[i], TextRole::kArgument);
  }
  for (std::size_t i = 0; server.sandbox && i < server.sandbox->files.size(); ++i)
    check(fmt::format("sandbox.files[{}]", i), server.sandbox->files[i], TextRole::kPlace);
  for (const auto& [name, value] : server.environment)
    check("env." + name, value, TextRole::kVariable);
  for (const auto& [name, value] : server.headers)
    check("headers." + name, value, TextRole::kHeader);
  const auto& auth = server.auth;
  for (const auto& [name, text] :
       {std::pair("auth.issuer", &auth.issuer), std::pair("auth.clientId", &auth.client_id),
        std::pair("auth.clientSecret", &auth.client_secret),
        std::pair("auth.privateKey", &auth.private_key),
        std::pair("auth.clientMetadataUrl", &auth.client_document)})
    check(name, *text, TextRole::kUrl);
  return result;
}

Result<ServerConfig> read_server(const std::string& name, const OrderedJson& object,
                                 const std::string& where) {
  const auto place = fmt::format("{}: mcpServers.{}", where, name);
  if (!is_server_name(name)) {
    return fail(ErrorId::kConfigInvalid, fmt::format("\"{}\" is no name for a server", name),
                {.where = where,
                 .why = "permissions and generated namespaces are made of it",
                 .fix = "use 1 to 64 letters, digits, \"-\" and \"_\", and not \"mcpac\""});
  }
  if (!object.is_object()) {
    return fail(ErrorId::kConfigInvalid, fmt::format("server {} must be an object", name),
                {.where = place});
  }
  ServerConfig server;
  server.name = name;
  std::string type;
  for (const auto& [key, value] : object.items()) {
    if (auto read = read_member(ConfigMember(key, value, place), server, type); !read) {
      return pass_on(read);
    }
  }
  if (auto checked = check_transport(server, type, place); !checked) return pass_on(checked);
  if (auto checked = check_foreign(server, place); !checked) return pass_on(checked);
  return server;
}

std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace

std::string ServerConfig::identity() const {
  if (is_http()) return url;
  std::string line = quoted(command);
  for (const auto& argument : arguments) line += " " + quoted(argument);
  return line;
}

namespace {

// Their values say what program runs, and are no secrets.
constexpr std::array<std::string_view, 14> kDecideProgram = {
    "PATH",      "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "NODE_OPTIONS",
    "NODE_PATH", "PYTHONPATH", "PYTHONHOME",      "PERL5OPT", "PERL5LIB",
    "RUBYOPT",   "RUBYLIB",    "BASH_ENV",        "ENV"};

// "${env:NAME}" or "${file:PATH}" and nothing else.
bool is_reference(std::string_view value) {
  return (value.starts_with("${env:") || value.starts_with("${file:")) && value.ends_with('}') &&
         value.find('}') == value.size() - 1 && !value.contains(":-");
}

// Another value, another text; a reader of the lock cannot try one value on all servers.
std::string kept_value(const std::string& server, std::string_view name, const std::string& value) {
  constexpr std::size_t kDigits = 32;
  if (is_reference(value) || std::ranges::find(kDecideProgram, name) != kDecideProgram.end())
    return value;
  const std::string digest = sha256_hex(fmt::format("mcpac.lock\n{}\n{}\n{}", server, name, value));
  return "sha256:" + digest.substr(0, kDigits);
}

}  // namespace

OrderedJson ServerConfig::entry() const {
  OrderedJson kept = OrderedJson::object();
  if (!working_directory.empty()) kept["cwd"] = working_directory;
  for (const auto& [variable, value] : environment)
    kept["env"][variable] = kept_value(name, variable, value);
  for (const auto& [header, value] : headers)
    kept["headers"][header] = kept_value(name, header, value);
  if (sandbox) {
    OrderedJson given = to_json(*this)["sandbox"];
    kept["sandbox"] = given.is_object() ? std::move(given) : OrderedJson::object();
  }
  return kept;
}

const ServerConfig* Config::find(std::string_view name) const {
  const auto found = std::ranges::find(servers, name, &ServerConfig::name);
  return found == servers.end() ? nullptr : &*found;
}

Result<Config> parse_config(std::string_view text, std::string_view where) {
  auto parsed = parse_ordered_json(text, where, {.max_bytes = kMaxConfigBytes});
  if (!parsed) {
    Error error = std::move(parsed.error());
    error.id = ErrorId::kConfigSyntax;
    if (error.fix.empty())
      error.fix = "JSON has no comments, no single quotes, and no comma before a closing bracket";
    return std::unexpected(std::move(error));
  }
  const std::string file(where);
  const auto found = parsed->is_object() ? parsed->find("mcpServers") : parsed->end();
  if (!parsed->is_object() || found == parsed->end() || !found->is_object()) {
    std::string fix = R"({"mcpServers": {"files": {"command": "…", "args": ["…"]}}})";
    const OrderedJson members = parsed->is_object() ? *parsed : OrderedJson::object();
    for (const auto& [name, value] : members.items()) {
      const bool is_foreign = std::ranges::find(kOfOtherClients, name) != kOfOtherClients.end();
      if (is_foreign || !nearest_name(name, {"mcpServers"}).empty())
        fix = fmt::format("write \"mcpServers\" where it has \"{}\"", name);
    }
    return fail(ErrorId::kConfigInvalid, "the configuration has no object \"mcpServers\"",
                {.where = file, .fix = std::move(fix)});
  }
  if (found->size() > kMaxServers) {
    return fail(ErrorId::kConfigInvalid, fmt::format("more than {} servers", kMaxServers),
                {.where = file});
  }
  Config config;
  for (const auto& [name, object] : found->items()) {
    auto server = read_server(name, object, file);
    if (!server) return pass_on(server);
    config.servers.push_back(std::move(*server));
  }
  std::ranges::sort(config.servers, {}, &ServerConfig::name);
  return config;
}

OrderedJson to_json(const ServerConfig& server) {
  OrderedJson out = OrderedJson::object();
  const ServerConfig defaults;
  if (server.is_http()) {
    out["type"] = "http";
    out["url"] = server.url;
    if (!server.headers.empty()) out["headers"] = server.headers;
  } else {
    out["command"] = server.command;
    if (!server.arguments.empty()) out["args"] = server.arguments;
    if (!server.environment.empty()) out["env"] = server.environment;
    if (!server.working_directory.empty()) out["cwd"] = server.working_directory;
  }
  if (server.sandbox) out["sandbox"] = sandbox_json(*server.sandbox);
  if (!server.manifest.empty()) out["manifest"] = server.manifest;
  if (server.timeout != defaults.timeout) out["timeout"] = duration_json(server.timeout);
  if (!server.root.empty()) out["root"] = server.root;
  if (!server.entry_only.empty()) out["entry_only"] = server.entry_only;
  if (!server.server_checks.empty()) out["server_checks"] = server.server_checks;
  if (server.disabled) out["disabled"] = true;
  if (server.texts == Texts::kLocked) out["texts"] = "locked";
  if (server.auth != defaults.auth) out["auth"] = to_json(server.auth);
  for (const auto& [tool, price] : server.prices) out["prices"][tool] = to_text(price);
  if (server.era == Era::kInitialize) out["era"] = "initialize";
  if (server.era == Era::kStateless) out["era"] = "2026-07-28";
  return out;
}

Finding::Finding(const ServerConfig& config, std::string_view what) {
  if (config.found.empty()) return;
  const std::string entry =
      config.file.string() + '\n' + config.name + '\n' + to_text(to_json(config)) + '\n';
  file_ = config.found / sha256_hex(entry + std::string(what));
}

bool Finding::is_kept() const {
  constexpr auto kBelieved = std::chrono::hours(24 * 30);
  if (file_.empty()) return false;
  std::error_code error;
  const auto written = std::filesystem::last_write_time(file_, error);
  if (error) return false;
  const auto age = std::filesystem::file_time_type::clock::now() - written;
  return age < kBelieved && age > -kBelieved;
}

void Finding::keep() const {
  if (file_.empty()) return;
  std::error_code error;
  const auto folder = file_.parent_path();
  if (std::filesystem::create_directories(folder, error))
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  std::ignore = write_file_atomic(file_, "", 0600);
}

void Finding::forget() const {
  std::error_code ignored;
  if (!file_.empty()) std::filesystem::remove(file_, ignored);
}

}  // namespace mcpac::mcp
