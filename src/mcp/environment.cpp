// SPDX-License-Identifier: Apache-2.0

#include "mcp/environment.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "mcp/proxy.h"

namespace mcpac::mcp {

bool is_base_variable(std::string_view name) {
  constexpr std::array<std::string_view, 9> kNames = {"PATH", "HOME",    "LANG",  "TERM", "TMPDIR",
                                                      "USER", "LOGNAME", "SHELL", "PWD"};
  return std::ranges::find(kNames, name) != kNames.end() || name.starts_with("LC_") ||
         name.starts_with("XDG_");
}

std::vector<std::string> make_environment(const std::map<std::string, std::string>& configured,
                                          VariablesFor whom) {
  std::map<std::string, std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const auto name = text.substr(0, equals);
    // PWD is ours, not the server's; functions that old shells export are code.
    const auto value = text.substr(equals + 1);
    const bool passes =
        whom == VariablesFor::kConfined
            ? name == "PATH" || name == "LANG" || name == "TZ" || name.starts_with("LC_")
            : is_base_variable(name) || is_network_variable(name);
    if (passes && name != "PWD" && !value.starts_with("()")) {
      all.emplace(name, value);
    }
  }
  for (const auto& [name, value] : configured) all.insert_or_assign(name, value);
  std::vector<std::string> out;
  for (const auto& [name, value] : all) out.push_back(name + "=" + value);
  return out;
}

Result<std::string> find_program(const std::string& command,
                                 const std::vector<std::string>& environment) {
  if (command.find('/') != std::string::npos) return command;
  std::string_view path = "/usr/local/bin:/usr/bin:/bin";
  for (const auto& variable : environment) {
    if (variable.starts_with("PATH=")) path = std::string_view(variable).substr(5);
  }
  while (!path.empty()) {
    const auto folder = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(path.size(), folder.size() + 1));
    if (!folder.starts_with('/')) continue;
    const std::string candidate = fmt::format("{}/{}", folder, command);
    struct stat status {};
    if (::stat(candidate.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return fail(ErrorId::kServerStart, fmt::format("the program \"{}\" was not found", command),
              {.why = "no folder of PATH holds it",
               .fix = "install it, or write its absolute path as \"command\""});
}

}  // namespace mcpac::mcp
