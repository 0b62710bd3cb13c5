// SPDX-License-Identifier: Apache-2.0

#include "run/outcome_json.h"

#include "core/error_json.h"

namespace mcpac::run {
namespace {

Json denials_of(const Outcome& outcome) {
  Json list = Json::array();
  for (const auto& denial : outcome.denials.list()) list.push_back(to_json(denial));
  return list;
}

}  // namespace

Json to_json(const Outcome& outcome) {
  Json json = {{"exit_code", outcome.exit_code},
               {"missing", outcome.check.missing},
               {"conditional", outcome.check.conditional},
               {"extra", outcome.check.extra}};
  if (!outcome.run_id.empty()) json["run_id"] = outcome.run_id;
  if (!outcome.check.fix.empty()) json["fix"] = outcome.check.fix;
  if (outcome.report) json["report"] = analyzer::to_json(*outcome.report);
  if (outcome.result) json["result"] = *outcome.result;
  if (outcome.verdict) json["denials"] = denials_of(outcome);
  if (outcome.error) json["error"] = error_json(*outcome.error);
  // Its id, too: a program may say of itself what it likes.
  if (outcome.is_error_said) json["error"]["said_by"] = "program";
  if (outcome.changes > 0) json["changes"] = outcome.changes;
  if (outcome.tier) json["tier"] = sandbox::to_string(*outcome.tier);
  for (const auto& stage : outcome.stages) {
    json["stages"].push_back(
        {{"name", stage.name}, {"ms", static_cast<double>(stage.time.count()) / 1000}});
  }
  if (!outcome.calls.is_empty()) json["calls"] = to_json(outcome.calls);
  if (outcome.verdict) {
    json["verdict"] = {{"how", toolchain::describe(*outcome.verdict)},
                       {"wall_ms", static_cast<double>(outcome.verdict->wall.count()) / 1000},
                       {"peak_memory", outcome.verdict->peak_memory}};
  }
  return json;
}

}  // namespace mcpac::run
