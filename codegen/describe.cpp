#include "codegen/describe.h"

#include <fmt/format.h>

#include "codegen/emit_comment.h"
#include "codegen/emit_shape.h"
#include "codegen/printer.h"
#include "codegen/text_escape.h"
#include "codegen/tool_model.h"

namespace mcpac::codegen {
namespace {

using Kind = Type::Kind;

std::string last_part(const std::string& cpp_name) {
  return cpp_name.substr(cpp_name.rfind(':') + 1);
}

ToolModel model(const LockedServer& server, const LockedTool& tool) {
  std::vector<Note> unused;  // generate has shown them
  return model_of(tool.definition, server.name + "." + tool.name, last_part(tool.cpp_name), unused);
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
    case Kind::kVariant: return example_value(type.of.front(), shape, args);
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

std::string example_arguments(const Shape& shape, const std::string& cpp_name) {
  if (shape.free_form) return "mcpac::Json::object()";
  const std::string members = example_members(shape.fields, shape, cpp_name + "::Args");
  return members == "{}" ? "" : members;
}

}  // namespace

std::string example_call(const LockedServer& server, const LockedTool& tool) {
  return fmt::format("rt.{}.{}({})", last_part(server.cpp_name), last_part(tool.cpp_name),
                     example_arguments(model(server, tool).args, tool.cpp_name));
}

std::string describe_tool(const LockedServer& server, const LockedTool& tool) {
  const ToolModel made = model(server, tool);
  ToolModel words = made;
  words.args.fields.clear();  // they stand in the struct, each with its words
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
  return fill(R"($comment$// permission: $permission$
struct $tool$ {  // $cpp_name$
$args$$result$};

// given mcpac::Requires<$cpp_name$> rt:
auto result = $call$;
)",
              {{"comment", tool_comment(words, 0)},
               {"permission", server.name + "." + safe_line(tool.name)},
               {"tool", made.cpp_name},
               {"cpp_name", tool.cpp_name},
               {"args", args},
               {"result", result},
               {"call", example_call(server, tool)}});
}

}  // namespace mcpac::codegen
