#include "analyzer/clang/hatches.h"

#include <fmt/format.h>

#include "analyzer/clang/attributes.h"

namespace mcpac::analyzer {
namespace {

bool is_record_pointer_to_void(CXType type) {
  type = clang_getCanonicalType(type);
  return type.kind == CXType_Pointer &&
         clang_getCanonicalType(clang_getPointeeType(type)).kind == CXType_Void;
}

constexpr const char* kCastFix = "pass the capability on as it is";

}  // namespace

// Casts to a value or to the same class are conversions; those that look at it as something else,
// or take its constness, are not.
void HatchChecker::on_cast(CXCursor cast) {
  const CXType to = clang_getCursorType(cast);
  const CXCursor operand = operand_of(cast);
  if (!exists(operand)) return;
  const CXType from = clang_getCursorType(strip(operand));
  const CXCursorKind kind = clang_getCursorKind(cast);
  const bool capability = identity_.holds_capability(to) || identity_.holds_capability(from);
  if (!capability) return;
  const bool changes_meaning = clang_equalTypes(bare_type(to), bare_type(from)) == 0;
  const bool looks_inside = is_pointer_like(to) || is_pointer_like(from);
  const bool always = kind == CXCursor_CXXReinterpretCastExpr || kind == CXCursor_CXXConstCastExpr;
  // (void)rt says that it is not used; a reference to another class of the runtime is an upcast.
  const bool to_nothing = clang_getCanonicalType(to).kind == CXType_Void;
  if (to_nothing || !(always || (changes_meaning && looks_inside))) return;
  findings_.add("capability-cast", cast, "a capability is cast to something else", kCastFix);
}

// memcpy(&rt, …), write(fd, &rt, …), placement: a pointer to a capability becomes a void pointer.
void HatchChecker::on_implicit_conversion(CXCursor conversion) {
  if (!is_record_pointer_to_void(clang_getCursorType(conversion))) return;
  const auto inner = children(conversion);
  if (inner.size() != 1) return;
  const CXType from = clang_getCanonicalType(clang_getCursorType(inner.front()));
  if (from.kind != CXType_Pointer) return;
  if (!identity_.holds_capability(from)) return;
  findings_.add("capability-cast", conversion, "a capability is handed on as raw memory", kCastFix);
}

// std::bit_cast and its builtin make a value of bytes.
void HatchChecker::on_named(CXCursor reference) {
  const CXCursor named = clang_getCursorReferenced(reference);
  if (!exists(named) || clang_getCursorKind(named) != CXCursor_FunctionDecl) return;
  if (!qualified_name(named).starts_with("std::bit_cast")) return;
  if (clang_Cursor_getNumArguments(named) > 0 &&
      identity_.holds_capability(
          bare_type(clang_getCursorType(clang_Cursor_getArgument(named, 0))))) {
    findings_.add("capability-cast", reference, "a capability is read as bytes", kCastFix);
  }
  on_made_from_bytes(reference, clang_getCursorResultType(named));
}

// A handler for void* catches any pointer.
void HatchChecker::on_throw(CXCursor node) {
  for (const CXCursor thrown : children(node)) {
    const CXType type = clang_getCursorType(thrown);
    if (is_pointer_like(type) && identity_.holds_capability(bare_type(type)))
      findings_.add("capability-cast", node, "a capability is handed on as raw memory", kCastFix);
  }
}

void HatchChecker::on_made_from_bytes(CXCursor node, CXType made) {
  if (identity_.holds_capability(made))
    findings_.add("capability-cast", node, "a capability is made from bytes", kCastFix);
}

void HatchChecker::on_field(CXCursor field) {
  const CXCursor owner = clang_getCursorSemanticParent(field);
  if (clang_getCursorKind(owner) != CXCursor_UnionDecl) return;
  const CXType type = clang_getCursorType(field);
  if (identity_.holds_capability(type))
    findings_.add("capability-cast", field, "a union reads a capability as something else",
                  "use a std::variant");
}

// Beside a capability stands none that the program was given.
void HatchChecker::on_arithmetic(CXCursor node) {
  const CXType type = clang_getCanonicalType(clang_getCursorType(node));
  if (type.kind != CXType_Pointer || !identity_.is_capability(type)) return;
  findings_.add("capability-cast", node, "a pointer to a capability is counted on",
                "keep several capabilities in a std::vector or std::array");
}

void HatchChecker::on_operator(CXCursor node) {
  const CXCursorKind kind = clang_getCursorKind(node);
  if (kind == CXCursor_UnaryOperator) {
    const CXUnaryOperatorKind what = clang_getCursorUnaryOperatorKind(node);
    if (what == CXUnaryOperator_PostInc || what == CXUnaryOperator_PreInc ||
        what == CXUnaryOperator_PostDec || what == CXUnaryOperator_PreDec)
      on_arithmetic(node);
  } else if (kind == CXCursor_ArraySubscriptExpr) {
    const auto operands = children(node);
    // The elements of an array are counted by its type.
    if (!operands.empty()) on_arithmetic(strip(operands.front()));
  } else {
    const CXBinaryOperatorKind what = clang_getCursorBinaryOperatorKind(node);
    if (what == CXBinaryOperator_Add || what == CXBinaryOperator_Sub ||
        what == CXBinaryOperator_AddAssign || what == CXBinaryOperator_SubAssign)
      on_arithmetic(node);
  }
}

void HatchChecker::on_attribute(CXCursor attribute) {
  if (clang_getCursorKind(attribute) == CXCursor_AsmLabelAttr) {
    findings_.add("inline-assembly", attribute, "an assembler name makes one function another",
                  "remove the label");
    return;
  }
  check_attribute(attribute, sources_, findings_);
}

// libclang does not say that a declaration is assembly: what it shows as nothing at all, and what a
// macro made, is taken for it.
void HatchChecker::on_unexposed_declaration(CXCursor declaration) {
  const bool empty = clang_getCursorType(declaration).kind == CXType_Invalid &&
                     children(declaration).empty() && spelling(declaration).empty();
  if (empty && is_from_macro(declaration)) {
    findings_.add("inline-assembly", declaration, "this declaration cannot be read",
                  "write it out instead of using a macro");
  }
}

void HatchChecker::on_node(CXCursor node, CXCursor, const Scope&) {
  const CXCursorKind kind = clang_getCursorKind(node);
  if (clang_isAttribute(kind) != 0) return on_attribute(node);
  switch (kind) {
    case CXCursor_GCCAsmStmt:
    case CXCursor_MSAsmStmt:
      findings_.add("inline-assembly", node, "assembly cannot be analysed", "write it in C++");
      break;
    case CXCursor_CXXReinterpretCastExpr:
    case CXCursor_CXXConstCastExpr:
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXFunctionalCastExpr: on_cast(node); break;
    case CXCursor_UnexposedExpr: on_implicit_conversion(node); break;
    case CXCursor_UnexposedDecl: on_unexposed_declaration(node); break;
    case CXCursor_DeclRefExpr: on_named(node); break;
    case CXCursor_FieldDecl: on_field(node); break;
    case CXCursor_CXXThrowExpr: on_throw(node); break;
    case CXCursor_UnaryOperator:
    case CXCursor_ArraySubscriptExpr:
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator: on_operator(node); break;
    default: break;
  }
}

}  // namespace mcpac::analyzer
