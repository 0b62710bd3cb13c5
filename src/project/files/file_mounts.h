// SPDX-License-Identifier: Apache-2.0

// FileMounts: the files that a run was granted, as its sandbox gets them.
//
// Everything that decides about a granted file comes from this one value: the mounts (what exists
// inside, at the same absolute place as outside), the Landlock rules that the warden makes of the
// same mounts, and which system calls on files the filter admits. What is not granted is absent.
//
// Each place is opened once, without following a link, and stays open as long as the value lives,
// so that the file which was checked is the file that the child finds (docs/files.md).
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "policy/places.h"
#include "project/files/protected_names.h"
#include "project/project.h"
#include "sandbox/sandbox.h"

namespace mcpac::project {

// Places that no grant can give. Paths are absolute and free of links.
struct ReservedPlaces {
  std::vector<std::filesystem::path> closed;     // never visible: audit log, cache, sockets of runs
  std::vector<std::filesystem::path> read_only;  // never writable: configuration, rules, sources
  // Not writable as a whole, only folders in them: other runs keep what they compile and start
  // here.
  std::vector<std::filesystem::path> shared{};
  // Not writable, there or not: what servers and an approver are started from, rules
  // (obeyed_commands.h).
  std::set<std::filesystem::path> obeyed{};
  // Folders with a folder of settings of each program (~/.config): those folders may be written
  // where a person names one, but for those of programs that are known to run or obey what lies
  // there (is_protected_settings). Empty for programs, which write in none of them.
  std::vector<std::filesystem::path> settings{};
};
// Folders of mcpac that nothing is given of: state, cache, settings, answers, sockets. Real paths.
[[nodiscard]] std::vector<std::filesystem::path> closed_places(const Folders& folders);
// `sources`: the files and folders that the program was made of.
[[nodiscard]] ReservedPlaces reserved_places(const Project& project, const Folders& folders,
                                             std::span<const std::filesystem::path> sources);

struct GrantedPlace {
  std::filesystem::path path;
  policy::FileMode mode = policy::FileMode::kReadOnly;
  std::string said_in;
  bool is_folder = false;
  sandbox::FileIdentity identity;
  UniqueFd handle;  // O_PATH
};

struct FileMounts {
  std::vector<GrantedPlace> places;  // sorted by path
  std::vector<sandbox::Mount> mounts;
  // Protected names as they were, also those that there was no room to mount over: those the
  // guard of names holds (sandbox/name_guard.h).
  std::map<std::filesystem::path, sandbox::FileIdentity> kept;
  // The folders between those and the place that they lie in.
  std::vector<sandbox::FileIdentity> folders_of_kept;
  // Places that the configuration of git or Mercurial names (obeyed_places.h), or that mcpac obeys
  // (obeyed_commands.h), there or not: the guard of names holds them, and apply does.
  std::vector<std::string> kept_places;
  // Where the program starts: the caller's folder, when it lies in a place or above one, so that
  // relative paths mean inside what they mean outside; "/" otherwise.
  std::filesystem::path work_directory = "/";

  [[nodiscard]] bool reads() const { return !places.empty(); }
  [[nodiscard]] bool writes() const;
};

// Protection of names besides the mounts over existing ones. As many mounts are made as there is
// room for: first those of folders that are repositories by what they hold. Where the program
// writes the folder itself, the guard of its sandbox does (`kept_names` of its spec), and it cannot
// where a file system has more spellings of a name than it knows, nor hold such a repository, which
// is refused where it finds no room; where what is written are changes, apply never takes such a
// name, nor anything in such a repository.
//
// kByMounts: mounts alone, beside a server: a name that finds no room refuses the place.
enum class NamesKept : std::uint8_t { kByGuard, kByApply, kByMounts };

// Protected names, as a sandbox's guard is told them.
[[nodiscard]] std::vector<std::string> guarded_names();

// kFilesRefused names the first place that cannot be granted and says why.
[[nodiscard]] Result<FileMounts> mounts_of(std::span<const policy::FilePlace> granted,
                                           const ReservedPlaces& reserved,
                                           NamesKept kept = NamesKept::kByGuard);

// After a run: protected names in its writable folders that were not there when it began, or are
// other files now, and folders that are closed to us now. The program's guard let none of them be;
// another process made one, which should be reported.
[[nodiscard]] Result<ProtectedFound> new_protected_names(const FileMounts& files);

// The path, and which file has that name now, by its inode and its birth: one that was removed and
// made again is another. Its content and its times say nothing.
[[nodiscard]] std::string file_with_name(const std::filesystem::path& path);

}  // namespace mcpac::project
