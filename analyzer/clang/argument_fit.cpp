// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/argument_fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "analyzer/clang/argument_types.h"
#include "core/nearest_name.h"

namespace mcpac::analyzer {
namespace {

using Form = Given::Form;

// Enough to see what is meant; longer lists are in `tools describe`.
constexpr std::size_t kShownEnumerators = 6;
// Holds the members that a schema lets in without naming them; no property of its own.
constexpr const char* kUnnamedMembers = "extra";

Given* find(std::vector<Given>& given, const std::string& name) {
  const auto found = std::ranges::find(given, name, &Given::name);
  return found == given.end() ? nullptr : &*found;
}

Given expression(std::string name, const Place& place, std::string text) {
  return {.name = std::move(name),
          .place = place,
          .form = Form::kExpression,
          .text = std::move(text),
          .expression = {},
          .inside = {}};
}

// What only the program's writer knows.
constexpr const char* kToFillIn = "…";

CXCursor struct_of(CXType bare) {
  return clang_getCursorDefinition(clang_getTypeDeclaration(bare));
}

std::string struct_name(CXCursor record) {
  return type_name(clang_getCursorType(record));
}

// "memory::create_entities::Entities", as a program writes it.
std::string short_name(CXCursor record) {
  std::string name = qualified_name(record);
  if (name.starts_with("mcp::")) name.erase(0, 5);
  if (const auto args = name.find("::Args::"); args != std::string::npos) name.erase(args, 6);
  return name;
}

std::string choice_of(CXType type) {
  auto names = enumerator_names(type);
  const bool is_long = names.size() > kShownEnumerators;
  if (is_long) names.resize(kShownEnumerators);
  return fmt::format("one of {}{}", fmt::join(names, ", "), is_long ? ", …" : "");
}

// The texts of an enum of texts, as literals.
std::vector<std::string> texts_of(CXType type) {
  std::vector<std::string> texts;
  each_child(clang_getCursorDefinition(clang_getTypeDeclaration(type)), [&](CXCursor child) {
    if (const auto text = Fields::enumerator_text(child)) texts.push_back('"' + *text + '"');
  });
  return texts;
}

// A number as C++ and JSON both read it: -?(0|[1-9]\d*)(\.\d+)?
bool is_plain_number(std::string_view text) {
  const auto digits = [&text] {
    const auto end = std::ranges::find_if_not(text, [](char c) { return c >= '0' && c <= '9'; });
    const auto count = static_cast<std::size_t>(end - text.begin());
    text.remove_prefix(count);
    return count;
  };
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool is_zero = text.starts_with('0');
  const std::size_t whole = digits();
  if (whole == 0 || (is_zero && whole > 1)) return false;
  if (!text.starts_with('.')) return text.empty();
  text.remove_prefix(1);
  return digits() > 0 && text.empty();
}

// The same value as it would fit: 5 as "5" and the other way round; empty where it is unknown.
std::string corrected(Shape wanted, const Given& given) {
  if (given.expression.size() != 1) return {};
  const std::string& literal = given.expression.front().text;
  const bool is_text = literal.size() > 2 && literal.starts_with('"') && literal.ends_with('"');
  const std::string inside = is_text ? literal.substr(1, literal.size() - 2) : literal;
  const bool is_number = is_plain_number(inside);
  const bool is_whole = is_number && !inside.contains('.');
  switch (wanted) {
    case Shape::kText: return is_text || !is_number ? "" : '"' + literal + '"';
    case Shape::kInteger: return is_text && is_whole ? inside : "";
    case Shape::kNumber: return is_text && is_number ? inside : "";
    case Shape::kBoolean: return inside == "true" || inside == "false" ? inside : "";
    default: return {};
  }
}

// The same for a variable: how its value is made one of the wanted kind.
std::string converted(Shape wanted, Shape got, const std::string& text) {
  const bool is_number = got == Shape::kInteger || got == Shape::kNumber;
  if (wanted == Shape::kText && is_number) return fmt::format("std::to_string({})", text);
  if (got != Shape::kText) return {};
  if (wanted == Shape::kInteger) return fmt::format("std::stoll({})", text);
  return wanted == Shape::kNumber ? fmt::format("std::stod({})", text) : "";
}

}  // namespace

std::string ArgumentFit::whose(const std::string& path) const {
  return path.empty() ? fmt::format("`{}`", tool_) : fmt::format("`{}` of `{}`", path, tool_);
}

void ArgumentFit::misfit(Given& given, std::string message) {
  errors_.push_back({given.place, std::move(message), ""});
  given = expression(given.name, given.place, kToFillIn);
}

bool is_required(Fields& fields, const Field& field) {
  if (is_required_wrapper(field.type)) return !field.fills_itself;
  if (field.has_default || shape_of(clang_getCanonicalType(field.type)) != Shape::kStruct)
    return false;
  const auto inside = fields.of(struct_of(clang_getCanonicalType(field.type)));
  return std::ranges::any_of(inside,
                             [&fields](const Field& one) { return is_required(fields, one); });
}

void ArgumentFit::compare(CXType args, Given& given) {
  if (given.form == Form::kExpression) {
    // `read_text_file("a.txt")`; a variable may well be of the type Args.
    if (shape_of(given) == Shape::kOther) {
      const CXType type = type_of_(given);
      if (type.kind == CXType_Invalid || value_shape(type) == Shape::kOther) return;
    }
    errors_.push_back({given.place,
                       fmt::format("the arguments of `{}` stand in braces with their names", tool_),
                       ""});
    Given value = std::move(given);
    given = {.name = "",
             .place = value.place,
             .form = Form::kElements,
             .text = "",
             .expression = {},
             .inside = {}};
    given.inside.push_back(std::move(value));
  }
  compare_struct(struct_of(args), given, "");
}

void ArgumentFit::compare_inside(CXCursor record, const std::string& name, Given& given) {
  if (clang_Cursor_isNull(record) != 0 || given.form == Form::kExpression) return;
  compare_struct(record, given, name);
}

void ArgumentFit::compare_value(CXType type, Given& given, const std::string& path) {
  switch (shape_of(type)) {
    case Shape::kOther: return;
    case Shape::kList: return compare_list(type, given, path);
    case Shape::kStruct:
      if (given.form != Form::kExpression) return compare_struct(struct_of(type), given, path);
      break;
    default: break;
  }
  if (given.form == Form::kExpression) compare_scalar(type, given, path);
}

// A text stands for its enumerator.
void ArgumentFit::compare_text_of_enum(CXType type, Given& given, const std::string& path) {
  auto texts = texts_of(type);
  if (std::ranges::find(texts, given.text) != texts.end()) return;
  if (texts.empty())
    return misfit(given, fmt::format("`{}` is {}, not text", path, choice_of(type)));
  const std::string near = nearest_name(given.text, texts);
  const bool is_long = texts.size() > kShownEnumerators;
  if (is_long) texts.resize(kShownEnumerators);
  misfit(given, fmt::format("`{}` is one of {}{}, not {}", path, fmt::join(texts, ", "),
                            is_long ? ", …" : "", given.text));
  if (!near.empty()) given.text = near;
}

void ArgumentFit::compare_scalar(CXType type, Given& given, const std::string& path) {
  const Shape wanted = shape_of(type);
  const Shape got = shape_of(given);
  if (wanted == Shape::kEnum && got == Shape::kText) return compare_text_of_enum(type, given, path);
  if (got == Shape::kOther && compare_typed(type, given, path)) return;
  if (fits(wanted, got)) return;
  const std::string what = wanted == Shape::kEnum
                               ? choice_of(type)
                               : fmt::format("{} ({})", words(wanted), type_name(type));
  const std::string it = wanted == Shape::kInteger && got == Shape::kNumber
                             ? given.text
                             : words(got == Shape::kInteger ? Shape::kNumber : got);
  const std::string meant = corrected(wanted, given);
  misfit(given, fmt::format("`{}` is {}, not {}", path, what, it));
  if (!meant.empty()) given.text = meant;
}

// The value of a variable or a call, whose type clang knows; whether all is said of it.
bool ArgumentFit::compare_typed(CXType wanted, Given& given, const std::string& path) {
  const CXType type = type_of_(given);
  const Shape shape = shape_of(wanted);
  if (type.kind == CXType_Invalid || shape == Shape::kOther) return true;
  const std::string what = shape == Shape::kEnum
                               ? choice_of(wanted)
                               : fmt::format("{} ({})", words(shape), type_name(wanted));
  if (const std::string made = made_by_call(type); !made.empty()) {
    const std::string value = value_of_result(type, shape, given.text);
    misfit(given, fmt::format("`{}` is {}, not {}", path, what, made));
    if (!value.empty()) given.text = value;
    return true;
  }
  const Shape got = value_shape(type);
  const bool is_plain = got == Shape::kText || got == Shape::kList;
  const std::string spelled = is_plain ? value_name(type) : take(clang_getTypeSpelling(type));
  const bool other_enum = shape == Shape::kEnum && got == Shape::kEnum &&
                          clang_equalTypes(bare_type(type), clang_getCanonicalType(wanted)) == 0;
  if (got == Shape::kOther || (fits(shape, got) && !other_enum)) {
    const bool same_type = clang_equalTypes(bare_type(type), clang_getCanonicalType(wanted)) != 0;
    if (!same_type && got != Shape::kText)
      doubts_.push_back({given.place,
                         fmt::format("the arguments do not fit {}: `{}` is {}, and `{}` is a `{}`",
                                     tool_, path, what, given.text, spelled),
                         fix_of_structs(wanted, type)});
    return true;
  }
  // A list that was wanted is told with what stands around its elements.
  if (shape == Shape::kList) return false;
  const std::string meant = converted(shape, got, given.text);
  misfit(given,
         fmt::format("`{}` is {}, not {} (`{}` is a `{}`)", path, what,
                     words(got == Shape::kInteger ? Shape::kNumber : got), given.text, spelled));
  if (!meant.empty()) given.text = meant;
  return true;
}

// A struct, or a list of them, that was given for a generated one.
std::string ArgumentFit::fix_of_structs(CXType wanted, CXType given) {
  const auto element = [](CXType type, bool is_list) {
    return bare_argument(is_list ? type_argument(bare_type(type), 0) : bare_type(type));
  };
  const bool are_lists = shape_of(wanted) == Shape::kList;
  const CXType meant = element(wanted, are_lists);
  const CXCursor record =
      shape_of(meant) == Shape::kStruct ? struct_of(meant) : clang_getNullCursor();
  const CXType own = element(given, are_lists);
  const CXCursor mine = own.kind == CXType_Record ? struct_of(own) : clang_getNullCursor();
  if (!exists(record) || !exists(mine) || qualified_name(mine).starts_with("std::"))
    return fmt::format("mcpac tools describe {} shows a call that fits", tool_);
  const auto fields = fields_.of(record);
  std::vector<std::string> members;
  each_child(mine, [&members](CXCursor child) {
    if (clang_getCursorKind(child) == CXCursor_FieldDecl) members.push_back(spelling(child));
  });
  std::vector<std::string> wrong;
  for (const Field& field : fields) {
    if (is_required(fields_, field) && std::ranges::find(members, field.cpp_name) == members.end())
      wrong.push_back(fmt::format("`{}` is missing", field.cpp_name));
  }
  for (const std::string& name : members) {
    if (Fields::find(fields, name) == nullptr)
      wrong.push_back(fmt::format("`{}` is none of its members", name));
  }
  std::string names;
  for (const Field& field : fields)
    names += fmt::format("{}.{} = …", names.empty() ? "" : ", ", field.cpp_name);
  const std::string type = short_name(record);
  return fmt::format("{} {} from each {}, {{{}}}{}", are_lists ? "fill a std::vector of" : "make a",
                     type, spelling(mine), names,
                     !wrong.empty() ? fmt::format(" ({})", fmt::join(wrong, ", "))
                     : are_lists    ? " (a member has another type)"
                                    : "");
}

std::vector<ArgumentError> ArgumentFit::errors() const {
  return errors_.empty() && !doubts_.empty() ? std::vector{doubts_.front()} : errors_;
}

void ArgumentFit::compare_list(CXType list, Given& given, const std::string& path) {
  const CXType element = bare_argument(type_argument(list, 0));
  if (given.form == Form::kElements) {
    for (std::size_t i = 0; i < given.inside.size(); ++i)
      compare_value(element, given.inside[i], fmt::format("{}[{}]", path, i));
    return;
  }
  if (given.form == Form::kExpression && shape_of(given) == Shape::kOther) {
    if (compare_typed(list, given, path)) return;
    const CXType type = type_of_(given);
    const Shape shape = type.kind == CXType_Invalid ? Shape::kOther : value_shape(type);
    if (shape == Shape::kOther || shape == Shape::kList) return;
  }
  errors_.push_back({given.place,
                     fmt::format("`{}` is a list ({}): its elements stand in braces of their own",
                                 path, type_name(list)),
                     ""});
  Given one = given;
  one.name.clear();
  compare_value(element, one, path + "[0]");
  given.form = Form::kElements;
  given.text.clear();
  given.expression.clear();
  given.inside = {std::move(one)};
}

// Values without names are taken in the order of the fields.
bool ArgumentFit::name_by_position(const std::vector<Field>& fields, Given& given,
                                   const std::string& path) {
  if (given.inside.size() > fields.size()) {
    errors_.push_back(
        {given.place,
         fmt::format("{} has {} {}, and here are {} values", whose(path), fields.size(),
                     fields.size() == 1 ? "field" : "fields", given.inside.size()),
         ""});
    return false;
  }
  for (std::size_t i = 0; i < given.inside.size(); ++i) given.inside[i].name = fields[i].cpp_name;
  given.form = Form::kMembers;
  return true;
}

void ArgumentFit::find_unknown(CXCursor record, const std::vector<Field>& fields, Given& given,
                               const std::string& path) {
  std::vector<std::string> names;
  for (const Field& field : fields) names.push_back(field.cpp_name);
  for (Given& member : given.inside) {
    if (Fields::find(fields, member.name) != nullptr || member.name == kUnnamedMembers) continue;
    std::string message = path.empty()
                              ? fmt::format("{} has no argument `{}`", whose(path), member.name)
                              : fmt::format("{} has no field `{}` ({})", whose(path), member.name,
                                            struct_name(record));
    const std::string near = nearest_name(member.name, names);
    if (!near.empty()) message += fmt::format("; did you mean `{}`?", near);
    errors_.push_back({member.place, std::move(message), ""});
    // What is probably meant is not missing as well.
    if (!near.empty() && find(given.inside, near) == nullptr) member.name = near;
  }
}

// Leaves of the members those that exist, in the order of the fields, with what is missing.
void ArgumentFit::put_in_order(CXCursor record, const std::vector<Field>& fields, Given& given,
                               const std::string& path) {
  std::vector<Given> ordered;
  for (const Field& field : fields) {
    if (Given* member = find(given.inside, field.cpp_name)) {
      ordered.push_back(std::move(*member));
    } else if (is_required(fields_, field)) {
      const std::string type = type_name(bare_argument(field.type));
      errors_.push_back({given.place,
                         path.empty()
                             ? fmt::format("required argument `{}` ({}) of {} is missing",
                                           field.cpp_name, type, whose(path))
                             : fmt::format("required field `{}` ({}) of {} ({}) is missing",
                                           field.cpp_name, type, whose(path), struct_name(record)),
                         ""});
      ordered.push_back(expression(field.cpp_name, given.place, kToFillIn));
    }
  }
  if (Given* more = find(given.inside, kUnnamedMembers)) ordered.push_back(std::move(*more));
  given.inside = std::move(ordered);
}

void ArgumentFit::compare_struct(CXCursor record, Given& given, const std::string& path) {
  const auto fields = fields_.of(record);  // a copy: what is inside is looked up on the way
  if (given.form == Form::kElements && !name_by_position(fields, given, path)) return;
  given.form = Form::kMembers;
  find_unknown(record, fields, given, path);
  for (Given& member : given.inside) {
    const Field* field = Fields::find(fields, member.name);
    if (field == nullptr) continue;
    const std::string below = path.empty() ? member.name : path + "." + member.name;
    compare_value(bare_argument(field->type), member, below);
  }
  put_in_order(record, fields, given, path);
}

}  // namespace mcpac::analyzer
