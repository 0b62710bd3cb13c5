// SPDX-License-Identifier: Apache-2.0

// Reach: the types reachable from an object: its members, bases, elements and template arguments,
// and the targets of its pointers.
//
// Code that may write the bytes of an object may choose all of that. The search looks into classes
// of the library as well, where asked, and gives up with "yes" when a type is too large to be
// searched.
#pragma once

#include <clang-c/Index.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analyzer/clang/cx.h"

namespace mcpac::analyzer {

class Reach {
 public:
  using IsType = std::function<bool(CXType)>;
  using IsRecord = std::function<bool(CXCursor)>;

  // `is` is what is looked for; `opens` tells the classes whose members are looked at.
  Reach(IsType is, IsRecord opens) : is_(std::move(is)), opens_(std::move(opens)) {}

  [[nodiscard]] bool reaches(CXType type) const;

 private:
  [[nodiscard]] bool search(CXType type) const;
  // The types one step away from a class.
  [[nodiscard]] std::vector<CXType> inside(CXType record) const;

  IsType is_;
  IsRecord opens_;
  mutable std::map<std::pair<const void*, const void*>, bool> known_;  // whole answers only
};

// Whether a class has a table of virtual functions or of virtual bases.
[[nodiscard]] bool is_polymorphic(CXType type);
// The classes that one is made from, itself first; not those that only an instantiation knows.
[[nodiscard]] std::vector<CXType> lineage_of(CXType derived);
[[nodiscard]] bool has_bases(CXType type);
// Whether the one is made from the other, near or far, or is the same class.
[[nodiscard]] bool derives_from(CXType derived, CXType base);
// Whether one is the other or one of its bases, near or far.
[[nodiscard]] bool are_related(CXType left, CXType right);

}  // namespace mcpac::analyzer
