// SPDX-License-Identifier: Apache-2.0

// Raw bytes: ways to choose the bytes of an object that decide what is called or where output goes
// (rules code-pointer, raw-descriptor and capability-cast).
//
// A class with an address of code inside (a function pointer, a table of virtual functions,
// anything that keeps such a class) calls whatever its bytes say; a FILE writes to whatever
// descriptor its bytes say. So neither may be looked at as something else: not by a cast, as void*,
// in a union, from std::bit_cast, through a variable list of arguments, by a template of the
// library that makes the void* itself (raw_templates.cpp), nor by the address of a coroutine's
// frame. Memory that is fresh, given back or filled with an object of the very type is as it should
// be. Of a capability the plain casts and conversions are looked at elsewhere (escape_hatches.h),
// what goes through the library or a list without types is looked at here.
//
// Not covered: writing past the end of an array, or into memory that was given back.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/clang/findings.h"
#include "analyzer/clang/guarded_types.h"
#include "analyzer/clang/identity.h"
#include "analyzer/clang/walker.h"

namespace mcpac::analyzer {

// Whether a const void* can be trusted to stay one in the whole program.
enum class Constness : std::uint8_t { kHolds, kMayBeCast };

class RawBytesChecker : public Checker {
 public:
  RawBytesChecker(const Identity& identity, const Sources& sources, Findings& findings,
                  Constness constness)
      : identity_(identity),
        sources_(sources),
        findings_(findings),
        constness_(constness),
        types_(sources) {}
  void on_node(CXCursor node, CXCursor parent, const Scope& scope) override;

 private:
  void refuse(Guarded what, CXCursor node);

  void on_cast(CXCursor cast);
  void on_made_void(CXCursor conversion, CXType from);
  void on_conversion(CXCursor conversion);
  void on_call(CXCursor call);
  void on_new(CXCursor made);
  void on_named(CXCursor reference);
  void on_member(CXCursor member);
  void on_field(CXCursor field);
  void on_throw(CXCursor node);
  void on_value(CXCursor expression);
  void on_printed(CXCursor call);
  void on_library_call(CXCursor call);
  void on_handle(CXCursor call);
  void excuse_frame(CXCursor operand);
  void excuse_frames(CXCursor node);
  void on_pool(CXCursor call);
  [[nodiscard]] Guarded guarded(CXType type) const;
  // Target of a pointer or reference to an object.
  [[nodiscard]] Guarded guarded_behind(CXType pointer) const;
  [[nodiscard]] bool is_guarded_in_pool(CXType type) const;
  [[nodiscard]] bool takes_void(CXType type) const;
  [[nodiscard]] Guarded handed(CXType type) const;

  void excuse(CXCursor conversions);
  [[nodiscard]] bool is_excused(CXCursor conversion) const;

  const Identity& identity_;
  const Sources& sources_;
  Findings& findings_;
  Constness constness_;
  GuardedTypes types_;
  std::vector<CXCursor> excused_;  // conversions to void* that do no harm where they stand
  bool has_buffer_ = false;        // a pool gives memory of a buffer that the program has
  std::vector<CXCursor> pooled_;   // objects with code in them that a pool may hold
};

// A cast that may look at an object as something else; const_cast does not.
[[nodiscard]] bool is_raw_cast(CXCursorKind kind);
// A call of one of these functions: `names` without, `operators` with a space in them.
[[nodiscard]] bool is_call_of(CXCursor node, std::string_view names, std::string_view operators);

}  // namespace mcpac::analyzer
