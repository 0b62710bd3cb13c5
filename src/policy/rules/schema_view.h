// SPDX-License-Identifier: Apache-2.0

// SchemaView: the arguments that rules may name, as a locked input schema describes them.
//
// Only what helps to find a mistyped name or a test that cannot hold: names, types, defaults, what
// is required. Validation is core's affair; where a schema is too clever for this view, it knows
// nothing and any name loads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/json_schema.h"
#include "policy/match/matcher.h"

namespace mcpac::policy {

class SchemaView {
 public:
  // A view that knows nothing.
  SchemaView() = default;
  // `unfilled`: of the same root, borrowed. Null: not known, and each default counts as filled.
  explicit SchemaView(const Json& root, const UnfilledDefaults* unfilled = nullptr)
      : root_(&root), at_(&root), unfilled_(unfilled) {
    follow();
  }

  // The view of a member; nothing where the schema knows its members and this is none.
  [[nodiscard]] std::optional<SchemaView> member(std::string_view name) const;
  [[nodiscard]] SchemaView elements() const;
  // Named in "properties", as opposed to merely possible. Of what "allOf" says a bounded part is
  // looked at: a name beyond it counts as not named, which is the answer that denies more.
  [[nodiscard]] bool names_member(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> member_names() const;
  [[nodiscard]] Types types() const;
  // Default of an absent member, as it is written; filled_default() is what that becomes. Null
  // where there is no default, and where the schema refuses the one that it has: the gate leaves
  // such a member out, and what its server may put there is a DefaultPlace.
  [[nodiscard]] const Json* default_value() const;
  // With the defaults of what is in it, as JsonSchema::fill_defaults puts them; nothing where there
  // is no default.
  [[nodiscard]] std::optional<Json> filled_default() const;
  // Counts as absent where brackets are closed.
  [[nodiscard]] bool equals_default(const Json& value) const;
  // Purpose of this member's strings, by its format, its name and its description; kUnknown for one
  // that the schema does not name, for then its name is the caller's. `known`: of the call, which
  // keeps the answer for other rules.
  [[nodiscard]] MeantAs meaning_of(std::string_view name, KnownReadings* known = nullptr) const;
  // The same of a member of a call: one that the schema does not name may be what its name says
  // where that has more of it read. A caller who names it otherwise is not heard by the server.
  [[nodiscard]] MeantAs meaning_in_call(std::string_view name,
                                        KnownReadings* known = nullptr) const;
  [[nodiscard]] bool requires_member(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> required_members() const;
  // The text of this place; null where nothing is known of it.
  [[nodiscard]] const Json* text() const { return at_; }
  [[nodiscard]] const Json* root() const { return root_; }

 private:
  // A place below another one.
  SchemaView(const SchemaView& above, const Json* at)
      : root_(above.root_), at_(at), unfilled_(above.unfilled_) {
    follow();
  }
  void follow();  // "$ref" within the schema
  struct Filling;
  void fill(Json& value, Filling& filling) const;
  // The schema that "properties" has for it, here or below "allOf"; null where none has.
  [[nodiscard]] const Json* property_named(std::string_view name) const;
  const Json* root_ = nullptr;
  const Json* at_ = nullptr;
  const Json* beside_ = nullptr;  // a default beside the "$ref" that was followed
  const UnfilledDefaults* unfilled_ = nullptr;
  bool refuses_default_ = false;
};

}  // namespace mcpac::policy
