#include "codegen/emit_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "codegen/emit_comment.h"
#include "codegen/emit_types.h"
#include "codegen/printer.h"
#include "codegen/text_escape.h"

namespace mcpac::codegen {
namespace {

enum class Detail { kWhole, kForReaders };

struct Style {
  ShapeKind kind;
  Detail detail;
  std::set<std::size_t> with_presence{};
};

Dialect dialect_of(const Style& style) {
  return style.detail == Detail::kWhole ? Dialect::kDoxygen : Dialect::kPlain;
}

// A string literal, with its length where a zero byte would end it early.
std::string text_literal(const std::string& text) {
  if (text.find('\0') == std::string::npos) return string_literal(text);
  return fmt::format("::std::string_view{{{}, {}}}", string_literal(text), text.size());
}

std::string emit_visit(const std::vector<Field>& fields, const std::string& indent) {
  if (fields.empty()) return indent + "static void mcpac_visit(auto&, auto&) {}\n";
  std::string calls;
  for (const Field& field : fields) {
    calls += fmt::format("{}  mcpac_v({}, mcpac_s.{});\n", indent, text_literal(field.name),
                         field.cpp_name);
  }
  return fill("$indent$static void mcpac_visit(auto& mcpac_s, auto& mcpac_v) {\n$calls$$indent$}\n",
              {{"indent", indent}, {"calls", calls}});
}

// "{ a, b }" where that fits into a line, else one item a line.
std::string braced(const std::vector<std::string>& items, std::size_t column,
                   const std::string& indent) {
  constexpr std::size_t kWidth = 100;
  const std::string line = fmt::format("{}", fmt::join(items, ", "));
  if (column + line.size() + 4 <= kWidth) return fmt::format("{{ {} }}", line);
  return fmt::format("{{\n{}  {}\n{}}}", indent, fmt::join(items, ",\n  " + indent), indent);
}

bool explains_values(const NamedType& type) {
  return std::ranges::any_of(type.values,
                             [](const Enumerator& e) { return !e.description.empty(); });
}

// One enumerator a line, each with what the schema says of it.
std::string explained_values(const NamedType& type, Dialect dialect) {
  std::string lines;
  for (const Enumerator& e : type.values)
    lines += fmt::format("      {},{}\n", e.cpp_name, trailing_comment(e.description, dialect));
  return "{\n" + lines + "    }";
}

std::string emit_enum(const NamedType& type, const Style& style) {
  std::vector<std::string> names;
  std::vector<std::string> values;
  for (const Enumerator& enumerator : type.values) {
    names.push_back(enumerator.cpp_name);
    values.push_back(fmt::format("{{{}::{}, {}}}", type.cpp_name, enumerator.cpp_name,
                                 text_literal(enumerator.value)));
  }
  const std::string head = fmt::format("    enum class {} ", type.cpp_name);
  const std::string declaration = explains_values(type)
                                      ? head + explained_values(type, dialect_of(style)) + ";\n"
                                      : head + braced(names, head.size(), "    ") + ";\n";
  if (style.detail == Detail::kForReaders) return declaration;
  const std::string count = std::to_string(values.size());
  return fill(
      R"($declaration$    friend constexpr auto mcpac_enumerators($enum$) {
      return ::std::array<::mcpac::Enumerator<$enum$>, $count$>{$values$};
    }
    friend constexpr ::std::string_view to_string($enum$ mcpac_e) {
      return ::mcpac::enum_text(mcpac_e);
    }
)",
      {{"declaration", declaration},
       {"enum", type.cpp_name},
       {"count", count},
       {"values", braced(values, 60 + type.cpp_name.size(), "      ")}});
}

std::string emit_fields(const std::vector<Field>& fields, const Shape& shape, const Style& style,
                        std::size_t indent) {
  std::string out;
  for (const Field& field : fields) {
    out += comment(field.words, indent, dialect_of(style));
    out += fmt::format("{:{}}{}\n", "", indent, field_text(field, shape, style.kind));
  }
  return out;
}

std::string emit_struct(std::size_t index, const Shape& shape, const Style& style) {
  const NamedType& type = shape.types[index];
  std::string body = emit_fields(type.fields, shape, style, 6);
  if (style.detail == Detail::kWhole) {
    if (style.with_presence.contains(index)) body += "      ::mcpac::Presence mcpac_presence{};\n";
    body += emit_visit(type.fields, "      ");
  }
  return fill("    struct $name$ {\n$body$    };\n", {{"name", type.cpp_name}, {"body", body}});
}

void collect_boxed(const Type& type, std::set<std::size_t>& boxed) {
  if (type.kind == Type::Kind::kNamed && type.boxed) boxed.insert(type.named);
  for (const Type& inner : type.of) collect_boxed(inner, boxed);
}

// Types that another one names before they are defined: they contain each other in a circle.
std::string forward_declarations(const Shape& shape) {
  std::set<std::size_t> defined;
  std::set<std::size_t> declared;
  std::string out;
  for (const std::size_t index : shape.order) {
    std::set<std::size_t> boxed;
    for (const Field& field : shape.types[index].fields) collect_boxed(field.type, boxed);
    for (const std::size_t other : boxed) {
      if (other == index || defined.contains(other) || !declared.insert(other).second) continue;
      out += fmt::format("    struct {};\n", shape.types[other].cpp_name);
    }
    defined.insert(index);
  }
  return out;
}

std::string emit_types(const Shape& shape, const Style& style) {
  std::string out = forward_declarations(shape);
  for (const std::size_t index : shape.order) {
    out += comment(shape.types[index].words, 4, dialect_of(style));
    out += shape.types[index].is_enum() ? emit_enum(shape.types[index], style)
                                        : emit_struct(index, shape, style);
  }
  return out;
}

std::string emit_body(const Shape& shape, const Style& style) {
  std::string out = emit_types(shape, style);
  out += emit_fields(shape.fields, shape, style, 4);
  if (style.detail == Detail::kWhole) out += emit_visit(shape.fields, "    ");
  return out;
}

}  // namespace

std::string emit_args(const Shape& shape) {
  if (shape.free_form) return "  using Args = ::mcpac::Json;\n";
  const Style style{ShapeKind::kArgs, Detail::kWhole, optional_structs(shape)};
  return fill("  struct Args {\n$body$  };\n", {{"body", emit_body(shape, style)}});
}

std::string emit_result(const Shape* shape) {
  if (shape == nullptr || shape->free_form || shape->fields.empty())
    return "  struct Result : ::mcpac::ToolResult {};\n";
  const Style style{ShapeKind::kResult, Detail::kWhole};
  return fill("  struct Result : ::mcpac::ToolResult {\n$body$  };\n",
              {{"body", emit_body(*shape, style)}});
}

std::string describe_shape(const Shape& shape, ShapeKind kind) {
  return emit_body(shape, {kind, Detail::kForReaders});
}

}  // namespace mcpac::codegen
