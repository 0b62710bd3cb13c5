// SPDX-License-Identifier: Apache-2.0

#include "gateway/lists/client_name.h"

#include <algorithm>
#include <set>

#include "core/ascii.h"
#include "core/hash.h"

namespace mcpac::gateway {
namespace {

// Length of tool names that the models behind most clients accept.
constexpr std::size_t kMaxPlain = 64;
// 40 bits: enough that a tool's name is not found by chance, short enough to be read.
constexpr std::size_t kDigits = 10;
constexpr const char* kBetween = "__";  // a server and what it has

std::string plain(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return !is_bare(c); }, '_');
  return text;
}

std::string with_digits(std::string name, const Permission& permission, std::size_t limit) {
  name.resize(std::min(name.size(), limit - kDigits - 1));
  return name + "_" + sha256_hex(permission.text()).substr(0, kDigits);
}

std::string wished(const Permission& permission, NameForm form) {
  switch (form) {
    case NameForm::kDotted: return permission.text();
    case NameForm::kPlain: return plain(permission.server() + kBetween + permission.tool());
    case NameForm::kBare: break;
  }
  return permission.tool();
}

}  // namespace

std::string_view to_string(NameForm form) {
  switch (form) {
    case NameForm::kDotted: return "dotted";
    case NameForm::kPlain: return "plain";
    case NameForm::kBare: break;
  }
  return "bare";
}

std::map<std::string, Permission> client_names(const std::vector<Permission>& permissions,
                                               NameForm form, const std::set<std::string>& taken) {
  const auto is_free = [&](const std::string& name) {
    return (form != NameForm::kPlain || name.size() <= kMaxPlain) && !taken.contains(name);
  };
  const std::set<Permission> tools(permissions.begin(), permissions.end());
  std::map<std::string, std::vector<Permission>> wishes;
  for (const Permission& tool : tools) wishes[wished(tool, form)].push_back(tool);
  std::map<std::string, Permission> names;
  // Those with digits second: one that wishes for exactly such a name is left what it is called.
  for (const auto& [name, owners] : wishes) {
    if (owners.size() == 1 && is_free(name)) names.emplace(name, owners.front());
  }
  for (const auto& [name, owners] : wishes) {
    if (owners.size() == 1 && is_free(name)) continue;
    for (const Permission& tool : owners) {
      std::string unique = with_digits(name, tool, std::max(name.size() + kDigits + 1, kMaxPlain));
      if (form == NameForm::kPlain) unique = with_digits(name, tool, kMaxPlain);
      // A tool is called what our digits would make: then the whole digest tells them apart.
      if (names.contains(unique)) unique = sha256_hex(tool.text());
      names.emplace(std::move(unique), tool);
    }
  }
  return names;
}

namespace {

// Whether names of this server can be told from those of all others by their beginnings: they begin
// with its own name, which is not cut off, and not with that of another.
bool is_told_apart(const std::string& name, const std::string& server,
                   const std::set<std::string>& servers) {
  const std::string own = server + kBetween;
  return own.size() < kMaxPlain - kDigits && name.starts_with(own) &&
         std::ranges::none_of(servers, [&](const std::string& other) {
           return other.size() > server.size() && name.starts_with(other + kBetween);
         });
}

}  // namespace

std::map<std::string, Permission> names_of_prompts(const std::vector<Permission>& prompts,
                                                   NameForm form,
                                                   const std::set<std::string>& servers) {
  if (form == NameForm::kDotted || servers.size() < 2) return client_names(prompts, form);
  std::map<std::string, std::vector<Permission>> by_server;
  for (const Permission& prompt : prompts) by_server[prompt.server()].push_back(prompt);
  std::map<std::string, Permission> names;
  for (const auto& [server, own] : by_server) {
    for (const auto& [name, prompt] : client_names(own, NameForm::kPlain)) {
      const bool is_clear = is_told_apart(name, server, servers);
      names.emplace(is_clear ? name : sha256_hex(prompt.text()), prompt);
    }
  }
  return names;
}

}  // namespace mcpac::gateway
