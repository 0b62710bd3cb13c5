// SPDX-License-Identifier: Apache-2.0

#include "analyzer/saved_report.h"

namespace mcpac::analyzer {

namespace {

// What some grants made of the program is not said by the program.
void forget_grants(Json& json) {
  const auto verdict = json.find("verdict");
  if (verdict != json.end() && *verdict == to_string(Verdict::kDenied))
    *verdict = to_string(Verdict::kOk);
  const auto findings = json.find("findings");
  if (findings == json.end() || !findings->is_array()) return;
  Json kept = Json::array();
  for (Json& finding : *findings) {
    Finding named;
    named.rule = string_member(finding, "rule");
    if (!is_of_grants(named)) kept.push_back(std::move(finding));
  }
  *findings = std::move(kept);
}

}  // namespace

Result<Report> saved_report_from_json(Json json) {
  bool is_binary = false;
  if (json.is_object()) {
    const auto uses = json.find("uses");
    if (uses != json.end() && uses->is_array()) {
      for (Json& use : *uses) {
        if (use.is_object()) use.erase("verdict");
      }
    }
    forget_grants(json);
    const auto entry = json.find("entry");
    is_binary = entry != json.end() && *entry == "binary";
    if (is_binary) *entry = "none";
  }
  auto report = report_from_json(json, Writer::kSaved);
  if (report && is_binary) report->entry = Entry::kBinary;
  return report;
}

}  // namespace mcpac::analyzer
