// Values: random JSON that a schema lets in, for tests that send it through generated types.
//
// Guided by the keywords that shape values, at random within their bounds; what a keyword here does
// not know (a pattern, a condition) may make a value invalid, so the caller validates and tries
// again. Deterministic: one seed, one sequence.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "codegen/resolve.h"
#include "core/json.h"

namespace mcpac::codegen::testing {

class Values {
 public:
  Values(const OrderedJson& schema, std::uint64_t seed) : schema_(schema), random_(seed) {}

  // A value that has a good chance to be valid.
  [[nodiscard]] Json next();

 private:
  Json any(int depth);
  Json value(const OrderedJson& schema, int depth);
  Json of_type(const std::string& type, const OrderedJson& schema, int depth);
  Json object(const OrderedJson& schema, int depth);
  Json array(const OrderedJson& schema, int depth);
  Json integer(const OrderedJson& schema);
  Json number(const OrderedJson& schema);
  Json text(const OrderedJson& schema);
  [[nodiscard]] std::uint64_t below(std::uint64_t end);

  const OrderedJson& schema_;
  std::optional<Resolver> resolver_{};  // anew for each value: it counts what it copies
  std::mt19937_64 random_;
  bool least_ = false;  // nothing optional: what recursive schemas need to end
};

}  // namespace mcpac::codegen::testing
