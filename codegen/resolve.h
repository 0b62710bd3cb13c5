// Resolve: where a local $ref points, and what an allOf says as one schema.
//
// Only references inside the same definition are followed; nothing is ever fetched. What cannot be
// followed or merged is an answer ("why"), not an error: the caller falls back to Json and says so.
#pragma once

#include <cstddef>
#include <deque>
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

class Resolver {
 public:
  explicit Resolver(const OrderedJson& root) : root_(root) {}

  // Follows $ref until a schema without one; a schema without $ref resolves to itself.
  [[nodiscard]] Resolved follow(const OrderedJson& schema) const;

  // A schema without allOf that says the same as `schema`; `schema` itself where it has none. Parts
  // that only add conditions (if/then) are left to the host, which checks the original.
  [[nodiscard]] Resolved merged(const OrderedJson& schema);

  // One object schema for "an object of one of these forms": every property of every branch,
  // required only where all branches require it.
  [[nodiscard]] Resolved with_branches(const OrderedJson& schema, const OrderedJson& branches);

 private:
  [[nodiscard]] std::string merge_into(OrderedJson& target, const OrderedJson& part, int depth);

  const OrderedJson& root_;
  std::deque<OrderedJson> made_;  // keeps merged schemas at one address
  std::size_t copied_ = 0;        // values copied so far, bounded
};

}  // namespace mcpac::codegen
