// SPDX-License-Identifier: Apache-2.0

#include "analyzer/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/form.h"
#include "analyzer/rules.h"
#include "core/denial_text.h"
#include "core/shell_quote.h"

namespace mcpac::analyzer {
bool declares_files(const std::vector<Declared>& declared) {
  return std::ranges::find(declared, "mcpac.files", &Declared::permission) != declared.end();
}

std::string Declared::text() const {
  return where.empty() ? permission : permission + " where " + where;
}

std::string to_string(Severity severity) {
  switch (severity) {
    case Severity::kNote: return "note";
    case Severity::kWarns: return "warns";
    case Severity::kRefuses: return "refuses";
  }
  return "refuses";
}

std::string to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk: return "ok";
    case Verdict::kRefused: return "refused";
    case Verdict::kCompileError: return "compile_error";
    case Verdict::kDenied: return "denied";
  }
  return "refused";
}

std::string to_string(Foreseen::Answer answer) {
  switch (answer) {
    case Foreseen::Answer::kCovered: return "covered";
    case Foreseen::Answer::kConditional: return "conditional";
    case Foreseen::Answer::kDenied: break;
  }
  return "denied";
}

namespace {

Finding finding_of(std::string_view rule, std::string file, unsigned line, unsigned column) {
  Finding finding;
  finding.rule = rule;
  finding.severity = find_rule(rule)->severity;
  finding.file = std::move(file);
  finding.line = line;
  finding.column = column;
  return finding;
}

std::string remedy(const Foreseen& foreseen) {
  const std::string expected = "where the program means to be denied, --expect-denials";
  if (!foreseen.no_grant.empty())
    return fmt::format("change the call (no --grant is suggested: {}); {}", foreseen.no_grant,
                       expected);
  if (foreseen.would_grant.starts_with("--"))
    return fmt::format("change the call, or {}; {}", foreseen.would_grant, expected);
  if (foreseen.layer == kDeclarationLayer)
    return fmt::format("change the call, or what the program declares; {}", expected);
  if (foreseen.would_grant.empty())
    return fmt::format("change the call ({} decides); {}",
                       foreseen.place.empty() ? foreseen.layer : foreseen.place, expected);
  return fmt::format("change the call, or --grant {}; {}", shell_quoted(foreseen.would_grant),
                     expected);
}

bool is_denied(const Use& use) {
  return use.foreseen && use.foreseen->answer == Foreseen::Answer::kDenied &&
         !use.foreseen->is_expected;
}

// Said already where the permission is declared: no rule speaks of the tool at all.
bool is_said(const Report& report, const Use& use) {
  return use.foreseen->rule.empty() &&
         std::ranges::any_of(report.declared, [&](const Declared& declared) {
           return declared.permission == use.permission &&
                  std::ranges::find(report.not_granted, declared.text()) !=
                      report.not_granted.end();
         });
}

}  // namespace

std::vector<Finding> problems(const Report& report) {
  std::vector<Finding> all = report.findings;
  for (const Declared& declared : report.declared) {
    const std::string text = declared.text();
    if (std::ranges::find(report.not_granted, text) == report.not_granted.end()) continue;
    all.push_back(finding_of("not-granted", declared.file, declared.line, declared.column));
    all.back().message = fmt::format("{} is declared, and not granted", text);
    all.back().fix = report.grant_fix;
  }
  for (const Use& use : report.uses) {
    if (!is_denied(use) || is_said(report, use)) continue;
    const Foreseen& foreseen = *use.foreseen;
    all.push_back(finding_of("denied-use", use.file, use.line, use.column));
    all.back().message =
        fmt::format("{} will be denied: {}", use.permission,
                    denial_text(foreseen.reason, foreseen.rule, foreseen.other_rules));
    all.back().fix = remedy(foreseen);
  }
  return all;
}

Verdict overall(const Report& report) {
  const bool is_ok = report.verdict == Verdict::kOk && report.not_granted.empty() &&
                     std::ranges::none_of(report.uses, is_denied);
  return is_ok || report.verdict != Verdict::kOk ? report.verdict : Verdict::kDenied;
}

bool is_of_grants(const Finding& finding) {
  const Rule* rule = find_rule(finding.rule);
  return rule != nullptr && rule->found_in == FoundIn::kGrants;
}

namespace {

std::string entry_name(Entry entry) {
  switch (entry) {
    case Entry::kNone: return "none";
    case Entry::kAgentMain: return "agent_main";
    case Entry::kRuntimeObject: return "runtime";
    case Entry::kBinary: return "binary";
  }
  return "none";
}

// The enumerator whose text this is; an unknown text fails the form.
template <class Enum, std::size_t N, class Text>
Enum named(Form& form, std::string_view text, std::string_view at,
           const std::array<Enum, N>& values, Text&& text_of) {
  for (const Enum value : values) {
    if (text == text_of(value)) return value;
  }
  form.reject(at, "the word is not one of the known");
  return values.front();
}

Json place_json(std::string_view file, unsigned line, unsigned column) {
  return {{"file", file}, {"line", line}, {"column", column}};
}

Json to_json(const Argument& argument) {
  return argument.is_constant ? Json{{"value", argument.value}} : Json{{"runtime", true}};
}

Json to_json(const Foreseen& foreseen) {
  return {{"answer", to_string(foreseen.answer)},
          {"reason", foreseen.reason},
          {"rule", foreseen.rule},
          {"layer", foreseen.layer},
          {"other_rules", foreseen.other_rules},
          {"place", foreseen.place},
          {"would_grant", foreseen.would_grant},
          {"no_grant", foreseen.no_grant},
          {"depends_on", foreseen.depends_on},
          {"asks", foreseen.asks},
          {"expected", foreseen.is_expected}};
}

Json to_json(const Use& use) {
  Json json = place_json(use.file, use.line, use.column);
  json["permission"] = use.permission;
  json["function"] = use.function;
  json["open"] = use.open;
  json["arguments"] = Json::object();
  for (const auto& [name, argument] : use.arguments) json["arguments"][name] = to_json(argument);
  if (use.foreseen) json["verdict"] = to_json(*use.foreseen);
  return json;
}

Json to_json(const Finding& finding) {
  Json json = place_json(finding.file, finding.line, finding.column);
  json["rule"] = finding.rule;
  json["severity"] = to_string(finding.severity);
  json["message"] = finding.message;
  json["fix"] = finding.fix;
  json["allowed"] = finding.allowed;
  return json;
}

// `declared` is the list of texts that people grant; where each was found stands beside it.
Json to_json(const Declared& declared) {
  Json json = place_json(declared.file, declared.line, declared.column);
  json["permission"] = declared.permission;
  json["where"] = declared.where;
  return json;
}

Argument read_argument(Form& form, const Json& json, std::string_view at) {
  if (json.is_object() && json.size() == 1) {
    if (const Json* value = find_member(json, "value")) return {true, *value};
    const Json* runtime = find_member(json, "runtime");
    if (runtime != nullptr && runtime->is_boolean() && runtime->get<bool>()) return {};
  }
  form.reject(at, "either value or runtime: true belongs here");
  return {};
}

Use read_use(Form& form, const Json& json, std::string_view at) {
  form.expect_members(
      json, {"permission", "file", "line", "column", "function", "open", "arguments"}, at);
  Use use{form.text(json, "permission", at), form.text(json, "file", at),
          form.number(json, "line", at),     form.number(json, "column", at),
          form.text(json, "function", at),   {},
          form.truth(json, "open", at)};
  for (const auto& [name, argument] : form.map(json, "arguments", at).items())
    use.arguments[name] = read_argument(form, argument, fmt::format("{}/arguments/{}", at, name));
  return use;
}

// A worker finds what stands in sources, and says how bad it is as the rule does.
bool is_of_worker(const Finding& finding) {
  const Rule* rule = find_rule(finding.rule);
  return rule != nullptr && rule->severity == finding.severity &&
         (rule->found_in == FoundIn::kSource || rule->found_in == FoundIn::kFiles);
}

Finding read_finding(Form& form, const Json& json, std::string_view at, Writer writer) {
  form.expect_members(
      json, {"rule", "severity", "file", "line", "column", "message", "fix", "allowed"}, at);
  constexpr std::array kSeverities{Severity::kRefuses, Severity::kWarns, Severity::kNote};
  const auto severity = named(form, form.text(json, "severity", at), at, kSeverities,
                              [](Severity value) { return to_string(value); });
  Finding finding{form.text(json, "rule", at),     severity,
                  form.text(json, "file", at),     form.number(json, "line", at),
                  form.number(json, "column", at), form.text(json, "message", at),
                  form.text(json, "fix", at),      form.text(json, "allowed", at)};
  // Only warnings can be allowed; a report that says otherwise is a lie.
  if (severity != Severity::kWarns && !finding.allowed.empty())
    form.reject(at, "only what warns can be allowed");
  if (writer == Writer::kWorker && !is_of_worker(finding))
    form.reject(at, "the rule is none of those that a source breaks, or of another severity");
  return finding;
}

Declared read_declared(Form& form, const Json& json, std::string_view at) {
  form.expect_members(json, {"permission", "where", "file", "line", "column"}, at);
  return {form.text(json, "permission", at), form.text(json, "where", at),
          form.text(json, "file", at), form.number(json, "line", at),
          form.number(json, "column", at)};
}

// `declared` repeats declared_at as text for its readers; a report where the two differ is a lie.
void check_declared_texts(Form& form, const Json& json, const std::vector<Declared>& declared) {
  const Json& texts = form.list(json, "declared", "");
  bool same = texts.size() == declared.size();
  for (std::size_t i = 0; same && i < declared.size(); ++i) same = texts[i] == declared[i].text();
  if (!same) form.reject("/declared", "it does not say what declared_at says");
}

// A verdict of ok beside a finding that refuses would be a contradiction to exploit.
void check_verdict(Form& form, const Report& report) {
  if (report.verdict != Verdict::kOk) return;
  for (const Finding& finding : report.findings) {
    if (finding.severity == Severity::kRefuses)
      form.reject("/verdict", "it says ok, but a finding refuses");
  }
}

}  // namespace

Json to_json(const Report& report) {
  Json json{{"file", report.file},
            {"source_digest", report.source_digest},
            {"verdict", to_string(overall(report))},
            {"entry", entry_name(report.entry)},
            {"unused", report.unused}};
  json["declared"] = Json::array();
  json["declared_at"] = Json::array();
  for (const Declared& declared : report.declared) {
    json["declared"].push_back(declared.text());
    json["declared_at"].push_back(to_json(declared));
  }
  json["uses"] = Json::array();
  for (const Use& use : report.uses) json["uses"].push_back(to_json(use));
  json["findings"] = Json::array();
  for (const Finding& finding : problems(report)) json["findings"].push_back(to_json(finding));
  return json;
}

Result<Report> report_from_json(const Json& json, Writer writer) {
  Form form;
  form.expect_members(json,
                      {"file", "source_digest", "verdict", "entry", "declared", "declared_at",
                       "uses", "unused", "findings"},
                      "");
  Report report;
  report.file = form.text(json, "file", "");
  report.source_digest = form.text(json, "source_digest", "");
  constexpr std::array kVerdicts{Verdict::kRefused, Verdict::kOk, Verdict::kCompileError};
  report.verdict = named(form, form.text(json, "verdict", ""), "/verdict", kVerdicts,
                         [](Verdict value) { return to_string(value); });
  // Not kBinary: a reader of a source cannot say that.
  constexpr std::array kEntries{Entry::kNone, Entry::kAgentMain, Entry::kRuntimeObject};
  report.entry = named(form, form.text(json, "entry", ""), "/entry", kEntries, entry_name);
  for (const Json& item : form.list(json, "declared_at", ""))
    report.declared.push_back(read_declared(form, item, "/declared_at"));
  for (const Json& item : form.list(json, "uses", ""))
    report.uses.push_back(read_use(form, item, "/uses"));
  for (const Json& item : form.list(json, "unused", ""))
    report.unused.push_back(form.text_value(item, "/unused"));
  for (const Json& item : form.list(json, "findings", ""))
    report.findings.push_back(read_finding(form, item, "/findings", writer));
  check_declared_texts(form, json, report.declared);
  check_verdict(form, report);
  if (form.failed()) return form.error("the analyzer's report");
  return report;
}

Json to_json(const Request& request) {
  Json further = Json::array();
  for (const SourceFile& source : request.further)
    further.push_back({{"file", source.file}, {"source_path", source.source_path}});
  return {{"file", request.file},
          {"source_path", request.source_path},
          {"further", std::move(further)},
          {"source_dir", request.source_dir},
          {"headers_dir", request.headers_dir},
          {"arguments", request.arguments},
          {"permissions", request.permissions}};
}

Result<Request> request_from_json(const Json& json) {
  Form form;
  form.expect_members(
      json,
      {"file", "source_path", "further", "source_dir", "headers_dir", "arguments", "permissions"},
      "");
  Request request;
  request.file = form.text(json, "file", "");
  request.source_path = form.text(json, "source_path", "");
  request.source_dir = form.text(json, "source_dir", "");
  for (const Json& item : form.list(json, "further", "")) {
    form.expect_members(item, {"file", "source_path"}, "/further");
    request.further.push_back(
        {form.text(item, "file", "/further"), form.text(item, "source_path", "/further")});
  }
  request.headers_dir = form.text(json, "headers_dir", "");
  for (const Json& item : form.list(json, "arguments", ""))
    request.arguments.push_back(form.text_value(item, "/arguments"));
  for (const auto& [name, item] : form.map(json, "permissions", "").items())
    request.permissions[name] = form.text_value(item, "/permissions");
  if (form.failed()) return form.error("the request to the analyzer");
  return request;
}

}  // namespace mcpac::analyzer
