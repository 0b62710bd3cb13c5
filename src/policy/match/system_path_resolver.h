// SPDX-License-Identifier: Apache-2.0

// SystemPathResolver: path tests see the file system of this machine through it.
//
// It walks component by component with openat(O_PATH | O_NOFOLLOW) and reads links itself, because
// std::filesystem::weakly_canonical maps a dangling link to a path inside the base. The only file
// of this room that does I/O; it reads nothing but the names in folders and changes nothing. Safe
// from several threads.
//
// Unresolvable is also what a server may find elsewhere: behind a link of /proc, or under a name
// that the folder has in another Unicode normal form.
//
// look() also tells which file or folder each step is, and where a folder opens one entry by
// several names that differ in case (or are shortened, or hold characters that it passes over) what
// the entry's own name is, read from the folder. Whether a folder folds is found out by asking it
// for the same name in the other case, so no list of file systems has to be complete; where the
// name is missing, as core/folds_case.h says.
//
// What a path costs is up to the makers of the links and folders on its way, and a call may name
// many: so work is counted, call by call to the kernel and entry by entry of a folder.
#pragma once

#include "policy/match/path_facts.h"

namespace mcpac::policy {

class SystemPathResolver final : public FolderResolver {
 public:
  [[nodiscard]] Result<std::string> resolve(std::string_view path,
                                            Work* work = nullptr) const override;
  [[nodiscard]] Result<std::string> resolve_beneath(std::string_view base,
                                                    const std::vector<std::string>& components,
                                                    Work* work = nullptr) const override;
  [[nodiscard]] Result<Sighting> look(std::string_view path, Names names,
                                      Work* work = nullptr) const override;
  [[nodiscard]] Result<Sighting> look_in(const Sighting& folder, const std::string& name,
                                         Names names, std::optional<bool>& folds,
                                         Work* work) const override;
  // Looks at 10,000 entries and 64 folders deep.
  [[nodiscard]] Result<bool> holds(std::string_view folder, std::string_view meaning,
                                   const IsMeant& is_meant, Work* work = nullptr) const override;
};

}  // namespace mcpac::policy
