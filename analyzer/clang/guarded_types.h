// SPDX-License-Identifier: Apache-2.0

// Guarded types: those whose bytes decide what is called or where output goes.
//
// Code: function pointers, classes with virtual functions, and everything that keeps or leads to
// one. Stream: a FILE of C, and what leads to one. Capability: what calls tools, and what holds
// one.
#pragma once

#include <clang-c/Index.h>

#include <cstdint>

#include "analyzer/clang/reach.h"
#include "analyzer/clang/sources.h"

namespace mcpac::analyzer {

enum class Guarded : std::uint8_t { kNot, kCode, kStream, kCapability };

class GuardedTypes {
 public:
  explicit GuardedTypes(const Sources& sources);

  [[nodiscard]] Guarded of(CXType type) const;
  // Target of a pointer or reference to an object; kNot for values.
  [[nodiscard]] Guarded behind(CXType pointer) const;

 private:
  Reach code_;
  Reach streams_;
};

[[nodiscard]] bool is_function(CXType canonical);
// A FILE itself.
[[nodiscard]] bool is_stream(CXType canonical);
[[nodiscard]] bool is_pointer(CXType type);
[[nodiscard]] bool is_void_pointer(CXType type);
// Canonical.
[[nodiscard]] CXType pointee(CXType type);
// Without qualifiers.
[[nodiscard]] bool is_same(CXType left, CXType right);

}  // namespace mcpac::analyzer
