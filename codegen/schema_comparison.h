// SPDX-License-Identifier: Apache-2.0

// SchemaComparison: the walk over two schemas at once that schema_change.h reports.
//
// Every place that is compared is one where a smaller set of valid values below makes the whole
// smaller too (properties, items, anyOf, …); places without that property (not, if, oneOf, …) are
// compared as a whole and are "changed".
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "codegen/schema_change.h"
#include "core/json.h"

namespace mcpac::codegen {

class SchemaComparison {
 public:
  SchemaComparison(const Json& before, const Json& after, SchemaSide side, SchemaChanges& changes)
      : side_(side),
        changes_(changes),
        trust_(std::min(trust_in(before), trust_in(after))),
        refers_elsewhere_(refers_elsewhere(before) || refers_elsewhere(after)) {}

  void compare(const Json& before, const Json& after, const std::string& at, std::size_t depth = 0);
  [[nodiscard]] bool too_much() const { return text_ > kMaxText; }

 private:
  void add(SchemaEffect effect, std::string pointer, std::string what, const Json* before,
           const Json* after);
  void keyword(const std::string& name, const Json& before, const Json& after,
               const std::string& at, std::size_t depth);
  void rewritten(const std::string& name, const Json& before, const Json& after,
                 const std::string& at);
  void bound(const std::string& name, const Json* before, const Json* after, const std::string& at,
             bool is_lower);
  void allowed_values(const Json& before, const Json& after, const std::string& at);
  void required(const Json& before, const Json& after, const std::string& at);
  void properties(const Json& before, const Json& after, const std::string& at, std::size_t depth);
  [[nodiscard]] SchemaEffect added(const Json& before, const Json& schema, bool is_required) const;
  [[nodiscard]] SchemaEffect removed(const Json& after, bool was_required) const;
  void branches(const std::string& name, const Json* before, const Json* after,
                const std::string& at, std::size_t depth);
  void definitions(const std::string& name, const Json& before_all, const Json& after_all,
                   const std::string& at, std::size_t depth);
  void below(const std::string& name, const Json* before, const Json* after, const std::string& at,
             std::size_t depth);
  void present(const std::string& name, const Json* before, const Json* after,
               const std::string& at);
  void types(const Json* before, const Json* after, const std::string& at);
  // Places where a smaller set makes the whole smaller.
  enum class Trust : std::uint8_t { kNothing, kAllButDefinitions, kAll };
  static Trust trust_in(const Json& schema);
  static bool refers_elsewhere(const Json& schema);
  [[nodiscard]] SchemaEffect words(const std::string& name, const Json* before,
                                   const Json* after) const;

  // An object schema's rule for members that it does not name.
  enum class Others : std::uint8_t { kAllowed, kForbidden, kDepends };
  static Others others_of(const Json& schema);

  using Names = std::set<std::string>;
  static const Json& any_schema();
  static bool same(const Json* a, const Json* b);  // null: not there
  static bool allows_nothing(const Json& schema);
  static bool allows_all(const Json* schema);
  // The items of a list as canonical JSON; nothing for what is no list.
  static Names texts_of(const Json* list);
  // The effect of one set of allowed things that became another.
  static SchemaEffect effect_of(const Names& before, const Names& after);

  // Bytes of all pointers and values. The values alone cannot be more than the listing, but a long
  // name stands in the pointer of everything below it.
  static constexpr std::size_t kMaxText = std::size_t{16} << 20U;

  SchemaSide side_;
  SchemaChanges& changes_;
  Trust trust_;
  bool refers_elsewhere_;  // a $ref may make a schema of what is else only words ("#/examples/0")
  std::size_t text_ = 0;
};

}  // namespace mcpac::codegen
