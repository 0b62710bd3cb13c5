// SPDX-License-Identifier: Apache-2.0

#include "project/files/obeyed_places.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <system_error>
#include <utility>

#include "core/ascii.h"
#include "core/file.h"
#include "core/printable.h"
#include "core/repository.h"
#include "project/project_place.h"

namespace mcpac::project {

namespace fs = std::filesystem;

// Where the words of a repository's configuration count from.
struct ObeyedPlaces::Repository {
  std::vector<fs::path> bases;
  int files = 0;  // that were read
};

namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 20U;
constexpr int kMostFiles = 64;
constexpr int kDeepestInclude = 10;  // as git's own includes

enum class Means : std::uint8_t { kPath, kCommand, kInclude, kWorktree };
struct Known {
  std::string_view section;
  std::string_view key;  // "*": any
  Means means;
};

// git-scm.com/docs/git-config, with and without a subsection. Not `alias`: a person starts it.
constexpr auto kGit = std::to_array<Known>({{"include", "path", Means::kInclude},
                                            {"includeif", "path", Means::kInclude},
                                            {"core", "worktree", Means::kWorktree},
                                            {"core", "hookspath", Means::kPath},
                                            {"core", "attributesfile", Means::kPath},
                                            {"init", "templatedir", Means::kPath},
                                            {"core", "fsmonitor", Means::kCommand},
                                            {"core", "sshcommand", Means::kCommand},
                                            {"core", "gitproxy", Means::kCommand},
                                            {"core", "askpass", Means::kCommand},
                                            {"core", "editor", Means::kCommand},
                                            {"core", "pager", Means::kCommand},
                                            {"core", "alternaterefscommand", Means::kCommand},
                                            {"sequence", "editor", Means::kCommand},
                                            {"pager", "*", Means::kCommand},
                                            {"interactive", "difffilter", Means::kCommand},
                                            {"diff", "external", Means::kCommand},
                                            {"diff", "command", Means::kCommand},
                                            {"diff", "textconv", Means::kCommand},
                                            {"merge", "driver", Means::kCommand},
                                            {"filter", "clean", Means::kCommand},
                                            {"filter", "smudge", Means::kCommand},
                                            {"filter", "process", Means::kCommand},
                                            {"lfs", "*", Means::kCommand},
                                            {"hook", "command", Means::kCommand},
                                            {"trailer", "command", Means::kCommand},
                                            {"trailer", "cmd", Means::kCommand},
                                            {"gpg", "program", Means::kCommand},
                                            {"gpg", "defaultkeycommand", Means::kCommand},
                                            {"credential", "helper", Means::kCommand},
                                            {"submodule", "update", Means::kCommand},
                                            {"remote", "uploadpack", Means::kCommand},
                                            {"remote", "receivepack", Means::kCommand},
                                            {"uploadpack", "packobjectshook", Means::kCommand},
                                            {"tar", "command", Means::kCommand},
                                            {"gc", "recentobjectshook", Means::kCommand},
                                            {"svn", "authorsprog", Means::kCommand},
                                            {"imap", "tunnel", Means::kCommand},
                                            {"sendemail", "sendmailcmd", Means::kCommand},
                                            {"sendemail", "tocmd", Means::kCommand},
                                            {"sendemail", "cccmd", Means::kCommand},
                                            {"sendemail", "headercmd", Means::kCommand},
                                            {"sendemail", "smtpserver", Means::kCommand},
                                            {"difftool", "cmd", Means::kCommand},
                                            {"difftool", "path", Means::kCommand},
                                            {"mergetool", "cmd", Means::kCommand},
                                            {"mergetool", "path", Means::kCommand},
                                            {"browser", "cmd", Means::kCommand},
                                            {"browser", "path", Means::kCommand},
                                            {"man", "cmd", Means::kCommand},
                                            {"man", "path", Means::kCommand}});

// mercurial-scm.org/help/topics/config: sections whose values are commands, or Python to load.
constexpr auto kMercurial = std::to_array<std::string_view>(
    {"hooks", "extensions", "merge-tools", "encode", "decode", "extdiff", "pager", "ui", "email"});

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

std::string_view stripped(std::string_view text) {
  while (!text.empty() && (is_blank(text.back()) || text.back() == '\n')) text.remove_suffix(1);
  while (!text.empty() && (is_blank(text.front()) || text.front() == '\n')) text.remove_prefix(1);
  return text;
}

class GitReader {
 public:
  explicit GitReader(std::string_view text) : text_(text) {
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    if (text_.starts_with(kMark)) text_.remove_prefix(kMark.size());
  }
  std::vector<Setting> read() {
    while (!text_.empty()) {
      const char c = text_.front();
      if (is_blank(c) || c == '\n') {
        text_.remove_prefix(1);
      } else if (c == '#' || c == ';') {
        skip_line();
      } else if (c == '[') {
        header();
      } else {
        setting();
      }
    }
    return std::move(settings_);
  }

 private:
  void skip_line() { text_.remove_prefix(std::min(text_.find('\n'), text_.size())); }

  // [section], [section "Sub \"section\""] or, as of old, [section.sub]
  void header() {
    text_.remove_prefix(1);
    section_.clear();
    subsection_.clear();
    bool quoted = false;
    bool in_subsection = false;
    while (!text_.empty() && text_.front() != '\n') {
      char c = text_.front();
      text_.remove_prefix(1);
      if (!quoted && c == ']') return;
      if (c == '"') {
        quoted = !quoted;
        in_subsection = true;
        continue;
      }
      if (quoted && c == '\\' && !text_.empty()) {
        c = text_.front();
        text_.remove_prefix(1);
      }
      if (quoted || in_subsection) {
        if (quoted) subsection_ += c;
      } else if (c == '.') {
        in_subsection = true;
        quoted = false;
        const auto end = std::min(text_.find(']'), text_.size());
        subsection_ = lowered(text_.substr(0, end));
        text_.remove_prefix(end);
      } else if (!is_blank(c)) {
        section_ += to_lower(c);
      }
    }
  }

  void setting() {
    const auto end = std::min(text_.find_first_of("=\n#;"), text_.size());
    const std::string key = lowered(stripped(text_.substr(0, end)));
    text_.remove_prefix(end);
    std::string value;
    if (!text_.empty() && text_.front() == '=') {
      text_.remove_prefix(1);
      value = read_value();
    }
    if (!section_.empty()) settings_.push_back({section_, subsection_, key, std::move(value)});
  }

  std::string read_value() {
    std::string value;
    std::size_t kept = 0;  // of the value, at least: blanks before it do not end it
    bool quoted = false;
    while (!text_.empty()) {
      const char c = text_.front();
      if (c == '\n') break;
      text_.remove_prefix(1);
      if (!quoted && (c == '#' || c == ';')) {
        skip_line();
        break;
      }
      if (c == '"') {
        quoted = !quoted;
        kept = value.size();
      } else if (c == '\\') {
        escape(value);
        kept = value.size();
      } else if (!value.empty() || quoted || !is_blank(c)) {
        value += c;
        if (quoted || !is_blank(c)) kept = value.size();
      }
    }
    value.resize(kept);
    return value;
  }

  void escape(std::string& value) {
    if (text_.starts_with("\r\n")) text_.remove_prefix(1);
    if (text_.empty()) return;
    const char c = text_.front();
    text_.remove_prefix(1);
    if (c == '\n') return;
    value += c == 'n' ? '\n' : c == 't' ? '\t' : c;
  }

  std::string_view text_;
  std::string section_;
  std::string subsection_;
  std::vector<Setting> settings_;
};

// One file of Mercurial's: an indented line goes on with the value before it.
std::vector<Setting> read_mercurial_settings(std::string_view text) {
  std::vector<Setting> settings;
  std::string section;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view plain = stripped(line);
    if (plain.empty() || plain.front() == '#' || plain.front() == ';') continue;
    constexpr std::string_view kInclude = "%include ";
    if (plain.starts_with(kInclude)) {
      settings.push_back(
          {"include", "", "path", std::string(stripped(plain.substr(kInclude.size())))});
    } else if (is_blank(line.front())) {
      if (!settings.empty()) settings.back().value += ' ' + std::string(plain);
    } else if (plain.front() == '[') {
      section = lowered(plain.substr(1, plain.find(']') - 1));
    } else if (const auto sign = plain.find('='); sign != std::string_view::npos) {
      settings.push_back({section, "", lowered(stripped(plain.substr(0, sign))),
                          std::string(stripped(plain.substr(sign + 1)))});
    }
  }
  return settings;
}

std::string from_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

// By the environment, and by the system's record of users: another shell of the user's may have
// what a script changed for us.
std::set<std::string> homes() {
  std::set<std::string> all{from_environment("HOME"), home_of_user()};
  all.erase("");
  return all;
}

// "~/x", "$HOME/x" and "${HOME}/x" as the shell and git have them.
std::vector<std::string> with_home(std::string_view text) {
  std::vector<std::string> all;
  for (const std::string_view home : {"~/", "$HOME/", "${HOME}/"}) {
    if (!text.starts_with(home)) continue;
    for (const std::string& folder : homes())
      all.push_back(folder + "/" + std::string(text.substr(home.size())));
  }
  if (all.empty()) all.emplace_back(text);
  return all;
}

// All that the environment and the defaults name, also where git would read one of them alone.
std::set<fs::path> files_of_user() {
  std::set<fs::path> files{"/etc/gitconfig"};
  for (std::string file :
       {from_environment("GIT_CONFIG_SYSTEM"), from_environment("GIT_CONFIG_GLOBAL")}) {
    if (!file.empty()) files.insert(std::move(file));
  }
  for (const std::string& home : homes()) {
    files.insert(home + "/.gitconfig");
    files.insert(home + "/.config/git/config");
  }
  if (const std::string folder = from_environment("XDG_CONFIG_HOME"); !folder.empty())
    files.insert(folder + "/git/config");
  return files;
}

std::set<fs::path> mercurial_files_of_user() {
  std::set<fs::path> files{"/etc/mercurial/hgrc"};
  for (const std::string& home : homes()) {
    files.insert(home + "/.hgrc");
    files.insert(home + "/.config/hg/hgrc");
  }
  if (const std::string folder = from_environment("XDG_CONFIG_HOME"); !folder.empty())
    files.insert(folder + "/hg/hgrc");
  return files;
}

// Words as a shell has them: quotes group, a backslash takes the next character as it is.
std::vector<std::string> shell_words(std::string_view text) {
  constexpr std::string_view kBetween = " \t\r\n`;|&()<>";
  std::vector<std::string> words(1);
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      words.back() += text[++i];
    } else if (quote != 0 ? c == quote : c == '\'' || c == '"') {
      quote = quote != 0 ? '\0' : c;
    } else if (quote == 0 && kBetween.find(c) != std::string_view::npos) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

// Whether a value with blanks may be one path: git starts some programs without a shell.
bool may_be_one_path(std::string_view value) {
  const auto blank = value.find(' ');
  return blank != std::string_view::npos && value.find('/', blank) != std::string_view::npos &&
         (value.front() == '/' || value.front() == '.' || value.front() == '~');
}

// What is read no further is not known, and a program that may write could make it so.
std::unexpected<Error> read_no_further(const fs::path& file) {
  return fail(ErrorId::kFilesRefused,
              fmt::format("{} is included beyond what is read: {} files, {} deep",
                          printable(file.string()), kMostFiles, kDeepestInclude),
              {.why = "what the rest lets git or Mercurial run is not known",
               .fix = "include fewer files, or grant read-only"});
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() != fs::file_type::not_found && !error;
}

}  // namespace

std::vector<Setting> read_git_settings(std::string_view text) {
  return GitReader(text).read();
}

Result<std::optional<std::string>> ObeyedPlaces::text_of(const fs::path& file) {
  // Not the end of a pipe, whose other end may never be opened.
  const UniqueFd opened(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat info {};
  if (!opened || ::fstat(opened.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return std::optional<std::string>();
  auto text = read_descriptor(opened.get(), file.string(), kLargestFile);
  if (text) return std::optional(std::move(*text));
  return fail(
      ErrorId::kFilesRefused,
      fmt::format("{} cannot be read whole, so what it lets git run is not known",
                  printable(file.string())),
      {.why = text.error().what, .fix = "grant read-only, or a folder of another repository"});
}

void ObeyedPlaces::add_place(const fs::path& place) {
  if (!place.is_absolute()) return;
  fs::path plain = place.lexically_normal();
  if (!plain.has_filename()) plain = plain.parent_path();
  std::error_code error;
  fs::path real = fs::weakly_canonical(plain, error);
  if (!error) places_.insert(real.has_filename() ? real : real.parent_path());
  places_.insert(std::move(plain));
}

void ObeyedPlaces::add_value(std::string_view value, const fs::path& base) {
  constexpr std::string_view kOptional = ":(optional)";
  if (value.starts_with(kOptional)) value.remove_prefix(kOptional.size());
  if (value.empty()) return;
  for (const std::string& path : with_home(value)) add_place(base / path);
}

// Each word that names a file: with a slash, or one that is there and is not looked for in PATH. A
// folder is what a command works on.
void ObeyedPlaces::add_word(std::string_view word, bool is_first, const Repository& repository) {
  for (const std::string& path : with_home(word)) {
    for (const fs::path& base : repository.bases) {
      std::error_code error;
      const auto type = fs::status(base / path, error).type();
      const bool is_named =
          path.find('/') != std::string::npos || (!is_first && type == fs::file_type::regular);
      if (is_named && type != fs::file_type::directory) add_place(base / path);
    }
  }
}

// Words by blanks and quotes, as programs nest them; those of a shell; and the whole value.
void ObeyedPlaces::add_words(std::string_view command, const Repository& repository) {
  constexpr std::string_view kBetween = " \t\r\n'\"`;|&()<>=,!";
  if (may_be_one_path(command)) {
    add_word(command, true, repository);
  } else {
    for (const fs::path& base : repository.bases) {
      std::error_code error;
      if (command.find(' ') != std::string_view::npos && fs::is_regular_file(base / command, error))
        add_place(base / command);
    }
  }
  for (std::string_view word : shell_words(command)) {
    if (word.starts_with('!')) word.remove_prefix(1);
    // Others are found below.
    if (word.find(' ') == std::string_view::npos) continue;
    for (const fs::path& base : repository.bases) {
      std::error_code error;
      if (may_be_one_path("./" + std::string(word)) || fs::is_regular_file(base / word, error))
        add_word(word, true, repository);
    }
  }
  bool first = true;
  while (true) {
    command.remove_prefix(std::min(command.find_first_not_of(kBetween), command.size()));
    if (command.empty()) return;
    std::string_view word = command.substr(0, command.find_first_of(kBetween));
    command.remove_prefix(word.size());
    // python:FILE:FUNCTION, pipe:COMMAND
    if (const auto colon = word.find(':'); colon != std::string_view::npos && word[0] != '/') {
      if (word.starts_with("python:") || word.starts_with("pipe:")) word.remove_prefix(colon + 1);
      word = word.substr(0, word.find(':'));
    }
    add_word(word, first, repository);
    first = false;
  }
}

Result<void> ObeyedPlaces::read_git(const fs::path& file, Repository& repository, int depth) {
  auto text = text_of(file);
  if (!text) return pass_on(text);
  if (!*text) return {};
  if (depth > kDeepestInclude || ++repository.files > kMostFiles) return read_no_further(file);
  const auto settings = read_git_settings(**text);
  for (const Setting& one : settings) {  // what others count from
    if (one.section != "core" || one.key != "worktree" || one.value.empty()) continue;
    for (const std::string& path : with_home(one.value))
      repository.bases.push_back(file.parent_path() / path);
  }
  for (const Setting& one : settings) {
    const auto* const known = std::ranges::find_if(kGit, [&one](const Known& entry) {
      return entry.section == one.section && (entry.key == "*" || entry.key == one.key);
    });
    if (known == kGit.end() || one.value.empty()) continue;
    switch (known->means) {
      case Means::kWorktree: break;
      case Means::kCommand: add_words(one.value, repository); break;
      case Means::kPath:
        for (const fs::path& base : repository.bases) add_value(one.value, base);
        break;
      case Means::kInclude:
        for (const std::string& path : with_home(one.value)) {
          const fs::path included = file.parent_path() / path;
          add_place(included);
          if (auto read = read_git(included, repository, depth + 1); !read) return read;
        }
    }
  }
  return {};
}

Result<void> ObeyedPlaces::read_mercurial(const fs::path& file, Repository& repository, int depth) {
  auto text = text_of(file);
  if (!text) return pass_on(text);
  if (!*text) return {};
  if (depth > kDeepestInclude || ++repository.files > kMostFiles) return read_no_further(file);
  for (const Setting& one : read_mercurial_settings(**text)) {
    if (one.section == "include") {
      for (const std::string& path : with_home(one.value)) {
        const fs::path included = file.parent_path() / path;
        add_place(included);
        if (auto read = read_mercurial(included, repository, depth + 1); !read) return read;
      }
    } else if (std::ranges::find(kMercurial, one.section) != kMercurial.end()) {
      add_words(one.value, repository);
    }
  }
  return {};
}

// `git` is the folder, the file that says where it lies (a worktree's or a submodule's), or a link.
Result<void> ObeyedPlaces::add_git(const fs::path& root, const fs::path& git) {
  if (!seen_.insert(git).second) return {};
  const auto first_line = [this](const fs::path& file,
                                 std::string_view label) -> Result<std::string> {
    auto text = text_of(file);
    if (!text) return pass_on(text);
    if (!*text || !(*text)->starts_with(label)) return std::string();
    return std::string(stripped(std::string_view(**text).substr(label.size())));
  };
  std::error_code error;
  fs::path folder = git;
  if (!fs::is_directory(git, error)) {
    auto said = first_line(git, "gitdir:");
    if (!said) return pass_on(said);
    if (said->empty()) return {};
    folder = root / *said;
    const auto before = places_;
    add_place(folder);
    for (const fs::path& place : places_) {
      if (!before.contains(place)) git_files_.emplace(place, git);
    }
  }
  fs::path common = folder;
  auto said = first_line(folder / "commondir", "");
  if (!said) return pass_on(said);
  if (!said->empty()) {
    common = folder / *said;
    add_place(common);
  }
  Repository repository{.bases = {root}};
  for (const fs::path& file :
       {common / "config", common / "config.worktree", folder / "config.worktree"}) {
    if (auto read = read_git(file, repository, 0); !read) return read;
  }
  return add_user_of_git(std::move(repository));
}

Result<void> ObeyedPlaces::add_user_of_git(Repository repository) {
  repository.files = 0;
  for (const fs::path& file : files_of_user()) {
    if (auto read = read_git(file, repository, 0); !read) return read;
  }
  return {};
}

Result<void> ObeyedPlaces::add_user_of_mercurial(Repository repository) {
  repository.files = 0;
  for (const fs::path& file : mercurial_files_of_user()) {
    if (auto read = read_mercurial(file, repository, 0); !read) return read;
  }
  return {};
}

Result<void> ObeyedPlaces::add_mercurial(const fs::path& root) {
  if (!seen_.insert(root / ".hg").second) return {};
  Repository repository{.bases = {root}};
  for (const char* const name : {".hg/hgrc", ".hg/hgrc-not-shared"}) {
    if (auto read = read_mercurial(root / name, repository, 0); !read) return read;
  }
  return add_user_of_mercurial(std::move(repository));
}

Result<void> ObeyedPlaces::add(const ProtectedFound& found) {
  for (const auto* const paths : {&found.names, &found.links}) {
    for (const fs::path& path : *paths) {
      const bool is_bare = !is_protected_name(path.filename().native());
      Result<void> added;
      if (is_bare || path.filename() == ".git")
        added = add_git(is_bare ? path : path.parent_path(), path);
      else if (path.filename() == ".hg")
        added = add_mercurial(path.parent_path());
      if (!added) return added;
    }
  }
  return {};
}

Result<void> ObeyedPlaces::add_above(const fs::path& path) {
  // The user's, whose repositories may lie anywhere. What is relative counts from a repository.
  if (seen_.insert("/.gitconfig").second) {
    if (auto added = add_user_of_git({.bases = {"/"}}); !added) return added;
    if (auto added = add_user_of_mercurial({.bases = {"/"}}); !added) return added;
  }
  for (fs::path at = path;; at = at.parent_path()) {
    if (is_there(at / ".git")) {
      if (auto added = add_git(at, at / ".git"); !added) return added;
    }
    if (is_there(at / ".hg")) {
      if (auto added = add_mercurial(at); !added) return added;
    }
    const UniqueFd folder(::open(at.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (folder && is_repository(folder.get())) {
      add_place(at);
      if (auto added = add_git(at, at); !added) return added;
    }
    if (at == at.parent_path()) return {};
  }
}

}  // namespace mcpac::project
