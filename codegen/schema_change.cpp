// SPDX-License-Identifier: Apache-2.0

#include "codegen/schema_change.h"

#include "codegen/json_text.h"
#include "codegen/schema_comparison.h"

namespace mcpac::codegen {

ForCaller for_caller(SchemaEffect effect, SchemaSide side) {
  if (effect == SchemaEffect::kWords) return ForCaller::kNothing;
  if (effect == SchemaEffect::kChanged) return ForCaller::kUnknown;
  const bool input = side == SchemaSide::kInput;
  return (effect == SchemaEffect::kWidened) == input ? ForCaller::kSafe : ForCaller::kBreaks;
}

SchemaEffect SchemaChanges::effect() const {
  SchemaEffect all = SchemaEffect::kWords;
  for (const SchemaChange& change : list) {
    if (change.effect == SchemaEffect::kWords) continue;
    if (all != SchemaEffect::kWords && all != change.effect) return SchemaEffect::kChanged;
    all = change.effect;
  }
  return all;
}

SchemaChanges compare_schemas(const OrderedJson& before, const OrderedJson& after,
                              SchemaSide side) {
  const Json old_schema(before);
  const Json new_schema(after);
  SchemaChanges changes;
  SchemaComparison comparison(old_schema, new_schema, side, changes);
  comparison.compare(old_schema, new_schema, "");
  if (comparison.too_much()) {
    changes.list = {{SchemaEffect::kChanged, "", "changed in too many places to tell them apart",
                     compact_json(before), compact_json(after)}};
  }
  return changes;
}

std::string_view to_string(SchemaEffect effect) {
  switch (effect) {
    case SchemaEffect::kNarrowed: return "narrowed";
    case SchemaEffect::kWidened: return "widened";
    case SchemaEffect::kChanged: return "changed";
    case SchemaEffect::kWords: break;
  }
  return "words";
}

std::string_view to_string(ForCaller caller) {
  switch (caller) {
    case ForCaller::kSafe: return "safe";
    case ForCaller::kBreaks: return "breaking";
    case ForCaller::kUnknown: return "unknown";
    case ForCaller::kNothing: break;
  }
  return "none";
}

}  // namespace mcpac::codegen
