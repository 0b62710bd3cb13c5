// AcceptedTier: the weakest sandbox that the user has accepted once and for all runs on this
// machine, with `mcpac doctor --accept-tier`; the default of --min-tier.
//
// A private file in the user's configuration folder, outside of every project, as a project must
// not weaken the sandbox that it runs in. Whatever is wrong with the file, tier A is meant.
#pragma once

#include <filesystem>

#include "core/error.h"
#include "sandbox/sandbox.h"

namespace mcpac::cli {

// A regular file that belongs to this user, and that nobody else may write.
[[nodiscard]] bool is_of_user_alone(int fd);

// By the XDG Base Directory Specification.
[[nodiscard]] std::filesystem::path accepted_tier_file();
// A where there is no such file, where it says anything else, and where somebody else owns it or
// may write it.
[[nodiscard]] sandbox::Tier accepted_tier(const std::filesystem::path& file);
// Accepting A takes the file away. kFileUnwritable.
[[nodiscard]] Result<void> accept_tier(const std::filesystem::path& file, sandbox::Tier tier);

}  // namespace mcpac::cli
