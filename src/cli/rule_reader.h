// SPDX-License-Identifier: Apache-2.0

// RuleReader: the lock and the places that rules are about, for commands that read rules.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"
#include "cli/grant_options.h"
#include "core/clock.h"
#include "run/check/authorities.h"

namespace mcpac::cli {

class RuleReader {
 public:
  // The project that the context names, with its lock.
  static Result<std::unique_ptr<RuleReader>> open(const Context& context);
  RuleReader(project::Project project, codegen::Lock lock,
             std::function<void(std::string_view)> warning);
  RuleReader(const RuleReader&) = delete;
  RuleReader& operator=(const RuleReader&) = delete;

  // One file as a layer by itself.
  [[nodiscard]] Result<policy::Authority> file(const std::filesystem::path& name) const;
  [[nodiscard]] Result<policy::Authority> load(policy::PolicyFile rules) const;
  // All layers of a run with these options, the project's policy above them; with what its program
  // declares, where that is said. Warns of what the options leave open, as a run does.
  [[nodiscard]] Result<policy::Authority> run(const GrantOptions& options,
                                              std::vector<std::string> declared = {}) const;

  [[nodiscard]] const project::Project& project() const { return project_; }
  [[nodiscard]] const codegen::Lock& lock() const { return lock_; }
  [[nodiscard]] const run::PolicyWorld& world() const { return world_; }

 private:
  project::Project project_;
  codegen::Lock lock_;
  SystemClock clock_;
  run::PolicyWorld world_;
  std::function<void(std::string_view)> warning_;
};

}  // namespace mcpac::cli
