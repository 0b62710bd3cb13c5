#include "gateway/server_questions.h"

#include <tuple>

namespace mcpac::gateway {

std::optional<std::uint64_t> ServerQuestions::asked(std::uint64_t call, const std::string& server,
                                                    const std::string& method) {
  if (sink_ == nullptr) return std::nullopt;
  const std::uint64_t question = ++last_;
  const auto recorded = sink_->append(
      "ClientAsked",
      {{"question", question}, {"call_id", call}, {"server", server}, {"method", method}});
  return recorded ? std::optional(question) : std::nullopt;
}

// Whether it can be recorded changes nothing any more: the next call finds out.
void ServerQuestions::replied(std::uint64_t question, const std::string& method,
                              const Result<Json>& reply) {
  if (sink_ == nullptr) return;
  std::ignore = sink_->append("ClientReplied",
                              {{"question", question}, {"outcome", outcome_of(method, reply)}});
}

std::string outcome_of(const std::string& method, const Result<Json>& reply) {
  if (!reply) return "refused";
  if (method != "elicitation/create") return "answered";
  const std::string action = string_member(*reply, "action");
  return action == "accept" || action == "decline" || action == "cancel" ? action : "refused";
}

}  // namespace mcpac::gateway
