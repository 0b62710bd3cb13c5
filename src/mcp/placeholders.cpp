// SPDX-License-Identifier: Apache-2.0

#include "mcp/placeholders.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "core/ascii.h"

namespace mcpac::mcp {
namespace {

constexpr std::size_t kLongestShown = 60;

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_variable(std::string_view name) {
  return !name.empty() && !is_digit(name.front()) && std::ranges::all_of(name, is_word);
}

std::string shown_placeholder(std::string_view text) {
  return text.size() <= kLongestShown ? std::string(text)
                                      : std::string(text.substr(0, kLongestShown)) + "…";
}

constexpr std::array<std::string_view, 9> kOfFolders = {"workspaceFolder",
                                                        "workspaceRoot",
                                                        "workspaceFolderBasename",
                                                        "cwd",
                                                        "__dirname",
                                                        "projectRoot",
                                                        "fileDirname",
                                                        "file",
                                                        "CLAUDE_PLUGIN_ROOT"};
constexpr std::array<std::string_view, 6> kOfEditors = {
    "pathSeparator", "/", "execPath", "extensionPath", "selectedText", "lineNumber"};

// Text between "${" and "}", which is no reference of mcpac.
Foreign foreign_reference(std::string_view whole, std::string_view body) {
  const auto folder = std::string(R"(write the folder's path; relative ones count from the folder )"
                                  R"(that mcpac is started in)");
  Foreign found{shown_placeholder(whole), "", ""};
  const auto name = body.substr(0, body.find(':'));
  if (is_one_of(name, kOfFolders)) {
    found.what = "which only the client knows";
    found.fix = folder;
  } else if (body == "userHome") {
    found.what = "which only the client knows";
    found.fix = "write ${env:HOME}";
  } else if (name == "input" || body.starts_with("user_config.")) {
    found.what = "which the client asks for";
    found.fix = "write ${env:NAME} for a variable, or ${file:PATH} for a file";
  } else if (is_one_of(body, kOfEditors) || name == "config" || name == "command") {
    found.what = "which only the client knows";
    found.fix = "write what it stands for";
  } else if (is_variable(body)) {
    found.what = "which is no reference of mcpac";
    found.fix = fmt::format("write ${{env:{0}}} for the variable, $${{{0}}} for this text", body);
  } else if (const auto end = body.substr(name == "env" ? 4 : 0);
             is_variable(end.substr(0, end.find_first_of(":-?+=")))) {
    const auto variable = end.substr(0, end.find_first_of(":-?+="));
    found.what = "a variable with more than its name";
    found.fix =
        variable_reference(end)
            ? fmt::format("write ${{env:{0}:-…}} with this default, or ${{env:{0}}} and set it",
                          variable)
            : fmt::format(
                  "write ${{env:{0}}} and set it, ${{env:{0}:-TEXT}} with a default "
                  "that holds no reference, or the value",
                  variable);
  } else {
    found.what = "which is no reference of mcpac";
    found.fix = "write ${env:NAME}, ${file:PATH} or the value; $${ for a ${ of the text";
  }
  return found;
}

std::optional<Foreign> dollar(std::string_view text, std::size_t& at, TextRole role) {
  const auto rest = text.substr(at);
  if (rest.starts_with("$${")) {
    at += 3;
    return std::nullopt;
  }
  if (!rest.starts_with("${")) {
    const auto length = plain_variable(text, at);
    const bool is_text = role == TextRole::kArgument || role == TextRole::kVariable;
    if (length == 0 || is_text) return std::nullopt;
    return Foreign{shown_placeholder(rest.substr(0, length)), "which is no reference of mcpac",
                   fmt::format("write ${{env:{}}}", rest.substr(1, length - 1))};
  }
  const bool is_double = rest.starts_with("${{");
  const auto end = rest.find(is_double ? "}}" : "}");
  if (end == std::string_view::npos) return std::nullopt;  // "${env:" without its end: expand()
  const auto whole = rest.substr(0, end + (is_double ? 2 : 1));
  const auto body = rest.substr(2, end - 2);
  if (body.starts_with("file:") && body.size() > 5) {
    at += end;
    return std::nullopt;
  }
  if (body.starts_with("env:") && variable_reference(body.substr(4))) {
    at += end;
    return std::nullopt;
  }
  if (body.empty()) return std::nullopt;
  return foreign_reference(whole, body);
}

// "%USERPROFILE%": in capitals, so that "%H%M" of a date is none.
std::optional<Foreign> percent(std::string_view text, std::size_t at) {
  constexpr std::size_t kShortest = 3;
  auto end = at + 1;
  while (end < text.size() &&
         (is_upper(text[end]) || (end > at + 1 && (is_digit(text[end]) || text[end] == '_'))))
    ++end;
  if (end >= text.size() || text[end] != '%' || end - at - 1 < kShortest) return std::nullopt;
  const auto name = text.substr(at + 1, end - at - 1);
  return Foreign{
      shown_placeholder(text.substr(at, end + 1 - at)), "a variable as Windows writes it",
      fmt::format("write ${{env:{}}}, and / between folders",
                  name == "USERPROFILE" || name == "HOMEPATH" ? std::string_view("HOME") : name)};
}

// "C:\…" or "\\server\share", at the beginning or as the value of an option.
bool is_windows_path(std::string_view text) {
  const auto begins = [](std::string_view path) {
    if (path.size() > 2 && is_letter(path[0]) && path[1] == ':')
      return path[2] == '\\' || (path[2] == '/' && is_upper(path[0]));
    const auto name = path.starts_with("\\\\") ? path.substr(2) : std::string_view();
    return !name.empty() && is_alphanumeric(name.front()) &&
           name.find('\\') != std::string_view::npos && name.find(' ') == std::string_view::npos;
  };
  const auto equals = text.find('=');
  return begins(text) || (text.starts_with('-') && equals != std::string_view::npos &&
                          begins(text.substr(equals + 1)));
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.find_last_of("/\\") + 1);  // npos + 1 is 0
}

std::string stem_of(std::string_view program) {
  const std::string name = lowered(last_part(program));
  return name.substr(0, name.rfind('.'));
}

}  // namespace

std::optional<VariableReference> variable_reference(std::string_view body) {
  const auto mark = body.find(":-");
  VariableReference read{body.substr(0, mark)};
  if (mark != std::string_view::npos) read.otherwise = body.substr(mark + 2);
  const bool is_plain = !read.otherwise || read.otherwise->find("${") == std::string_view::npos;
  return is_variable(read.name) && is_plain ? std::optional(read) : std::nullopt;
}

bool is_of_client(std::string_view name) {
  return name == "userHome" || is_one_of(name, kOfFolders) || is_one_of(name, kOfEditors);
}

std::size_t plain_variable(std::string_view text, std::size_t at) {
  if (at > 0 && !std::string_view("/:= ,\"'").contains(text[at - 1])) return 0;
  auto end = at + 1;
  while (end < text.size() &&
         (is_upper(text[end]) || text[end] == '_' || (end > at + 1 && is_digit(text[end]))))
    ++end;
  const bool ends = end == text.size() || !is_word(text[end]);
  return ends && end > at + 2 ? end - at : 0;
}

std::optional<Foreign> foreign_text(std::string_view text, TextRole role) {
  const bool is_place =
      role == TextRole::kProgram || role == TextRole::kFolder || role == TextRole::kPlace;
  if (role == TextRole::kPlace && text.starts_with("~/"))
    return Foreign{"~", "which only a shell replaces",
                   fmt::format("write \"${{env:HOME}}{}\"", shown_placeholder(text.substr(1)))};
  if (role == TextRole::kPlace && (text == "~" || text.starts_with("~:")))
    return Foreign{"~", "which only a shell replaces",
                   R"(name folders in it, like "${env:HOME}/.config/NAME")"};
  if (is_place && text.starts_with('~'))
    return Foreign{shown_placeholder(text.substr(0, text.find('/'))), "which only a shell replaces",
                   role == TextRole::kFolder ? "write the whole path, or ${env:HOME} in \"cwd\""
                                             : "write ${env:HOME}"};
  if (role != TextRole::kUrl && role != TextRole::kHeader && is_windows_path(text))
    return Foreign{"a path of Windows", "",
                   "write the path as this system has it (/mnt/c/… in WSL)"};
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '$') {
      if (auto found = dollar(text, at, role)) return found;
    } else if (text[at] == '{') {
      const auto rest = text.substr(at);
      const auto end = rest.find('}');
      if ((at == 0 || text[at - 1] != '$') && end != std::string_view::npos &&
          (rest.starts_with("{env:") || rest.starts_with("{file:")))
        return Foreign{shown_placeholder(rest.substr(0, end + 1)), "which is no reference of mcpac",
                       fmt::format("write ${}", shown_placeholder(rest.substr(0, end + 1)))};
    } else if (text[at] == '%' && role != TextRole::kUrl) {
      if (auto found = percent(text, at)) return found;
    }
  }
  return std::nullopt;
}

std::optional<Foreign> foreign_program(const std::string& command,
                                       const std::vector<std::string>& arguments) {
  constexpr std::array<std::string_view, 4> kEnds = {".exe", ".cmd", ".bat", ".ps1"};
  const std::string lower = lowered(command);
  if (is_windows_path(command))
    return Foreign{command, "a program of Windows",
                   fmt::format("write \"{}\", which is looked for in PATH", stem_of(command))};
  if (lower.starts_with("/applications/") || lower.starts_with("/opt/homebrew/"))
    return Foreign{command, "a program of macOS",
                   fmt::format("write \"{}\", which is looked for in PATH", last_part(command))};
  if (command.find('/') != std::string::npos) return std::nullopt;
  const std::string stem = stem_of(command);
  const bool has_end =
      std::ranges::any_of(kEnds, [&](std::string_view end) { return lower.ends_with(end); });
  const bool is_switch = !arguments.empty() && arguments[0].size() == 2 && arguments[0][0] == '/';
  if (stem == "cmd" && (has_end || is_switch))
    return Foreign{command, "the shell of Windows",
                   is_switch && arguments.size() > 1
                       ? fmt::format("write \"{}\" as \"command\", and the rest as \"args\"",
                                     lowered(arguments[1]).ends_with(".cmd") ? stem_of(arguments[1])
                                                                             : arguments[1])
                       : std::string("name the program itself")};
  if (stem == "powershell")
    return Foreign{command, "a shell of Windows",
                   "name the program itself, or pwsh where this system has it"};
  if (has_end)
    return Foreign{
        command, "a program of Windows",
        fmt::format("write \"{}\", or its whole path where this system can start it", stem)};
  return std::nullopt;
}

std::vector<std::string> left_as_text(const std::string& command,
                                      const std::vector<std::string>& arguments,
                                      const std::map<std::string, std::string>& environment) {
  constexpr std::string_view kGoes = "goes to the server as it stands";
  std::vector<std::string> found;
  const auto look = [&](const std::string& place, std::string_view text, bool is_value) {
    const auto equals = text.starts_with('-') ? text.find('=') : std::string_view::npos;
    const auto path = text.substr(equals == std::string_view::npos ? 0 : equals + 1);
    if (path == "~" || path.starts_with("~/"))
      found.push_back(
          fmt::format("{}: ~ {}; ${{env:HOME}} stands for the home folder", place, kGoes));
    for (std::size_t at = text.find('$'); at < text.size(); at = text.find('$', at + 1)) {
      const auto length = plain_variable(text, at);
      if (length == 0) continue;
      const auto name = is_value ? std::string_view("NAME") : text.substr(at + 1, length - 1);
      found.push_back(
          fmt::format("{0}: ${1} {2}; ${{env:{1}}} stands for a variable", place, name, kGoes));
      return;
    }
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!is_script(command, arguments, i)) look(fmt::format("args[{}]", i), arguments[i], false);
  }
  for (const auto& [name, value] : environment) look("env." + name, value, true);
  return found;
}

bool is_script(const std::string& command, const std::vector<std::string>& arguments,
               std::size_t index) {
  constexpr std::array<std::string_view, 7> kShells = {"sh",  "bash", "zsh", "dash",
                                                       "ash", "ksh",  "fish"};
  constexpr std::array<std::string_view, 3> kElsewhere = {"ssh", "autossh", "mosh"};
  if (is_one_of(last_part(command), kElsewhere)) return true;
  bool is_shell = is_one_of(last_part(command), kShells);
  for (std::size_t i = 0; i < index && i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    const bool is_option = word.size() > 1 && word[0] == '-' && word[1] != '-';
    if (is_shell && is_option && word.ends_with('c')) return true;
    if (is_one_of(last_part(word), kShells)) is_shell = true;
  }
  return false;
}

}  // namespace mcpac::mcp
