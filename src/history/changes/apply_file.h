// ApplyFile: one file of a changeset put into the user's folder, whole or not at all.
#pragma once

#include <string>

#include "core/error.h"
#include "core/file.h"
#include "history/changes/change.h"

namespace mcpac::history {

// Copies beside `name` in the open folder `parent` and renames; what is copied must have the digest
// that was recorded. A file that was added never takes the place of another.
[[nodiscard]] Result<void> put_file(const UniqueFd& source, const UniqueFd& parent,
                                    const std::string& name, const Change& change);

}  // namespace mcpac::history
