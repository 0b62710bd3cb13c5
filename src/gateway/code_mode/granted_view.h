// SPDX-License-Identifier: Apache-2.0

// GrantedView: the part of a project visible to a client in code mode and its programs: the tools
// that its rules could ever allow, as a lock of their own, and what the rules say of each.
//
// Programs are compiled against headers made from just these, so a tool that was not granted is
// unknown here, too. Immutable but for the headers, which are made when the first program needs
// them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/lock.h"
#include "policy/authority.h"
#include "project/project.h"

namespace mcpac::gateway::code_mode {

class GrantedView {
 public:
  // `tools`: what the client may call. `project` as the authority was loaded with it.
  GrantedView(const codegen::Lock& lock, const std::set<Permission>& tools,
              const policy::Authority& authority, const project::Project& project);

  struct Granted {
    std::vector<std::string> rules;  // that speak of it, at most kMaxRules
    bool is_conditional = false;
  };
  [[nodiscard]] const Granted& granted(const Permission& tool) const;
  // The granted tools; without headers.
  [[nodiscard]] const codegen::Lock& lock() const { return lock_; }
  // Instructions for a model: how to use the four tools, and the text of `mcpac prompt`.
  [[nodiscard]] const std::string& instructions() const { return instructions_; }

  // The same lock with its headers, and the project with these instead of its own.
  struct Ready {
    codegen::Lock lock;
    project::Project project;
  };
  // From any thread.
  [[nodiscard]] Result<std::shared_ptr<const Ready>> ready() const;

 private:
  [[nodiscard]] std::string all_rules() const;
  [[nodiscard]] std::string make_instructions(const policy::Authority& authority) const;

  codegen::Lock lock_;
  project::Project project_;
  std::map<Permission, Granted> granted_;
  std::string instructions_;
  mutable std::mutex making_;
  mutable std::shared_ptr<const Ready> ready_;
};

}  // namespace mcpac::gateway::code_mode
