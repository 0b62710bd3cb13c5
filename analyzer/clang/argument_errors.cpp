#include "analyzer/clang/argument_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/nearest_name.h"

namespace mcpac::analyzer {
namespace {

// One `.name = value` of the call as spelled; the value's tokens joined.
struct Given {
  std::string name;
  Place place;
  std::string value;
  const Token* only = nullptr;  // the value where it is a single token
};

using Tokens = std::vector<Token>;

bool opens(std::string_view text) {
  return text == "(" || text == "{" || text == "[";
}
bool closes(std::string_view text) {
  return text == ")" || text == "}" || text == "]";
}

bool is_word(const Token& token) {
  return token.kind != CXToken_Punctuation;
}

// "filesystem::read_text_file" of `rt.filesystem.read_text_file.async(`, whose ( is at `paren`.
std::string tool_before(const Tokens& tokens, std::size_t paren) {
  std::vector<std::string> names;
  for (std::size_t at = paren; at >= 2 && names.size() < 3; at -= 2) {
    if (tokens[at - 1].kind != CXToken_Identifier) break;
    names.push_back(tokens[at - 1].text);
    if (tokens[at - 2].text != "." && tokens[at - 2].text != "->") break;
  }
  if (!names.empty() && (names[0] == "async" || names[0] == "try_call")) names.erase(names.begin());
  return names.size() < 2 ? "" : names[1] + "::" + names[0];
}

// The designators of `({.a = 1, .b = 2})`; nothing where the call is written in another way.
std::optional<std::vector<Given>> given_in(const Tokens& tokens, std::size_t paren) {
  std::vector<Given> all;
  std::size_t at = paren + 1;
  if (at >= tokens.size()) return std::nullopt;
  if (tokens[at].text == ")") return all;
  if (tokens[at].text != "{") return std::nullopt;
  ++at;
  while (at + 2 < tokens.size() && tokens[at].text != "}") {
    if (tokens[at].text != "." || tokens[at + 1].kind != CXToken_Identifier) return std::nullopt;
    Given given{tokens[at + 1].text, tokens[at + 1].place, "", nullptr};
    at += tokens[at + 2].text == "=" ? 3 : 2;
    const std::size_t from = at;
    for (int depth = 0; at < tokens.size(); ++at) {
      const std::string& text = tokens[at].text;
      if (depth == 0 && (text == "," || closes(text))) break;
      depth += opens(text) ? 1 : closes(text) ? -1 : 0;
      const bool words = at > from && is_word(tokens[at]) && is_word(tokens[at - 1]);
      given.value += (words ? " " : "") + text;
    }
    if (at == from + 1) given.only = &tokens[from];
    all.push_back(std::move(given));
    if (at < tokens.size() && tokens[at].text == ",") ++at;
  }
  return all;
}

bool is_required(const Field& field) {
  const CXCursor type = clang_getTypeDeclaration(clang_getCanonicalType(field.type));
  return exists(type) && qualified_name(type) == "mcpac::Required" && !field.fills_itself;
}

enum class Shape : std::uint8_t { kText, kNumber, kBoolean, kOther };

const char* words(Shape shape) {
  switch (shape) {
    case Shape::kText: return "text";
    case Shape::kNumber: return "a number";
    case Shape::kBoolean: return "true or false";
    case Shape::kOther: break;
  }
  return "something else";
}

CXType value_type(const Field& field) {
  return type_argument(clang_getCanonicalType(field.type), 0);
}

Shape shape_of(const Field& field) {
  const CXType type = value_type(field);
  if (type.kind == CXType_Bool) return Shape::kBoolean;
  if (type.kind >= CXType_FirstBuiltin && type.kind <= CXType_LastBuiltin &&
      type.kind != CXType_Void && type.kind != CXType_Invalid) {
    return Shape::kNumber;
  }
  const std::string name = qualified_name(clang_getTypeDeclaration(type));
  return name == "std::basic_string" ? Shape::kText : Shape::kOther;
}

// Only literals show their type in the text.
Shape shape_of(const Token* value) {
  if (value == nullptr) return Shape::kOther;
  if (value->text == "true" || value->text == "false") return Shape::kBoolean;
  if (value->kind != CXToken_Literal) return Shape::kOther;
  const char last = value->text.back();
  if (last == '"') return Shape::kText;
  return last == '\'' ? Shape::kOther : Shape::kNumber;
}

bool fits(Shape wanted, Shape given) {
  return wanted == Shape::kOther || given == Shape::kOther || wanted == given;
}

std::string type_name(const Field& field) {
  return shape_of(field) == Shape::kText ? "std::string"
                                         : take(clang_getTypeSpelling(value_type(field)));
}

const Given* find(const std::vector<Given>& given, const std::string& name) {
  const auto found = std::ranges::find(given, name, &Given::name);
  return found == given.end() ? nullptr : &*found;
}

// The arguments as they would fit: in order, the missing with a place to fill in.
std::string list_of(const std::vector<Field>& fields, const std::vector<Given>& given) {
  std::string list;
  for (const Field& field : fields) {
    const Given* value = find(given, field.cpp_name);
    if (value == nullptr && !is_required(field)) continue;
    list += fmt::format("{}.{} = {}", list.empty() ? "" : ", ", field.cpp_name,
                        value == nullptr ? "…" : value->value);
  }
  return "({" + list + "})";
}

void find_unknown(const std::string& tool, const std::vector<Field>& fields,
                  std::vector<Given>& given, std::vector<ArgumentError>& errors) {
  std::vector<std::string> names;
  for (const Field& field : fields) names.push_back(field.cpp_name);
  for (Given& argument : given) {
    if (Fields::find(fields, argument.name) != nullptr) continue;
    std::string message = fmt::format("{} has no argument `{}`", tool, argument.name);
    const std::string near = nearest_name(argument.name, names);
    if (!near.empty()) message += fmt::format("; did you mean `{}`?", near);
    // What is probably meant is not missing as well.
    if (!near.empty() && find(given, near) == nullptr) argument.name = near;
    errors.push_back({argument.place, std::move(message), ""});
  }
}

void find_misfits(const std::vector<Field>& fields, std::vector<Given>& given,
                  std::vector<ArgumentError>& errors) {
  for (Given& argument : given) {
    const Field* field = Fields::find(fields, argument.name);
    if (field == nullptr) continue;
    const Shape wanted = shape_of(*field);
    const Shape got = shape_of(argument.only);
    if (fits(wanted, got)) continue;
    errors.push_back({argument.place,
                      fmt::format("`{}` is {} ({}), not {}", argument.name, words(wanted),
                                  type_name(*field), words(got)),
                      ""});
    argument.value = "…";
  }
}

}  // namespace

void ArgumentErrors::on_node(CXCursor node, CXCursor, const Scope&) {
  const CXCursorKind kind = clang_getCursorKind(node);
  if (kind != CXCursor_ParmDecl && kind != CXCursor_VarDecl) return;
  const CXType type = bare_type(clang_getCursorType(node));
  if (!identity_.is_requires(type)) return;
  for (const CXType permission : Identity::permissions_of(type)) {
    const CXType args = Identity::args_of_permission(permission);
    if (args.kind == CXType_Invalid) continue;
    std::string name =
        qualified_name(clang_getCursorSemanticParent(clang_getTypeDeclaration(args)));
    if (name.starts_with("mcp::")) args_[name.substr(5)] = args;
  }
}

std::vector<ArgumentError> ArgumentErrors::at(CXTranslationUnit unit, const Place& place) {
  if (place.file == nullptr) return {};
  const auto [known, is_new] = tokens_.try_emplace(place.file);
  if (is_new) known->second = tokens_of(unit, place.file);
  const Tokens& tokens = known->second;
  const auto first = std::ranges::find_if(
      tokens, [&place](const Token& token) { return token.place.offset >= place.offset; });
  const auto open =
      std::find_if(first, tokens.end(), [](const Token& token) { return token.text == "("; });
  if (open == tokens.end()) return {};
  const auto paren = static_cast<std::size_t>(open - tokens.begin());
  const std::string tool = tool_before(tokens, paren);
  const auto args = args_.find(tool);
  auto given = given_in(tokens, paren);
  if (args == args_.end() || !given) return {};
  const auto& fields = fields_.of(clang_getTypeDeclaration(args->second));
  const auto permission = identity_.request().permissions.find("mcp::" + tool);
  const std::string name =
      permission == identity_.request().permissions.end() ? tool : permission->second;
  std::vector<ArgumentError> errors;
  find_unknown(fmt::format("`{}`", name), fields, *given, errors);
  for (const Field& field : fields) {
    if (!is_required(field) || find(*given, field.cpp_name) != nullptr) continue;
    errors.push_back({tokens[paren].place,
                      fmt::format("required argument `{}` ({}) of `{}` is missing", field.cpp_name,
                                  type_name(field), name),
                      ""});
  }
  find_misfits(fields, *given, errors);
  for (ArgumentError& error : errors) error.fix = list_of(fields, *given);
  return errors;
}

}  // namespace mcpac::analyzer
