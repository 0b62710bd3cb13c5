// The lines of a recording but the first and the last, written and read
// (docs/recording.schema.json).
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "history/recording/recording.h"

namespace mcpac::history {

// The place of a line, for messages about its errors.
class Members {
 public:
  explicit Members(std::string where) : where_(std::move(where)) {}
  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] std::unexpected<Error> bad(std::string_view what) const;

 private:
  std::string where_;
};

// A value into `line`, with the places that are known in part as "hidden"; and out of it.
void write_cleaned(Json& line, const char* name, const Cleaned& cleaned);
[[nodiscard]] Result<Cleaned> cleaned_of(const Json& value, const Json* hidden,
                                         const Members& members);

[[nodiscard]] Json to_line(const RecordedCall& call);
[[nodiscard]] Result<RecordedCall> call_of(const Json& line, const Members& members);
[[nodiscard]] Json to_line(const RecordedServer& server);
[[nodiscard]] Result<RecordedServer> server_of(const Json& line, const Members& members);
[[nodiscard]] Json to_line(const RecordedRequest& request);
[[nodiscard]] Result<RecordedRequest> request_of(const Json& line, const Members& members);

}  // namespace mcpac::history
