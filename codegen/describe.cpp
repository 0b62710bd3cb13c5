// SPDX-License-Identifier: Apache-2.0

#include "codegen/describe.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/emit_comment.h"
#include "codegen/emit_shape.h"
#include "codegen/emit_types.h"
#include "codegen/printer.h"
#include "codegen/signature.h"
#include "codegen/text_escape.h"
#include "codegen/tool_model.h"
#include "core/ascii.h"
#include "core/claims.h"
#include "core/shell_quote.h"

namespace mcpac::codegen {
namespace {

using Kind = Type::Kind;

ToolModel model(const LockedServer& server, const LockedTool& tool) {
  std::vector<Note> unused;  // generate has shown them
  ToolModel made =
      model_of(tool.definition, server.name + "." + tool.name, short_name(tool.cpp_name), unused);
  if (const auto needs = text_of(claims_about(server.claims, tool.name)); !needs.empty())
    made.words.facts.push_back("Its server " + needs);
  return made;
}

// `args` is the full name of the struct that holds the tool's types.
std::string example_value(const Type& type, const Shape& shape, const std::string& args);

std::string example_members(const std::vector<Field>& fields, const Shape& shape,
                            const std::string& args) {
  std::string members;
  for (const Field& field : fields) {
    if (!field.required || field.fills_itself()) continue;
    members += fmt::format("{}.{} = {}", members.empty() ? "" : ", ", field.cpp_name,
                           example_value(field.type, shape, args));
  }
  return "{" + members + "}";
}

// What a braced list or a literal can be without saying its type.
bool speaks_for_itself(const Type& type, const Shape& shape) {
  switch (type.kind) {
    case Kind::kString:
    case Kind::kInteger:
    case Kind::kUnsigned:
    case Kind::kNumber:
    case Kind::kBoolean:
    case Kind::kJson: return true;
    case Kind::kNamed: return shape.types[type.named].is_enum();
    default: return false;
  }
}

// An alternative is told by its type: a literal says it, a struct or a list must be told which.
std::string alternative_value(const Type& variant, const Shape& shape, const std::string& args) {
  const auto plain = std::ranges::find_if(
      variant.of, [&](const Type& type) { return speaks_for_itself(type, shape); });
  if (plain != variant.of.end()) return example_value(*plain, shape, args);
  const auto named = [&](const Type& type) { return type.kind == Kind::kNamed; };
  const auto found = std::ranges::find_if(variant.of, [&](const Type& type) {
    return named(type) || (type.kind == Kind::kArray && named(type.of.front()));
  });
  const Type& chosen = found == variant.of.end() ? variant.of.front() : *found;
  if (named(chosen)) {
    const NamedType& type = shape.types[chosen.named];
    return fmt::format("{}::{}{}", args, type.cpp_name, example_members(type.fields, shape, args));
  }
  if (found == variant.of.end())
    return type_text(chosen, shape) + example_value(chosen, shape, args);
  const NamedType& item = shape.types[chosen.of.front().named];
  const std::string value =
      example_value({.kind = Kind::kVariant, .of = {chosen.of.front()}}, shape, args);
  return fmt::format("::std::vector<{}::{}>{{{}}}", args, item.cpp_name, value);
}

std::string example_value(const Type& type, const Shape& shape, const std::string& args) {
  switch (type.kind) {
    case Kind::kString: return "\"text\"";
    case Kind::kInteger:
    case Kind::kUnsigned: return "1";
    case Kind::kNumber: return "1.5";
    case Kind::kBoolean: return "true";
    case Kind::kMap: return "mcpac::empty";
    case Kind::kArray: return "{" + example_value(type.of.front(), shape, args) + "}";
    case Kind::kTuple: {
      std::string items;
      for (const Type& item : type.of)
        items += (items.empty() ? "" : ", ") + example_value(item, shape, args);
      return fmt::format("::std::make_tuple({})", items);
    }
    case Kind::kVariant: return alternative_value(type, shape, args);
    case Kind::kJson: return "mcpac::Json(\"any\")";
    case Kind::kNamed: break;
  }
  const NamedType& named = shape.types[type.named];
  if (named.is_enum())
    return fmt::format("{}::{}::{}", args, named.cpp_name, named.values.front().cpp_name);
  if (type.boxed) return "{}";
  const std::string members = example_members(named.fields, shape, args);
  return type.nullable ? fmt::format("{}::{}{}", args, named.cpp_name, members) : members;
}

// People look for the C++ name in their grants, so a difference is said where both stand.
std::string name_note(const LockedTool& tool, const std::string& cpp_name) {
  if (tool.name == cpp_name) return "";
  return "; grants use the server's own name for it, " + safe_line(cut(tool.name, 80));
}

}  // namespace

std::string example_arguments(const LockedServer& server, const LockedTool& tool) {
  const ToolModel made = model(server, tool);
  if (made.args.free_form) return "mcpac::Json::object()";
  const std::string members =
      example_members(made.args.fields, made.args, tool.cpp_name + "::Args");
  return members == "{}" ? "" : members;
}

std::string example_call(const LockedServer& server, const LockedTool& tool) {
  return fmt::format("rt.{}.{}({})", short_name(server.cpp_name), short_name(tool.cpp_name),
                     example_arguments(server, tool));
}

std::string grant_text(const LockedServer& server, const LockedTool& tool) {
  const bool bare = std::ranges::all_of(tool.name, is_bare);
  return shell_quoted(server.name + "." + (bare ? tool.name : json_string(tool.name)));
}

std::string declaration(const LockedServer& server, const LockedTool& tool) {
  const ToolModel made = model(server, tool);
  std::string args =
      made.args.free_form ? "  using Args = ::mcpac::Json;\n"
      : made.args.fields.empty()
          ? "  struct Args {};\n"
          : "  struct Args {\n" + describe_shape(made.args, ShapeKind::kArgs) + "  };\n";
  std::string result = "  struct Result : ::mcpac::ToolResult {};\n";
  if (made.result && !made.result->free_form && !made.result->fields.empty()) {
    result = "  struct Result : ::mcpac::ToolResult {\n" +
             describe_shape(*made.result, ShapeKind::kResult) + "  };\n";
  }
  return fill(R"($comment$struct $tool$ {  // $permission$
$args$$result$};
)",
              {{"comment", tool_comment(made, Dialect::kPlain)},
               {"tool", made.cpp_name},
               {"permission", server.name + "." + safe_line(tool.name)},
               {"args", args},
               {"result", result}});
}

std::string describe_tool(const LockedServer& server, const LockedTool& tool) {
  return fill(R"($declaration$
// in a program that declares mcpac::Requires<$cpp_name$> rt:
auto result = $call$;
// to run it$original$:
//   mcpac execute --grant $grant$ -f FILE
)",
              {{"declaration", declaration(server, tool)},
               {"cpp_name", tool.cpp_name},
               {"call", example_call(server, tool)},
               {"original", name_note(tool, short_name(tool.cpp_name))},
               {"grant", grant_text(server, tool)}});
}

}  // namespace mcpac::codegen
