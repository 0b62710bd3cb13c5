// SPDX-License-Identifier: Apache-2.0

// Kinds: the families of declarations that libclang has many kinds of cursors for.
#pragma once

#include <clang-c/Index.h>

namespace mcpac::analyzer {

// Whatever can have a body of statements, as written or instantiated.
[[nodiscard]] inline bool is_function(CXCursorKind kind) {
  return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod ||
         kind == CXCursor_Constructor || kind == CXCursor_Destructor ||
         kind == CXCursor_ConversionFunction || kind == CXCursor_FunctionTemplate;
}

[[nodiscard]] inline bool is_class(CXCursorKind kind) {
  return kind == CXCursor_StructDecl || kind == CXCursor_ClassDecl || kind == CXCursor_UnionDecl ||
         kind == CXCursor_ClassTemplate || kind == CXCursor_ClassTemplatePartialSpecialization;
}

// A template whose inside is statements or members, as written.
[[nodiscard]] inline bool is_template_with_body(CXCursorKind kind) {
  return kind == CXCursor_FunctionTemplate || kind == CXCursor_ClassTemplate ||
         kind == CXCursor_ClassTemplatePartialSpecialization;
}

[[nodiscard]] inline bool is_template_parameter(CXCursorKind kind) {
  return kind == CXCursor_TemplateTypeParameter || kind == CXCursor_NonTypeTemplateParameter ||
         kind == CXCursor_TemplateTemplateParameter;
}

}  // namespace mcpac::analyzer
