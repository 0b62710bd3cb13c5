// SPDX-License-Identifier: Apache-2.0

#include "mcp/param_headers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "core/ascii.h"
#include "core/printable.h"
#include "mcp/config_member.h"
#include "mcp/http_headers.h"

namespace mcpac::mcp {
namespace {

constexpr const char* kAnnotation = "x-mcp-header";
constexpr std::size_t kMaxName = 128;

// Where an annotation would not say which argument it means.
constexpr std::array<std::string_view, 18> kElsewhere = {"items",
                                                         "prefixItems",
                                                         "contains",
                                                         "additionalProperties",
                                                         "oneOf",
                                                         "patternProperties",
                                                         "dependentSchemas",
                                                         "unevaluatedProperties",
                                                         "anyOf",
                                                         "unevaluatedItems",
                                                         "propertyNames",
                                                         "allOf",
                                                         "definitions",
                                                         "$defs",
                                                         "not",
                                                         "if",
                                                         "then",
                                                         "else"};

struct Scan {
  std::vector<ParamHeader> found{};
  std::set<std::string> names{};  // in lower case: headers know no other
};

std::unexpected<Error> refuse(const std::vector<std::string>& path, std::string_view why) {
  return fail(ErrorId::kServerProtocol,
              fmt::format("x-mcp-header at \"{}\" {}",
                          printable(fmt::format("{}", fmt::join(path, "."))), why));
}

Result<void> add(Scan& scan, const OrderedJson& schema, const std::vector<std::string>& path) {
  const OrderedJson& given = schema[kAnnotation];
  const std::string name = given.is_string() ? given.get<std::string>() : "";
  if (!is_header_name(name) || name.size() > kMaxName) {
    return refuse(path, "is no name for a header");
  }
  const auto type = schema.find("type");
  const bool plain = type != schema.end() && type->is_string() &&
                     (*type == "string" || *type == "integer" || *type == "boolean");
  if (!plain) return refuse(path, "belongs to no string, integer or boolean");
  if (!scan.names.insert(lowered(name)).second) return refuse(path, "names a header twice");
  scan.found.push_back({path, "Mcp-Param-" + name});
  return {};
}

// Whether an annotation stands anywhere below. Below "properties" the keys are names, not keywords.
bool annotated_within(const OrderedJson& value) {
  if (value.is_object() && value.contains(kAnnotation)) return true;
  return value.is_structured() && std::ranges::any_of(value, annotated_within);
}

Result<void> scan_schema(Scan& scan, const OrderedJson& schema, std::vector<std::string>& path) {
  if (!schema.is_object()) return {};
  if (schema.contains(kAnnotation)) {
    if (path.empty()) return refuse(path, "belongs to no argument");
    if (auto added = add(scan, schema, path); !added) return added;
  }
  for (const std::string_view keyword : kElsewhere) {
    const auto below = schema.find(std::string(keyword));
    if (below != schema.end() && annotated_within(*below)) {
      return refuse(path, "stands below more than properties");
    }
  }
  const auto properties = schema.find("properties");
  if (properties == schema.end() || !properties->is_object()) return {};
  for (const auto& [name, property] : properties->items()) {
    path.push_back(name);
    auto below = scan_schema(scan, property, path);
    path.pop_back();
    if (!below) return below;
  }
  return {};
}

const Json* find_at(const Json& arguments, const std::vector<std::string>& path) {
  const Json* value = &arguments;
  for (const std::string& name : path) {
    value = value->is_object() ? find_member(*value, name) : nullptr;
    if (value == nullptr) return nullptr;
  }
  return value;
}

}  // namespace

Result<std::vector<ParamHeader>> read_param_headers(const OrderedJson& input_schema) {
  Scan scan;
  std::vector<std::string> path;
  if (auto done = scan_schema(scan, input_schema, path); !done) return pass_on(done);
  return std::move(scan.found);
}

std::map<std::string, std::string> param_headers(const std::vector<ParamHeader>& annotated,
                                                 const Json& arguments) {
  std::map<std::string, std::string> headers;
  for (const ParamHeader& one : annotated) {
    const Json* value = find_at(arguments, one.path);
    if (value == nullptr || value->is_null() || value->is_structured()) continue;
    headers[one.name] =
        encode_header_value(value->is_string() ? value->get<std::string>() : to_text(*value));
  }
  return headers;
}

}  // namespace mcpac::mcp
