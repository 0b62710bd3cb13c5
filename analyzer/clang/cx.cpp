// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/cx.h"

namespace mcpac::analyzer {

std::string take(CXString text) {
  const char* chars = clang_getCString(text);
  std::string copy = chars == nullptr ? "" : chars;
  clang_disposeString(text);
  return copy;
}

Place place_of(CXSourceLocation location) {
  Place place;
  clang_getFileLocation(location, &place.file, &place.line, &place.column, &place.offset);
  return place;
}

Place place_of(CXCursor cursor) {
  return place_of(clang_getCursorLocation(cursor));
}

std::vector<CXCursor> children(CXCursor parent) {
  std::vector<CXCursor> found;
  each_child(parent, [&found](CXCursor child) { found.push_back(child); });
  return found;
}

std::vector<CXCursor> expressions_of(CXCursor parent) {
  auto found = children(parent);
  std::erase_if(found,
                [](CXCursor child) { return clang_isExpression(clang_getCursorKind(child)) == 0; });
  return found;
}

bool is_named(CXType type, std::string_view name) {
  const CXCursor declaration = declaration_of(type);
  return exists(declaration) && qualified_name(declaration) == name;
}

namespace {

bool is_scope(CXCursor cursor) {
  return exists(cursor) && clang_getCursorKind(cursor) != CXCursor_TranslationUnit;
}

// A lambda is an unnamed class whose operator() holds the body.
bool leaves_trace(CXCursor cursor, const std::string& name) {
  if (name.empty() || name.front() == '(') return false;
  if (clang_Cursor_isInlineNamespace(cursor) != 0) return false;
  if (clang_Cursor_isAnonymous(cursor) != 0) return false;
  if (name != "operator()") return true;
  const CXCursor parent = clang_getCursorSemanticParent(cursor);
  const std::string parent_name = spelling(parent);
  return !parent_name.empty() && parent_name.front() != '(';
}

}  // namespace

std::string qualified_name(CXCursor declaration) {
  std::string name;
  for (CXCursor at = declaration; is_scope(at); at = clang_getCursorSemanticParent(at)) {
    const std::string part = spelling(at);
    if (leaves_trace(at, part)) name.insert(0, name.empty() ? part : part + "::");
  }
  return name;
}

std::string outermost_namespace(CXCursor declaration) {
  std::string name;
  for (CXCursor at = declaration; is_scope(at); at = clang_getCursorSemanticParent(at)) {
    if (clang_getCursorKind(at) == CXCursor_Namespace) name = spelling(at);
  }
  return name;
}

CXType without_reference(CXType type) {
  type = clang_getCanonicalType(type);
  while (type.kind == CXType_LValueReference || type.kind == CXType_RValueReference)
    type = clang_getCanonicalType(clang_getPointeeType(type));
  return type;
}

bool is_pointer_like(CXType type) {
  type = clang_getCanonicalType(type);
  return type.kind == CXType_Pointer || type.kind == CXType_LValueReference ||
         type.kind == CXType_RValueReference;
}

CXType canonical(CXType type) {
  return type.kind == CXType_Invalid ? type
                                     : clang_getUnqualifiedType(clang_getCanonicalType(type));
}

CXType bare_type(CXType type) {
  for (;;) {
    type = clang_getCanonicalType(type);
    if (is_pointer_like(type) || type.kind == CXType_MemberPointer) {
      type = clang_getPointeeType(type);
    } else if (clang_getArrayElementType(type).kind != CXType_Invalid) {
      type = clang_getArrayElementType(type);
    } else {
      return canonical(type);
    }
  }
}

CXType type_argument(CXType type, unsigned i) {
  if (clang_Type_getNumTemplateArguments(type) <= static_cast<int>(i))
    return {CXType_Invalid, {nullptr, nullptr}};
  return clang_getCanonicalType(clang_Type_getTemplateArgumentAsType(type, i));
}

bool is_from_macro(CXCursor node) {
  const CXSourceLocation location = clang_getCursorLocation(node);
  unsigned expansion = 0;
  unsigned spelled = 0;
  CXFile expansion_file = nullptr;
  CXFile spelled_file = nullptr;
  clang_getExpansionLocation(location, &expansion_file, nullptr, nullptr, &expansion);
  clang_getSpellingLocation(location, &spelled_file, nullptr, nullptr, &spelled);
  return expansion != spelled || clang_File_isEqual(expansion_file, spelled_file) == 0;
}

CXCursor strip(CXCursor expression) {
  for (;;) {
    const CXCursorKind kind = clang_getCursorKind(expression);
    if (kind != CXCursor_UnexposedExpr && kind != CXCursor_ParenExpr) return expression;
    const auto inner = children(expression);
    if (inner.size() != 1) return expression;
    expression = inner.front();
  }
}

CXCursor object_of(CXCursor call) {
  const CXCursor function = clang_getCursorReferenced(call);
  const auto parts = expressions_of(call);
  const bool is_member = exists(function) &&
                         (clang_getCursorKind(function) == CXCursor_CXXMethod ||
                          clang_getCursorKind(function) == CXCursor_ConversionFunction) &&
                         clang_CXXMethod_isStatic(function) == 0;
  if (!is_member || parts.empty()) return clang_getNullCursor();
  for (const CXCursor part : parts) {
    const CXCursor callee = strip(part);
    if (clang_getCursorKind(callee) != CXCursor_MemberRefExpr ||
        !same(clang_getCursorReferenced(callee), function))
      continue;
    const auto inner = expressions_of(callee);
    return inner.size() == 1 ? inner.front() : clang_getNullCursor();
  }
  // An operator, as it is written: the object stands first.
  return spelling(function).starts_with("operator") ? parts.front() : clang_getNullCursor();
}

CXCursor operand_of(CXCursor cast) {
  const auto parts = expressions_of(cast);
  return parts.empty() ? clang_getNullCursor() : parts.back();
}

namespace {

// std::basic_string<char> with traits of the program's own compares and measures as it likes.
bool is_library_string(CXType type) {
  if (!is_named(type, "std::basic_string") && !is_named(type, "std::basic_string_view"))
    return false;
  const CXType character = type_argument(clang_getCanonicalType(type), 0);
  return character.kind == CXType_Char_S &&
         is_named(type_argument(clang_getCanonicalType(type), 1), "std::char_traits");
}

}  // namespace

bool is_text(CXType type) {
  if (is_library_string(type)) return true;
  const CXType canonical = clang_getCanonicalType(type);
  const CXType to = canonical.kind == CXType_Pointer ? clang_getPointeeType(canonical)
                                                     : clang_getArrayElementType(canonical);
  return clang_getCanonicalType(to).kind == CXType_Char_S;
}

}  // namespace mcpac::analyzer
