// SPDX-License-Identifier: Apache-2.0

// The options by which a user grants: the same for every command that makes calls.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "policy/authority.h"

namespace CLI {
class App;
}

namespace mcpac::cli {

struct GrantOptions {
  std::vector<std::string> grants;
  std::vector<std::string> asks;
  std::vector<std::string> denies;
  std::vector<std::string> policy_files;
  std::vector<std::string> profiles;
  std::vector<std::string> files;
  std::vector<std::string> networks;
  [[nodiscard]] bool are_given() const {
    return !grants.empty() || !asks.empty() || !denies.empty() || !policy_files.empty() ||
           !profiles.empty() || !files.empty() || !networks.empty();
  }
};

// --grant, --ask, --deny, --files, --network (each may stand several times), --policy FILE and
// --profile NAME.
[[nodiscard]] std::shared_ptr<GrantOptions> add_grant_options(CLI::App& command);
// --expect-denials: calls in the source that are certain to be denied are what the program is
// about.
void add_expect_denials(CLI::App& command, bool& into);
// As they were given, to be pasted into a shell: " --grant 'notes.*'"; empty for none.
[[nodiscard]] std::string as_words(const GrantOptions& options);
[[nodiscard]] Result<policy::LayerText> to_layer(const GrantOptions& options);

}  // namespace mcpac::cli
