// ServerQuestions: the record of what servers ask of one client while they work on its calls.
//
// Elicitation, sampling and the list of roots reach the person or the model behind a client, so
// each is recorded before it is asked (ClientAsked) and when it is over (ClientReplied): which
// server, which call, which method, and how it ended. What was asked and replied is not: a form may
// hold what a person typed. A server cannot fill the record: a call has room for a number of
// questions. Shared by the run and its calls, which may outlive it. On the loop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "audit/log.h"
#include "core/error.h"
#include "core/json.h"

namespace mcpac::gateway {

class ServerQuestions {
 public:
  // `sink` is borrowed until close().
  explicit ServerQuestions(audit::Sink& sink) : sink_(&sink) {}

  // The question's number; nothing: it cannot be recorded, and must not be asked.
  [[nodiscard]] std::optional<std::uint64_t> asked(std::uint64_t call, const std::string& server,
                                                   const std::string& method);
  void replied(std::uint64_t question, const std::string& method, const Result<Json>& reply);
  // The run is over.
  void close() { sink_ = nullptr; }

 private:
  audit::Sink* sink_;
  std::uint64_t last_ = 0;
};

// "accept", "decline", "cancel" of a form; "answered" of another question; "refused": the client
// answered with an error, or not at all.
[[nodiscard]] std::string outcome_of(const std::string& method, const Result<Json>& reply);

}  // namespace mcpac::gateway
