// OpenPlace: one granted place opened and judged by itself. Beside file_mounts.h, which is what
// others include.
#pragma once

#include "execute/files/file_mounts.h"

namespace mcpac::execute {

// Whether `path` is `folder` or lies below it; both absolute and normal.
[[nodiscard]] bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder);

[[nodiscard]] Result<GrantedPlace> open_place(const policy::FilePlace& place,
                                              const ReservedPlaces& reserved);

}  // namespace mcpac::execute
