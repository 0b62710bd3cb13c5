// ClaimedNeeds: what tools of a confined server say that they need (core/claims.h), against what
// its entry gives.
//
// A tool that cannot work without what it does not get is withheld: no program and no client calls
// it. One that can is degraded, offered and marked. A claim by an argument of files counts as
// given: the rules that let a path through give its place. Nothing is withheld of a server that has
// no "sandbox", and nothing is granted by a claim.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codegen/lock.h"
#include "core/claims.h"
#include "core/error.h"
#include "core/permission.h"
#include "execute/project/project.h"

namespace mcpac::execute {

struct ToolNeeds {
  struct Unmet {
    Claim claim;
    std::string line;  // what its entry would have to say: "\"network\": [\"a.example:443\"]"
  };
  std::vector<Unmet> unmet{};  // required ones first
  [[nodiscard]] bool is_withheld() const { return !unmet.empty() && unmet.front().claim.required; }
};

[[nodiscard]] ToolNeeds needs_of(const Project& project, const codegen::LockedServer& server,
                                 const codegen::LockedTool& tool);
// Of all tools with something unmet.
using NeedsOfTools = std::map<Permission, ToolNeeds>;
[[nodiscard]] NeedsOfTools unmet_needs(const Project& project, const codegen::Lock& lock);

// "not offered: it says it needs: network a.example:443 (required), which its entry does not give",
// "degraded: …". Empty for what has all that it names.
[[nodiscard]] std::string needs_text(const ToolNeeds& needs);
// kToolWithheld, with the claim and the line to write.
[[nodiscard]] Error withheld_error(const Permission& tool, const ToolNeeds& needs);

// What claims of a server and its tools come to as a "sandbox": entries to begin with, for a person
// to read. Only what names a place or a host makes one.
struct ClaimedLine {
  std::string text;    // "./data:rw", "api.github.com:443"
  std::string reason;  // "the server says: read_file reads ./data (required)"
};
struct ClaimedEntries {
  std::vector<ClaimedLine> files{};  // a writable place stands for the same to read
  std::vector<ClaimedLine> network{};
};
[[nodiscard]] ClaimedEntries entries_of_claims(const codegen::LockedServer& server);

}  // namespace mcpac::execute
