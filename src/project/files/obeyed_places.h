// SPDX-License-Identifier: Apache-2.0

// ObeyedPlaces: files and folders that the configuration of git or Mercurial names, and that those
// run or obey by themselves: core.hooksPath, a filter's script, an included file.
//
// No name gives such a place away, and it may be made by the program that writes the folder. The
// configuration is read, and git is not asked: it runs what a repository that is not to be trusted
// names. What a person starts by its name (an alias) is not among them, as with protected names.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "project/files/protected_names.h"

namespace mcpac::project {

// One line of a configuration; section and key in lower case. Of Mercurial's no subsection.
struct Setting {
  std::string section;
  std::string subsection;
  std::string key;
  std::string value;
};
// What is no setting is passed over: git refuses such a file, and then runs nothing.
[[nodiscard]] std::vector<Setting> read_git_settings(std::string_view text);

class ObeyedPlaces {
 public:
  // Repositories among what was found in a folder.
  [[nodiscard]] Result<void> add(const ProtectedFound& found);
  // Those that an absolute path lies in, and what the user's own configuration names anywhere.
  [[nodiscard]] Result<void> add_above(const std::filesystem::path& path);
  // One that others found; a relative one is left out.
  void add_place(const std::filesystem::path& place);
  // Absolute, each as it is written and as it lies, whether it is there or not.
  [[nodiscard]] const std::set<std::filesystem::path>& all() const { return places_; }
  // The .git file that names it as its repository's folder; empty: none does.
  [[nodiscard]] std::filesystem::path git_file_of(const std::filesystem::path& place) const {
    const auto found = git_files_.find(place);
    return found == git_files_.end() ? std::filesystem::path() : found->second;
  }

 private:
  struct Repository;
  [[nodiscard]] Result<void> add_git(const std::filesystem::path& root,
                                     const std::filesystem::path& git);
  [[nodiscard]] Result<void> add_mercurial(const std::filesystem::path& root);
  [[nodiscard]] Result<void> read_git(const std::filesystem::path& file, Repository& repository,
                                      int depth);
  [[nodiscard]] Result<void> read_mercurial(const std::filesystem::path& file,
                                            Repository& repository, int depth);
  // kFilesRefused where it cannot be read whole; nothing where there is none.
  [[nodiscard]] Result<std::optional<std::string>> text_of(const std::filesystem::path& file);
  void add_value(std::string_view value, const std::filesystem::path& base);
  [[nodiscard]] Result<void> add_user_of_git(Repository repository);
  [[nodiscard]] Result<void> add_user_of_mercurial(Repository repository);
  void add_word(std::string_view word, bool is_first, const Repository& repository);
  void add_words(std::string_view command, const Repository& repository);

  std::set<std::filesystem::path> places_;
  std::map<std::filesystem::path, std::filesystem::path> git_files_;  // by place
  std::set<std::filesystem::path> seen_;                              // repositories
};

}  // namespace mcpac::project
