// SPDX-License-Identifier: Apache-2.0

#include "gateway/code_mode/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error_json.h"
#include "core/printable.h"
#include "gate/answer.h"
#include "gateway/code_mode/advice.h"
#include "gateway/code_mode/answer_text.h"
#include "gateway/code_mode/bounds.h"
#include "run/outcome_json.h"

namespace mcpac::gateway::code_mode {
namespace {

constexpr std::size_t kMaxFindings = 50;
constexpr std::size_t kMaxText = 4'000;  // of one message
constexpr std::size_t kMaxWarnings = 20;
constexpr std::size_t kLogLine = 1'000;

// What a program wrote may be anything; JSON is UTF-8.
std::string as_text(const std::string& bytes) {
  return Json::parse(Json(bytes).dump(-1, ' ', false, Json::error_handler_t::replace))
      .get<std::string>();
}

Json findings_of(const analyzer::Report& report) {
  Json list = Json::array();
  for (const auto& finding : analyzer::problems(report)) {
    if (list.size() == kMaxFindings) break;
    list.push_back({{"rule", finding.rule},
                    {"severity", analyzer::to_string(finding.severity)},
                    {"file", finding.file},
                    {"line", finding.line},
                    {"column", finding.column},
                    {"message", gate::bounded(finding.message, kLogLine)},
                    {"fix", gate::bounded(advice_for_client(finding.fix), kLogLine)}});
  }
  return list;
}

Json tool_result(Json structured, std::string text, bool is_error) {
  Json result{{"content", Json::array({{{"type", "text"}, {"text", std::move(text)}}})}};
  result["structuredContent"] = std::move(structured);
  result["isError"] = is_error;
  return result;
}

void bound_result(Json& answer) {
  const auto found = answer.find("result");
  if (found == answer.end()) return;
  const std::size_t bytes = to_text(*found).size();
  if (bytes <= kMaxResult) return;
  *found = nullptr;
  answer["truncated"].push_back(
      fmt::format("result: its {} bytes are more than {}, and were left out", bytes, kMaxResult));
}

}  // namespace

Json lookup_result(Json structured) {
  std::string text = to_text(structured);
  return tool_result(std::move(structured), std::move(text), false);
}

Json program_result(Json structured, bool is_error) {
  std::string text = answer_text(structured);
  return tool_result(std::move(structured), std::move(text), is_error);
}

Json error_member(const Error& error) {
  Json json = error_json(error);
  advise_client(json);
  for (auto& [name, text] : json.items()) text = gate::bounded(text.get<std::string>(), kMaxText);
  if (error.where.starts_with('/')) json.erase("where");
  return json;
}

Json bounded_report(const analyzer::Report& report) {
  Json whole = analyzer::to_json(report);
  advise_client(whole);
  if (to_text(whole).size() <= kMaxReport) return whole;
  Json part{{"verdict", analyzer::to_string(overall(report))},
            {"file", report.file},
            {"findings", findings_of(report)},
            {"truncated", true}};
  if (to_text(part).size() > kMaxReport) part["findings"] = Json::array();
  return part;
}

void Said::Kept::add(std::string_view piece) {
  bytes += piece.size();
  text += piece.substr(0, kMaxOutput - std::min(kMaxOutput, text.size()));
}

void Said::log(std::string_view level, std::string_view text) {
  const std::scoped_lock alone(turn_);
  std::string line = printable_prose(text, kLogLine);
  log_cut_ = log_cut_ || log_bytes_ + line.size() > kMaxLog;
  if (log_cut_) return;
  log_bytes_ += line.size() + 32;
  log_.push_back({{"level", level}, {"text", std::move(line)}});
}

void Said::warn(std::string_view text) {
  const std::scoped_lock alone(turn_);
  if (warnings_.size() < kMaxWarnings) warnings_.push_back(gate::bounded(text, kLogLine));
}

void Said::tell(Json& answer) const {
  const std::scoped_lock alone(turn_);
  const auto cut = [&answer](const char* name, const Kept& kept) {
    answer[name] = as_text(kept.text);
    if (kept.bytes > kept.text.size())
      answer["truncated"].push_back(
          fmt::format("{}: {} of {} bytes", name, kept.text.size(), kept.bytes));
  };
  cut("stdout", output_);
  cut("stderr", error_);
  if (!log_.empty()) answer["log"] = log_;
  if (log_cut_) answer["truncated"].push_back("log");
  if (!warnings_.empty()) answer["warnings"] = warnings_;
}

Json outcome_answer(const run::Outcome& outcome, const Said& said) {
  Json answer = run::to_json(outcome);
  for (const char* name : {"missing", "conditional", "extra", "fix", "denials", "stages"})
    answer.erase(name);
  if (!outcome.check.missing.empty()) answer["missing"] = outcome.check.missing;
  // What it may do and did is no news to its author; why it was not run is.
  answer.erase("report");
  if (outcome.report && !outcome.verdict && outcome.error)
    answer["report"] = bounded_report(*outcome.report);
  if (outcome.error) answer["error"] = error_member(*outcome.error);
  if (outcome.verdict) said.tell(answer);
  bound_result(answer);
  return answer;
}

}  // namespace mcpac::gateway::code_mode
