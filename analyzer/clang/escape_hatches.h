// SPDX-License-Identifier: Apache-2.0

// EscapeHatches: ways around the types of C++ (rules capability-cast, inline-assembly, attribute).
//
// A class template that casts itself to the class that derives from it (CRTP) casts nothing else,
// as long as no other class derives from it and there is no object of it alone.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/clang/findings.h"
#include "analyzer/clang/identity.h"
#include "analyzer/clang/walker.h"

namespace mcpac::analyzer {

class HatchChecker : public Checker {
 public:
  HatchChecker(const Identity& identity, const Sources& sources, Findings& findings)
      : identity_(identity), sources_(sources), findings_(findings) {}
  void on_node(CXCursor node, CXCursor parent, const Scope& scope) override;
  // Judges the casts of bases to what derives from them, when all classes and objects are known: of
  // a program of several files those in a header are not, since each file is read by itself.
  enum class Files : std::uint8_t { kOne, kSeveral };
  void finish(Files files);

 private:
  // `static_cast<Derived*>(this)` in Base<Derived>.
  struct OwnCast {
    CXCursor cast;
    CXType base;
    CXType derived;
  };
  void on_cast(CXCursor cast);
  [[nodiscard]] bool is_of_itself(CXCursor operand, CXType to, CXType from) const;
  void on_object(CXCursor node, CXCursor parent, CXCursorKind kind);
  // `parts`: what the derived class is made from.
  [[nodiscard]] bool is_derived_by_another(const OwnCast& own,
                                           const std::vector<CXType>& parts) const;
  // Types inside all objects of the program.
  using TypeKey = std::pair<const void*, const void*>;  // of a canonical type
  struct Inner {
    std::set<TypeKey> types;
    std::multimap<TypeKey, CXType> by_argument;  // types made from templates
    bool is_too_large = false;
  };
  [[nodiscard]] Inner inside_objects() const;
  [[nodiscard]] static bool is_an_object_alone(const OwnCast& own, const std::vector<CXType>& parts,
                                               const Inner& inner);
  void on_library_call(CXCursor call);
  void on_base(CXCursor specifier, CXCursor owner);
  void on_implicit_conversion(CXCursor conversion);
  void on_throw(CXCursor node);
  void on_field(CXCursor field);
  void on_operator(CXCursor node);
  void on_arithmetic(CXCursor node);
  void on_attribute(CXCursor attribute);
  void on_unexposed_declaration(CXCursor declaration);

  const Identity& identity_;
  const Sources& sources_;
  Findings& findings_;
  std::vector<OwnCast> own_casts_;
  struct Base {
    CXCursor owner;
    CXType type;
    CXCursor made_from;  // the template that is named; null where none is
    bool is_parameter;   // of the template that it is a base of
  };
  std::multimap<TypeKey, Base> bases_;
  std::vector<Base> late_bases_;  // that only an instantiation knows
  std::vector<CXType> objects_;
  std::vector<CXCursor> copies_;  // variables that are copies of *this
};

}  // namespace mcpac::analyzer
