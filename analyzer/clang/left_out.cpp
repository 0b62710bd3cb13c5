// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/left_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "analyzer/clang/argument_fit.h"
#include "analyzer/clang/argument_types.h"
#include "analyzer/clang/fold.h"
#include "analyzer/word_list.h"

namespace mcpac::analyzer {
namespace {

std::string usr_of(CXCursor cursor) {
  return take(clang_getCursorUSR(cursor));
}

// "filesystem.edit_file" of what stands in its Args; with the path to a struct in them.
std::string whose(CXCursor record, const Identity& identity, const std::string& path) {
  std::string name = qualified_name(record);
  const auto args = name.find("::Args");
  if (args != std::string::npos) name.resize(args);
  const auto known = identity.request().permissions.find(name);
  if (known != identity.request().permissions.end()) name = known->second;
  return path.empty() ? fmt::format("`{}`", name) : fmt::format("`{}` of `{}`", path, name);
}

}  // namespace

// The definition of a struct of arguments; null for every other type.
CXCursor LeftOutChecker::generated(CXType type) const {
  const CXCursor record = clang_getCursorDefinition(declaration_of(type));
  const bool is_one = exists(record) && sources_.home(record) == Home::kHeaders &&
                      shape_of(clang_getCanonicalType(type)) == Shape::kStruct &&
                      qualified_name(record).find("::Args") != std::string::npos;
  return is_one ? record : clang_getNullCursor();
}

void LeftOutChecker::report(CXCursor at, CXCursor record, const Field& field,
                            const std::string& path, const char* fix) {
  const Place place = place_of(at);
  if (!told_
           .insert(fmt::format("{} {} {}", sources_.name(place.file), place.offset, field.cpp_name))
           .second)
    return;
  findings_.add("left-out-argument", place,
                fmt::format("required {} `{}` ({}) of {} is missing",
                            path.empty() ? "argument" : "field", field.cpp_name,
                            type_name(bare_argument(field.type)), whose(record, identity_, path)),
                fmt::format(fmt::runtime(fix), field.cpp_name));
}

// Whether leaving it out compiles, as `= {}` does. Of all else C++ itself says that it is missing.
bool LeftOutChecker::may_be_empty(const Field& field) {
  const CXType type = clang_getCanonicalType(field.type);
  if (is_required_wrapper(type)) {
    const CXType held = type_argument(type, 0);
    return is_named(held, "std::vector") || is_named(held, "std::map") ||
           is_named(held, "nlohmann::basic_json");
  }
  const auto inside = fields_.of(clang_getCursorDefinition(declaration_of(type)));
  return std::ranges::all_of(
      inside, [this](const Field& one) { return !is_required(fields_, one) || may_be_empty(one); });
}

void LeftOutChecker::check_value(CXCursor value, CXType type, const std::string& path) {
  const CXCursor list = strip(value);
  if (clang_getCursorKind(list) != CXCursor_InitListExpr) return;
  const CXType bare = bare_argument(type);
  if (const CXCursor record = generated(bare); exists(record)) return check(list, record, path);
  if (shape_of(bare) != Shape::kList) return;
  std::size_t i = 0;
  for (const CXCursor item : expressions_of(list))
    check_value(item, type_argument(bare, 0), fmt::format("{}[{}]", path, i++));
}

void LeftOutChecker::check(CXCursor list, CXCursor record, const std::string& path) {
  const auto fields = fields_.of(record);  // a copy: what is inside is looked up on the way
  std::set<std::string> given;
  std::size_t position = 0;
  for (const CXCursor child : expressions_of(list)) {
    const auto item = item_of(child);
    if (!item) return;
    const Field* field = item->field.empty()
                             ? (position < fields.size() ? &fields[position] : nullptr)
                             : Fields::find(fields, item->field);
    // `.extra`, what is absent within an optional struct, or a copy of the whole.
    if (field == nullptr) continue;
    position = static_cast<std::size_t>(field - fields.data()) + 1;
    given.insert(field->cpp_name);
    check_value(item->value, field->type,
                path.empty() ? field->cpp_name : path + "." + field->cpp_name);
  }
  for (const Field& field : fields) {
    if (given.contains(field.cpp_name) || !is_required(fields_, field) || !may_be_empty(field))
      continue;
    if (is_begun_ && path.empty()) {
      begun_.push_back({list, record, field.cpp_name});
    } else {
      report(list, record, field, path, ".{} = {{}} is the empty one");
    }
  }
}

void LeftOutChecker::on_node(CXCursor node, CXCursor parent, const Scope& scope) {
  if (scope.unevaluated) return;
  switch (clang_getCursorKind(node)) {
    case CXCursor_InitListExpr: {
      CXType type = clang_getCanonicalType(clang_getCursorType(node));
      const CXType element = clang_getArrayElementType(type);
      if (element.kind == CXType_Invalid) {
        is_begun_ = clang_getCursorKind(parent) == CXCursor_VarDecl &&
                    clang_isConstQualifiedType(clang_getCursorType(parent)) == 0;
        if (const CXCursor record = generated(type); exists(record)) check(node, record, "");
        is_begun_ = false;
      } else if (const CXCursor record = generated(element); exists(record)) {
        for (const CXCursor item : expressions_of(node)) {
          if (clang_getCursorKind(strip(item)) == CXCursor_InitListExpr)
            check(strip(item), record, "");
        }
      }
      return;
    }
    case CXCursor_CallExpr: {
      on_library_call(node);
      const CXCursor function = clang_getCursorReferenced(node);
      const CXCursor owner = clang_getCursorSemanticParent(function);
      if (!exists(function) || !exists(owner)) return;
      if (spelling(function) == "operator=") assigned_.insert(usr_of(owner));
      const bool makes = clang_getCursorKind(function) == CXCursor_Constructor &&
                         clang_Cursor_getNumArguments(function) == 0;
      if (makes && exists(generated(clang_getCursorType(owner)))) made_.push_back(node);
      return;
    }
    case CXCursor_UnexposedDecl: {
      // auto& [names] = args;
      const CXCursor record = generated(bare_type(clang_getCursorType(node)));
      if (spelling(node).starts_with('[') && exists(record)) assigned_.insert(usr_of(record));
      return;
    }
    case CXCursor_DeclRefExpr:  // &Args::names
    case CXCursor_MemberRefExpr:
    case CXCursor_MemberRef: {
      const CXCursor named = clang_getCursorReferenced(node);
      if (!exists(named) || clang_getCursorKind(named) != CXCursor_FieldDecl) return;
      named_.insert(usr_of(named));
      if (clang_getCursorKind(node) != CXCursor_MemberRef) reached_.insert(usr_of(named));
      return;
    }
    default: return;
  }
}

// json.get_to(args), std::swap(a, b): the library may fill what it is given.
void LeftOutChecker::on_library_call(CXCursor call) {
  constexpr std::string_view kPassOn = " move forward as_const addressof ";
  const CXCursor function = clang_getCursorReferenced(call);
  if (!exists(function) || sources_.home(function) != Home::kSystem ||
      has_word(kPassOn, spelling(function)))
    return;
  const CXType type = clang_getCanonicalType(clang_getCursorType(function));
  for (int i = 0; i < clang_getNumArgTypes(type); ++i) {
    const CXType parameter = clang_getArgType(type, static_cast<unsigned>(i));
    if (parameter.kind != CXType_LValueReference) continue;
    const CXType held = clang_getPointeeType(parameter);
    const CXCursor record = generated(held);
    if (clang_isConstQualifiedType(held) == 0 && exists(record)) assigned_.insert(usr_of(record));
  }
}

void LeftOutChecker::finish(Files files) {
  for (const Begun& begun : begun_) {
    if (assigned_.contains(usr_of(begun.record))) continue;
    const auto fields = fields_.of(begun.record);
    each_child(begun.record, [&](CXCursor child) {
      if (clang_getCursorKind(child) != CXCursor_FieldDecl || spelling(child) != begun.field)
        return;
      const Field* field = Fields::find(fields, begun.field);
      if (field != nullptr && !reached_.contains(usr_of(child)))
        report(begun.list, begun.record, *field, "", ".{} = {{}} is the empty one");
    });
  }
  if (files == Files::kSeveral) return;
  for (const CXCursor call : made_) {
    const CXCursor record = generated(clang_getCursorType(call));
    if (!exists(record) || assigned_.contains(usr_of(record))) continue;
    const auto fields = fields_.of(record);
    each_child(record, [&](CXCursor child) {
      const Field* field = Fields::find(fields, spelling(child));
      if (clang_getCursorKind(child) != CXCursor_FieldDecl || field == nullptr) return;
      if (is_required(fields_, *field) && !named_.contains(usr_of(child)))
        report(call, record, *field, "", "give `{}` a value before the call");
    });
  }
}

}  // namespace mcpac::analyzer
