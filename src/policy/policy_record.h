// SPDX-License-Identifier: Apache-2.0

// Policy record: all that the decisions of an authority rest on beside the lock, the calls and the
// clocks, as a value that the audit log keeps, and the authority again from it.
//
//   {"layers": [{"name", "rules": [{"rule", "place"}], "places": […], "declares"}], "bases": {…},
//   "prices": {…}, "paths": […]}
//
// Rules are printed, one spelling for one meaning, in their order: records of calls name them by
// their number. `places` are the statements about files and the network, where a layer has any;
// `declares` is what the layer of a program's declaration says of them. `paths` are what the file
// system said of the bases of path tests.
#pragma once

#include <string>

#include "policy/authority.h"
#include "policy/match/path_facts.h"

namespace mcpac::policy {

[[nodiscard]] Json policy_record(const Authority& authority);
// SHA-256 over its canonical JSON.
[[nodiscard]] std::string digest_of_record(const Json& policy_record);

// The policy in a record. kAuditUnreadable where it is none.
struct RecordedPolicy {
  std::vector<LayerText> layers;
  Bases bases;
  std::map<Permission, Money> prices;
  std::vector<PathFact> paths;
};
[[nodiscard]] Result<RecordedPolicy> read_policy_record(const Json& record);

[[nodiscard]] Json to_json(const Bases& bases);
// The part about one server, or about every server: what speaks of another one is left out.
[[nodiscard]] Bases bases_of(Bases bases, const std::string& server);
[[nodiscard]] Json to_json(const PathFact& fact);
[[nodiscard]] Result<std::vector<PathFact>> read_path_facts(const Json& list);

}  // namespace mcpac::policy
