// SPDX-License-Identifier: Apache-2.0

// Resolve: targets of local $refs, and allOf merged into one schema.
//
// Only references inside the same definition are followed; nothing is ever fetched. What cannot be
// followed or merged is an answer ("why"), not an error: the caller falls back to Json and says so.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/json.h"

namespace mcpac::codegen {

struct Resolved {
  const OrderedJson* schema = nullptr;  // null: see `why`
  std::string name;                     // last part of the reference: "node" of "#/$defs/node"
  std::string why;
};

// The member of a schema object, or nullptr; also for schemas that are no objects.
[[nodiscard]] const OrderedJson* keyword(const OrderedJson& schema, std::string_view name);

// Whether a schema with a $ref says more about the form of the value beside it.
[[nodiscard]] bool refines_reference(const OrderedJson& schema);

class Resolver {
 public:
  explicit Resolver(const OrderedJson& root) : root_(root) {}

  // Follows $ref until a schema without one; a schema without $ref resolves to itself. A $ref may
  // name a place ("#/$defs/a"), an $anchor ("#a") or an $id of the same definition; $dynamicRef is
  // followed to the first $dynamicAnchor of its name.
  [[nodiscard]] Resolved follow(const OrderedJson& schema) const;

  // A schema without allOf that says the same as `schema`; `schema` itself where it has none. Where
  // two parts bound one value, the tighter bound stands. Parts that only add conditions (if/then)
  // are left to the host, which checks the original.
  [[nodiscard]] Resolved merged(const OrderedJson& schema);

  // The definition itself as one schema of an object: reference followed, allOf merged, the forms
  // of anyOf and oneOf laid together.
  [[nodiscard]] Resolved whole();

  // `schema` (an object's) with the property `name` fixed to `value`; one address for one question.
  [[nodiscard]] Resolved with_constant(const OrderedJson& schema, const std::string& name,
                                       const std::string& value);

  // One object schema for "an object of one of these forms": every property of every branch,
  // required only where all branches require it.
  [[nodiscard]] Resolved with_branches(const OrderedJson& schema, const OrderedJson& branches);

 private:
  struct Index;
  [[nodiscard]] const Index& index() const;
  [[nodiscard]] Resolved look_up(const OrderedJson& at, const std::string& reference) const;
  [[nodiscard]] std::string merge_into(OrderedJson& target, const OrderedJson& part, int depth);

  const OrderedJson& root_;
  mutable std::shared_ptr<const Index> index_{};  // of $id and $anchor; built when first needed
  std::deque<OrderedJson> made_;                  // keeps merged schemas at one address
  std::map<std::pair<const OrderedJson*, std::string>, const OrderedJson*> constants_{};
  std::size_t copied_ = 0;  // values copied so far, bounded
};

}  // namespace mcpac::codegen
