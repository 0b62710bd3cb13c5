// SPDX-License-Identifier: Apache-2.0

#include "core/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "core/ascii.h"
#include "core/printable.h"

namespace mcpac {
namespace {

// A tool needs a handful of things; a manifest speaks of some dozens of tools.
constexpr std::size_t kMaxClaims = 256;
constexpr std::size_t kMaxDropped = 8;  // told one by one
constexpr std::size_t kMaxPath = 1'024;
constexpr std::size_t kMaxHost = 262;  // a name of 253 characters, and a port
constexpr std::size_t kMaxWord = 256;

using Kind = Claim::Kind;
struct Effect {
  std::string_view name;
  Kind kind;
};
// Of docs/configuration.md, and of AgentBound's manifests (arXiv 2510.21236, table 1).
constexpr auto kEffects = std::to_array<Effect>({
    {"FsRead", Kind::kReadFiles},
    {"FsWrite", Kind::kWriteFiles},
    {"NetRead", Kind::kNetwork},
    {"NetWrite", Kind::kNetwork},
    {"Exec", Kind::kProgram},
    {"EnvRead", Kind::kVariable},
    {"DbRead", Kind::kOther},
    {"DbWrite", Kind::kOther},
    {"WasmExec", Kind::kOther},
    {"ClockRead", Kind::kOther},
    {"mcp.ac.filesystem.read", Kind::kReadFiles},
    {"mcp.ac.filesystem.write", Kind::kWriteFiles},
    {"mcp.ac.filesystem.delete", Kind::kWriteFiles},
    {"mcp.ac.network.client", Kind::kNetwork},
    {"mcp.ac.system.exec", Kind::kProgram},
    {"mcp.ac.system.env.read", Kind::kVariable},
});
constexpr std::string_view kAgentBound = "mcp.ac.";

std::optional<Kind> kind_of_effect(std::string_view effect) {
  const auto found = std::ranges::find(kEffects, effect, &Effect::name);
  if (found != kEffects.end()) return found->kind;
  const bool is_plain =
      std::ranges::all_of(effect, [](char c) { return is_lower(c) || is_digit(c) || c == '.'; });
  if (effect.starts_with(kAgentBound) && effect.size() > kAgentBound.size() && is_plain)
    return Kind::kOther;
  return std::nullopt;
}

// A text that a reader sees as it is.
bool is_seen(std::string_view text, std::size_t at_most) {
  return !text.empty() && text.size() <= at_most && printable(text, text.size()) == text;
}

bool is_path(std::string_view path) {
  if (!is_seen(path, kMaxPath)) return false;
  for (std::string_view rest = path; !rest.empty();) {
    const auto part = rest.substr(0, rest.find('/'));
    if (part == "..") return false;
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  return !path.starts_with('~') || path == "~" || path.starts_with("~/");
}

std::string normal_path(std::string_view path) {
  const bool says_where =
      path.starts_with('/') || path.starts_with("./") || path.starts_with('~') || path == ".";
  return says_where ? std::string(path) : fmt::format("./{}", path);
}

bool is_port(std::string_view port) {
  if (port == "*") return true;
  if (port.empty() || port.size() > 5 || !std::ranges::all_of(port, is_digit)) return false;
  int number = 0;
  for (const char c : port) number = number * 10 + (c - '0');
  return number > 0 && number < 65'536;
}

// "api.example.com:443" of "api.example.com", "https://api.example.com/v1", "[fd00::/8]:443".
std::optional<std::string> host_and_port(std::string_view text) {
  if (!is_seen(text, kMaxPath)) return std::nullopt;
  std::string_view port = "443";
  for (const auto& [scheme, standard] : {std::pair("https://", "443"), std::pair("http://", "80"),
                                         std::pair("wss://", "443"), std::pair("ws://", "80")}) {
    if (!text.starts_with(scheme)) continue;
    port = standard;
    text.remove_prefix(std::string_view(scheme).size());
    text = text.substr(0, text.find_first_of("/?#"));
    break;
  }
  std::string_view host = text;
  const auto colon = text.rfind(':');
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = text.substr(0, end + 1);
    if (text.size() > end + 1 && text[end + 1] != ':') return std::nullopt;
    if (text.size() > end + 1) port = text.substr(end + 2);
  } else if (colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  const bool is_literal = host.starts_with('[') && host.size() > 2;
  const auto fits = [&](char c) {
    return is_literal ? is_alphanumeric(c) || std::string_view("[]:./").contains(c)
                      : is_alphanumeric(c) || std::string_view("-_.*/").contains(c);
  };
  if (host.empty() || !std::ranges::all_of(host, fits) || !is_port(port)) return std::nullopt;
  std::string whole = fmt::format("{}:{}", lowered(host), port);
  if (whole.size() > kMaxHost) return std::nullopt;
  return whole;
}

bool is_variable(std::string_view name) {
  return !name.empty() && name.size() <= kMaxWord && !is_digit(name[0]) &&
         std::ranges::all_of(name, is_word);
}

// The member that names what a claim of this kind is about.
std::string_view target_name(Kind kind) {
  switch (kind) {
    case Kind::kReadFiles:
    case Kind::kWriteFiles: return "path";
    case Kind::kNetwork: return "host";
    case Kind::kProgram: return "program";
    case Kind::kVariable: return "variable";
    case Kind::kOther: break;
  }
  return "";
}

// Empty where the text is no such target.
std::string target_of(Kind kind, const std::string& text) {
  switch (kind) {
    case Kind::kReadFiles:
    case Kind::kWriteFiles: return is_path(text) ? normal_path(text) : "";
    case Kind::kNetwork: return host_and_port(text).value_or("");
    case Kind::kProgram: return is_seen(text, kMaxWord) ? text : "";
    case Kind::kVariable: return is_variable(text) ? text : "";
    case Kind::kOther: break;
  }
  return "";
}

// Why an entry is no claim, for a person; empty where `claim` has it.
std::string read_claim(const OrderedJson& entry, Claim& claim) {
  if (entry.is_string()) {
    claim.effect = entry.get<std::string>();
    return kind_of_effect(claim.effect)
               ? ""
               : fmt::format("\"{}\" is no effect", printable(claim.effect, 80));
  }
  if (!entry.is_object()) return "it is no object and no text";
  for (const char* name : {"effect", "permission"}) {
    const auto found = entry.find(name);
    if (found == entry.end()) continue;
    if (!found->is_string() || !claim.effect.empty()) return "it has no one \"effect\"";
    claim.effect = found->get<std::string>();
  }
  const auto kind = kind_of_effect(claim.effect);
  if (!kind) return fmt::format("\"{}\" is no effect", printable(claim.effect, 80));
  for (const auto& [name, value] : entry.items()) {
    if (name == "effect" || name == "permission" || name == "description" || name == "reason")
      continue;
    if (name == "required") {
      if (!value.is_boolean()) return "\"required\" is not true or false";
      claim.required = value.get<bool>();
      continue;
    }
    const bool is_target = !target_name(*kind).empty() && name == target_name(*kind);
    if (!is_target && name != "argument" && name != "tool")
      return fmt::format("\"{}\" is no member of {}", printable(name, 80), claim.effect);
    if (!value.is_string()) return fmt::format("\"{}\" is no text", name);
    const auto& text = value.get_ref<const std::string&>();
    std::string& into = is_target ? claim.target : name == "argument" ? claim.argument : claim.tool;
    into = is_target ? target_of(*kind, text) : is_seen(text, kMaxWord) ? text : "";
    if (into.empty())
      return fmt::format("\"{}\" is no {} for {}", printable(text, 80), name, claim.effect);
  }
  if (!claim.target.empty() && !claim.argument.empty())
    return fmt::format("it has \"argument\" beside \"{}\"", target_name(*kind));
  return "";
}

void drop(Claims& claims, std::string why, std::size_t& left) {
  if (claims.dropped.size() < kMaxDropped) {
    claims.dropped.push_back(std::move(why));
  } else {
    ++left;
  }
}

void sort(Claims& claims) {
  std::ranges::sort(claims.list);
  const auto twice = std::ranges::unique(claims.list);
  claims.list.erase(twice.begin(), twice.end());
}

void add_claims(const OrderedJson& value, Claims& claims) {
  if (!value.is_array()) {
    claims.dropped.emplace_back("what it says that it needs is no list");
    return;
  }
  std::size_t left = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (claims.list.size() >= kMaxClaims) {
      claims.dropped.push_back(
          fmt::format("of what it says that it needs, only {} are read", kMaxClaims));
      break;
    }
    Claim claim;
    if (auto why = read_claim(value[i], claim); !why.empty()) {
      drop(claims, fmt::format("entry {} of what it says that it needs is left out: {}", i, why),
           left);
    } else {
      claims.list.push_back(std::move(claim));
    }
  }
  if (left > 0) claims.dropped.push_back(fmt::format("{} more are left out as well", left));
  sort(claims);
}

std::string about(const Claim& claim, std::string_view verb, std::string_view all) {
  if (!claim.target.empty()) return fmt::format("{} {}", verb, claim.target);
  if (!claim.argument.empty())
    return fmt::format("{} what its argument \"{}\" names", verb, claim.argument);
  return std::string(all);
}

}  // namespace

Kind Claim::kind() const {
  return kind_of_effect(effect).value_or(Kind::kOther);
}

Claims read_claims(const OrderedJson& value) {
  Claims claims;
  add_claims(value, claims);
  return claims;
}

Claims claims_of_tool(const OrderedJson& definition) {
  if (!definition.is_object()) return {};
  const auto meta = definition.find("_meta");
  if (meta == definition.end() || !meta->is_object()) return {};
  const auto effects = meta->find(kEffectsMember);
  Claims claims = effects == meta->end() ? Claims() : read_claims(*effects);
  // Whose they are is known: a tool speaks of itself.
  for (Claim& claim : claims.list) claim.tool.clear();
  sort(claims);
  return claims;
}

Claims read_manifest(std::string_view text) {
  Claims claims;
  const auto root =
      parse_ordered_json(text, "its manifest", {.max_bytes = kMaxManifestBytes, .max_depth = 16});
  if (!root || !root->is_object()) {
    claims.dropped.push_back(
        fmt::format("its manifest is left out: {}",
                    root ? "it is no JSON object" : printable(root.error().what)));
    return claims;
  }
  bool says = false;
  for (const char* name : {"effects", "permissions"}) {
    const auto found = root->find(name);
    if (found == root->end()) continue;
    says = true;
    add_claims(*found, claims);
  }
  if (!says)
    claims.dropped.emplace_back(
        R"(its manifest is left out: it has neither "effects" nor "permissions")");
  return claims;
}

void write_claims(OrderedJson& definition, const std::vector<Claim>& claims) {
  if (!definition.is_object()) return;
  const auto meta = definition.find("_meta");
  if (meta == definition.end() || !meta->is_object()) return;
  const auto effects = meta->find(kEffectsMember);
  if (effects == meta->end()) return;
  if (claims.empty()) {
    meta->erase(effects);
  } else {
    *effects = to_json(claims);
  }
}

OrderedJson to_json(const std::vector<Claim>& claims) {
  OrderedJson all = OrderedJson::array();
  for (const Claim& claim : claims) {
    OrderedJson one = {{"effect", claim.effect}};
    if (!claim.tool.empty()) one["tool"] = claim.tool;
    if (!claim.target.empty()) one[std::string(target_name(claim.kind()))] = claim.target;
    if (!claim.argument.empty()) one["argument"] = claim.argument;
    one["required"] = claim.required;
    all.push_back(std::move(one));
  }
  return all;
}

std::string words_of(const Claim& claim) {
  switch (claim.kind()) {
    case Kind::kReadFiles: return about(claim, "reads", "reads files");
    case Kind::kWriteFiles: return about(claim, "writes", "writes files");
    case Kind::kNetwork: return about(claim, "network", "network");
    case Kind::kProgram: return about(claim, "starts", "starts programs");
    case Kind::kVariable: return about(claim, "variable", "variables");
    case Kind::kOther: break;
  }
  return claim.argument.empty() ? claim.effect : about(claim, claim.effect, "");
}

std::string text_of(const Claim& claim) {
  return fmt::format("{}{}{} ({})", claim.tool, claim.tool.empty() ? "" : ": ", words_of(claim),
                     claim.required ? "required" : "optional");
}

std::string text_of(const std::vector<Claim>& claims) {
  constexpr std::size_t kNamed = 8;
  std::string text;
  for (std::size_t i = 0; i < claims.size() && i < kNamed; ++i)
    text += (i == 0 ? "says it needs: " : "; ") + text_of(claims[i]);
  if (claims.size() > kNamed) text += fmt::format("; {} more", claims.size() - kNamed);
  return text;
}

std::vector<Claim> claims_about(const std::vector<Claim>& of_server, std::string_view tool) {
  std::vector<Claim> found;
  std::ranges::copy_if(of_server, std::back_inserter(found), [&](const Claim& claim) {
    return claim.tool.empty() || claim.tool == tool;
  });
  return found;
}

}  // namespace mcpac
