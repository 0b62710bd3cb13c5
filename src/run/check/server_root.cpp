// SPDX-License-Identifier: Apache-2.0

#include "run/check/server_root.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "core/ascii.h"
#include "core/printable.h"
#include "core/shell_quote.h"
#include "mcp/secrets.h"
#include "policy/explain/entry_only.h"
#include "policy/match/parameter_names.h"
#include "policy/match/path_readings.h"
#include "project/list_servers.h"
#include "run/check/authorities.h"

namespace mcpac::run {
namespace {

namespace fs = std::filesystem;

// Folders of packages are those of programs. They are no start because the name of a file in them
// is taken apart: "node_modules/" of "node_modules/@scope/name/dist/index".
bool is_of_packages(const fs::path& path) {
  constexpr std::array<std::string_view, 3> kFolders = {"node_modules", "site-packages",
                                                        "dist-packages"};
  return std::ranges::any_of(path, [&](const fs::path& name) {
    return std::ranges::find(kFolders, name.native()) != kFolders.end();
  });
}

// Names in a text which, each as a whole, are something that exists: "/a b/x@1" in
// "cd '/a b/x@1' && run". Of names that overlap the longest, in their order. Between which bytes
// a name may stand: what separates words, items of lists, options and their values.
class ExistingNames {
 public:
  // Looks at no more than so many bytes, and at names of so many parts (and at the whole text).
  static constexpr std::size_t kLongestText = 8192;
  static constexpr std::size_t kMostParts = 16;

  explicit ExistingNames(const std::string& start) : start_(start) {}

  struct Name {
    std::string text;
    std::size_t begin = 0;
    std::size_t end = 0;
    fs::path path;
    bool goes_on = false;  // with "@", "+" or "=" and more: the beginning of a name
  };

  [[nodiscard]] std::vector<Name> in(const std::string& text) const {
    std::vector<Name> found;
    if (text.empty() || text.size() > kLongestText) return found;
    std::vector<std::size_t> begins = {0};
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (!separates(text[i])) continue;
      ends.push_back(i);
      begins.push_back(i + 1);
    }
    ends.push_back(text.size());
    for (std::size_t i = 0, count = begins.size(); i < count; ++i) {
      const auto word = std::string_view(text).substr(begins[i]);  // "-f/x"
      if (word.size() > 2 && word[0] == '-' && is_letter(word[1])) begins.push_back(begins[i] + 2);
    }
    for (const auto begin : begins) {
      std::size_t parts = 0;
      for (const auto end : ends) {
        if (end <= begin) continue;
        if (++parts > kMostParts && (begin != 0 || end != text.size())) continue;
        if (auto name = name_at(text, begin, end)) found.push_back(std::move(*name));
      }
    }
    return longest_of(std::move(found));
  }

 private:
  static bool separates(char c) {
    return static_cast<unsigned char>(c) <= 0x20 ||
           std::string_view(",;|<>()[]{}\"'`=:@?#&!+").contains(c);
  }

  [[nodiscard]] std::optional<Name> name_at(const std::string& text, std::size_t begin,
                                            std::size_t end) const {
    std::string name = text.substr(begin, end - begin);
    // Part of a text is a name where it is written as a path, or is all that an option is set to.
    const bool is_value = end == text.size() && (begin == 0 || text[begin - 1] == '=');
    if (name.find('/') == std::string::npos && !is_value) return std::nullopt;
    std::vector<std::string> spellings = {name};
    if (name.find('\\') != std::string::npos) {
      std::erase(spellings.emplace_back(name), '\\');
      std::ranges::reverse(spellings);
    }
    for (const auto& spelling : spellings) {
      for (const auto& one :
           policy::path_readings(spelling, project::home_of_user(), policy::MeantAs::kPlace)
               .named) {
        if (one.is_part) continue;
        const std::string path = policy::join(one.path.components);
        fs::path place = one.path.absolute ? fs::path(path) : fs::path(start_) / path.substr(1);
        std::error_code error;
        // Of a text that names more than one thing the root alone is a separator.
        if (path == "/" && one.path.absolute && name.size() < text.size()) continue;
        if (!fs::exists(place, error)) continue;
        const bool goes_on = end + 1 < text.size() && std::string_view("@+=").contains(text[end]);
        return Name{std::move(name), begin, end, std::move(place), goes_on};
      }
    }
    return std::nullopt;
  }

  static std::vector<Name> longest_of(std::vector<Name> found) {
    std::ranges::sort(found, [](const Name& a, const Name& b) {
      const auto length = [](const Name& name) { return name.end - name.begin; };
      return length(a) != length(b) ? length(a) > length(b) : a.begin < b.begin;
    });
    std::vector<Name> kept;
    for (auto& name : found) {
      const bool overlaps = std::ranges::any_of(kept, [&](const Name& other) {
        return name.begin < other.end && other.begin < name.end;
      });
      if (!overlaps) kept.push_back(std::move(name));
    }
    std::ranges::sort(kept, {}, &Name::begin);
    return kept;
  }

  std::string start_;
};

// The folders that a text names, as generously as a deny over "*" reads it: as they stand, behind
// "=" and options, in lists, in JSON, in what a shell is told to run. A name that is a file or a
// folder as a whole is not taken apart.
class GivenFolders {
 public:
  GivenFolders(const std::string& start, const std::vector<std::string>& known)
      : start_(start), names_(start) {
    for (const auto& folder : known) known_.push_back(real(folder));
  }

  void add(const std::string& text) {
    std::set<fs::path> pieces;  // of names that are not taken apart
    for (const auto& name : names_.in(text)) {
      for (const auto& one : readings_of(name.text)) {
        if (one.is_part) pieces.insert(place_of(one));
      }
      if (!name.goes_on || !is_of_packages(name.path)) add_folder(name.path);
    }
    for (const auto& one : readings_of(text)) {
      const auto place = place_of(one);
      // Of a text that names more than one thing the root alone is a separator.
      const bool is_cut =
          one.is_part && (place == "/" || pieces.contains(place) || is_of_packages(place));
      if (!is_cut) add_folder(place);
    }
  }
  std::vector<std::string> take() { return std::move(given_); }

 private:
  static std::vector<policy::NamedPath> readings_of(const std::string& text) {
    return policy::path_readings(text, project::home_of_user(), policy::MeantAs::kCommand).named;
  }

  [[nodiscard]] fs::path place_of(const policy::NamedPath& one) const {
    const std::string path = policy::join(one.path.components);
    return one.path.absolute ? fs::path(path) : fs::path(start_) / path.substr(1);
  }

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
  ExistingNames names_;
  std::vector<std::string> known_;  // by their real names
  std::vector<std::string> given_;
};

// "node FOLDER", "python3 FOLDER": the program, where the folder says what of it is started.
bool is_program(const std::string& command, const std::string& word, const std::string& start) {
  constexpr std::array<std::string_view, 4> kInterpreters = {"node", "nodejs", "bun", "deno"};
  const std::string name = fs::path(command).filename().string();
  const bool is_python = name.starts_with("python");
  if (!is_python && std::ranges::find(kInterpreters, name) == kInterpreters.end()) return false;
  const fs::path folder = fs::path(start) / word;
  std::error_code error;
  return fs::is_directory(folder, error) &&
         fs::exists(folder / (is_python ? "__main__.py" : "package.json"), error);
}

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

// Commands that start a server elsewhere than here, or give it another folder to start in.
class Launcher {
 public:
  Launcher(const mcp::ServerConfig& server, std::vector<std::string> words,
           const std::string& start)
      : words_(std::move(words)), start_(start) {
    words_.insert(words_.begin(), server.command);
    typed_ = words_.size();
    add_words_of_commands();
    for (std::size_t i = 0; i < words_.size(); ++i) look_at(i);
  }
  // "in a container", "by a shell that changes its folder"; empty: nothing says so.
  std::string how;
  std::map<std::string, std::string> mounts;

 private:
  void look_at(std::size_t at) {
    const std::string name = fs::path(words_[at]).filename().string();
    constexpr std::array<std::string_view, 11> kContainers = {
        "docker",        "docker.exe", "docker-compose", "podman", "podman.exe", "podman-compose",
        "podman-remote", "nerdctl",    "kubectl",        "wsl",    "wsl.exe"};
    constexpr std::array<std::string_view, 6> kElsewhere = {"ssh",     "bwrap",    "chroot",
                                                            "flatpak", "firejail", "systemd-run"};
    constexpr std::array<std::string_view, 8> kShells = {"sh",  "bash", "zsh",        "dash",
                                                         "ksh", "fish", "powershell", "pwsh"};
    const auto is_in = [&](const auto& names) {
      return std::ranges::find(names, name) != names.end();
    };
    // What is started is the command, or what a command such as "env" or "sudo" starts, or a shell.
    const auto before = std::count_if(
        words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(at),
        [](const std::string& word) { return word.starts_with('-') || !word.contains('='); });
    const bool is_started = at == 0 || ((before <= 3 || at >= typed_) && !is_folder(words_[at]));
    // Whatever stands before it: but the name of a folder is none of a program.
    if (is_in(kContainers) && (at == 0 || !is_folder(words_[at]))) {
      how = "in a container";
      read_mounts(at + 1);
    } else if (is_started && is_in(kElsewhere)) {
      how = "behind " + name;
    } else if (is_started && is_in(kShells) && changes_folder(at + 1)) {
      how = "by a shell that changes its folder";
    }
  }

  // Words of a shell's command, behind "-c" or "-lc".
  void add_words_of_commands() {
    constexpr std::string_view kBetween = " \t\r\n;&|()<>`$'\"\\";
    const std::size_t count = words_.size();
    for (std::size_t i = 1; i < count; ++i) {
      const bool is_command =
          RE2::FullMatch(words_[i - 1], "-[A-Za-z]*c") || words_[i - 1] == "--command";
      if (!is_command) continue;
      const std::string text = words_[i];
      for (std::size_t at = text.find_first_not_of(kBetween); at != std::string::npos;) {
        const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
        words_.push_back(text.substr(at, end - at));
        at = text.find_first_not_of(kBetween, end);
      }
    }
  }

  [[nodiscard]] bool is_folder(const std::string& word) const {
    std::error_code error;
    return word.contains('/') && fs::is_directory(fs::path(start_) / word, error);
  }

  [[nodiscard]] bool changes_folder(std::size_t from) const {
    return std::any_of(words_.begin() + static_cast<std::ptrdiff_t>(from), words_.end(),
                       [](const std::string& word) {
                         return RE2::PartialMatch(word, R"((^|[\s;&|(])(cd|pushd|chdir)(\s|$))");
                       });
  }

  // "-v SRC:DST", "-vSRC:DST", "-iv SRC:DST", "-v=SRC:DST", "--volume=SRC:DST", "--mount
  // type=bind,src=SRC,dst=DST".
  void read_mounts(std::size_t from) {
    for (std::size_t i = from; i < words_.size(); ++i) {
      const std::string& word = words_[i];
      const std::string next = i + 1 < words_.size() ? words_[i + 1] : "";
      std::string behind;
      if (word == "--volume" || RE2::FullMatch(word, "-[A-Za-z]*v")) {
        add_volume(next);
      } else if (word == "--mount") {
        add_mount(next);
      } else if (word.starts_with("--volume=")) {
        add_volume(word.substr(word.find('=') + 1));
      } else if (word.starts_with("--mount=")) {
        add_mount(word.substr(word.find('=') + 1));
      }
      if (RE2::FullMatch(word, "(?s)-[A-Za-z]*?v=?(.+)", &behind)) add_volume(behind);
    }
  }

  void add_volume(const std::string& text) {
    const auto colon = text.find(':');
    if (colon == std::string::npos) return;
    add(text.substr(0, colon), text.substr(colon + 1, text.find(':', colon + 1) - colon - 1));
  }

  // Of a line of CSV; quotes are taken off, and a comma between them is one of the field.
  static std::vector<std::string> fields_of(std::string_view text) {
    std::vector<std::string> fields(1);
    bool is_quoted = false;
    for (const char c : text) {
      if (c == '"') {
        is_quoted = !is_quoted;
      } else if (c == ',' && !is_quoted) {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
    return fields;
  }

  void add_mount(const std::string& text) {
    std::string source;
    std::string target;
    for (const std::string& option : fields_of(text)) {
      const auto equal = std::min(option.find('='), option.size());
      const auto name = lowered(option.substr(0, equal));
      const std::string value = option.substr(std::min(equal + 1, option.size()));
      if (name == "src" || name == "source") source = value;
      if (name == "dst" || name == "target" || name == "destination") target = value;
    }
    add(source, target);
  }

  void add(const std::string& source, const std::string& target) {
    const auto inside = absolute_name(target);
    if (!inside || source.empty()) return;
    for (const auto& one : policy::path_readings(source, project::home_of_user()).named) {
      const std::string path = policy::join(one.path.components);
      const fs::path folder =
          one.path.absolute ? fs::path(path) : fs::path(start_) / path.substr(1);
      std::error_code error;
      if (one.is_part || !fs::exists(folder, error)) continue;
      mounts[*inside] = policy::join(policy::collapse(policy::split(folder.string())));
    }
  }

  std::vector<std::string> words_;  // and those of commands for a shell behind them
  std::size_t typed_ = 0;           // how many stand on the command line
  std::string start_;
};

// One of its parameters is for a path, by its name or by what its schema says.
bool takes_path(const Json& definition) {
  const Json* schema = find_member(definition, "inputSchema");
  const Json* taken = schema == nullptr ? nullptr : find_member(*schema, "properties");
  if (taken == nullptr || !taken->is_object()) return false;
  const auto items = taken->items();
  return std::any_of(items.begin(), items.end(), [](const auto& member) {
    return policy::place_named(member.key()) == policy::ParameterKind::kPath ||
           policy::place_described(member.value()) == policy::ParameterKind::kPath;
  });
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
  folders.starts_in =
      server.working_directory.empty()
          ? fs::current_path(error).string()
          : fs::absolute(project::server_text(server.working_directory, "cwd"), error)
                .lexically_normal()
                .string();
  // What starts there takes relative paths from there: "./" of a grant is another folder.
  if (folders.root.empty() && !server.working_directory.empty()) folders.root = folders.starts_in;
  GivenFolders given(folders.starts_in, {folders.root.empty() ? folders.starts_in : folders.root});
  std::vector<std::string> words;
  for (const auto& argument : server.arguments)
    words.push_back(project::server_text(argument, "args"));
  given.add(server.command);
  const auto program =
      std::ranges::find_if(words, [](const auto& word) { return !word.starts_with('-'); });
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (word != program || !is_program(server.command, *word, folders.starts_in)) given.add(*word);
  }
  for (const auto& [name, value] : server.environment) {
    if (!is_of_programs(name)) given.add(project::server_text(value, "env"));
  }
  Launcher launcher(server, std::move(words), folders.starts_in);
  folders.mounts = std::move(launcher.mounts);
  for (const auto& [inside, folder] : folders.mounts) given.add(folder);
  folders.given = given.take();
  if (folders.root.empty()) folders.unknown = std::move(launcher.how);
  return folders;
}

std::vector<std::string> servers_without_root(const project::Project& project) {
  std::vector<std::string> lines;
  bool was_explained = false;  // once is enough
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
    // Of several a rule says which one it needs, as `policy explain` tells for a call.
    const bool is_one = folders.given.size() == 1;
    const std::string root = is_one ? typed(folders.given.front(), project.folder) : "DIR";
    if (!folders.unknown.empty()) {
      lines.push_back(printable(fmt::format(
          "{0} is started {1}, so where its relative paths begin is not known: a deny reads them "
          "from {2}, and no grant admits them; to say it: mcpac server set {0} --root {3}",
          server.name, folders.unknown, names.empty() ? folders.starts_in : names, root)));
      continue;
    }
    if (std::exchange(was_explained, true)) {
      lines.push_back(
          printable(fmt::format("{0} has no root either (paths may count from {1} or from {2}): "
                                "mcpac server set {0} --root {3}",
                                server.name, names, folders.starts_in, root)));
      continue;
    }
    lines.push_back(printable(fmt::format(
        "{0} has no root: a relative path in a call may be counted from {1} or from {2}, "
        "and a grant admits it only where all of these are inside; {3}: "
        "mcpac server set {0} --root {4}",
        server.name, names, folders.starts_in,
        is_one
            ? "to say which is meant"
            : "absolute paths are read in one way; a root, one of these folders, leaves out where "
              "it starts",
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

std::vector<std::string> proposed_entry_only(const project::Project& project,
                                             const codegen::Lock& lock) {
  std::vector<std::string> lines;
  for (const auto& server : project.config.servers) {
    const auto* locked = lock.find_server(server.name);
    if (locked == nullptr || server.disabled || !server.entry_only.empty()) continue;
    std::vector<std::string> tools;
    for (const auto& tool : locked->tools) {
      const Json definition = parse_json(tool.definition.dump()).value_or(Json::object());
      const bool is_plausible =
          takes_path(definition) &&
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

}  // namespace mcpac::run
