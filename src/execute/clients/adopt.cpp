#include "execute/clients/adopt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/ascii.h"
#include "core/permission.h"
#include "mcp/server_config.h"

namespace mcpac::execute {
namespace {

// What says something of the client alone, or how patient it is.
constexpr std::array<std::string_view, 5> kOfClient = {"startup_timeout_sec", "startup_timeout_ms",
                                                       "tool_timeout_sec", "required", "dev"};

// What holds a server back there: behind mcpac it would be let do more.
constexpr std::array<std::string_view, 3> kRestrictions = {"enabled_tools", "disabled_tools",
                                                           "sandboxEnabled"};

// What a URL may hold of secrets: mcpac.json is no place for them.
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

// Translates texts of one client; says why where it cannot.
class Translation {
 public:
  Translation(Variables variables, Adopted& into) : variables_(variables), into_(into) {}

  Result<std::string> text(const std::string& given) {
    std::string out;
    for (std::size_t at = 0; at < given.size();) {
      if (given[at] != '$') {
        out += given[at++];
        continue;
      }
      const auto before = at;
      if (!variable(given, at, out))
        return fail(ErrorId::kConfigInvalid,
                    "it names something that only the client knows, or mcpac would read otherwise");
      if (at == before) out += given[at++];
    }
    return out;
  }

  Result<OrderedJson> value(const OrderedJson& given) {
    if (given.is_string()) {
      auto translated = text(given.get_ref<const std::string&>());
      if (!translated) return pass_on(translated);
      return OrderedJson(std::move(*translated));
    }
    OrderedJson out = given;
    if (!given.is_structured()) return out;
    for (auto& [name, member] : out.items()) {
      auto translated = value(member);
      if (!translated) return translated;
      member = std::move(*translated);
    }
    return out;
  }

 private:
  // At a '$'. Moves `at` past what it is the beginning of; false: that is nothing for mcpac.
  bool variable(std::string_view given, std::size_t& at, std::string& out) {
    const bool braces = given.substr(at).starts_with("${");
    std::string_view name;
    std::size_t end = at;
    if (variables_ == Variables::kEnv && given.substr(at).starts_with("${env:")) {
      name = given.substr(at + 6, end_of_name(given, at + 6) - at - 6);
      end = at + 6 + name.size();
      if (end >= given.size() || given[end++] != '}') return false;
    } else if (braces && (variables_ == Variables::kBraces || variables_ == Variables::kDollar)) {
      name = given.substr(at + 2, end_of_name(given, at + 2) - at - 2);
      end = at + 2 + name.size();
      if (end >= given.size() || given[end++] != '}') return false;
    } else if (!braces && variables_ == Variables::kDollar) {
      name = given.substr(at + 1, end_of_name(given, at + 1) - at - 1);
      end = at + 1 + name.size();
      if (name.empty()) return true;  // a dollar
    } else {
      // Where the client takes ${…} for more than variables, nothing with it is moved.
      if (braces && variables_ == Variables::kEnv) return false;
      return !given.substr(at).starts_with("${env:") && !given.substr(at).starts_with("${file:");
    }
    if (name.empty()) return false;
    into_.variables.emplace(name);
    out += fmt::format("${{env:{}}}", name);
    at = end;
    return true;
  }

  Variables variables_;
  Adopted& into_;
};

// Codex says by other members what others say by references.
Result<void> translate_codex(const OrderedJson& given, Adopted& into) {
  const auto refer = [&into](const std::string& variable) {
    into.variables.insert(variable);
    return fmt::format("${{env:{}}}", variable);
  };
  for (const auto& [name, member] : given.items()) {
    if (name == "bearer_token_env_var" && member.is_string()) {
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
  if (value.empty() || value.find("${") != std::string::npos) return false;
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

Result<Adopted> adopt(const ClientKind& kind, const std::string& name, const OrderedJson& entry) {
  if (!is_server_name(name))
    return fail(ErrorId::kConfigInvalid, "its name is none that mcpac.json can have");
  if (!entry.is_object()) return fail(ErrorId::kConfigInvalid, "it is no object");
  Adopted made;
  made.entry = OrderedJson::object();
  Translation translation(kind.variables, made);
  const bool is_codex = kind.variables == Variables::kForwarded;
  for (const auto& [member, value] : entry.items()) {
    if (std::ranges::find(kOfClient, member) != kOfClient.end()) continue;
    if (is_codex && is_of_codex(member)) continue;
    if (std::ranges::find(kRestrictions, member) != kRestrictions.end())
      return fail(ErrorId::kConfigInvalid,
                  fmt::format("the client restricts it by {}; mcpac would not", member));
    if ((member == "url" || member == "httpUrl") && value.is_string() &&
        has_credentials(value.get_ref<const std::string&>()))
      return fail(ErrorId::kConfigInvalid, "its URL has a query or a user, perhaps a secret");
    auto translated = translation.value(value);
    if (!translated) return pass_on(translated);
    made.entry[member] = std::move(*translated);
  }
  if (is_codex) {
    if (auto done = translate_codex(entry, made); !done) return pass_on(done);
  }
  // What it may be is for mcpac.json to say.
  const OrderedJson whole{{"mcpServers", {{name, made.entry}}}};
  auto parsed = mcp::parse_config(to_text(whole), "its entry");
  if (!parsed) return pass_on(parsed);
  for (const char* group : {"env", "headers"}) {
    const auto found = made.entry.find(group);
    if (found == made.entry.end()) continue;
    for (const auto& [member, value] : found->items()) {
      if (value.is_string() && looks_secret(member, value.get_ref<const std::string&>()))
        made.secrets.push_back({group, member});
    }
  }
  return made;
}

void give_variables(const ClientKind& kind, const std::set<std::string>& variables,
                    OrderedJson& entry) {
  for (const std::string& name : variables) {
    switch (kind.variables) {
      case Variables::kNone: break;
      case Variables::kEnv: entry["env"][name] = fmt::format("${{env:{}}}", name); break;
      case Variables::kBraces: entry["env"][name] = fmt::format("${{{}}}", name); break;
      case Variables::kDollar: entry["env"][name] = "$" + name; break;
      case Variables::kForwarded: entry["env_vars"].push_back(name); break;
    }
  }
}

}  // namespace mcpac::execute
