// SPDX-License-Identifier: Apache-2.0

// SchemaIndex: every schema of the documents at hand, and which URI names which.
//
// A reference finds its target here or nowhere: a document is the compiled schema itself or a
// metaschema that mcpac carries. Enumerations and constants are data, so an "$id" in one names
// nothing.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "core/json.h"

namespace mcpac::schema {

enum class Dialect { kDraft7, kDraft2020 };

// A schema with a base URI of its own, and what lies in it.
struct Resource {
  std::string uri;
  Dialect dialect = Dialect::kDraft2020;
  const Json* root = nullptr;
  std::map<std::string, const Json*, std::less<>> anchors;
  std::map<std::string, const Json*, std::less<>> dynamic_anchors;  // also in `anchors`
};

using ResourceId = std::size_t;

struct Target {
  const Json* schema = nullptr;
  std::string anchor;  // the name that found it, when that is a dynamic anchor; else empty
};

class SchemaIndex {
 public:
  // Takes the document over: pointers into it are valid as long as the index.
  Result<const Json*> add_document(Json document, std::string_view retrieval_uri);
  // Target of "$ref" or "$dynamicRef" of `from`.
  Result<Target> find(const Json& from, std::string_view reference);

  [[nodiscard]] ResourceId resource_of(const Json& schema) const { return place_.at(&schema); }
  [[nodiscard]] const std::vector<Resource>& resources() const { return resources_; }
  [[nodiscard]] Dialect dialect_of(const Json& schema) const {
    return resources_[resource_of(schema)].dialect;
  }

 private:
  Result<void> walk(const Json& start, ResourceId within);
  Result<ResourceId> enter(const Json& schema, ResourceId within);
  Result<ResourceId> open_resource(const Json& schema, std::string_view id, ResourceId within);
  Result<void> add_anchor(ResourceId resource, const Json& schema, std::string_view keyword);
  Result<bool> load_metaschema(std::string_view uri);
  Result<const Json*> follow(const Json& from, std::string_view pointer);

  std::deque<Json> documents_;
  std::vector<Resource> resources_;
  std::unordered_map<std::string, ResourceId> by_uri_;
  std::unordered_map<const Json*, ResourceId> place_;  // every known schema
};

// Schemas in a keyword's value.
enum class Holds { kNothing, kSchema, kSchemas, kNamedSchemas, kSchemaOrSchemas };
[[nodiscard]] Holds holds(std::string_view keyword);

}  // namespace mcpac::schema
