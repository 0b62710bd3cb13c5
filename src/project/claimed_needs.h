// SPDX-License-Identifier: Apache-2.0

// ClaimedNeeds: declared needs of a confined server's tools (core/claims.h), against the sandbox
// that a start of it would get: by its entry, references expanded, and by the rules of the run.
//
// A tool that cannot work without what it does not get is withheld: no program and no client calls
// it. One that can is degraded, offered and marked. Where the rules are not known, none is withheld
// for a place that they could give. A claim by an argument of files counts as given: the rules that
// let a path through give its place. An entry whose references lead nowhere withholds nothing of
// files and network: its start says so. Nothing is withheld of a server that has no "sandbox", and
// nothing is granted by a claim.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codegen/lock.h"
#include "core/claims.h"
#include "core/error.h"
#include "core/permission.h"
#include "policy/authority.h"
#include "project/project.h"
#include "project/project_place.h"

namespace mcpac::project {

// Places of "network" of an entry, references expanded, as the layer that admits them and no other;
// and an authority of such layers, which knows no tools.
[[nodiscard]] policy::LayerText network_layer(const std::string& server,
                                              const std::vector<std::string>& places);
[[nodiscard]] Result<policy::Authority> authority_of_network(
    const std::vector<policy::LayerText>& layers);

struct ToolNeeds {
  struct Unmet {
    Claim claim;
    std::string line;  // what its entry would have to say: "\"network\": [\"a.example:443\"]"
    std::string held_back = {};  // the rule that takes it away, whatever the entry says
    bool is_of_rules = false;    // rules that are not known here may give it
    [[nodiscard]] bool withholds() const { return claim.required && !is_of_rules; }
  };
  std::vector<Unmet> unmet{};  // those that withhold first, then required ones
  [[nodiscard]] bool is_withheld() const { return !unmet.empty() && unmet.front().withholds(); }
};

// `rules`: what those of the run give its servers (places_of_servers()); null: they are not known.
[[nodiscard]] ToolNeeds needs_of(const Project& project, const codegen::LockedServer& server,
                                 const codegen::LockedTool& tool, const PlacesOfServers* rules);
// Of all tools with something unmet.
using NeedsOfTools = std::map<Permission, ToolNeeds>;
[[nodiscard]] NeedsOfTools unmet_needs(const Project& project, const codegen::Lock& lock,
                                       const PlacesOfServers* rules);

// "not offered: it says it needs: network a.example:443 (required), which its entry does not give",
// "in need of a rule: …", "degraded: …". Empty for what has all that it names.
[[nodiscard]] std::string needs_text(const ToolNeeds& needs);
// Fix for that, in the entry or the rules; not empty where needs_text() is not.
[[nodiscard]] std::string needs_remedy(const ToolNeeds& needs);
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

}  // namespace mcpac::project
