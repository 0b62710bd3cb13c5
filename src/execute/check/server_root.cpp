#include "execute/check/server_root.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "core/ascii.h"
#include "core/printable.h"
#include "core/shell_quote.h"
#include "execute/check/authorities.h"
#include "mcp/secrets.h"

namespace mcpac::execute {
namespace {

namespace fs = std::filesystem;

// As the server gets it; as it stands where it cannot be expanded, for then it does not start.
std::string as_given(const std::string& text, std::string_view where) {
  mcp::SecretValues values;
  auto expanded = values.expand(text, where);
  return expanded ? std::move(*expanded) : text;
}

class GivenFolders {
 public:
  GivenFolders(const std::string& start, const std::vector<std::string>& known) : start_(start) {
    for (const auto& folder : known) known_.push_back(real(folder));
  }

  // A text that names a folder, or holds one behind '=' or in a list.
  void add(std::string_view text) {
    if (add_folder(text)) return;
    if (const auto at = text.find('='); at != std::string_view::npos)
      return add(text.substr(at + 1));
    if (text.find_first_of(",:;") == std::string_view::npos) return;
    while (!text.empty()) {
      const auto end = std::min(text.find_first_of(",:;"), text.size());
      add_folder(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  std::vector<std::string> take() { return std::move(given_); }

 private:
  bool add_folder(std::string_view text) {
    if (text.empty()) return false;
    // No shell puts a home in, but some servers do.
    fs::path path =
        text == "~" || text.starts_with("~/")
            ? fs::path(home_of_user()) / text.substr(std::min<std::size_t>(2, text.size()))
            : fs::path(start_) / text;
    std::error_code error;
    if (!fs::is_directory(path, error)) return false;
    std::string folder = path.lexically_normal().string();
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    std::string place = real(folder);
    if (std::ranges::find(known_, place) != known_.end()) return true;
    known_.push_back(std::move(place));
    given_.push_back(std::move(folder));
    return true;
  }

  static std::string real(const std::string& folder) {
    std::error_code error;
    const auto place = fs::canonical(folder, error);
    return error ? folder : place.string();
  }

  std::string start_;
  std::vector<std::string> known_;  // by their real names
  std::vector<std::string> given_;
};

// By what it is called. Not search, move, copy, tree or delete, whatever they are called.
bool seems_entry_only(std::string_view tool) {
  constexpr std::array<std::string_view, 12> kNames = {
      "list_directory", "list_directory_with_sizes",
      "list_dir",       "ls",
      "get_file_info",  "file_info",
      "stat",           "create_directory",
      "mkdir",          "read_text_file",
      "read_file",      "read_media_file"};
  return std::ranges::find(kNames, lowered(tool)) != kNames.end();
}

// As it is best typed: below the project's folder without it.
std::string typed(const std::string& folder, const fs::path& project_folder) {
  const auto inside = fs::path(folder).lexically_relative(project_folder).string();
  return shell_quoted(inside.empty() || inside.starts_with("..") ? folder : inside);
}

}  // namespace

ServerFolders folders_of(const mcp::ServerConfig& server, const fs::path& project_folder) {
  ServerFolders folders;
  std::error_code error;
  if (!server.root.empty())
    folders.root = (project_folder / server.root).lexically_normal().string();
  if (server.is_http()) return folders;
  folders.starts_in = server.working_directory.empty()
                          ? fs::current_path(error).string()
                          : fs::absolute(as_given(server.working_directory, "cwd"), error)
                                .lexically_normal()
                                .string();
  // What starts there takes relative paths from there: "./" of a grant is another folder.
  if (folders.root.empty() && !server.working_directory.empty()) folders.root = folders.starts_in;
  GivenFolders given(folders.starts_in, {folders.root.empty() ? folders.starts_in : folders.root});
  for (const auto& argument : server.arguments) given.add(as_given(argument, "args"));
  folders.given = given.take();
  return folders;
}

std::vector<std::string> servers_without_root(const Project& project) {
  std::vector<std::string> lines;
  for (const auto& server : project.config.servers) {
    if (server.disabled || server.is_http() || !server.root.empty()) continue;
    const auto folders = folders_of(server, project.folder);
    if (folders.given.empty()) continue;
    std::string names;
    for (const auto& folder : folders.given) names += (names.empty() ? "" : ", ") + folder;
    lines.push_back(printable(fmt::format(
        "{0} has no root: a relative path in a call may be counted from {1} or from {2}, "
        "and a grant admits it only where all of these are inside; to say which is meant: "
        "mcpac server set {0} --root {3}",
        server.name, names, folders.starts_in, typed(folders.given.front(), project.folder))));
  }
  return lines;
}

std::vector<std::string> proposed_entry_only(const Project& project, const codegen::Lock& lock) {
  std::vector<std::string> lines;
  for (const auto& server : project.config.servers) {
    const auto* locked = lock.find_server(server.name);
    if (locked == nullptr || server.disabled || !server.entry_only.empty()) continue;
    std::vector<std::string> tools;
    for (const auto& tool : locked->tools) {
      if (seems_entry_only(tool.name)) tools.push_back(tool.name);
    }
    if (tools.empty()) continue;
    lines.push_back(fmt::format(
        "a folder that a denied or excepted place lies in is refused to every tool that may reach "
        "into it; these of {0} seem to act on one entry alone: mcpac server set {0} --entry-only "
        "{1}",
        server.name, fmt::join(tools, ",")));
  }
  return lines;
}

}  // namespace mcpac::execute
