// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/plain.h"

#include "analyzer/clang/cx.h"
#include "analyzer/clang/kinds.h"
#include "analyzer/clang/named_constants.h"

namespace mcpac::analyzer {
namespace {

// Values of arguments are far below.
constexpr unsigned kDeepestPlain = 64;

class Reader {
 public:
  bool reads(CXCursor expression) {
    look(expression, 0);
    while (plain_) {
      const auto initialiser = constants_.next_initialiser();
      if (!initialiser) break;
      plain_ = exists(*initialiser);
      look(*initialiser, 0);
    }
    return plain_;
  }

 private:
  void look(CXCursor at, unsigned depth) {
    if (!plain_) return;
    plain_ = depth < kDeepestPlain;
    switch (clang_getCursorKind(at)) {
      case CXCursor_IntegerLiteral:
      case CXCursor_FloatingLiteral:
      case CXCursor_CharacterLiteral:
      case CXCursor_CXXBoolLiteralExpr:
      case CXCursor_StringLiteral: return;
      case CXCursor_DeclRefExpr: return keep(clang_getCursorReferenced(at));
      case CXCursor_UnexposedExpr: {
        // A conversion has one operand; what has none (a trait) or several is something else.
        const auto parts = children(at);
        plain_ = plain_ && parts.size() == 1;
        if (plain_) look(parts.front(), depth + 1);
        return;
      }
      case CXCursor_ParenExpr:
      case CXCursor_UnaryOperator:
      case CXCursor_BinaryOperator:
      case CXCursor_ConditionalOperator:
      case CXCursor_CStyleCastExpr:
      case CXCursor_CXXStaticCastExpr:
      case CXCursor_CXXFunctionalCastExpr:
        for (const CXCursor part : expressions_of(at)) look(part, depth + 1);
        return;
      default: plain_ = false; return;
    }
  }

  void keep(CXCursor named) {
    const CXCursorKind kind = clang_getCursorKind(named);
    plain_ = plain_ && (kind == CXCursor_EnumConstantDecl || kind == CXCursor_VarDecl) &&
             !is_made_from_template(named);
    if (plain_ && kind == CXCursor_VarDecl) plain_ = constants_.add(named);
  }

  NamedConstants constants_;
  bool plain_ = true;
};

}  // namespace

bool is_made_from_template(CXCursor declaration) {
  for (CXCursor at = declaration; exists(at) && clang_isDeclaration(clang_getCursorKind(at)) != 0;
       at = clang_getCursorSemanticParent(at)) {
    if (is_template_with_body(clang_getCursorKind(at)) ||
        exists(clang_getSpecializedCursorTemplate(at)))
      return true;
  }
  return false;
}

bool is_plain(CXCursor expression) {
  return Reader().reads(expression);
}

bool is_of_this_file(CXCursor declaration) {
  return clang_getCursorLinkage(declaration) != CXLinkage_External;
}

}  // namespace mcpac::analyzer
