// SPDX-License-Identifier: Apache-2.0

#include "codegen/tool_model.h"

#include <fmt/format.h>

#include <array>

#include "codegen/facts.h"
#include "codegen/resolve.h"
#include "codegen/shape_builder.h"
#include "codegen/text_escape.h"
#include "core/claims.h"

namespace mcpac::codegen {
namespace {

// A header is read by people and parsed by compilers. The longest description that is prose has 7
// KiB; beyond this the lock has the rest.
constexpr std::size_t kMaxDescription = 16'384;

// Annotations are claims: nothing of mcpac relies on them, so they are worded as claims.
std::vector<std::string> claims_of(const OrderedJson& definition) {
  struct Hint {
    std::string_view name;
    std::string_view yes;
    std::string_view no;
  };
  static constexpr auto kHints =
      std::to_array<Hint>({{"readOnlyHint", "read-only", "not read-only"},
                           {"destructiveHint", "destructive", "not destructive"},
                           {"idempotentHint", "idempotent", "not idempotent"},
                           {"openWorldHint", "open-world", "closed-world"}});
  const OrderedJson* annotations = keyword(definition, "annotations");
  std::string claims;
  for (const Hint& hint : kHints) {
    const OrderedJson* value = annotations == nullptr ? nullptr : keyword(*annotations, hint.name);
    if (value == nullptr || !value->is_boolean()) continue;
    claims += fmt::format("{}{}", claims.empty() ? "" : ", ", *value == true ? hint.yes : hint.no);
  }
  std::vector<std::string> said;
  if (!claims.empty()) said.push_back("The server claims: " + claims + ".");
  if (const std::string needs = text_of(claims_of_tool(definition).list); !needs.empty())
    said.push_back("It " + needs);
  return said;
}

void shorten(std::string& text, const std::string& permission, const std::string& place,
             std::vector<Note>& notes) {
  if (text.size() <= kMaxDescription) return;
  notes.push_back(
      {permission, place,
       fmt::format(
           "its description has {} bytes and is shortened in the header; mcpac.lock has all of it",
           text.size())});
  text = cut(text, kMaxDescription);
}

void shorten_fields(std::vector<Field>& fields, const std::string& permission,
                    const std::string& place, std::vector<Note>& notes) {
  for (Field& field : fields)
    shorten(field.words.description, permission, place + "/" + field.name, notes);
}

Shape shape_of(const OrderedJson& schema, ShapeKind kind, const std::string& permission,
               const std::string& place, std::vector<Note>& notes) {
  Shape shape = ShapeBuilder(schema, kind, permission, place, notes).build();
  shorten_fields(shape.fields, permission, place, notes);
  for (NamedType& type : shape.types) {
    shorten(type.words.description, permission, place, notes);
    shorten_fields(type.fields, permission, place, notes);
  }
  return shape;
}

}  // namespace

ToolModel model_of(const OrderedJson& definition, const std::string& permission,
                   const std::string& cpp_name, std::vector<Note>& notes) {
  ToolModel tool{.name = text_of(definition, "name"), .cpp_name = cpp_name};
  tool.words = {.title = text_of(definition, "title"),
                .description = text_of(definition, "description"),
                .facts = claims_of(definition)};
  if (const OrderedJson* annotations = keyword(definition, "annotations");
      annotations != nullptr && tool.words.title.empty()) {
    tool.words.title = text_of(*annotations, "title");
  }
  shorten(tool.words.description, permission, "/description", notes);

  static const OrderedJson kNothing;
  const OrderedJson* input = keyword(definition, "inputSchema");
  tool.args = shape_of(input == nullptr ? kNothing : *input, ShapeKind::kArgs, permission,
                       "/inputSchema", notes);
  if (const OrderedJson* output = keyword(definition, "outputSchema");
      output != nullptr && output->is_object()) {
    tool.result = shape_of(*output, ShapeKind::kResult, permission, "/outputSchema", notes);
  }
  return tool;
}

}  // namespace mcpac::codegen
