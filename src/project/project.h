// SPDX-License-Identifier: Apache-2.0

// Project: the files of the user's folder that a run stands on, read once.
//
// mcpac.json says which servers there are, mcpac.lock which tools were approved, servers/ holds the
// generated headers. All three are read by path from the folder of mcpac.json.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codegen/generate.h"
#include "codegen/lock.h"
#include "core/error.h"
#include "mcp/server_config.h"
#include "policy/layers.h"
#include "project/folders.h"

namespace mcpac::servers {
class ConfinedRules;  // servers/confine/server_places.h
}

namespace mcpac::project {

// Files in the folder of a project, as read when a run began to rely on them.
struct KeptProject {
  std::map<std::string, std::string> headers;  // path below servers/ -> bytes
  std::optional<policy::PolicyFile> policy;    // mcpac.policy; nothing: there was none
};

struct Project {
  std::filesystem::path config_file;
  std::filesystem::path folder;  // of config_file; absolute
  mcp::Config config;
  // Stands for servers/ and mcpac.policy, which are not read then. Null: they are.
  std::shared_ptr<const KeptProject> kept = nullptr;
  // Absolute paths of files that this command obeys besides: rules and an approver's program, as
  // its command line named them (project/files/obeyed_commands.h).
  std::vector<std::filesystem::path> obeyed = {};
  // Places that rules give its confined servers at their next start; null: none is confined.
  std::shared_ptr<servers::ConfinedRules> confined = nullptr;

  [[nodiscard]] std::filesystem::path lock_file() const { return folder / "mcpac.lock"; }
  [[nodiscard]] std::filesystem::path policy_file() const { return folder / "mcpac.policy"; }
  [[nodiscard]] std::filesystem::path headers() const { return folder / "servers"; }
};

// Only where the path itself leads to nothing: a link to nowhere, a loop of links or a folder that
// cannot be read is no "not there yet", and its reader gets the error of reading it.
[[nodiscard]] bool is_absent(const std::filesystem::path& file);

// The nearest file of the same name in a folder above; empty: there is none.
[[nodiscard]] std::filesystem::path config_above(const std::filesystem::path& config_file);

// Its servers know where logins are kept.
[[nodiscard]] Result<Project> load_project(const std::filesystem::path& config_file,
                                           const Folders& folders);
// The same of what mcpac.json does not say, or not yet.
[[nodiscard]] Project project_of(mcp::Config config, const std::filesystem::path& config_file,
                                 const Folders& folders);
[[nodiscard]] Result<codegen::Lock> load_lock(const Project& project);
// As mcpac.json says it ("server_checks"). Borrows.
[[nodiscard]] codegen::ServerChecks server_checks_of(const mcp::Config& config);
// The bytes of mcpac.lock.
[[nodiscard]] Result<std::string> read_lock_text(const Project& project);

}  // namespace mcpac::project
