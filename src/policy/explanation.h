// SPDX-License-Identifier: Apache-2.0

// Explanation: all that a decision rests on, as a value: what every layer said, and of every rule
// that speaks of the tool whether it matched, and if not, the first reason why.
//
// It is told to the user and the audit log only: it quotes rules of the user. Texts that quote a
// value of the call are shortened and printable. Built by Authority::explain, and by
// Authority::decide on request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "policy/decision.h"

namespace mcpac::policy {

// How much of a limit is used, before the call: "calls" 2 of 3, "for" 12s of 15m.
struct MeterState {
  std::string meter;  // as the clause is called
  std::string used;
  std::string limit;
};

// How much of a rule with limits is used.
struct RuleMeters {
  std::string layer;
  std::string rule;
  std::vector<MeterState> meters;
};

struct RuleStanding {
  enum class Kind : std::uint8_t {
    kMatches,
    kMisses,
    kUsedUp,  // it would match, but a limit of it is reached
  };
  Kind kind = Kind::kMisses;
  Effect effect = Effect::kAllow;
  std::string rule;   // printed, with the target that speaks of the tool alone
  std::string place;  // "mcpac.policy:12", "--grant"
  std::string why;    // the first reason against a match; empty where it matches
  // Where that reason is a test of one argument.
  std::string argument;
  std::string value;
  std::string test;
  std::vector<MeterState> meters;
};
[[nodiscard]] std::string to_string(RuleStanding::Kind kind);

struct LayerExplanation {
  std::string name;
  Effect effect = Effect::kDeny;
  std::string rule;   // that decided; empty where nothing matched
  std::string place;  // of that rule
  std::vector<RuleStanding> rules;
};

// How path tests read the strings of this call.
struct PathReading {
  std::string admit_base;  // relative values are resolved against it by an allow
  std::vector<std::string> further_bases = {};  // and against all of these (Bases::given_folders)
  std::vector<std::string> catch_bases;  // and by a deny or ask; none: every such test matches them
  bool lexical_only = false;             // the files are not mcpac's to see: the text decides alone
  bool is_unknown = false;               // where the server starts is not known (unknown_starts)
  // Of a denied call: declared as the root, this folder would let the deciding rule admit it.
  std::string settling_root = {};
  // Of a denied call: its relative path is read in several ways, so a rule with its text is no fix.
  bool is_ambiguous = false;
  bool has_root = false;  // admit_base is the declared root, or the server's "cwd"
  std::string home = {};  // what "~" of a rule is; for words alone
};

struct Explanation {
  Decision decision;
  std::vector<LayerExplanation> layers;  // none where the call never came to a rule
  std::optional<PathReading> paths;      // where a rule that speaks of the tool tests a path
};

[[nodiscard]] Json to_json(const Explanation& explanation);

// An allow that lets nothing through unasked: an ask of its layer catches all that it admits.
struct AskedAllow {
  std::string layer;
  std::string allow;  // both printed, with the one target that it is about
  std::string allow_place;
  std::string ask;
  [[nodiscard]] std::string in_words() const;
};

}  // namespace mcpac::policy
