// SPDX-License-Identifier: Apache-2.0

#include "analyzer/sarif.h"

#include <fmt/format.h>

#include <map>

#include "analyzer/rules.h"
#include "analyzer/source_line.h"
#include "core/hash.h"
#include "core/printable.h"

namespace mcpac::analyzer {
namespace {

const char* level(Severity severity) {
  switch (severity) {
    case Severity::kNote: return "note";
    case Severity::kWarns: return "warning";
    case Severity::kRefuses: break;
  }
  return "error";
}

Json rule_json(const Rule& rule) {
  const std::string reason(rule.reason);
  return {{"id", rule.name},
          {"shortDescription", {{"text", reason}}},
          {"fullDescription", {{"text", reason}}},
          {"help",
           {{"text", fmt::format("{}\nExample: {}", reason, rule.example)},
            {"markdown", fmt::format("{}\n\n```cpp\n{}\n```\n", reason, rule.example)}}},
          {"defaultConfiguration", {{"level", level(rule.severity)}}}};
}

// A path as a URI reference (RFC 3986): what is not unreserved or '/' is percent-encoded.
std::string uri_of(std::string_view path) {
  if (path.starts_with("./")) path.remove_prefix(2);
  constexpr std::string_view kPlain = "-._~/";
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                          (c >= 'A' && c <= 'Z') || kPlain.find(c) != std::string_view::npos;
    if (is_plain) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return uri;
}

class Results {
 public:
  explicit Results(const SourceTexts& sources) : sources_(sources) {}

  Json result_for(const Finding& finding) {
    const std::string_view line =
        finding.line > 0 ? line_of(sources_.of(finding.file), finding.line) : std::string_view();
    Json artifact = {{"uri", uri_of(finding.file)}};
    if (!finding.file.starts_with('/')) artifact["uriBaseId"] = "%SRCROOT%";
    Json place = {{"artifactLocation", std::move(artifact)}};
    if (finding.line > 0) {
      place["region"] = {{"startLine", finding.line}};
      if (!line.empty() && finding.column > 0)
        place["region"]["startColumn"] = characters_before(line, finding.column) + 1;
    }
    std::string text = printable_lines(finding.message);
    if (!finding.fix.empty()) text += "\nFix: " + printable_lines(finding.fix);
    Json result = {{"ruleId", finding.rule},
                   {"level", level(finding.severity)},
                   {"message", {{"text", std::move(text)}}},
                   {"locations", Json::array({Json{{"physicalLocation", std::move(place)}}})},
                   {"partialFingerprints", {{"mcpacRuleAndLine/v1", fingerprint(finding, line)}}}};
    if (!finding.allowed.empty()) {
      result["suppressions"] = Json::array(
          {Json{{"kind", "inSource"}, {"justification", printable_lines(finding.allowed)}}});
    }
    const Rule* rule = find_rule(finding.rule);
    if (rule != nullptr) result["ruleIndex"] = rule - rules().data();
    return result;
  }

 private:
  // The same line twice in a file is told apart by its number among its like.
  std::string fingerprint(const Finding& finding, std::string_view line) {
    const auto from = line.find_first_not_of(" \t");
    const std::string_view text =
        from == std::string_view::npos ? finding.message : line.substr(from);
    const std::string hash =
        sha256_hex(fmt::format("{}\n{}\n{}", finding.rule, finding.file, text)).substr(0, 32);
    return fmt::format("{}:{}", hash, ++seen_[hash]);
  }

  const SourceTexts& sources_;
  std::map<std::string, unsigned> seen_;
};

}  // namespace

Json to_sarif(const Report& report, const SourceTexts& sources, std::string_view version) {
  Json rule_list = Json::array();
  for (const Rule& rule : rules()) rule_list.push_back(rule_json(rule));
  Results results(sources);
  Json result_list = Json::array();
  for (const Finding& finding : problems(report))
    result_list.push_back(results.result_for(finding));
  Json driver = {{"name", "mcpac"}, {"semanticVersion", version}, {"rules", std::move(rule_list)}};
  Json run = {{"tool", {{"driver", std::move(driver)}}},
              {"columnKind", "unicodeCodePoints"},
              {"automationDetails", {{"id", "mcpac/permissions/"}}},
              {"results", std::move(result_list)},
              {"properties",
               {{"verdict", to_string(overall(report))}, {"sourceDigest", report.source_digest}}}};
  return {{"$schema",
           "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
           "sarif-schema-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", Json::array({std::move(run)})}};
}

}  // namespace mcpac::analyzer
