// SPDX-License-Identifier: Apache-2.0

#include "codegen/emit_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
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

// `holder` is a Shape or a NamedType.
std::string emit_visit(const auto& holder, const std::string& indent) {
  if (holder.fields.empty() && !holder.extra)
    return indent + "static void mcpac_visit(auto&, auto&) {}\n";
  std::string calls;
  for (const Field& field : holder.fields) {
    const std::string constant = field.constant ? ", " + value_text(*field.constant) : "";
    calls += fmt::format("{}  mcpac_v({}, mcpac_s.{}{});\n", indent, value_text(field.name),
                         field.cpp_name, constant);
  }
  if (holder.extra)
    calls +=
        fmt::format("{}  mcpac_v.extra(mcpac_s, mcpac_s.{});\n", indent, holder.extra->cpp_name);
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

// What an enum is on the wire: its texts, its own numbers, or a table of anything.
enum class Values { kTexts, kSigned, kUnsigned, kMixed };

Values values_of(const NamedType& type) {
  const auto all = [&](auto predicate) {
    return std::ranges::all_of(type.values,
                               [&](const Enumerator& e) { return predicate(e.value); });
  };
  if (all([](const auto& value) { return value.is_string(); })) return Values::kTexts;
  if (!all([](const auto& value) { return value.is_number_integer(); })) return Values::kMixed;
  const auto is_large = [](const auto& value) {
    return value.is_number_unsigned() && value.template get<std::uint64_t>() > INT64_MAX;
  };
  if (all([&](const auto& value) { return !is_large(value); })) return Values::kSigned;
  return all([](const auto& value) { return value.is_number_unsigned(); }) ? Values::kUnsigned
                                                                           : Values::kMixed;
}

bool explains_values(const NamedType& type) {
  return std::ranges::any_of(type.values,
                             [](const Enumerator& e) { return !e.description.empty(); });
}

// One enumerator a line, each with what the schema says of it.
std::string explained_values(const NamedType& type, const std::vector<std::string>& names,
                             Dialect dialect) {
  std::string lines;
  for (std::size_t i = 0; i < names.size(); ++i) {
    lines += fmt::format("      {},{}\n", names[i],
                         trailing_comment(type.values[i].description, dialect));
  }
  return "{\n" + lines + "    }";
}

std::string emit_enum(const NamedType& type, const Style& style) {
  const Values kind = values_of(type);
  const bool numbers = kind == Values::kSigned || kind == Values::kUnsigned;
  std::vector<std::string> names;
  std::vector<std::string> rows;
  for (const Enumerator& e : type.values) {
    const std::string value = value_text(e.value);
    names.push_back(numbers ? fmt::format("{} = {}", e.cpp_name, value) : e.cpp_name);
    rows.push_back(numbers ? fmt::format("{}::{}", type.cpp_name, e.cpp_name)
                           : fmt::format("{{{}::{}, {}}}", type.cpp_name, e.cpp_name, value));
  }
  const std::string underlying = kind == Values::kSigned     ? ": ::std::int64_t "
                                 : kind == Values::kUnsigned ? ": ::std::uint64_t "
                                                             : "";
  const std::string head = fmt::format("    enum class {} {}", type.cpp_name, underlying);
  const std::string declaration =
      explains_values(type) ? head + explained_values(type, names, dialect_of(style)) + ";\n"
                            : head + braced(names, head.size(), "    ") + ";\n";
  if (style.detail == Detail::kForReaders) return declaration;
  const std::string row = numbers ? type.cpp_name
                                  : fmt::format("::mcpac::Enumerator<{}{}>", type.cpp_name,
                                                kind == Values::kMixed ? ", ::mcpac::Scalar" : "");
  std::string out = fill(R"($declaration$    friend constexpr auto mcpac_enumerators($enum$) {
      return ::std::array<$row$, $count$>{$rows$};
    }
)",
                         {{"declaration", declaration},
                          {"enum", type.cpp_name},
                          {"row", row},
                          {"count", std::to_string(rows.size())},
                          {"rows", braced(rows, 60 + type.cpp_name.size(), "      ")}});
  if (kind == Values::kTexts) {
    out += fill(R"(    friend constexpr ::std::string_view to_string($enum$ mcpac_e) {
      return ::mcpac::enum_text(mcpac_e);
    }
)",
                {{"enum", type.cpp_name}});
  }
  return out;
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

std::string emit_extra(const ExtraFields& extra, const Shape& shape, std::size_t indent) {
  return fmt::format("{0:{1}}/// further members, by name\n{0:{1}}{2}\n", "", indent,
                     extra_text(extra, shape));
}

// What a value is read into: required members have no default that a caller could meet. A template,
// so that compilers look at it only where it is used.
std::string emit_absent(const std::string& name, const std::vector<Field>& fields,
                        const Shape& shape, const Style& style, const std::string& indent) {
  const std::string members =
      style.kind == ShapeKind::kArgs ? absent_members(fields, shape, "mcpac_v") : "";
  if (members.find("mcpac_v") == std::string::npos) return "";  // has a default as it is
  return fill(
      "$indent$static $name$ mcpac_absent(auto mcpac_v) {\n$indent$  return "
      "{$members$};\n$indent$}\n",
      {{"indent", indent}, {"name", name}, {"members", members}});
}

std::string emit_struct(std::size_t index, const Shape& shape, const Style& style) {
  const NamedType& type = shape.types[index];
  std::string body = emit_fields(type.fields, shape, style, 6);
  if (type.extra) body += emit_extra(*type.extra, shape, 6);
  if (style.detail == Detail::kWhole) {
    if (style.with_presence.contains(index)) body += "      ::mcpac::Presence mcpac_presence{};\n";
    body += emit_visit(type, "      ");
    body += emit_absent(type.cpp_name, type.fields, shape, style, "      ");
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
    const NamedType& type = shape.types[index];
    for (const Field& field : type.fields) collect_boxed(field.type, boxed);
    if (type.extra) collect_boxed(type.extra->type, boxed);
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
  if (shape.extra) out += emit_extra(*shape.extra, shape, 4);
  if (style.detail == Detail::kWhole) {
    out += emit_visit(shape, "    ");
    out += emit_absent("Args", shape.fields, shape, style, "    ");
  }
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
