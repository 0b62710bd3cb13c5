// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/dangling.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "analyzer/clang/guarded_types.h"
#include "analyzer/clang/kinds.h"
#include "analyzer/word_list.h"

namespace mcpac::analyzer {
namespace {

constexpr std::string_view kReturns = "-Wreturn-stack-address";
constexpr std::string_view kOptions =
    " -Wdangling -Wdangling-gsl -Wdangling-field -Wdangling-initializer-list "
    "-Wdangling-assignment -Wdangling-assignment-gsl -Wdangling-capture -Wreturn-stack-address ";
// What reads no memory that a view looks at.
constexpr std::string_view kSizes = " size empty length push_back emplace_back reserve ";

bool is_a_reference(CXType type) {
  return is_pointer_like(type) && !is_pointer(type);
}

bool is_loop(CXCursorKind kind) {
  return kind == CXCursor_ForStmt || kind == CXCursor_CXXForRangeStmt ||
         kind == CXCursor_WhileStmt || kind == CXCursor_DoStmt;
}

bool is_block(CXCursorKind kind) {
  return is_loop(kind) || kind == CXCursor_CompoundStmt || kind == CXCursor_LambdaExpr ||
         kind == CXCursor_IfStmt || kind == CXCursor_SwitchStmt;
}

unsigned begin_of(CXCursor node) {
  return place_of(clang_getRangeStart(clang_getCursorExtent(node))).offset;
}
unsigned end_of(CXCursor node) {
  return place_of(clang_getRangeEnd(clang_getCursorExtent(node))).offset;
}

bool surrounds(CXCursor outer, CXCursor inner) {
  return clang_File_isEqual(place_of(outer).file, place_of(inner).file) != 0 &&
         begin_of(outer) <= begin_of(inner) && end_of(inner) <= end_of(outer);
}

bool is_local(CXCursor variable) {
  const CX_StorageClass storage = clang_Cursor_getStorageClass(variable);
  return storage != CX_SC_Static && storage != CX_SC_Extern &&
         is_function(clang_getCursorKind(clang_getCursorSemanticParent(variable)));
}

// Where a function goes on behind a block that ends with one of those is another way through it.
bool leaves_function(CXCursor block) {
  const auto statements = children(block);
  if (statements.empty()) return false;
  const CXCursor last = strip(statements.back());
  const CXCursorKind kind = clang_getCursorKind(last);
  if (kind == CXCursor_CompoundStmt) return leaves_function(last);
  return kind == CXCursor_ReturnStmt || kind == CXCursor_CXXThrowExpr;
}

using Touch = DanglingChecker::Touch;
void find_touches(CXCursor node, CXCursor variable, std::vector<Touch>& found) {
  const CXCursorKind kind = clang_getCursorKind(node);
  if (kind == CXCursor_MemberRefExpr && has_word(kSizes, spelling(node))) {
    const auto object = expressions_of(node);
    if (object.size() == 1 && same(clang_getCursorReferenced(strip(object.front())), variable))
      return;
  }
  if (kind == CXCursor_DeclRefExpr) {
    if (same(clang_getCursorReferenced(node), variable)) found.push_back({begin_of(node), false});
    return;
  }
  const auto parts = expressions_of(node);
  const CXCursor function = clang_getCursorReferenced(node);
  const bool assigns =
      (kind == CXCursor_BinaryOperator &&
       clang_getCursorBinaryOperatorKind(node) == CXBinaryOperator_Assign) ||
      (kind == CXCursor_CallExpr && exists(function) && spelling(function) == "operator=");
  const bool is_own =
      assigns && !parts.empty() && same(clang_getCursorReferenced(strip(parts.front())), variable);
  // What is assigned is read first.
  bool first = true;
  each_child(node, [&](CXCursor child) {
    if (!is_own || !first) find_touches(child, variable, found);
    first = false;
  });
  if (is_own) found.push_back({begin_of(node), true});
}

// Returned by the function itself, not by one that stands in it.
void each_return(CXCursor node, const std::function<void(CXCursor)>& visit) {
  each_child(node, [&visit](CXCursor child) {
    const CXCursorKind kind = clang_getCursorKind(child);
    if (kind == CXCursor_LambdaExpr || is_class(kind)) return;
    if (kind == CXCursor_ReturnStmt) {
      for (const CXCursor value : expressions_of(child)) visit(value);
    } else {
      each_return(child, visit);
    }
  });
}

}  // namespace

void DanglingChecker::add(const Place& place, std::string_view said, Ends ends,
                          const std::string& fix) {
  if (!told_.emplace(place.file, place.line).second) return;
  const bool returns = ends == Ends::kWithFunction;
  findings_.add(
      "dangling", place,
      fmt::format("{}{}{}{}",
                  returns
                      ? "what is returned looks at memory that ends with the function"
                      : "this looks at a temporary that is gone at the end of the line; what is "
                        "read there later is anything",
                  said.empty() ? "" : " (", said, said.empty() ? "" : ")"),
      !fix.empty() ? fix
      : returns    ? "return the value itself: a std::string instead of a view or a reference"
                   : "keep the value: const std::string text = …; and look at that");
}

// Whether the view is read where what it looks at is gone: behind the block, or in the next turn of
// a loop around it. What comes first counts, in the order of the text.
bool DanglingChecker::is_read_later(CXCursor view, CXCursor at, const Owner& owner) {
  const auto [known, is_new] = touches_.try_emplace(take(clang_getCursorUSR(view)));
  std::vector<Touch>& touches = known->second;
  if (is_new) find_touches(clang_getCursorSemanticParent(view), view, touches);
  const auto reads_within = [&touches](unsigned from, unsigned to) {
    const auto first = std::ranges::find_if(
        touches, [from, to](const Touch& one) { return from <= one.at && one.at < to; });
    return first != touches.end() && !first->overwrites;
  };
  const bool leaves = leaves_function(owner.block);
  if (!leaves && reads_within(end_of(owner.block), ~0U)) return true;
  if (owner.lives_on || leaves) return false;
  return std::ranges::any_of(blocks_, [&](const Block& block) {
    return is_loop(clang_getCursorKind(block.node)) && !surrounds(block.node, view) &&
           surrounds(block.node, owner.variable) &&
           reads_within(begin_of(block.node), begin_of(at));
  });
}

void DanglingChecker::on_kept(CXCursor view, CXCursor value, CXType type) {
  if (temporaries_.value_dangles(value, type)) return add(place_of(value), "", Ends::kWithLine);
  view = clang_getCursorReferenced(strip(view));
  const CXCursor inner = temporaries_.looked_at(value, type);
  if (!exists(view) || clang_getCursorKind(view) != CXCursor_VarDecl || !exists(inner)) return;
  if (!is_local(view) || is_a_reference(clang_getCursorType(view))) return;
  const auto owner = std::ranges::find_if(
      owners_, [inner](const Owner& one) { return same(one.variable, inner); });
  if (owner == owners_.end() || surrounds(owner->block, view) ||
      !is_read_later(view, value, *owner))
    return;
  const Place place = place_of(value);
  if (!told_.emplace(place.file, place.line).second) return;
  findings_.add("dangling", place,
                fmt::format("`{}` looks at `{}` here, which ends with its block; what is read "
                            "there later is anything",
                            spelling(view), spelling(inner)),
                fmt::format("keep the value: let `{}` hold std::string, or declare `{}` before "
                            "the block",
                            spelling(view), spelling(inner)));
}

void DanglingChecker::on_call(CXCursor call) {
  const CXCursor function = clang_getCursorReferenced(call);
  const CXCursor object = object_of(call);
  if (!exists(function) || !exists(object)) return;
  const std::string name = spelling(function);
  const CXType container = clang_getCursorType(strip(object));
  std::vector<CXCursor> values;
  for (const CXCursor part : expressions_of(call)) {
    const bool is_callee = clang_getCursorKind(strip(part)) != CXCursor_CallExpr &&
                           same(clang_getCursorReferenced(strip(part)), function);
    if (!is_callee && !same(part, object)) values.push_back(part);
  }
  if (name == "operator=") {
    if (values.size() == 1) on_kept(object, values.front(), container);
  } else if (sources_.home(function) == Home::kSystem) {
    for (const auto& kept : temporaries_.kept_by(container, name, values))
      on_kept(object, kept.value, kept.type);
  }
}

void DanglingChecker::on_loop(CXCursor range_for) {
  const auto parts = children(range_for);
  if (parts.size() < 2) return;
  heads_.emplace_back(place_of(clang_getRangeStart(clang_getCursorExtent(range_for))),
                      place_of(clang_getRangeStart(clang_getCursorExtent(parts.back()))));
}

void DanglingChecker::on_variable(CXCursor variable, CXCursor parent) {
  const CXType type = clang_getCursorType(variable);
  // The element of a loop over a temporary, by reference, lives as long as the loop.
  const bool is_element = clang_getCursorKind(parent) == CXCursor_CXXForRangeStmt;
  const bool refers = is_a_reference(type);
  if (!blocks_.empty() && (!refers || is_element) && is_local(variable)) {
    bool over_temporary = false;
    if (refers) {
      const auto parts = expressions_of(parent);
      over_temporary = std::ranges::any_of(
          parts, [this](CXCursor part) { return temporaries_.is_temporary(part); });
    }
    if (!refers || over_temporary) owners_.push_back({variable, blocks_.back().node, refers});
  }
  const CXCursor value = clang_Cursor_getVarDeclInitializer(variable);
  if (!exists(value) || is_element) return;
  if (!refers) {
    if (temporaries_.value_dangles(value, type)) add(place_of(value), "", Ends::kWithLine);
    return;
  }
  if (temporaries_.value_dangles(value, without_reference(type)))
    return add(place_of(value), "", Ends::kWithLine);
  if (temporaries_.reference_dangles(value)) {
    add(place_of(value), "", Ends::kWithLine,
        fmt::format("keep the value: const auto {} = …; without &", spelling(variable)));
  }
}

void DanglingChecker::on_function(CXCursor function) {
  const CXType result = clang_getCursorResultType(function);
  const bool refers = is_a_reference(result);
  if (!refers && !is_pointer(result) && !Temporaries::is_view(result)) return;
  each_return(function, [&](CXCursor value) {
    if (refers ? temporaries_.reference_dangles(value) : temporaries_.value_dangles(value, result))
      add(place_of(value), "", Ends::kWithFunction);
  });
}

void DanglingChecker::on_node(CXCursor node, CXCursor parent, const Scope& scope) {
  const CXCursorKind kind = clang_getCursorKind(node);
  while (!blocks_.empty() && blocks_.back().depth >= scope.depth) blocks_.pop_back();
  if (kind == CXCursor_CXXForRangeStmt) on_loop(node);
  if (scope.in_template || scope.unevaluated) return;
  if (is_block(kind)) blocks_.push_back({node, scope.depth});
  if (kind == CXCursor_CallExpr) return on_call(node);
  if (kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl) return on_variable(node, parent);
  if (kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod) return on_function(node);
  if (kind == CXCursor_BinaryOperator && is_pointer(clang_getCursorType(node)) &&
      clang_getCursorBinaryOperatorKind(node) == CXBinaryOperator_Assign) {
    const auto parts = expressions_of(node);
    if (parts.size() == 2) on_kept(parts[0], parts[1], clang_getCursorType(node));
  }
}

void DanglingChecker::on_warning(std::string_view option, const Place& place,
                                 std::string_view message) {
  if (!has_word(kOptions, option) || sources_.home(place.file) != Home::kProgram) return;
  const bool in_head = std::ranges::any_of(heads_, [&place](const auto& head) {
    return clang_File_isEqual(head.first.file, place.file) != 0 &&
           head.first.offset <= place.offset && place.offset < head.second.offset;
  });
  if (!in_head) add(place, message, option == kReturns ? Ends::kWithFunction : Ends::kWithLine);
}

}  // namespace mcpac::analyzer
