#include "analyzer/saved_report.h"

namespace mcpac::analyzer {

Result<Report> saved_report_from_json(Json json) {
  bool is_binary = false;
  if (json.is_object()) {
    const auto uses = json.find("uses");
    if (uses != json.end() && uses->is_array()) {
      for (Json& use : *uses) {
        if (use.is_object()) use.erase("verdict");
      }
    }
    const auto entry = json.find("entry");
    is_binary = entry != json.end() && *entry == "binary";
    if (is_binary) *entry = "none";
  }
  auto report = report_from_json(json);
  if (report && is_binary) report->entry = Entry::kBinary;
  return report;
}

}  // namespace mcpac::analyzer
