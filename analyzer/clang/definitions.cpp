// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/clang/kinds.h"
#include "analyzer/clang/tokens.h"
#include "core/hash.h"

namespace mcpac::analyzer {
namespace {

// Deeper trees are refused by the walker (rule too-deep).
constexpr unsigned kDeepestBody = 2000;
// What a definition draws in is looked at again for each definition; programs need a tenth of it.
constexpr std::size_t kMaxShape = std::size_t{4} << 20U;

constexpr const char* kDefined = "defined ";

std::string usr(CXCursor cursor) {
  return take(clang_getCursorUSR(cursor));
}

bool is_shared(CXCursor cursor) {
  return clang_getCursorLinkage(cursor) == CXLinkage_External;
}

bool is_type(CXCursorKind kind) {
  return is_class(kind) || kind == CXCursor_EnumDecl;
}

bool is_literal(CXCursorKind kind) {
  return kind == CXCursor_IntegerLiteral || kind == CXCursor_FloatingLiteral ||
         kind == CXCursor_CharacterLiteral || kind == CXCursor_CXXBoolLiteralExpr;
}

// A closure has no name but its place, which differs between two files with the same text.
std::string without_place(std::string name) {
  return name.contains("(lambda at ") || name.contains("(unnamed ") ? "unnamed" : name;
}

std::string type_text(CXType type) {
  return without_place(take(clang_getTypeSpelling(clang_getCanonicalType(type))));
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

// What a file keeps to itself: static, in a namespace without a name, or const outside of classes.
bool is_own(CXCursor named) {
  const CXLinkageKind linkage = clang_getCursorLinkage(named);
  return linkage == CXLinkage_Internal || linkage == CXLinkage_UniqueExternal;
}

// The shape of one definition: its tree, the words that it is written in, and all that it names
// and that belongs to its file alone.
class Shape {
 public:
  explicit Shape(const Sources& sources) : sources_(sources) {}

  std::string of(CXCursor definition) {
    add_tree(definition, 0);
    add_words(definition);
    // The list grows while it is read: what is named names further.
    for (std::size_t at = 0; at < named_.size(); ++at) {
      const CXCursor own = clang_getCursorDefinition(named_[at]);
      text_ += fmt::format("own {}\n", at);
      add_tree(exists(own) ? own : named_[at], 0);
      add_words(exists(own) ? own : named_[at]);
    }
    // What was not compared is not equal.
    if (text_.size() > kMaxShape) text_ += sources_.main_path().string();
    return std::move(text_);
  }

 private:
  void add_tree(CXCursor node, unsigned depth) {
    text_ += fmt::format("{}:{}\n", depth, node_text(node));
    if (depth >= kDeepestBody || text_.size() > kMaxShape) return;
    each_child(node, [&](CXCursor child) { add_tree(child, depth + 1); });
  }

  // Not all of the text is in the tree: the operand of sizeof, say.
  void add_words(CXCursor node) {
    for (const std::string& word : words_of(node)) text_ += word + " ";
  }

  // What a name stands for: shared things by the name that all files know, own ones by their turn.
  std::string meaning(CXCursor named) {
    if (is_shared(named)) return usr(named);
    if (clang_getCursorKind(named) == CXCursor_EnumConstantDecl)
      return fmt::format("{} = {}", spelling(named), clang_getEnumConstantDeclValue(named));
    if (!is_own(named) || sources_.home(named) != Home::kProgram)
      return without_place(spelling(named));
    const auto known = std::ranges::find_if(
        named_, [named](CXCursor other) { return same(other, clang_getCanonicalCursor(named)); });
    const auto turn = known - named_.begin();
    if (known == named_.end()) named_.push_back(clang_getCanonicalCursor(named));
    return fmt::format("own {} {}", turn, without_place(spelling(named)));
  }

  // Arguments that a call leaves out are written where the function is declared.
  void add_left_out(CXCursor function) {
    if (!exists(function) || sources_.home(function) != Home::kProgram) return;
    if (std::ranges::any_of(called_, [function](CXCursor at) { return same(at, function); }))
      return;
    called_.push_back(function);
    for (int i = 0; i < clang_Cursor_getNumArguments(function); ++i) {
      const CXCursor parameter = clang_Cursor_getArgument(function, static_cast<unsigned>(i));
      each_child(parameter, [this](CXCursor value) {
        if (clang_isExpression(clang_getCursorKind(value)) != 0) add_tree(value, 0);
      });
    }
  }

  // What a node is besides its children.
  std::string node_text(CXCursor node) {
    const CXCursorKind kind = clang_getCursorKind(node);
    std::string text = fmt::format("{} {} ", static_cast<int>(kind), without_place(spelling(node)));
    text += type_text(clang_getCursorType(node));
    const CXCursor named = clang_getCursorReferenced(node);
    if (exists(named) && !same(named, node)) text += " -> " + meaning(named);
    if (kind == CXCursor_CallExpr) add_left_out(named);
    // A type without a shared name says nothing by its name: `auto`, a template argument.
    const CXCursor type = clang_getTypeDeclaration(bare_type(clang_getCursorType(node)));
    if (exists(type) && is_own(type)) text += " of " + meaning(type);
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

  const Sources& sources_;
  std::string text_;
  std::vector<CXCursor> called_;
  std::vector<CXCursor> named_;  // own things, in the order in which they are met
};

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
    add(kDefined, node, Shape(sources_).of(node));
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

std::string defined_key(const std::string& usr) {
  return kDefined + usr;
}

Definitions definitions_of(CXTranslationUnit unit, const Sources& sources) {
  Collector collector(sources);
  each_child(clang_getTranslationUnitCursor(unit), [&](CXCursor node) {
    if (sources.home(node) == Home::kProgram) collector.visit(node);
  });
  return std::move(collector).take();
}

}  // namespace mcpac::analyzer
