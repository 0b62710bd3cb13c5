// SPDX-License-Identifier: Apache-2.0

// Placeholders of other programs in an entry of a server: `${API_KEY}`, `${input:key}`, `~`,
// `%USERPROFILE%`. Another client may replace them; mcpac has `${env:NAME}`, `${env:NAME:-default}`
// and `${file:PATH}` alone, and would hand the rest to the server as text. Pure.
//
// `$${` is how a text says `${` (SecretValues takes one dollar off).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpac::mcp {

enum class TextRole : std::uint8_t {
  kProgram,
  kFolder,
  kPlace,  // of "files" in a sandbox
  kArgument,
  kVariable,
  kUrl,
  kHeader
};

struct Foreign {
  std::string text;  // as it stands, at most 60 bytes: "${API_KEY}"
  std::string what;  // completes "… holds ${API_KEY}, "
  std::string fix;
};

// The first one, or a path of Windows. Of arguments and variables only what is surely none of the
// server's own: "$NAME" and a leading "~" are left to it.
[[nodiscard]] std::optional<Foreign> foreign_text(std::string_view text, TextRole role);

// A program that no Linux can start by that name: "cmd /c", "npx.cmd", "powershell", a path of
// macOS. `text` is the command.
[[nodiscard]] std::optional<Foreign> foreign_program(const std::string& command,
                                                     const std::vector<std::string>& arguments);

// What stands behind "env:" of a reference: a variable, and what stands for it where it is not set
// or empty ("NAME:-default", as shells have it). The default is text: no reference is in it.
struct VariableReference {
  std::string_view name;
  std::optional<std::string_view> otherwise{};
};
[[nodiscard]] std::optional<VariableReference> variable_reference(std::string_view body);

// What foreign_text() leaves to a server, and a person may have meant otherwise: a "~" and "$NAME"
// in arguments and variables, each with what mcpac has for it. No value of a variable is in it.
[[nodiscard]] std::vector<std::string> left_as_text(
    const std::string& command, const std::vector<std::string>& arguments,
    const std::map<std::string, std::string>& environment);

// The argument is a script of a shell, or goes to another machine's (ssh): `$` and `~` are its own.
[[nodiscard]] bool is_script(const std::string& command, const std::vector<std::string>& arguments,
                             std::size_t index);

// "workspaceFolder": no variable, although it looks like one.
[[nodiscard]] bool is_of_client(std::string_view name);

// The length of "$NAME" where it is one variable in capitals at the beginning of a word; 0: it is
// not.
[[nodiscard]] std::size_t plain_variable(std::string_view text, std::size_t at);

}  // namespace mcpac::mcp
