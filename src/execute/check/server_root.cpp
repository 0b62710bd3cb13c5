#include "execute/check/server_root.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <system_error>

#include "core/ascii.h"
#include "core/printable.h"
#include "core/shell_quote.h"
#include "execute/check/authorities.h"
#include "mcp/secrets.h"
#include "policy/explain/entry_only.h"
#include "policy/match/path_readings.h"

namespace mcpac::execute {
namespace {

namespace fs = std::filesystem;

// As the server gets it; as it stands where it cannot be expanded, for then it does not start.
std::string as_given(const std::string& text, std::string_view where) {
  mcp::SecretValues values;
  auto expanded = values.expand(text, where);
  return expanded ? std::move(*expanded) : text;
}

// The folders that a text names, as generously as a deny over "*" reads it: as they stand, behind
// "=" and options, in lists, in JSON, in what a shell is told to run.
class GivenFolders {
 public:
  GivenFolders(const std::string& start, const std::vector<std::string>& known) : start_(start) {
    for (const auto& folder : known) known_.push_back(real(folder));
  }

  void add(const std::string& text) {
    for (const auto& one : policy::path_readings(text, home_of_user(), policy::MeantAs::kCommand)) {
      const std::string path = policy::join(one.path.components);
      // Of a text that names more than one thing the root alone is a separator.
      if (one.is_part && path == "/") continue;
      add_folder(one.path.absolute ? fs::path(path) : fs::path(start_) / path.substr(1));
    }
  }
  std::vector<std::string> take() { return std::move(given_); }

 private:
  void add_folder(const fs::path& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) return;
    std::string folder = path.lexically_normal().string();
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    std::string place = real(folder);
    if (std::ranges::find(known_, place) != known_.end()) return;
    known_.push_back(std::move(place));
    given_.push_back(std::move(folder));
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

// Variables whose folders are those of programs and of the system, and not what a server works on.
bool is_of_programs(std::string_view variable) {
  constexpr std::array<std::string_view, 9> kNames = {"HOME",      "TMPDIR",      "TEMP",
                                                      "TMP",       "SHELL",       "PYTHONHOME",
                                                      "JAVA_HOME", "VIRTUAL_ENV", "NODE_OPTIONS"};
  return variable.ends_with("PATH") || variable.starts_with("XDG_") ||
         lowered(variable).starts_with("npm_") ||
         variable.find("CACHE") != std::string_view::npos ||
         std::ranges::find(kNames, variable) != kNames.end();
}

// "/data/notes/" as a name of a path within a container.
std::optional<std::string> absolute_name(std::string_view text) {
  if (!text.starts_with('/')) return std::nullopt;
  return policy::join(policy::collapse(policy::split(text)));
}

// What starts a server elsewhere than here, or gives it another folder to start in.
class Launcher {
 public:
  Launcher(const mcp::ServerConfig& server, std::vector<std::string> words,
           const std::string& start)
      : words_(std::move(words)), start_(start) {
    words_.insert(words_.begin(), server.command);
    for (std::size_t i = 0; i < words_.size(); ++i) look_at(i);
  }
  // "in a container", "by a shell that changes its folder"; empty: nothing says so.
  std::string how;
  std::map<std::string, std::string> mounts;

 private:
  void look_at(std::size_t at) {
    const std::string name = fs::path(words_[at]).filename().string();
    constexpr std::array<std::string_view, 6> kContainers = {"docker",  "podman", "nerdctl",
                                                             "kubectl", "wsl",    "wsl.exe"};
    constexpr std::array<std::string_view, 6> kElsewhere = {"ssh",     "bwrap",    "chroot",
                                                            "flatpak", "firejail", "systemd-run"};
    constexpr std::array<std::string_view, 8> kShells = {"sh",  "bash", "zsh",        "dash",
                                                         "ksh", "fish", "powershell", "pwsh"};
    const auto is_in = [&](const auto& names) {
      return std::ranges::find(names, name) != names.end();
    };
    // What is started is the command, or what a command such as "env" or "sudo" starts.
    const bool is_started =
        at == 0 || (at <= 3 && !words_[at].starts_with('-') && !words_[at].starts_with('/'));
    if (is_started && is_in(kContainers)) {
      how = "in a container";
      read_mounts(at + 1);
    } else if (is_started && is_in(kElsewhere)) {
      how = "behind " + name;
    } else if (is_started && is_in(kShells) && changes_folder(at + 1)) {
      how = "by a shell that changes its folder";
    }
  }

  [[nodiscard]] bool changes_folder(std::size_t from) const {
    return std::any_of(words_.begin() + static_cast<std::ptrdiff_t>(from), words_.end(),
                       [](const std::string& word) {
                         return RE2::PartialMatch(word, R"((^|[\s;&|(])(cd|pushd|chdir)(\s|$))");
                       });
  }

  // "-v SRC:DST", "-vSRC:DST", "--volume=SRC:DST", "--mount type=bind,src=SRC,dst=DST".
  void read_mounts(std::size_t from) {
    for (std::size_t i = from; i < words_.size(); ++i) {
      const std::string& word = words_[i];
      const std::string next = i + 1 < words_.size() ? words_[i + 1] : "";
      if (word == "-v" || word == "--volume") {
        add_volume(next);
      } else if (word == "--mount") {
        add_mount(next);
      } else if (word.starts_with("--volume=")) {
        add_volume(word.substr(word.find('=') + 1));
      } else if (word.starts_with("--mount=")) {
        add_mount(word.substr(word.find('=') + 1));
      } else if (word.starts_with("-v") && !word.starts_with("--")) {
        add_volume(word.substr(2));
      }
    }
  }

  void add_volume(const std::string& text) {
    const auto colon = text.find(':');
    if (colon == std::string::npos) return;
    add(text.substr(0, colon), text.substr(colon + 1, text.find(':', colon + 1) - colon - 1));
  }

  void add_mount(const std::string& text) {
    std::string source;
    std::string target;
    for (std::string_view rest = text; !rest.empty();) {
      const auto end = std::min(rest.find(','), rest.size());
      const auto option = rest.substr(0, end);
      const auto equal = std::min(option.find('='), option.size());
      const auto name = option.substr(0, equal);
      const std::string value(option.substr(std::min(equal + 1, option.size())));
      if (name == "src" || name == "source") source = value;
      if (name == "dst" || name == "target" || name == "destination") target = value;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    add(source, target);
  }

  void add(const std::string& source, const std::string& target) {
    const auto inside = absolute_name(target);
    if (!inside || source.empty()) return;
    for (const auto& one : policy::path_readings(source, home_of_user())) {
      const std::string path = policy::join(one.path.components);
      const fs::path folder =
          one.path.absolute ? fs::path(path) : fs::path(start_) / path.substr(1);
      std::error_code error;
      if (one.is_part || !fs::exists(folder, error)) continue;
      mounts[*inside] = policy::join(policy::collapse(policy::split(folder.string())));
    }
  }

  std::vector<std::string> words_;
  std::string start_;
};

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
  std::vector<std::string> words;
  for (const auto& argument : server.arguments) words.push_back(as_given(argument, "args"));
  given.add(server.command);
  for (const auto& word : words) given.add(word);
  for (const auto& [name, value] : server.environment) {
    if (!is_of_programs(name)) given.add(as_given(value, "env"));
  }
  folders.given = given.take();
  Launcher launcher(server, std::move(words), folders.starts_in);
  folders.mounts = std::move(launcher.mounts);
  if (folders.root.empty()) folders.unknown = std::move(launcher.how);
  return folders;
}

std::vector<std::string> servers_without_root(const Project& project) {
  std::vector<std::string> lines;
  for (const auto& server : project.config.servers) {
    if (server.disabled || server.is_http()) continue;
    const auto folders = folders_of(server, project.folder);
    for (const auto& [inside, folder] : folders.mounts)
      lines.push_back(printable(
          fmt::format("{} sees {} as {}: a deny and an ask read paths below it as both, an allow "
                      "as they are written",
                      server.name, folder, inside)));
    if (!server.root.empty() || (folders.given.empty() && folders.unknown.empty())) continue;
    std::string names;
    for (const auto& folder : folders.given) names += (names.empty() ? "" : ", ") + folder;
    const std::string root =
        folders.given.empty() ? "DIR" : typed(folders.given.front(), project.folder);
    if (!folders.unknown.empty()) {
      lines.push_back(printable(fmt::format(
          "{0} is started {1}, so where its relative paths begin is not known: a deny reads them "
          "from {2}, and no grant admits them; to say it: mcpac server set {0} --root {3}",
          server.name, folders.unknown, names.empty() ? folders.starts_in : names, root)));
      continue;
    }
    const bool is_one = folders.given.size() == 1;
    lines.push_back(printable(fmt::format(
        "{0} has no root: a relative path in a call may be counted from {1} or from {2}, "
        "and a grant admits it only where all of these are inside; {3}: "
        "mcpac server set {0} --root {4}",
        server.name, names, folders.starts_in,
        is_one ? "to say which is meant"
               : "absolute paths are read in one way; a root leaves out where it starts",
        root)));
  }
  return lines;
}

Result<std::string> check_root(const mcp::ServerConfig& server, const std::string& root,
                               const fs::path& project_folder) {
  if (server.is_http()) return std::string();
  const std::string folder =
      policy::join(policy::collapse(policy::split((project_folder / root).string())));
  auto plain = server;
  plain.root.clear();
  const auto folders = folders_of(plain, project_folder);
  for (const auto& [inside, outside] : folders.mounts) {
    if (folder != inside) continue;
    return fail(
        ErrorId::kUsage,
        fmt::format("{} is the container's name of {}", printable(root), printable(outside)),
        {.where = "--root",
         .why = "a root is a folder of this machine",
         .fix = fmt::format("mcpac server set {} --root {}", server.name,
                            typed(outside, project_folder))});
  }
  std::error_code error;
  std::string names;
  std::vector<std::string> known = folders.given;
  known.push_back(folders.starts_in);
  for (const auto& one : known) names += (names.empty() ? "" : " or ") + typed(one, project_folder);
  if (!fs::is_directory(folder, error)) {
    return fail(ErrorId::kUsage,
                fmt::format("the root {} is {}", printable(folder),
                            fs::exists(folder, error) ? "no folder" : "not there"),
                {.where = "--root",
                 .why = "relative paths would be held against a place that the server does not use",
                 .fix = fmt::format("mcpac server set {} --root DIR, with an existing folder: {} "
                                    "was given {}",
                                    server.name, server.name, printable(names))});
  }
  const bool is_known = std::ranges::any_of(
      known, [&](const std::string& one) { return fs::equivalent(one, folder, error) && !error; });
  if (is_known || !folders.unknown.empty()) return std::string();
  return fmt::format(
      "{} was given {}, and not {}: a root that it does not count from lets rules hold relative "
      "paths against another place; mcpac server set {} --no-root takes it back",
      server.name, printable(names), printable(folder), server.name);
}

std::vector<std::string> proposed_entry_only(const Project& project, const codegen::Lock& lock) {
  std::vector<std::string> lines;
  for (const auto& server : project.config.servers) {
    const auto* locked = lock.find_server(server.name);
    if (locked == nullptr || server.disabled || !server.entry_only.empty()) continue;
    std::vector<std::string> tools;
    for (const auto& tool : locked->tools) {
      const Json definition = parse_json(tool.definition.dump()).value_or(Json::object());
      const bool is_plausible =
          policy::seems_entry_only(tool.name, find_member(definition, "inputSchema")) &&
          policy::speaks_against_entry_only(definition).empty() &&
          policy::suggests_more_than_entry(definition).empty();
      if (is_plausible) tools.push_back(tool.name);
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
