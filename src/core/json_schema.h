// SPDX-License-Identifier: Apache-2.0

// JsonSchema: one schema compiled once, then used to validate many values.
//
// Dialects: draft 2020-12 (MCP's own, SEP-1613) and draft 7, chosen by "$schema", 2020-12 when
// absent. Remote references are never fetched: a schema that needs one does not compile. Patterns
// run on RE2, in time linear in the text; a pattern that RE2 cannot take (look-around,
// back-references) makes the compilation fail rather than the check pass. Immutable after
// compile(): safe from several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

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

// Actual value at a violation where another type belongs, as the end of its message: ", and is a
// number", ", and is a text that holds an array: pass the array". Empty for violations of other
// rules. Nothing of a text is quoted: it may be a secret in the wrong place.
[[nodiscard]] std::string came_instead(const SchemaViolation& violation, const Json& value);

// Names that are given to members beside those of the schema, as a tree over the value: of rules
// that read them.
struct NamedMembers {
  std::map<std::string, NamedMembers, std::less<>> members;
  std::unique_ptr<NamedMembers> elements;
};
// Null where there are none. Called once at most for each object with members that the schema
// does not name.
using AlsoNamed = std::function<const NamedMembers*()>;

// A member that a value may leave out, and what a server may put there all the same.
//
// fill_defaults() fills what is certain; a default below anyOf, oneOf, if, patternProperties,
// additionalProperties, or in an object that is left out itself, may be filled in by the server,
// and is found here. Lives as long as the SchemaDefaults that it is of.
class DefaultPlace {
 public:
  // Every default that some form of the schema has for this place, as it is written.
  [[nodiscard]] const std::vector<const Json*>& values() const { return values_; }
  // Null where nothing at this member and nothing below it has a default.
  [[nodiscard]] const DefaultPlace* member(std::string_view name) const;
  [[nodiscard]] const DefaultPlace* elements() const { return elements_; }
  // Those that have a name.
  [[nodiscard]] const std::map<std::string, const DefaultPlace*, std::less<>>& members() const {
    return members_;
  }
  // The schema has more places than are looked at: what may stand here is not known.
  [[nodiscard]] bool is_unknown() const { return is_unknown_; }

 private:
  friend class SchemaDefaults;
  std::vector<const Json*> values_;
  std::map<std::string, const DefaultPlace*, std::less<>> members_;
  const DefaultPlace* others_ = nullptr;
  const DefaultPlace* elements_ = nullptr;
  bool is_unknown_ = false;
};

// Schemas within the text of one, by their address in it: those whose default is not filled in,
// because they refuse it themselves.
using UnfilledDefaults = std::unordered_set<const Json*>;

// Something that is otherwise than the schema says, and where in it (JSON pointer).
struct SchemaRemark {
  std::string pointer;
  std::string message;
};

// A "pattern" that RE2 cannot take: the schema does not compile, or its server checks it alone.
// Names of members ("patternProperties") are always checked.
enum class UncheckablePatterns : std::uint8_t { kRefuse, kLeave };

class JsonSchema {
 public:
  static Result<std::shared_ptr<const JsonSchema>> compile(
      const Json& schema, UncheckablePatterns patterns = UncheckablePatterns::kRefuse);
  ~JsonSchema();
  JsonSchema(const JsonSchema&) = delete;
  JsonSchema& operator=(const JsonSchema&) = delete;

  // Nothing when the value is valid. Keyword "limit": the check would take too long or too deep, so
  // the value is refused without an answer. "format" is an annotation, as both drafts have it.
  [[nodiscard]] std::optional<SchemaViolation> validate(const Json& value) const;
  // Puts "default" values where properties are absent, also in nested objects and items, through
  // "$ref" and "allOf", and in what was put in. Never overwrites, never guesses between the forms
  // of anyOf, oneOf or if; validate afterwards. False: it would take too much, and not all is
  // filled.
  // A default that its own schema refuses is not put in: every call without it would be invalid.
  [[nodiscard]] bool fill_defaults(Json& value) const;
  [[nodiscard]] const std::vector<SchemaRemark>& refused_defaults() const;
  // The same by place. `text` is equal to what was compiled, and is borrowed by its addresses.
  [[nodiscard]] UnfilledDefaults unfilled_defaults(const Json& text) const;
  // Those that were left.
  [[nodiscard]] const std::vector<SchemaRemark>& unchecked_patterns() const;
  // A member that the schema does not name, and that is another spelling of one that it, or `also`,
  // names at this place: servers whose decoders fold names take it for that
  // (core/schema/names.cpp). Keyword "properties", or "limit" as of validate().
  [[nodiscard]] std::optional<SchemaViolation> find_misnamed(const Json& value,
                                                             const AlsoNamed& also = {}) const;

 private:
  friend class SchemaDefaults;
  struct Impl;
  explicit JsonSchema(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The places of one schema that may be left out and filled by a server. Immutable: safe from
// several threads.
class SchemaDefaults {
 public:
  // `text`: what was compiled, for unfilled(), where that is asked for. It outlives this.
  explicit SchemaDefaults(std::shared_ptr<const JsonSchema> schema, const Json* text = nullptr);
  // The whole value; null where filling leaves nothing open.
  [[nodiscard]] const DefaultPlace* root() const { return root_; }
  // Of the text: a server may put them there, the gate does not.
  [[nodiscard]] const UnfilledDefaults& unfilled() const { return unfilled_; }

 private:
  class Builder;
  std::shared_ptr<const JsonSchema> schema_;
  std::vector<std::unique_ptr<DefaultPlace>> places_;
  const DefaultPlace* root_ = nullptr;
  UnfilledDefaults unfilled_;
};

}  // namespace mcpac
