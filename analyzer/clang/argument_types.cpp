// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/argument_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzer/clang/identity.h"

namespace mcpac::analyzer {
namespace {

std::string name_of(CXType type) {
  const CXCursor declaration = declaration_of(type);
  return exists(declaration) ? qualified_name(declaration) : "";
}

// Generated structs say how they call themselves on the wire.
bool is_generated_struct(CXType type) {
  bool has_visit = false;
  each_child(clang_getCursorDefinition(declaration_of(type)), [&has_visit](CXCursor child) {
    has_visit = has_visit || spelling(child) == "mcpac_visit";
  });
  return has_visit;
}

Shape shape_of_literal(const Token& token) {
  if (token.text == "true" || token.text == "false") return Shape::kBoolean;
  if (token.kind != CXToken_Literal) return Shape::kOther;
  const std::string& text = token.text;
  if (text.back() == '"') return Shape::kText;
  if (text.back() == '\'') return Shape::kOther;
  if (text.find_first_not_of("0123456789'") == std::string::npos) return Shape::kInteger;
  const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  return !is_hexadecimal && text.find('.') != std::string::npos ? Shape::kNumber : Shape::kInteger;
}

}  // namespace

CXType bare_argument(CXType field) {
  constexpr std::array<std::string_view, 5> kWrappers{
      "mcpac::Required", "mcpac::Optional", "mcpac::Nullable", "mcpac::Box", "std::optional"};
  CXType type = clang_getCanonicalType(field);
  while (std::ranges::find(kWrappers, name_of(type)) != kWrappers.end())
    type = type_argument(type, 0);
  return type;
}

bool is_required_wrapper(CXType field) {
  return name_of(field) == "mcpac::Required";
}

Shape shape_of(CXType bare) {
  switch (bare.kind) {
    case CXType_Bool: return Shape::kBoolean;
    case CXType_Int:
    case CXType_UInt:
    case CXType_Long:
    case CXType_ULong:
    case CXType_LongLong:
    case CXType_ULongLong: return Shape::kInteger;
    case CXType_Float:
    case CXType_Double: return Shape::kNumber;
    case CXType_Enum: return Shape::kEnum;
    default: break;
  }
  const std::string name = name_of(bare);
  if (name == "std::basic_string") return Shape::kText;
  if (name == "std::vector") return Shape::kList;
  return name.starts_with("mcp::") && is_generated_struct(bare) ? Shape::kStruct : Shape::kOther;
}

Shape shape_of(const Given& given) {
  const auto& tokens = given.expression;
  if (tokens.size() == 1) return shape_of_literal(tokens.front());
  if (tokens.size() == 2 && tokens.front().text == "-") return shape_of_literal(tokens.back());
  return Shape::kOther;
}

Shape value_shape(CXType type) {
  type = canonical(without_reference(type));
  if (is_text(type) || is_named(type, "std::basic_string_view")) return Shape::kText;
  switch (type.kind) {
    case CXType_Short:
    case CXType_UShort: return Shape::kInteger;
    case CXType_LongDouble: return Shape::kNumber;
    default: return shape_of(type);
  }
}

namespace {

// "filesystem.list_directory" of "filesystem::list_directory".
std::string tool_in_words(std::string cpp) {
  const auto colons = cpp.find("::");
  return colons == std::string::npos ? cpp : cpp.replace(colons, 2, ".");
}

}  // namespace

std::string made_by_call(CXType type) {
  const std::string name = name_of(without_reference(type));
  constexpr std::string_view kResult = "::Result";
  if (name.starts_with("mcp::") && name.ends_with(kResult))
    return fmt::format("the result of {}",
                       tool_in_words(name.substr(5, name.size() - 5 - kResult.size())));
  if (name == "mcpac::ToolResult") return "the result of a tool";
  if (name == "mcpac::Future") return "a future";
  return name == "mcpac::Expected" ? "the answer of a try_call" : "";
}

std::string value_of_result(CXType type, Shape wanted, const std::string& text) {
  const std::string name = name_of(without_reference(type));
  if (name == "mcpac::Expected") return {};
  const std::string result = name == "mcpac::Future" ? text + ".get()" : text;
  switch (wanted) {
    case Shape::kText: return result + ".text()";
    case Shape::kList: return result + ".lines()";
    case Shape::kInteger: return result + ".as<std::int64_t>()";
    case Shape::kNumber: return result + ".as<double>()";
    case Shape::kBoolean: return result + ".as<bool>()";
    default: return {};
  }
}

bool fits(Shape wanted, Shape given) {
  if (wanted == Shape::kOther || given == Shape::kOther || wanted == given) return true;
  // Enumerators of numbers take the number.
  return given == Shape::kInteger && (wanted == Shape::kNumber || wanted == Shape::kEnum);
}

std::string words(Shape shape) {
  switch (shape) {
    case Shape::kText: return "text";
    case Shape::kInteger: return "a whole number";
    case Shape::kNumber: return "a number";
    case Shape::kBoolean: return "true or false";
    case Shape::kEnum: return "one of a list";
    case Shape::kList: return "a list";
    case Shape::kStruct: return "an object";
    case Shape::kOther: break;
  }
  return "something else";
}

std::string type_name(CXType bare) {
  const Shape shape = shape_of(bare);
  if (shape == Shape::kText) return "std::string";
  if (shape == Shape::kList) {
    return fmt::format("std::vector<{}>", type_name(bare_argument(type_argument(bare, 0))));
  }
  const std::string name = name_of(bare);
  if (name == "nlohmann::basic_json") return "mcpac::Json";
  if (name.empty()) {
    if (bare.kind == CXType_Long) return "std::int64_t";
    if (bare.kind == CXType_ULong) return "std::uint64_t";
    return take(clang_getTypeSpelling(bare));
  }
  // "mcp::filesystem::edit_file::Args::Edits": the message names the tool already.
  const auto args = name.find("::Args::");
  return args == std::string::npos ? name : name.substr(args + 2);
}

std::string value_name(CXType type) {
  const CXType bare = canonical(without_reference(type));
  const Shape shape = shape_of(bare);
  return shape == Shape::kText || shape == Shape::kList ? type_name(bare)
                                                        : take(clang_getTypeSpelling(type));
}

std::vector<std::string> enumerator_names(CXType bare) {
  const CXCursor declaration = clang_getCursorDefinition(declaration_of(bare));
  std::vector<std::string> names;
  each_child(declaration, [&](CXCursor child) {
    if (clang_getCursorKind(child) == CXCursor_EnumConstantDecl)
      names.push_back(fmt::format("{}::{}", spelling(declaration), spelling(child)));
  });
  return names;
}

}  // namespace mcpac::analyzer
