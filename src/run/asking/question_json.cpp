// SPDX-License-Identifier: Apache-2.0

#include "run/asking/question_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/printable.h"
#include "policy/explain/lint.h"
#include "policy/text/times.h"
#include "run/check/authorities.h"

namespace mcpac::run {
namespace {

constexpr JsonLimits kAnswerLimits{.max_bytes = 64U << 10U, .max_depth = 4, .max_values = 16};

gate::Reply nobody(std::string detail) {
  return {.answer = gate::Answered::kNobody, .detail = std::move(detail)};
}

}  // namespace

Json to_json(const ProgramReview& review) {
  Json declared = Json::array();
  for (const auto& item : review.declared)
    declared.push_back({{"permission", item.text},
                        {"standing", item.standing},
                        {"reason", item.reason},
                        {"new", item.is_new}});
  return {
      {"kind", "program"},
      {"program", review.program},
      {"binding", gate::to_json(review.binding)},
      {"declared", std::move(declared)},
      {"rules", review.rules},
      {"removed", review.removed},
      {"last_approved", review.last_approved.empty() ? Json(nullptr) : Json(review.last_approved)},
      {"same", review.is_same},
      {"answers", {"yes", "no"}}};
}

std::string question_line(const ProgramReview& review) {
  Json json = to_json(review);
  json["question"] = review.id;
  Json notes = Json::array();
  for (const auto& rule : review.rules) {
    for (auto& note : policy::open_ends(rule_of_stated(rule))) notes.push_back(std::move(note));
  }
  json["notes"] = std::move(notes);
  return to_text(json) + "\n";
}

std::string question_line(const gate::Question& question) {
  Json rules = Json::array();
  Json notes = Json::array();
  for (const auto& rule : question.rules) {
    rules.push_back({{"layer", rule.layer}, {"rule", rule.rule}});
    for (auto& note : policy::open_ends(rule.rule)) notes.push_back(std::move(note));
  }
  return to_text(Json{{"kind", "call"},
                      {"question", question.id},
                      {"permission", question.permission},
                      {"arguments", question.arguments},
                      {"call", question.call_digest},
                      {"rules", std::move(rules)},
                      {"notes", std::move(notes)},
                      {"binding", gate::to_json(question.binding)},
                      {"waiting", question.waiting},
                      {"answers", {"once", "run", "until", "no", "never"}}}) +
         "\n";
}

std::optional<std::chrono::system_clock::time_point> read_until(
    std::string_view text, std::chrono::system_clock::time_point now) {
  if (const auto duration = policy::parse_duration(text)) return now + *duration;
  return policy::parse_rfc3339(text);
}

gate::Reply read_answer(std::string_view output, Asks asks, std::string_view question) {
  const auto json = parse_json(output, "its answer", kAnswerLimits);
  if (!json || !json->is_object()) return nobody("it did not answer with one JSON object");
  for (const auto& [name, value] : json->items()) {
    if (name != "question" && name != "answer" && name != "until")
      return nobody(fmt::format("its answer has an unknown member {}", printable(name, 40)));
    if (!value.is_string()) return nobody(fmt::format("\"{}\" of its answer is no text", name));
  }
  if (string_member(*json, "question") != question)
    return nobody("its answer does not name the digest of the question");
  const std::string answer = string_member(*json, "answer");
  const bool has_until = json->contains("until");
  if (asks == Asks::kProgram) {
    if ((answer != "yes" && answer != "no") || has_until)
      return nobody("a program is answered with yes or no");
    return {.answer = answer == "yes" ? gate::Answered::kOnce : gate::Answered::kNo};
  }
  const auto known = gate::answered_from(answer);
  if (!known) return nobody("its answer is none of once, run, until, no, never");
  if (has_until != (*known == gate::Answered::kUntil))
    return nobody("\"until\" belongs to the answer until, and to no other");
  gate::Reply reply{.answer = *known};
  if (!has_until) return reply;
  const auto until = read_until(string_member(*json, "until"), std::chrono::system_clock::now());
  if (!until) return nobody("\"until\" is no RFC 3339 time and no duration");
  reply.until = *until;
  return reply;
}

}  // namespace mcpac::run
