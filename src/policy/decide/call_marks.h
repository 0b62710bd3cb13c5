// SPDX-License-Identifier: Apache-2.0

// Call marks: findings of rules about a call, as a set that only grows.
//
// A value is put together from parts, and every part adds marks: "this argument fails the target",
// "this deny has caught something here". Which targets match the whole, and so what layers answer,
// can be read off the union alone; that is what makes all calls countable.
#pragma once

#include <bitset>
#include <vector>

#include "policy/rules/compiled.h"

namespace mcpac::policy {

// More rules than this over one tool are not compared.
constexpr std::size_t kMaxMarks = 512;
using Marks = std::bitset<kMaxMarks>;

struct MarkedTarget {
  const CompiledTarget* target;
  Effect effect;
  std::size_t fails = 0;                // set: the target does not match
  std::vector<std::size_t> must_catch;  // each must be set, or it does not match either
  bool otherwise = false;               // an ask about what no allow of the layer admits

  [[nodiscard]] bool matches(const Marks& marks) const;
};

struct MarkedLayer {
  const CompiledLayer* layer;
  std::vector<MarkedTarget> targets;

  // As decide_layer answers when no limit is used up.
  [[nodiscard]] Effect answer(const Marks& marks) const;
  // Whatever else is added, it will be a no.
  [[nodiscard]] bool surely_denies(const Marks& marks) const;
  // The rules that match and have this effect.
  [[nodiscard]] std::vector<const CompiledRule*> matching(const Marks& marks, Effect effect) const;
};

// An argument whose test is passed when one of many values passes: it has a mark of its own.
[[nodiscard]] bool looks_into_many(const CompiledArg& arg);

// Every target of the layers that covers the tool; `next` is the first mark that is free.
[[nodiscard]] std::vector<MarkedLayer> mark_layers(const std::vector<CompiledLayer>& layers,
                                                   const Permission& permission, std::size_t& next);

}  // namespace mcpac::policy
