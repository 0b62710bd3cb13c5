#include "analyzer/clang/hatches.h"

#include <fmt/format.h>

#include "analyzer/os_calls.h"

namespace mcpac::analyzer {
namespace {

// The operand of a cast: its only expression.
CXCursor operand_of(CXCursor cast) {
  CXCursor found = clang_getNullCursor();
  each_child(cast, [&found](CXCursor child) {
    if (clang_isExpression(clang_getCursorKind(child)) != 0) found = child;
  });
  return found;
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

bool is_indirect(CXType type) {
  type = clang_getCanonicalType(type);
  return type.kind == CXType_Pointer || type.kind == CXType_LValueReference ||
         type.kind == CXType_RValueReference;
}

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
  const bool capability = identity_.is_capability(to) || identity_.is_capability(from);
  if (!capability) return;
  const CXCursorKind kind = clang_getCursorKind(cast);
  const bool changes_meaning = clang_equalTypes(bare_type(to), bare_type(from)) == 0;
  const bool looks_inside = is_indirect(to) || is_indirect(from);
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
  if (from.kind != CXType_Pointer || !identity_.is_capability(from)) return;
  findings_.add("capability-cast", conversion, "a capability is handed on as raw memory", kCastFix);
}

void HatchChecker::on_named(CXCursor reference) {
  const CXCursor named = clang_getCursorReferenced(reference);
  if (!exists(named)) return;
  const Home home = sources_.home(named);
  if (home == Home::kHeaders) return;
  const CXCursorKind kind = clang_getCursorKind(named);
  if (kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod) {
    const std::string name = qualified_name(named);
    const bool foreign = home == Home::kSystem || !exists(clang_getCursorDefinition(named));
    if (name.starts_with("std::bit_cast") || name == "__builtin_bit_cast") {
      const CXType result = clang_getCanonicalType(clang_getCursorResultType(named));
      if (identity_.is_capability(result))
        findings_.add("capability-cast", reference, "a capability is made from bytes", kCastFix);
    }
    if (const char* what = reached_by_function(name); what != nullptr && foreign) {
      findings_.add(
          "os-call", reference,
          fmt::format("`{}` reaches {}; in the sandbox this fails at run time", name, what),
          "use a tool for it");
    }
  } else if (home == Home::kSystem && (clang_isDeclaration(kind) != 0)) {
    const std::string name = qualified_name(named);
    if (const char* what = reached_by_type(name); what != nullptr) {
      findings_.add(
          "os-call", reference,
          fmt::format("`{}` reaches {}; in the sandbox this fails at run time", name, what),
          "use a tool for it");
    }
  }
}

// A function that the program declares, but does not define, with C linkage or an assembler name.
void HatchChecker::on_function(CXCursor function) {
  if (exists(clang_getCursorDefinition(function))) return;
  const bool c_linkage = take(clang_Cursor_getMangling(function)) == spelling(function);
  if (!c_linkage || spelling(function) == "main") return;
  findings_.add("redeclared-function", function,
                fmt::format("`{}` is declared by hand", spelling(function)),
                "include the header that declares it");
}

void HatchChecker::on_attribute(CXCursor attribute) {
  if (clang_getCursorKind(attribute) == CXCursor_AsmLabelAttr) {
    findings_.add("inline-assembly", attribute, "an assembler name makes one function another",
                  "remove the label");
  }
  if (clang_getCursorKind(attribute) == CXCursor_UnexposedAttr && pastes_ &&
      is_from_macro(attribute)) {
    findings_.add("attribute", attribute, "this attribute comes from a macro and cannot be read",
                  "write the attribute out");
  }
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
    case CXCursor_FunctionDecl: on_function(node); break;
    case CXCursor_DeclRefExpr:
    case CXCursor_TypeRef:
    case CXCursor_TemplateRef: on_named(node); break;
    default: break;
  }
}

}  // namespace mcpac::analyzer
