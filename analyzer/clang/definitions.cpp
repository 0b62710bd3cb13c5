#include "analyzer/clang/definitions.h"

#include <fmt/format.h>

#include "core/hash.h"

namespace mcpac::analyzer {
namespace {

// Deeper trees are refused by the walker (rule too-deep).
constexpr unsigned kMaxDepth = 2000;

std::string usr(CXCursor cursor) {
  return take(clang_getCursorUSR(cursor));
}

bool is_shared(CXCursor cursor) {
  return clang_getCursorLinkage(cursor) == CXLinkage_External;
}

bool is_function(CXCursorKind kind) {
  return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod ||
         kind == CXCursor_Constructor || kind == CXCursor_Destructor ||
         kind == CXCursor_ConversionFunction || kind == CXCursor_FunctionTemplate;
}

bool is_type(CXCursorKind kind) {
  return kind == CXCursor_StructDecl || kind == CXCursor_ClassDecl || kind == CXCursor_UnionDecl ||
         kind == CXCursor_EnumDecl || kind == CXCursor_ClassTemplate ||
         kind == CXCursor_ClassTemplatePartialSpecialization;
}

bool is_literal(CXCursorKind kind) {
  return kind == CXCursor_IntegerLiteral || kind == CXCursor_FloatingLiteral ||
         kind == CXCursor_CharacterLiteral || kind == CXCursor_CXXBoolLiteralExpr;
}

// A closure has no name but its place, which differs between two files with the same text.
std::string type_text(CXType type) {
  std::string text = take(clang_getTypeSpelling(clang_getCanonicalType(type)));
  return text.contains("(lambda at ") || text.contains("(unnamed ") ? "unnamed" : text;
}

std::string value_of(CXCursor literal) {
  CXEvalResult result = clang_Cursor_Evaluate(literal);
  if (result == nullptr) return {};
  std::string text;
  const CXEvalResultKind kind = clang_EvalResult_getKind(result);
  if (kind == CXEval_Int) text = fmt::format("{}", clang_EvalResult_getAsLongLong(result));
  if (kind == CXEval_Float) text = fmt::format("{:a}", clang_EvalResult_getAsDouble(result));
  clang_EvalResult_dispose(result);
  return text;
}

// What a node is besides its children.
std::string node_text(CXCursor node) {
  const CXCursorKind kind = clang_getCursorKind(node);
  std::string text = fmt::format("{} {} ", static_cast<int>(kind), spelling(node));
  text += type_text(clang_getCursorType(node));
  const CXCursor named = clang_getCursorReferenced(node);
  if (exists(named) && !same(named, node))
    text += fmt::format(" -> {}", is_shared(named) ? usr(named) : spelling(named));
  if (is_literal(kind)) text += " = " + value_of(node);
  if (clang_isExpression(kind) != 0) {
    text += fmt::format(" {}.{}", static_cast<int>(clang_getCursorBinaryOperatorKind(node)),
                        static_cast<int>(clang_getCursorUnaryOperatorKind(node)));
  }
  if (kind == CXCursor_FieldDecl)
    text += fmt::format(" at {}", clang_Cursor_getOffsetOfField(node));
  if (kind == CXCursor_EnumConstantDecl)
    text += fmt::format(" = {}", clang_getEnumConstantDeclValue(node));
  if (is_type(kind))
    text += fmt::format(" size {}", clang_Type_getSizeOf(clang_getCursorType(node)));
  return text;
}

void add_tree(CXCursor node, unsigned depth, std::string& text) {
  text += fmt::format("{}:{}\n", depth, node_text(node));
  if (depth >= kMaxDepth) return;
  each_child(node, [&](CXCursor child) { add_tree(child, depth + 1, text); });
}

class Collector {
 public:
  explicit Collector(const Sources& sources) : sources_(sources) {}

  // Namespaces only hold what is shared.
  void visit(CXCursor node) {
    const CXCursorKind kind = clang_getCursorKind(node);
    if (kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec ||
        kind == CXCursor_UnexposedDecl) {
      return each_child(node, [this](CXCursor child) { visit(child); });
    }
    if (!is_shared(node)) return;
    // Each kind once as declared: its parameters are in its USR, what it returns is not.
    if (is_function(kind) || kind == CXCursor_VarDecl)
      add("declared ", node, type_text(clang_getCursorType(node)));
    const bool whole = is_function(kind) || is_type(kind) || kind == CXCursor_VarDecl;
    if (!whole || clang_isCursorDefinition(node) == 0) return;
    std::string tree;
    add_tree(node, 0, tree);
    add("defined ", node, tree);
  }

  [[nodiscard]] Definitions take() && { return std::move(found_); }

 private:
  void add(const char* what, CXCursor node, std::string_view shape) {
    const Place place = place_of(node);
    found_.emplace(what + usr(node), Definition{sha256_hex(shape), qualified_name(node),
                                                sources_.name(place.file), place});
  }

  const Sources& sources_;
  Definitions found_;
};

}  // namespace

Definitions definitions_of(CXTranslationUnit unit, const Sources& sources) {
  Collector collector(sources);
  each_child(clang_getTranslationUnitCursor(unit), [&](CXCursor node) {
    if (sources.home(node) == Home::kProgram) collector.visit(node);
  });
  return std::move(collector).take();
}

}  // namespace mcpac::analyzer
