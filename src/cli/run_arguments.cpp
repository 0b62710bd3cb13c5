// SPDX-License-Identifier: Apache-2.0

#include "cli/run_arguments.h"

#include "core/file.h"
#include "run/run_limits.h"

namespace mcpac::cli {
namespace {

constexpr const char* kHow = R"(--arguments '{"name": "value"}', or --arguments @FILE)";

}  // namespace

Result<std::optional<Json>> to_arguments(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  constexpr JsonLimits kLimits{.max_bytes = run::kMaxArguments};
  const bool is_file = text->starts_with('@');
  const std::string where = is_file ? text->substr(1) : "--arguments";
  // A byte more, so that it is said in the words of the limit.
  auto read = is_file ? read_file(where, kLimits.max_bytes + 1) : Result<std::string>(*text);
  if (!read) return pass_on(read);
  auto json = parse_json(*read, where, kLimits);
  if (!json) {
    if (json.error().id == ErrorId::kJsonSyntax) json.error().fix = kHow;
    return pass_on(json);
  }
  if (json->is_object()) return std::optional<Json>(std::move(*json));
  return fail(ErrorId::kUsage, "the arguments of a program are one JSON object",
              {.where = where, .fix = kHow});
}

}  // namespace mcpac::cli
