// SPDX-License-Identifier: Apache-2.0

// Settings: permanent consents of a person for all runs on this machine: a weaker sandbox (`mcpac
// doctor --accept-tier`, the default of --min-tier), and the switch that turns permission checks
// off (persons_word.h).
//
// They lie in ~/.config/mcpac of the account, by the system's record of users (getpwuid): the
// writer of a command line writes its environment, too, so HOME and XDG_CONFIG_HOME have no say,
// and neither has a project. The file and each folder from the home folder on belong to the user
// or to root, and others cannot write them. What is not so counts as absent, and is told.
#pragma once

#include <filesystem>
#include <string>

#include "core/error.h"
#include "sandbox/sandbox.h"

namespace mcpac::cli {

// Of the account that this process runs as; empty where the system has no record of it.
[[nodiscard]] std::filesystem::path account_home();
// ~/.config/mcpac there; empty without a home folder.
[[nodiscard]] std::filesystem::path settings_folder(const std::filesystem::path& home);

struct Setting {
  std::filesystem::path file;
  std::string text;     // at most 16 bytes; empty where there is none
  std::string refused;  // why what is there is not taken, with the path that is at fault
};
[[nodiscard]] Setting read_setting(const std::filesystem::path& home, std::string_view name);

// One line, "allowed".
[[nodiscard]] Setting off_switch_setting(const std::filesystem::path& home);
[[nodiscard]] bool is_allowed(const Setting& off_switch);

[[nodiscard]] Setting tier_setting(const std::filesystem::path& home);
// A where there is no such file, where it says anything else, and where it is not taken.
[[nodiscard]] sandbox::Tier accepted_tier(const std::filesystem::path& home);
// Accepting A takes the file away. kFileUnwritable, also where what was written is not taken.
[[nodiscard]] Result<void> accept_tier(const std::filesystem::path& home, sandbox::Tier tier);

}  // namespace mcpac::cli
