// SPDX-License-Identifier: Apache-2.0

#include "project/clients/adopt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/ascii.h"
#include "core/permission.h"
#include "mcp/config_member.h"
#include "mcp/environment.h"
#include "mcp/placeholders.h"
#include "mcp/secrets.h"
#include "mcp/server_config.h"

namespace mcpac::project {
namespace {

// Members about the client alone, or about its time-outs.
constexpr std::array<std::string_view, 5> kOfClient = {"startup_timeout_sec", "startup_timeout_ms",
                                                       "tool_timeout_sec", "required", "dev"};

// Members that restrict a server there: behind mcpac it could do more.
constexpr std::array<std::string_view, 3> kRestrictions = {"enabled_tools", "disabled_tools",
                                                           "sandboxEnabled"};

// Parts of a URL that may be secret: mcpac.json is no place for them.
bool has_credentials(const std::string& url) {
  const auto scheme = url.find("://");
  const auto begin = scheme == std::string::npos ? 0 : scheme + 3;
  const auto authority = url.substr(begin, url.find_first_of("/?#", begin) - begin);
  return url.find('?') != std::string::npos || authority.find('@') != std::string::npos;
}

// Words too short to be looked for anywhere ("compass", "spinner").
bool has_secret_part(const std::string& name) {
  constexpr std::array<std::string_view, 5> kParts = {"pass", "pwd", "pin", "pat", "jwt"};
  std::string part;
  const auto is_secret = [&] { return std::ranges::find(kParts, part) != kParts.end(); };
  bool was_lower = false;
  for (const char c : name) {
    if (!is_alphanumeric(c) || (was_lower && is_upper(c))) {
      if (is_secret()) return true;
      part.clear();
    }
    if (is_alphanumeric(c)) part += to_lower(c);
    was_lower = is_lower(c);
  }
  return is_secret();
}

bool is_name(char c, bool first) {
  return is_word(c) && !(first && is_digit(c));
}

std::size_t end_of_name(std::string_view text, std::size_t at) {
  const auto begin = at;
  while (at < text.size() && is_name(text[at], at == begin)) ++at;
  return at;
}

bool is_assigned(std::string_view script, const std::string& name) {
  return script.find(name + "=") != std::string_view::npos;
}

// Translates texts of one client into those of mcpac.json; says why where it cannot.
class Translation {
 public:
  Translation(Variables variables, Adopted& into) : variables_(variables), into_(into) {}

  // `place` is said with what was written otherwise: "args[1]".
  Result<std::string> text(const std::string& given, mcp::TextRole role, const std::string& place,
                           bool is_script = false) {
    std::string out;
    std::size_t at = is_script ? 0 : home(given, role, place, out);
    while (at < given.size()) {
      const auto before = at;
      if (given[at] == '$' && !variable(given, at, {role, is_script}, place, out))
        return fail(ErrorId::kConfigInvalid,
                    fmt::format("{} names something that only the client knows, or mcpac would "
                                "read otherwise: {}",
                                place, begun(given, before)),
                    {.fix = "write ${env:NAME}, ${file:PATH} or the value"});
      if (at == before) out += given[at++];
    }
    return out;
  }

  Result<OrderedJson> value(const OrderedJson& given, mcp::TextRole role,
                            const std::string& place) {
    if (given.is_string()) {
      auto translated = text(given.get_ref<const std::string&>(), role, place);
      if (!translated) return pass_on(translated);
      return OrderedJson(std::move(*translated));
    }
    OrderedJson out = given;
    if (!given.is_structured()) return out;
    for (auto& [name, member] : out.items()) {
      auto translated = value(member, role,
                              given.is_array() ? fmt::format("{}[{}]", place, name)
                                               : fmt::format("{}.{}", place, name));
      if (!translated) return translated;
      member = std::move(*translated);
    }
    return out;
  }

  Result<OrderedJson> arguments(const std::string& command, const OrderedJson& given) {
    std::vector<std::string> words;
    for (const auto& word : given) words.push_back(word.is_string() ? word.get<std::string>() : "");
    OrderedJson out = OrderedJson::array();
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (!given[i].is_string()) {
        out.push_back(given[i]);
        continue;
      }
      auto translated = text(words[i], mcp::TextRole::kArgument, fmt::format("args[{}]", i),
                             mcp::is_script(command, words, i));
      if (!translated) return pass_on(translated);
      out.push_back(std::move(*translated));
    }
    return out;
  }

 private:
  struct Read {
    mcp::TextRole role;
    bool is_script;
  };

  // "${input:key}" of a text that may be a secret: no more of it.
  static std::string begun(std::string_view given, std::size_t at) {
    constexpr std::size_t kMost = 60;
    const auto rest = given.substr(at);
    return std::string(rest.substr(0, std::min({rest.find('}') + 1, rest.size(), kMost})));
  }

  void note(const std::string& place, std::string_view from, std::string_view to) {
    into_.notes.push_back(fmt::format("{}: {} is written as {}", place, from, to));
  }

  // What a shell would do with a "~" at the beginning; answers what of the text was read.
  std::size_t home(std::string_view given, mcp::TextRole role, const std::string& place,
                   std::string& out) {
    if (role == mcp::TextRole::kUrl || role == mcp::TextRole::kHeader) return 0;
    const auto equals = given.starts_with('-') ? given.find('=') : std::string_view::npos;
    const auto at = equals == std::string_view::npos ? 0 : equals + 1;
    const auto rest = given.substr(at);
    if (rest != "~" && !rest.starts_with("~/")) return 0;
    out.append(given.substr(0, at)).append("${env:HOME}");
    note(place, "~", "${env:HOME}");
    return at + 1;
  }

  struct Named {
    std::string_view name{};  // empty: none
    std::size_t end = 0;
    std::optional<std::string_view> otherwise{};
  };
  // The variable at a '$' as this client writes them, and its end.
  [[nodiscard]] Named variable_at(std::string_view given, std::size_t at, bool is_script) const {
    const auto name_in = [&](std::size_t begin) -> Named {
      const auto end = given.find('}', begin);
      const auto read = end == std::string_view::npos
                            ? std::nullopt
                            : mcp::variable_reference(given.substr(begin, end - begin));
      if (!read || (read->otherwise && !has_defaults())) return {};
      if (mcp::is_of_client(read->name) && !given.substr(0, begin).ends_with("env:")) return {};
      return {read->name, end + 1, read->otherwise};
    };
    const auto rest = given.substr(at);
    const bool is_any = variables_ == Variables::kAny;
    if (rest.starts_with("${env:"))
      return variables_ == Variables::kEnv || is_any ? name_in(at + 6) : Named();
    if (rest.starts_with("${")) {
      if (variables_ == Variables::kBraces || variables_ == Variables::kDollar || is_any)
        return name_in(at + 2);
      // A text there. What every server gets is what was meant.
      const auto named = name_in(at + 2);
      return variables_ == Variables::kNone && mcp::is_base_variable(named.name) ? named : Named();
    }
    if (variables_ == Variables::kDollar) {
      const auto end = end_of_name(given, at + 1);
      return {given.substr(at + 1, end - at - 1), end};
    }
    const auto length = is_script ? 0 : mcp::plain_variable(given, at);
    if (length == 0 || !(is_any || variables_ == Variables::kNone)) return {};
    const auto name = given.substr(at + 1, length - 1);
    if (!is_any && !mcp::is_base_variable(name)) return {};
    return {name, at + length};
  }

  // At a '$'. Moves `at` past what it is the beginning of; false: that is nothing for mcpac.
  bool variable(std::string_view given, std::size_t& at, Read read, const std::string& place,
                std::string& out) {
    const auto rest = given.substr(at);
    // mcpac's own form, in a file that may be meant for it.
    if (variables_ == Variables::kAny && rest.starts_with("${file:")) return true;
    const auto [name, end, otherwise] = variable_at(given, at, read.is_script);
    if (name.empty()) {
      // What is wrong with a reference that may stand there is for mcpac.json to say.
      const bool has_references = variables_ == Variables::kAny || variables_ == Variables::kEnv;
      if (rest.starts_with("${env:") || rest.starts_with("${file:"))
        return has_references && rest.starts_with("${env:") && rest.contains('}') &&
               !is_default_of_ours(rest.substr(0, rest.find('}')));
      // ... which looks at no script.
      const bool reads_more = variables_ == Variables::kEnv || variables_ == Variables::kBraces;
      return !read.is_script || !rest.starts_with("${") || !reads_more;
    }
    // A shell has those that it sets, and those that every server gets.
    const std::string whole(name);
    if (read.is_script && variables_ == Variables::kAny && !rest.starts_with("${env:") &&
        (is_assigned(given, whole) || mcp::is_base_variable(name) || whole != uppered(whole)))
      return true;
    if (out.ends_with('$')) return false;  // "$${" is a text in mcpac.json
    if (variables_ != Variables::kNone) {
      const bool is_new = into_.variables.insert(whole).second;
      if (!otherwise) into_.optional.erase(whole);
      if (otherwise && is_new) into_.optional.insert(whole);
    }
    const std::string reference = otherwise ? fmt::format("${{env:{}:-{}}}", name, *otherwise)
                                            : fmt::format("${{env:{}}}", name);
    // A default may be a secret: it is not said.
    const auto shown = [&](std::string_view before) {
      return fmt::format("{}{}:-…}}", before, name);
    };
    if (const auto from = given.substr(at, end - at); from != reference)
      note(place, otherwise ? shown("${") : std::string(from),
           otherwise ? shown("${env:") : reference);
    out += reference;
    at = end;
    return true;
  }

  // "${env:NAME:-default" of a client that has no defaults: another name there, and ours would be
  // read as one.
  [[nodiscard]] bool is_default_of_ours(std::string_view begun) const {
    const auto read = mcp::variable_reference(begun.substr(6));
    return read && read->otherwise && !has_defaults();
  }

  // Which of them have "${NAME:-default}"; of an unknown client it is taken as meant.
  [[nodiscard]] bool has_defaults() const {
    return variables_ == Variables::kBraces || variables_ == Variables::kDollar ||
           variables_ == Variables::kAny;
  }

  static std::string uppered(std::string text) {
    for (char& c : text) {
      if (is_lower(c)) c = static_cast<char>(c - 'a' + 'A');
    }
    return text;
  }

  Variables variables_;
  Adopted& into_;
};

mcp::TextRole role_of(const std::string& member) {
  using enum mcp::TextRole;
  if (member == "command") return kProgram;
  if (member == "cwd") return kFolder;
  if (member == "env") return kVariable;
  if (member == "url" || member == "httpUrl" || member == "serverUrl") return kUrl;
  return kHeader;
}

// Some clients count in seconds: what may be either is asked about, and not taken.
void translate_timeout(const ClientKind& kind, const OrderedJson& given, Adopted& into) {
  constexpr std::int64_t kMostSeconds = 3'600;
  if (!given.is_number_integer()) {
    into.entry["timeout"] = given;
    return;
  }
  const auto count = given.get<std::int64_t>();
  if (kind.says_milliseconds && count > 0) {
    into.entry["timeout"] = mcp::duration_json(std::chrono::milliseconds(count));
  } else if (count > kMostSeconds || count < 1) {
    into.entry["timeout"] = given;
  } else {
    into.notes.push_back(
        fmt::format("\"timeout\": {0} is left out, for it may be seconds or milliseconds: write "
                    "\"timeout\": \"{0}s\" or \"{0}ms\" in mcpac.json",
                    count));
  }
}

// Codex says by other members what others say by references.
Result<void> translate_codex(const OrderedJson& given, Adopted& into) {
  const auto refer = [&into](const std::string& variable) {
    into.variables.insert(variable);
    return fmt::format("${{env:{}}}", variable);
  };
  for (const auto& [name, member] : given.items()) {
    if (name == "tool_timeout_sec" && member.is_number_integer() && member.get<double>() >= 1 &&
        member.get<double>() <= 86'400) {
      into.entry["timeout"] = fmt::format("{}s", member.get<std::int64_t>());
    } else if (name == "bearer_token_env_var" && member.is_string()) {
      into.entry["headers"]["Authorization"] = "Bearer " + refer(member.get<std::string>());
    } else if (name == "http_headers" && member.is_object()) {
      for (const auto& [header, value] : member.items()) into.entry["headers"][header] = value;
    } else if (name == "env_http_headers" && member.is_object()) {
      for (const auto& [header, variable] : member.items()) {
        if (!variable.is_string()) return fail(ErrorId::kConfigInvalid, "env_http_headers");
        into.entry["headers"][header] = refer(variable.get<std::string>());
      }
    } else if (name == "env_vars" && member.is_array()) {
      for (const auto& variable : member) {
        if (!variable.is_string()) return fail(ErrorId::kConfigInvalid, "env_vars");
        into.entry["env"][variable.get<std::string>()] = refer(variable.get<std::string>());
      }
    }
  }
  return {};
}

bool is_of_codex(const std::string& name) {
  return name == "bearer_token_env_var" || name == "http_headers" || name == "env_http_headers" ||
         name == "env_vars";
}

}  // namespace

bool looks_secret(const std::string& name, const std::string& value) {
  if (value.empty()) return false;
  if (const auto begin = value.find("${"); begin != std::string::npos) {
    // Of a reference only its default is a text.
    const auto mark = value.find(":-", begin);
    const auto end = value.find('}', begin);
    return mark < end && end != std::string::npos &&
           looks_secret(name, value.substr(mark + 2, end - mark - 2));
  }
  const std::string lower = lowered(name);
  for (const char* word : {"token", "key", "secret", "passw", "passphrase", "auth", "credential",
                           "cookie", "session", "private", "signature", "dsn", "connection"}) {
    if (lower.find(word) != std::string::npos) return true;
  }
  if (has_secret_part(name)) return true;
  if (value.find("://") != std::string::npos && value.find('@') != std::string::npos) return true;
  return value.size() >= 20 && std::ranges::any_of(value, is_digit) &&
         std::ranges::any_of(value, is_letter) && value.find_first_of(" /\\,") == std::string::npos;
}

Result<Adopted> convert(const ClientKind& kind, const std::string& name, const OrderedJson& entry) {
  if (!is_server_name(name))
    return fail(ErrorId::kConfigInvalid, "its name is none that mcpac.json can have");
  if (!entry.is_object()) return fail(ErrorId::kConfigInvalid, "it is no object");
  Adopted made;
  made.entry = OrderedJson::object();
  Translation translation(kind.variables, made);
  const std::string command =
      entry.contains("command") && entry["command"].is_string() ? entry["command"] : "";
  for (const auto& [member, value] : entry.items()) {
    if (member == "timeout") {
      translate_timeout(kind, value, made);
      continue;
    }
    auto translated = member == "args" && value.is_array()
                          ? translation.arguments(command, value)
                          : translation.value(value, role_of(member), member);
    if (!translated) return pass_on(translated);
    made.entry[member] = std::move(*translated);
  }
  return made;
}

Result<void> check_entry(const std::string& name, const OrderedJson& entry) {
  const OrderedJson whole{{"mcpServers", {{name, entry}}}};
  auto parsed = mcp::parse_config(to_text(whole), "its entry");
  if (!parsed) return pass_on(parsed);
  return {};
}

namespace {

// Zed had the program, its arguments and variables in an object "command" before it had them as
// others do; what one of its extensions starts is said in neither form.
Result<OrderedJson> flattened_of_zed(OrderedJson entry) {
  entry.erase("source");
  const auto command = entry.find("command");
  if (command != entry.end() && command->is_object()) {
    const OrderedJson nested = *command;
    entry.erase("command");
    for (const auto& [member, value] : nested.items())
      entry[member == "path" ? "command" : member] = value;
  }
  if (!entry.contains("command") && !entry.contains("url"))
    return fail(ErrorId::kConfigInvalid, "an extension of Zed starts it, which mcpac cannot read",
                {.fix = "write what it starts: \"command\" and \"args\""});
  entry.erase("settings");
  return entry;
}

}  // namespace

Result<Adopted> adopt(const ClientKind& kind, const std::string& name, const OrderedJson& given) {
  if (!given.is_object()) return fail(ErrorId::kConfigInvalid, "it is no object");
  auto flat = kind.id == "zed" ? flattened_of_zed(given) : Result<OrderedJson>(given);
  if (!flat) return pass_on(flat);
  const OrderedJson& entry = *flat;
  const bool is_codex = kind.variables == Variables::kForwarded;
  OrderedJson kept = OrderedJson::object();
  for (const auto& [member, value] : entry.items()) {
    if (std::ranges::find(kOfClient, member) != kOfClient.end()) continue;
    if (is_codex && is_of_codex(member)) continue;
    if (std::ranges::find(kRestrictions, member) != kRestrictions.end())
      return fail(ErrorId::kConfigInvalid,
                  fmt::format("the client restricts it by {}; mcpac would not", member));
    if ((member == "url" || member == "httpUrl") && value.is_string() &&
        has_credentials(value.get_ref<const std::string&>()))
      return fail(ErrorId::kConfigInvalid, "its URL has a query or a user, perhaps a secret");
    kept[member] = value;
  }
  auto made = convert(kind, name, kept);
  if (!made) return pass_on(made);
  if (is_codex) {
    if (auto done = translate_codex(entry, *made); !done) return pass_on(done);
  }
  // What it may be is for mcpac.json to say.
  if (auto fits = check_entry(name, made->entry); !fits) return pass_on(fits);
  for (const char* group : {"env", "headers"}) {
    const auto found = made->entry.find(group);
    if (found == made->entry.end()) continue;
    for (const auto& [member, value] : found->items()) {
      if (value.is_string() && looks_secret(member, value.get_ref<const std::string&>()))
        made->secrets.push_back({group, member});
    }
  }
  return made;
}

namespace {

bool is_script_file(std::string_view word) {
  constexpr std::array<std::string_view, 12> kEnds = {
      ".js", ".mjs", ".cjs", ".ts", ".mts", ".py", ".rb", ".sh", ".php", ".jar", ".pl", ".dll"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return word.ends_with(end); });
}

bool is_relative_file(std::string_view word, bool is_interpreted) {
  if (word == "." || word == ".." || word.starts_with("./") || word.starts_with("../")) return true;
  if (word.empty() || std::string_view("-/$~@").contains(word.front())) return false;
  if (word.find(':') != std::string_view::npos || !is_script_file(word)) return false;
  return is_interpreted || word.find('/') != std::string_view::npos;
}

bool is_interpreter(const std::string& command) {
  constexpr std::array<std::string_view, 18> kPrograms = {
      "node", "nodejs", "bun", "deno", "tsx", "ts-node", "python", "python3", "ruby",
      "php",  "perl",   "sh",  "bash", "zsh", "java",    "dotnet", "lua",     "Rscript"};
  const auto name = std::string_view(command).substr(command.rfind('/') + 1);  // npos + 1 is 0
  return std::ranges::find(kPrograms, name) != kPrograms.end();
}

std::string text_in(const OrderedJson& entry, const char* member) {
  return entry.is_object() && entry.contains(member) && entry[member].is_string()
             ? entry[member].get<std::string>()
             : std::string();
}

bool is_same_value(const std::string& ours, const std::string& theirs) {
  if (ours == theirs) return true;
  if (!ours.starts_with("${file:") || ours.find('}') + 1 != ours.size()) return false;
  mcp::SecretValues values;
  const auto kept = values.expand(ours, "");
  return kept && *kept == theirs;
}

bool are_same_values(const std::map<std::string, std::string>& ours,
                     const std::map<std::string, std::string>& theirs) {
  return std::ranges::equal(ours, theirs, [](const auto& one, const auto& other) {
    return one.first == other.first && is_same_value(one.second, other.second);
  });
}

std::string legal_form(std::string_view original) {
  constexpr std::size_t kLongest = 56;  // with room for "-2"
  std::string name;
  for (const char c : original) {
    if (is_bare(c))
      name += c;
    else if (!name.empty() && !name.ends_with('-'))
      name += '-';
  }
  name = name.substr(0, kLongest);
  while (name.ends_with('-')) name.pop_back();
  if (name.empty()) return "server";
  return is_server_name(name) ? name : name + "-server";
}

}  // namespace

std::string relative_part(const OrderedJson& entry) {
  const std::string folder = text_in(entry, "cwd");
  if (folder.starts_with('/') || folder.starts_with("${env:")) return "";
  if (!folder.empty()) return folder;
  const std::string command = text_in(entry, "command");
  if (command.find('/') != std::string::npos && !command.starts_with('/') &&
      !command.starts_with("${"))
    return command;
  if (command.empty() || !entry.contains("args") || !entry["args"].is_array()) return "";
  std::vector<std::string> words;
  for (const auto& word : entry["args"])
    words.push_back(word.is_string() ? word.get<std::string>() : std::string());
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (mcp::is_script(command, words, i)) continue;
    std::string word = words[i];
    if (const auto equals = word.find('='); word.starts_with('-') && equals != std::string::npos)
      word.erase(0, equals + 1);
    if (is_relative_file(word, is_interpreter(command))) return word;
  }
  return "";
}

std::filesystem::path folder_of_entries(const std::filesystem::path& file) {
  if (file.filename() == ".mcp.json") return file.parent_path();
  for (const char* folder : {".cursor", ".vscode", ".gemini", ".codex"}) {
    if (file.parent_path().filename() == folder) return file.parent_path().parent_path();
  }
  return {};
}

bool is_same_server(const OrderedJson& ours, const OrderedJson& theirs) {
  const auto read = [](const OrderedJson& entry) {
    return mcp::parse_config(to_text(OrderedJson{{"mcpServers", {{"s", entry}}}}), "");
  };
  const auto first = read(ours);
  const auto second = read(theirs);
  if (!first || !second) return false;
  const auto& one = first->servers[0];
  const auto& other = second->servers[0];
  return one.command == other.command && one.arguments == other.arguments && one.url == other.url &&
         one.working_directory == other.working_directory && one.auth == other.auth &&
         are_same_values(one.environment, other.environment) &&
         are_same_values(one.headers, other.headers);
}

std::map<std::string, std::string> legal_names(const std::vector<std::string>& originals,
                                               const IsOfAnother& is_of_another) {
  std::map<std::string, std::string> names;
  std::set<std::string> taken;
  for (const auto& original : originals) {
    if (is_server_name(original)) taken.insert(names[original] = original);
  }
  for (const auto& original : originals) {
    if (names.contains(original)) continue;
    const std::string form = legal_form(original);
    std::string name = form;
    for (int i = 2; taken.contains(name) || is_of_another(name, original); ++i)
      name = fmt::format("{}-{}", form, i);
    taken.insert(names[original] = name);
  }
  return names;
}

void give_variables(const ClientKind& kind, const std::set<std::string>& variables,
                    OrderedJson& entry, const std::set<std::string>& optional) {
  for (const std::string& name : variables) {
    switch (kind.variables) {
      case Variables::kNone:
      case Variables::kAny: break;
      case Variables::kEnv: entry["env"][name] = fmt::format("${{env:{}}}", name); break;
      case Variables::kBraces:
        entry["env"][name] = fmt::format("${{{}{}}}", name, optional.contains(name) ? ":-" : "");
        break;
      case Variables::kDollar: entry["env"][name] = "$" + name; break;
      case Variables::kForwarded: entry["env_vars"].push_back(name); break;
    }
  }
}

}  // namespace mcpac::project
