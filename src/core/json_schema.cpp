#include "core/json_schema.h"

#include "core/schema/node.h"
#include "core/schema/validate.h"

namespace mcpac {

struct JsonSchema::Impl {
  std::unique_ptr<const schema::Program> program;
};

JsonSchema::JsonSchema(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JsonSchema::~JsonSchema() = default;

Result<std::shared_ptr<const JsonSchema>> JsonSchema::compile(const Json& schema) {
  auto program = schema::compile(schema);
  if (!program) return pass_on(program);
  auto impl = std::make_unique<Impl>();
  impl->program = std::move(*program);
  return std::shared_ptr<const JsonSchema>(new JsonSchema(std::move(impl)));
}

std::optional<SchemaViolation> JsonSchema::validate(const Json& value) const {
  return schema::validate(*impl_->program, value);
}

void JsonSchema::fill_defaults(Json& value) const {
  schema::fill_defaults(*impl_->program, value);
}

}  // namespace mcpac
