// SPDX-License-Identifier: Apache-2.0

#include "servers/confine/proposed_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/ascii.h"
#include "core/printable.h"
#include "mcp/environment.h"
#include "mcp/secrets.h"
#include "mcp/stdio_transport.h"
#include "project/files/open_place.h"
#include "project/project_place.h"
#include "servers/confine/confine_servers.h"
#include "servers/confine/launch_profile.h"
#include "servers/confine/server_packages.h"

namespace mcpac::servers {
namespace {

namespace fs = std::filesystem;

// Files that programs write beside others of their own: journals, locks, logs ahead of them.
bool is_database(const fs::path& file) {
  constexpr std::array<std::string_view, 8> kEndings = {".db",      ".db3",  ".sqlite", ".sqlite3",
                                                        ".sqlite2", ".s3db", ".duckdb", ".kuzu"};
  return std::ranges::find(kEndings, lowered(file.extension().string())) != kEndings.end();
}

// Names of variables and options whose file is the server's own to write.
bool is_of_data(std::string_view label) {
  constexpr std::array<std::string_view, 10> kWords = {
      "memory", "data", "db", "store", "log", "output", "cache", "state", "history", "journal"};
  const std::string lower = lowered(label);
  return std::ranges::any_of(kWords, [&](std::string_view word) {
    for (auto at = lower.find(word); at != std::string::npos; at = lower.find(word, at + 1)) {
      const bool begins = at == 0 || !is_alphanumeric(lower[at - 1]);
      const bool is_long = word.size() > 3;
      const auto end = at + word.size();
      if (begins && (is_long || end == lower.size() || !is_alphanumeric(lower[end]))) return true;
    }
    return false;
  });
}

// Variables about programs and the system, and not about what a server works on.
bool is_of_programs(std::string_view variable) {
  constexpr std::array<std::string_view, 14> kOfPrograms = {
      "HOME",       "TMPDIR",    "TEMP",        "TMP",      "SHELL",           "PATH",
      "PYTHONHOME", "JAVA_HOME", "VIRTUAL_ENV", "PERL5LIB", "LD_LIBRARY_PATH", "NODE_PATH",
      "PYTHONPATH", "RUBYLIB"};
  return std::ranges::find(kOfPrograms, variable) != kOfPrograms.end() ||
         variable.starts_with("XDG_") || lowered(variable).starts_with("npm_");
}

// Readings of a text as a path: the first of `whole` that is there, or else each of `items`.
struct NamesInText {
  std::vector<std::string> whole;
  std::vector<std::string> items;
};
NamesInText names_in(const std::string& text) {
  NamesInText names{.whole = {text}, .items = {}};
  std::string_view value = text;
  if (const auto equals = text.find('='); equals != std::string::npos)
    names.whole.emplace_back(value = std::string_view(text).substr(equals + 1));
  for (const std::string_view scheme : {"file://", "sqlite:///", "sqlite://"}) {
    if (!value.starts_with(scheme)) continue;
    names.whole.emplace_back(value.substr(scheme.size()));
    return names;
  }
  if (value.find_first_of(",:;") == std::string_view::npos) return names;
  // "/a:/b", "./a,./b"
  for (std::string_view rest = value; !rest.empty();) {
    const auto item = rest.substr(0, rest.find_first_of(",:;"));
    if (item.starts_with('/') || item.starts_with("./") || item.starts_with("../"))
      names.items.emplace_back(item);
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
  }
  return names;
}

class EntryWords {
 public:
  EntryWords(const project::Project& project, const fs::path& start, const LaunchProfile& profile,
             ForeignFolders foreign)
      : start_(start), profile_(profile), foreign_(std::move(foreign)) {
    std::error_code error;
    folder_ = fs::weakly_canonical(project.folder, error);
    if (error) folder_ = project.folder;
  }

  // `raw`: as the entry has it, with its references. `label`: what it is called there.
  void add(const std::string& raw, const std::string& text, const std::string& where,
           const std::string& label) {
    if (text.empty() || text.size() > kLongest || text.contains('\0')) return;
    if (text == "~" || text.starts_with("~/")) {
      made_.notes.push_back(printable(
          fmt::format("{} is {}, and the home of a sandbox is an empty one: write its whole path",
                      where, text)));
      return;
    }
    const auto equals = text.find('=');
    const bool is_option = text.starts_with('-') && equals != std::string::npos;
    is_data_ = is_of_data(is_option ? std::string_view(text).substr(0, equals) : label);
    const NamesInText names = names_in(text);
    for (const std::string& name : names.whole) {
      if (add_name(name, where, name == text ? raw : "")) return;
    }
    for (const std::string& name : names.items) add_name(name, where, "");
  }

  ProposedPlaces take() {
    for (const auto& [path, place] : places_) {
      if (is_given_by_another(path, place)) continue;
      made_.places.push_back({place.text, place.why});
    }
    return std::move(made_);
  }

 private:
  static constexpr std::size_t kLongest = 4096;
  struct Place {
    std::string text;
    std::string why;
    bool writes = false;
  };

  // Whether the name is something; then no other reading of the text is.
  bool add_name(const std::string& name, const std::string& where, const std::string& raw) {
    if (name.empty() || name.starts_with('-')) return false;
    const fs::path written = (start_ / name).lexically_normal();
    std::error_code error;
    const fs::path real = fs::canonical(written, error);
    if (error) return add_absent(name, written, where);
    const auto type = fs::status(real, error).type();
    const fs::path plain = written.has_filename() ? written : written.parent_path();
    if (type == fs::file_type::directory) {
      add_folder(real, where, raw);
    } else if (type == fs::file_type::regular && is_written(real)) {
      add_database(real, where);
    } else if (type == fs::file_type::regular) {
      if (!is_of_program(real)) put(real, false, where + " names it");
    } else {
      note(real, where, "no file or folder: name it in \"files\" where the server needs it");
      return true;
    }
    if (real != plain && !is_of_program(real))
      note(real, where,
           fmt::format("named through a link ({}), which the sandbox does not have: "
                       "write the real path there",
                       plain.string()));
    return true;
  }

  // What looks like a path, in a folder that is there: a data folder that is yet to be made. No
  // other text, which is mostly no path at all.
  bool note_absent(const std::string& name, const fs::path& written, const std::string& where) {
    const bool says_path =
        name.starts_with('/') || name.starts_with("./") || name.starts_with("../");
    std::error_code error;
    const fs::path plain = written.has_filename() ? written : written.parent_path();
    const fs::path folder = fs::canonical(plain.parent_path(), error);
    if (!says_path || name.find("://") != std::string::npos || error ||
        !fs::is_directory(folder, error) || folder == "/")
      return false;
    note(plain, where,
         fmt::format("it is not there, so it is not given: where the server works in it, {} first, "
                     "and do this again",
                     project::making(plain)));
    return true;
  }

  // A file of its own to write, whose folder is yet to be made, in one that is there.
  bool note_absent_folder(const fs::path& written, const std::string& where) {
    const fs::path folder = written.parent_path();
    std::error_code error;
    if (written.native().contains("://") || !fs::is_directory(folder.parent_path(), error))
      return false;
    note(written, where,
         fmt::format("its folder is not there, so it is not given: where the server writes in it, "
                     "{} first, and do this again",
                     project::making(folder)));
    return true;
  }

  bool add_absent(const std::string& name, const fs::path& written, const std::string& where) {
    if (!is_written(written) || !written.has_extension()) return note_absent(name, written, where);
    std::error_code error;
    const fs::path folder = fs::canonical(written.parent_path(), error);
    if (error) return note_absent_folder(written, where);
    if (is_foreign(folder, foreign_)) {
      note(written, where,
           "not there yet, in a folder that holds more than it: put it into one of its own");
      return true;
    }
    put(folder, true, fmt::format("{} names a file in it", where));
    return true;
  }

  void add_folder(const fs::path& real, const std::string& where, const std::string& raw) {
    if (profile_.trees.contains(real) || is_of_system(real)) return;
    const fs::path home = project::home_of_user();
    if (real == "/" || (!home.empty() && project::lies_in(home, real)))
      return note(real, where,
                  "a home as a whole is never given: name folders in it, or give those that it "
                  "needs with --files");
    put(real, true, where + " names it", raw);
  }

  void add_database(const fs::path& real, const std::string& where) {
    const fs::path folder = real.parent_path();
    if (!is_foreign(folder, foreign_) && !is_of_system(folder))
      return put(folder, true, where + " names a file in it");
    put(real, true, where + " names it");
    note(real, where,
         "given without its folder, which holds more: where the server keeps a journal beside it, "
         "or replaces it, put it into a folder of its own");
  }

  [[nodiscard]] bool is_written(const fs::path& file) const {
    return is_data_ || is_database(file);
  }

  [[nodiscard]] bool is_of_program(const fs::path& real) const {
    return is_of_system(real) || std::ranges::any_of(profile_.trees, [&](const fs::path& tree) {
             return project::lies_in(real, tree);
           });
  }

  void note(const fs::path& path, const std::string& where, std::string_view text) {
    made_.notes.push_back(printable(fmt::format("{} names {}: {}", where, path.string(), text)));
  }

  void put(const fs::path& real, bool writes, std::string why, const std::string& raw = "") {
    const bool is_below = project::lies_in(real, folder_);
    std::string text = real == folder_ ? "."
                       : is_below      ? "./" + real.lexically_relative(folder_).string()
                                       : real.string();
    // A reference to a whole path stays one.
    if (raw.starts_with("${") && !is_below) {
      text = raw;
    } else if (text.contains("${")) {
      return note(real, why,
                  "its name holds \"${\", which a place of a sandbox reads as a reference");
    }
    if (writes)
      text += ":rw";
    else if (text.ends_with(":rw") || text.ends_with(":ro"))
      text += ":ro";
    auto [at, is_new] = places_.try_emplace(real, Place{text, why, writes});
    if (!is_new && writes && !at->second.writes) at->second = {text, std::move(why), writes};
  }

  [[nodiscard]] bool is_given_by_another(const fs::path& path, const Place& place) const {
    return std::ranges::any_of(places_, [&](const auto& other) {
      return other.first != path && project::lies_in(path, other.first) &&
             (other.second.writes || !place.writes);
    });
  }

  const fs::path& start_;
  const LaunchProfile& profile_;
  const ForeignFolders foreign_;
  fs::path folder_;
  bool is_data_ = false;  // by what the text is called
  std::map<fs::path, Place> places_;
  ProposedPlaces made_;
};

}  // namespace

std::vector<std::string> ProposedPlaces::files() const {
  std::vector<std::string> texts;
  for (const ProposedPlace& place : places) texts.push_back(place.text);
  return texts;
}

Result<ProposedPlaces> proposed_places(const project::Project& project,
                                       const project::Folders& folders,
                                       const mcp::ServerConfig& server) {
  mcp::SecretValues secrets;
  auto target = mcp::make_stdio_target(server, secrets);
  if (!target) return pass_on(target);
  const mcp::SpawnOptions& options = target->spawn;
  auto start = start_of(options);
  if (!start) return pass_on(start);
  const ForeignFolders foreign = foreign_folders(project, folders);
  auto run = package_run_of(options.arguments);
  if (!run) return pass_on(run);
  // What is installed lies elsewhere than what its words name.
  auto profile = *run ? Result<LaunchProfile>(
                            LaunchProfile{.trees = {}, .links = {}, .first_own = (*run)->first_own})
                      : launch_profile_of(options, *start, foreign);
  if (!profile) return pass_on(profile);
  EntryWords words_of_entry(project, *start, *profile, foreign);
  for (std::size_t i = profile->first_own; i < options.arguments.size(); ++i) {
    if (i == 0) continue;
    const std::string& before = options.arguments[i - 1];
    words_of_entry.add(server.arguments[i - 1], options.arguments[i],
                       fmt::format("args[{}]", i - 1),
                       before.starts_with('-') && i > profile->first_own ? before : "");
  }
  for (const auto& [name, raw] : server.environment) {
    if (is_of_programs(name) || is_of_installer(name)) continue;
    auto value = secrets.expand(raw, "env." + name);
    if (value) words_of_entry.add(raw, *value, "env." + name, name);
  }
  return words_of_entry.take();
}

}  // namespace mcpac::servers
