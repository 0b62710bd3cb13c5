// SPDX-License-Identifier: Apache-2.0

// ValueSet: examples of values, one for each set of marks.
#pragma once

#include <unordered_map>
#include <vector>

#include "policy/decide/call_marks.h"

namespace mcpac::policy {

struct ValueClass {
  Marks marks;
  Json example;
  bool is_default = false;  // counts as absent where brackets are closed
  bool fits = true;         // the schema admits the example
};

class ValueSet {
 public:
  // The first example stays, unless it does not fit and the new one does.
  void insert(ValueClass value);
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] std::vector<ValueClass> take() { return std::move(values_); }
  [[nodiscard]] const std::vector<ValueClass>& values() const { return values_; }

 private:
  std::vector<ValueClass> values_;
  std::unordered_map<Marks, std::size_t> known_[2];  // by is_default
};

inline void ValueSet::insert(ValueClass value) {
  const auto [known, is_new] =
      known_[value.is_default ? 1 : 0].try_emplace(value.marks, values_.size());
  if (is_new) {
    values_.push_back(std::move(value));
  } else if (value.fits && !values_[known->second].fits) {
    values_[known->second] = std::move(value);
  }
}

}  // namespace mcpac::policy
