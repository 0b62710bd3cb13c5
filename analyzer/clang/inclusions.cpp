// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/inclusions.h"

namespace mcpac::analyzer {

std::vector<Inclusion> inclusions_of(CXTranslationUnit unit) {
  std::vector<Inclusion> found;
  clang_getInclusions(
      unit,
      [](CXFile file, CXSourceLocation* stack, unsigned depth, CXClientData data) {
        auto* list = static_cast<std::vector<Inclusion>*>(data);
        if (depth > 0) list->push_back({file, stack[0]});
      },
      &found);
  return found;
}

}  // namespace mcpac::analyzer
