// SPDX-License-Identifier: Apache-2.0

// Answers of code mode: structured contents, and text for clients that read none, within bounds.
//
// What a program did, how it ended and why it was refused are values that a model acts on, so they
// come as results; `isError` says that the program did not do what it was written for.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "run/pipeline.h"

namespace mcpac::gateway::code_mode {

// {"content", "structuredContent", "isError"}; as text, what a lookup found is the same JSON.
[[nodiscard]] Json lookup_result(Json structured);
// Of a program: as text, what a model needs of it (answer_text).
[[nodiscard]] Json program_result(Json structured, bool is_error);
// {"error": {…}}: without names of places on the user's machine that tell a model nothing.
[[nodiscard]] Json error_member(const Error& error);
// A report, or where it is too long the part of it that says what is wrong.
[[nodiscard]] Json bounded_report(const analyzer::Report& report);

// Output of a program while it runs: its beginning, and how much there was. Log and warnings may
// come on another thread than the rest.
class Said {
 public:
  void standard_output(std::string_view piece) { output_.add(piece); }
  void standard_error(std::string_view piece) { error_.add(piece); }
  void log(std::string_view level, std::string_view text);
  void warn(std::string_view text);
  // Into the answer: "stdout", "stderr", "log", "warnings", and in "truncated" which of them were
  // cut.
  void tell(Json& answer) const;

 private:
  struct Kept {
    std::string text;
    std::uint64_t bytes = 0;
    void add(std::string_view piece);
  };
  Kept output_;
  Kept error_;
  mutable std::mutex turn_;
  Json log_ = Json::array();
  std::size_t log_bytes_ = 0;
  bool log_cut_ = false;
  std::vector<std::string> warnings_;
};

// Of a program that was to be run.
[[nodiscard]] Json outcome_answer(const run::Outcome& outcome, const Said& said);

}  // namespace mcpac::gateway::code_mode
