// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/constancy.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/clang/tokens.h"

namespace mcpac::analyzer {
namespace {

bool is_address(CXType type) {
  type = clang_getCanonicalType(type);
  return is_pointer_like(type) || type.kind == CXType_MemberPointer;
}

bool casts_pointers(std::string_view function) {
  return function == "const_pointer_cast" || function == "reinterpret_pointer_cast" ||
         function == "bit_cast" || function == "__builtin_bit_cast" || function == "launder" ||
         // C functions that give back what they were given, without its const.
         function == "bsearch" || function == "lfind" || function == "lsearch" ||
         function == "tfind" || function == "tsearch";
}

// A constant that asks this is another value for the compiler than for a reader of its source.
bool tells_time_of_evaluation(std::string_view function) {
  return function == "is_constant_evaluated" || function == "__builtin_is_constant_evaluated" ||
         function == "__builtin_constant_p";
}

bool has_address_member(CXCursor record) {
  bool found = false;
  each_child(record, [&found](CXCursor child) {
    found = found || (clang_getCursorKind(child) == CXCursor_FieldDecl &&
                      is_address(clang_getCursorType(child)));
  });
  return found;
}

bool is_plain(CXType type) {
  type = clang_getCanonicalType(type);
  return clang_isConstQualifiedType(type) != 0 && clang_isVolatileQualifiedType(type) == 0;
}

// The value is taken (an lvalue-to-rvalue conversion has the unqualified type), or the object is
// only seen as const.
bool reads(CXCursor parent, CXType variable) {
  // One with several parts is no conversion: `a ?: b` is the variable itself.
  if (clang_getCursorKind(parent) != CXCursor_UnexposedExpr || children(parent).size() != 1)
    return false;
  const CXType seen = clang_getCanonicalType(clang_getCursorType(parent));
  if (clang_isConstQualifiedType(seen) != 0) return true;
  const bool scalar = seen.kind == CXType_Pointer || clang_Type_getSizeOf(seen) <= 8;
  const bool record = seen.kind == CXType_Record || seen.kind == CXType_Unexposed;
  return scalar && !record &&
         clang_equalTypes(seen, clang_getUnqualifiedType(without_reference(variable))) != 0;
}

// {p} and {.path = p} for a struct of the generated headers, whose fields take values. A list is
// seen as it was written, without conversions.
bool initialises_ours(CXCursor parent, const Sources& sources) {
  if (clang_getCursorKind(parent) == CXCursor_InitListExpr) {
    const CXType made = clang_getCanonicalType(clang_getCursorType(parent));
    return sources.home(clang_getTypeDeclaration(made)) == Home::kHeaders;
  }
  const auto parts = children(parent);
  return clang_getCursorKind(parent) == CXCursor_UnexposedExpr && parts.size() == 2 &&
         clang_getCursorKind(parts.front()) == CXCursor_MemberRef &&
         sources.home(clang_getCursorReferenced(parts.front())) == Home::kHeaders;
}

struct Mentions {
  CXCursor variable;
  const Sources& sources;
  bool only_reads = true;

  void look_below(CXCursor node) {
    const bool ours = initialises_ours(node, sources);
    each_child(node, [&](CXCursor child) {
      const bool mention = clang_getCursorKind(child) == CXCursor_DeclRefExpr &&
                           same(clang_getCursorReferenced(child), variable);
      if (!mention) return look_below(child);
      only_reads = only_reads && (ours || reads(node, clang_getCursorType(variable)));
    });
  }
};

// [&r = s], [&r(s)], [&r{s}]: a name for a variable that libclang does not tie to it.
bool captures_by_new_name(CXCursor lambda) {
  std::vector<std::string> words = words_of(lambda);
  int depth = 0;
  const auto ends = [&depth](const std::string& word) {
    if (word == "[" || word == "<:") ++depth;
    return (word == "]" || word == ":>") && --depth == 0;
  };
  words.erase(std::ranges::find_if(words, ends), words.end());
  std::erase(words, "...");
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    const std::string& after = words[i + 2];
    const bool by_reference = words[i] == "&" || words[i] == "bitand";
    if (by_reference && (after == "=" || after == "(" || after == "{" || after == "<%"))
      return true;
  }
  return false;
}

}  // namespace

void ConstancyChecker::on_node(CXCursor node, CXCursor, const Scope&) {
  switch (clang_getCursorKind(node)) {
    case CXCursor_CXXConstCastExpr:
    case CXCursor_CXXReinterpretCastExpr: writes_ = true; break;
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXFunctionalCastExpr:
      writes_ = writes_ || is_address(clang_getCursorType(node));
      break;
    case CXCursor_LambdaExpr: writes_ = writes_ || captures_by_new_name(node); break;
    case CXCursor_UnionDecl: writes_ = writes_ || has_address_member(node); break;
    case CXCursor_DeclRefExpr: {
      const CXCursor named = clang_getCursorReferenced(node);
      if (exists(named) && tells_time_of_evaluation(spelling(named))) writes_ = true;
      if (exists(named) && casts_pointers(spelling(named)))
        writes_ = writes_ || is_address(clang_getCursorResultType(named)) ||
                  clang_getCursorKind(named) != CXCursor_FunctionDecl;
      break;
    }
    default: break;
  }
}

bool is_never_assigned(CXCursor variable) {
  if (clang_getCursorKind(variable) != CXCursor_VarDecl) return false;
  const CXType type = clang_getCanonicalType(clang_getCursorType(variable));
  if (is_plain(type)) return true;
  const bool reference = type.kind == CXType_LValueReference || type.kind == CXType_RValueReference;
  if (reference && is_plain(clang_getPointeeType(type))) return true;
  const CXType element = clang_getArrayElementType(type);
  return element.kind != CXType_Invalid && is_plain(element);
}

bool is_only_read(CXCursor body, CXCursor variable, const Sources& sources) {
  const CXType type = clang_getCanonicalType(clang_getCursorType(variable));
  if (clang_isVolatileQualifiedType(without_reference(type)) != 0) return false;
  if (is_plain(is_pointer_like(type) && type.kind != CXType_Pointer ? clang_getPointeeType(type)
                                                                    : type))
    return true;
  if (type.kind == CXType_LValueReference || type.kind == CXType_RValueReference) return false;
  Mentions mentions{variable, sources};
  mentions.look_below(body);
  return mentions.only_reads;
}

}  // namespace mcpac::analyzer
