// SPDX-License-Identifier: Apache-2.0

// Temporaries: whether an expression looks into an object that ends with its full expression.
//
// Two questions, for C++ has two ways to look at what is not one's own: a reference (`json()["a"]`)
// and a view or pointer (`text()` as a std::string_view). Followed are the members of strings,
// containers, JSON and results of tools, which hand out what is in them; of a class of the program
// it is not known what its members lead to, so they are left alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/clang/cx.h"
#include "analyzer/clang/sources.h"

namespace mcpac::analyzer {

class Temporaries {
 public:
  explicit Temporaries(const Sources& sources) : sources_(sources) {}

  // std::string, a container, Json, a result: what keeps its own memory.
  [[nodiscard]] bool is_owner(CXType type) const;
  [[nodiscard]] static bool is_view(CXType type);
  // A value that a call, a cast or braces made, and what is in one.
  [[nodiscard]] bool is_temporary(CXCursor expression, unsigned depth = 0) const;
  // Of an initialiser: whether the reference outlives what it is bound to. A temporary itself, and
  // a field of one, live as long as the reference.
  [[nodiscard]] bool reference_dangles(CXCursor expression, unsigned depth = 0) const;
  // Of what a variable, an element or an argument of this type is made from: whether the views and
  // pointers in it outlive what they look at.
  [[nodiscard]] bool value_dangles(CXCursor expression, CXType type, unsigned depth = 0) const;
  // The arguments that a member function of this container keeps, each with the type that it has in
  // there.
  struct Kept {
    CXCursor value;
    CXType type;
  };
  [[nodiscard]] std::vector<Kept> kept_by(CXType container, std::string_view function,
                                          std::vector<CXCursor> values) const;
  // The local variable that a value of this type looks at, `inner` of `view = inner`; null where
  // there is none.
  [[nodiscard]] CXCursor looked_at(CXCursor expression, CXType type, unsigned depth = 0) const;

 private:
  [[nodiscard]] bool view_dangles(CXCursor expression, unsigned depth) const;
  [[nodiscard]] bool hands_out(CXCursor object, unsigned depth) const;
  [[nodiscard]] bool parts_dangle(const std::vector<CXCursor>& values,
                                  const std::vector<CXType>& types, unsigned depth) const;
  [[nodiscard]] std::vector<CXType> parts_of(CXType type) const;

  const Sources& sources_;
};

}  // namespace mcpac::analyzer
