// SPDX-License-Identifier: Apache-2.0

#include "run/check/declared_conditions.h"

#include <optional>

#include "run/check/check.h"

namespace mcpac::run {
namespace {

std::optional<Error> error_in(const PolicyWorld& world, const analyzer::Declared& declared) {
  const auto permission = Permission::parse(declared.permission);
  if (!permission) return permission.error();
  const auto rule = grant_text(*permission, declared.where);
  if (!rule) return rule.error();
  policy::LayerText layer;
  layer.name = "the condition";
  layer.grants = {*rule};
  const auto loaded = policy::Authority::load({layer}, world.environment());
  return loaded ? std::nullopt : std::optional<Error>(loaded.error());
}

}  // namespace

void check_conditions(const PolicyWorld& world, analyzer::Report& report) {
  if (report.verdict != analyzer::Verdict::kOk) return;
  for (const auto& declared : report.declared) {
    if (declared.where.empty()) continue;
    const auto error = error_in(world, declared);
    if (!error) continue;
    report.findings.push_back({"narrow-where", analyzer::Severity::kRefuses, declared.file,
                               declared.line, declared.column,
                               "the condition of a Narrow does not hold up: " + error->what +
                                   (error->why.empty() ? "" : "; " + error->why),
                               error->fix});
    report.verdict = analyzer::Verdict::kRefused;
  }
}

}  // namespace mcpac::run
