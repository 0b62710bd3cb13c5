// SPDX-License-Identifier: Apache-2.0

#include "project/clients/literal_secrets.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "core/ascii.h"
#include "project/clients/adopt.h"

namespace mcpac::project {
namespace {

constexpr std::size_t kMaxShown = 60;

bool is_word_of_key(std::string_view text) {
  return std::ranges::all_of(text, is_bare);
}

// Of Base64.
std::string_view without_padding(std::string_view text) {
  return text.substr(0, text.find_last_not_of('=') + 1);
}

// "https://user:password@host", or "?key=…".
bool is_url_with_secret(const std::string& url) {
  if (looks_secret("", url) && url.find('@') != std::string::npos) return true;
  std::string_view rest = url;
  rest.remove_prefix(std::min(rest.find('?'), rest.size()));
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const auto pair = rest.substr(0, rest.find('&'));
    const auto equals = std::min(pair.find('='), pair.size());
    const auto value = pair.substr(std::min(equals + 1, pair.size()));
    if (looks_secret(std::string(pair.substr(0, equals)), std::string(value))) return true;
    rest.remove_prefix(pair.size());
  }
  return false;
}

// An argument: by the option that it is of, and else only where it is one long word, for names of
// packages and files look like much.
bool is_secret_argument(const std::string& option, const std::string& value) {
  if (!option.empty() && looks_secret(option, value)) return true;
  if (value.find("://") != std::string::npos) return is_url_with_secret(value);
  // "Authorization: Bearer …", of programs that take headers.
  const auto colon = value.find(':');
  if (colon != std::string::npos && is_word_of_key(value.substr(0, colon)))
    return looks_secret(value.substr(0, colon), value.substr(colon + 1));
  return is_word_of_key(without_padding(value)) && looks_secret("", value);
}

struct Argument {
  std::string text;
  std::string option;  // that stands before, and has no value yet
  [[nodiscard]] bool is_option() const { return text.starts_with('-'); }
  // "--token=…", and "TOKEN=…" for programs that set variables; npos: neither.
  [[nodiscard]] std::size_t equals() const {
    const auto at = text.find('=');
    if (at == std::string::npos || !is_word_of_key(text.substr(0, at))) return std::string::npos;
    const bool is_padding = text.find_first_not_of('=', at) == std::string::npos;
    return is_padding && !is_option() ? std::string::npos : at;
  }
};

// What it is called where it is a secret, perhaps nothing. What stands before "=" may be a part of
// the secret, too: behind an option that is for one, or where it looks like one.
std::optional<std::string> name_of_secret(const Argument& argument) {
  const auto& [text, option] = argument;
  if (!argument.is_option() && !option.empty() && looks_secret(option, "x") &&
      looks_secret(option, text))
    return option;
  const auto equals = argument.equals();
  if (equals != std::string::npos) {
    std::string name = text.substr(0, equals);
    if (!is_secret_argument(name, text.substr(equals + 1))) return std::nullopt;
    return argument.is_option() || !looks_secret("", name) ? name : std::string();
  }
  if (argument.is_option() || !is_secret_argument(option, text)) return std::nullopt;
  return option;
}

void add_arguments(const OrderedJson& arguments, std::vector<std::string>& places) {
  std::string option;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_string()) continue;
    const Argument argument{arguments[i].get_ref<const std::string&>(), option};
    if (const auto name = name_of_secret(argument))
      places.push_back(name->empty() || name->size() > kMaxShown
                           ? fmt::format("args[{}]", i)
                           : fmt::format("args[{}] ({})", i, *name));
    const bool has_value = argument.equals() != std::string::npos;
    option = argument.is_option() && !has_value ? argument.text : "";
  }
}

// `only`: of these names; empty: of any.
void add_members(const std::string& group, const OrderedJson& members,
                 std::vector<std::string>& places, const std::set<std::string>& only = {}) {
  for (const auto& [name, value] : members.items()) {
    if (!only.empty() && !only.contains(name)) continue;
    if (value.is_string() && looks_secret(name, value.get_ref<const std::string&>()))
      places.push_back(fmt::format("{}.{}", group, name));
  }
}

}  // namespace

std::vector<std::string> literal_secrets(const OrderedJson& entry) {
  std::vector<std::string> places;
  if (!entry.is_object()) return places;
  for (const auto& [name, member] : entry.items()) {
    if ((name == "env" || name == "headers") && member.is_object())
      add_members(name, member, places);
    if (name == "auth" && member.is_object())
      add_members(name, member, places, {"clientSecret", "privateKey"});
    if (name == "args" && member.is_array()) add_arguments(member, places);
    if ((name == "url" || name == "httpUrl" || name == "serverUrl") && member.is_string() &&
        is_url_with_secret(member.get_ref<const std::string&>()))
      places.push_back(name);
  }
  return places;
}

}  // namespace mcpac::project
