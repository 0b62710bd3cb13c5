// SPDX-License-Identifier: Apache-2.0

// SchemaChange: the changes of a JSON Schema, in words that a person can approve.
//
// A structural comparison, keyword by keyword: every difference is reported with its JSON pointer,
// before and after, whole, and an effect. "Narrowed" and "widened" are only said where it is
// certain: no value is valid now (before) that was not before (is not now). What depends on more
// than is looked at is "changed", never guessed. Whether it is good or bad news depends on the
// side: arguments that accept less break callers; results that promise less do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace mcpac::codegen {

enum class SchemaSide : std::uint8_t { kInput, kOutput };

enum class SchemaEffect : std::uint8_t {
  kNarrowed,  // fewer values are valid
  kWidened,   // more values are valid
  kChanged,   // others are, or it cannot be decided
  kWords,     // only titles, descriptions, examples, or the same said in another way
};

struct SchemaChange {
  SchemaEffect effect = SchemaEffect::kChanged;
  std::string pointer;  // of the keyword or property: "/properties/path/maxLength"
  std::string what;     // ours, short: "required argument added"
  std::string before;   // compact JSON, whole; empty where there was nothing
  std::string after;
};

// Effect of a change on the programs that call the tool.
enum class ForCaller : std::uint8_t { kSafe, kBreaks, kUnknown, kNothing };
[[nodiscard]] ForCaller for_caller(SchemaEffect effect, SchemaSide side);

struct SchemaChanges {
  std::vector<SchemaChange> list;  // nothing is left out
  // Of all together: narrowed and widened at once is changed.
  [[nodiscard]] SchemaEffect effect() const;
};

// Where telling the changes apart would take far more text than the schemas themselves, the list is
// one change: all of before, all of after.
[[nodiscard]] SchemaChanges compare_schemas(const OrderedJson& before, const OrderedJson& after,
                                            SchemaSide side);

[[nodiscard]] std::string_view to_string(SchemaEffect effect);
[[nodiscard]] std::string_view to_string(ForCaller caller);

}  // namespace mcpac::codegen
