// SPDX-License-Identifier: Apache-2.0

#include "policy/explanation.h"

#include <fmt/format.h>

namespace mcpac::policy {
namespace {

Json to_json(const RuleStanding& standing) {
  Json json = {{"rule", standing.rule},
               {"place", standing.place},
               {"effect", to_string(standing.effect)},
               {"standing", to_string(standing.kind)}};
  if (!standing.why.empty()) json["why"] = standing.why;
  if (!standing.argument.empty()) {
    json["argument"] = standing.argument;
    json["test"] = standing.test;
  }
  if (!standing.value.empty()) json["value"] = standing.value;
  for (const auto& meter : standing.meters)
    json["meters"].push_back(
        {{"meter", meter.meter}, {"used", meter.used}, {"limit", meter.limit}});
  return json;
}

Json to_json(const LayerExplanation& layer) {
  Json json = {{"layer", layer.name},
               {"effect", to_string(layer.effect)},
               {"rule", layer.rule},
               {"place", layer.place},
               {"rules", Json::array()}};
  for (const auto& rule : layer.rules) json["rules"].push_back(to_json(rule));
  return json;
}

}  // namespace

std::string AskedAllow::in_words() const {
  return fmt::format(
      "'{}' lets nothing through unasked: '{}' catches all that it admits, and an ask wins; '{} "
      "otherwise' asks about the rest alone",
      allow, ask, ask);
}

std::string to_string(RuleStanding::Kind kind) {
  switch (kind) {
    case RuleStanding::Kind::kMatches: return "matches";
    case RuleStanding::Kind::kUsedUp: return "used_up";
    case RuleStanding::Kind::kMisses: break;
  }
  return "misses";
}

Json to_json(const Explanation& explanation) {
  const Decision& decision = explanation.decision;
  Json json = {{"effect", to_string(decision.effect)},
               {"rule", decision.rule},
               {"place", decision.place},
               {"layer", decision.layer},
               {"reason", decision.reason},
               {"would_grant", decision.would_grant},
               {"no_grant", decision.no_grant},
               {"layers", Json::array()}};
  for (const auto& layer : explanation.layers) json["layers"].push_back(to_json(layer));
  if (explanation.paths) {
    json["paths"] = {{"admit_base", explanation.paths->admit_base},
                     {"catch_bases", explanation.paths->catch_bases},
                     {"lexical_only", explanation.paths->lexical_only}};
    if (!explanation.paths->further_bases.empty())
      json["paths"]["further_bases"] = explanation.paths->further_bases;
  }
  return json;
}

}  // namespace mcpac::policy
