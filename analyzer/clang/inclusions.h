// SPDX-License-Identifier: Apache-2.0

// Inclusions: the files that clang entered with the program, beside the precompiled header.
#pragma once

#include <clang-c/Index.h>

#include <vector>

namespace mcpac::analyzer {

struct Inclusion {
  CXFile file = nullptr;
  CXSourceLocation from{};
};

// All but the lead's main file, with where each was asked for. A file that is entered twice is
// there twice.
[[nodiscard]] std::vector<Inclusion> inclusions_of(CXTranslationUnit unit);

}  // namespace mcpac::analyzer
