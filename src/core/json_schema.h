// JsonSchema: one schema compiled once, then used to validate many values.
//
// Dialects: draft 2020-12 (MCP's own, SEP-1613) and draft 7, chosen by "$schema", 2020-12 when
// absent. Remote references are never fetched: a schema that needs one does not compile. Patterns
// run on RE2, in time linear in the text; a pattern that RE2 cannot take (look-around,
// back-references) makes the compilation fail rather than the check pass. Immutable after
// compile(): safe from several threads.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/json.h"

namespace mcpac {

// The first violation: where in the value (JSON pointer, RFC 6901), which keyword, in words.
struct SchemaViolation {
  std::string pointer;  // "" is the whole value, "/path" its member
  std::string keyword;  // "required", "type", …
  std::string message;  // "must be a string"
  friend bool operator==(const SchemaViolation&, const SchemaViolation&) = default;
};

class JsonSchema {
 public:
  static Result<std::shared_ptr<const JsonSchema>> compile(const Json& schema);
  ~JsonSchema();
  JsonSchema(const JsonSchema&) = delete;
  JsonSchema& operator=(const JsonSchema&) = delete;

  // Nothing when the value is valid. Keyword "limit": the check would take too long or too deep, so
  // the value is refused without an answer. "format" is an annotation, as both drafts have it.
  [[nodiscard]] std::optional<SchemaViolation> validate(const Json& value) const;
  // Puts "default" values where properties are absent, also in nested objects and items, through
  // "$ref" and "allOf". Never overwrites, never guesses between the forms of anyOf, oneOf or if; a
  // default is put in as it is, so validate afterwards.
  void fill_defaults(Json& value) const;

 private:
  struct Impl;
  explicit JsonSchema(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace mcpac
