// SPDX-License-Identifier: Apache-2.0

#include "core/schema/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "core/schema/uri.h"

namespace mcpac::schema {
namespace {

// The metaschemas of the two dialects, for the rare tool that takes a JSON Schema as an argument.

// The text of the metaschema that the URI (without fragment) names, if it is one.
[[nodiscard]] std::optional<std::string_view> metaschema(std::string_view uri);

struct Metaschema {
  std::string_view uri;
  std::string_view text;
};

// clang-format off
constexpr std::array<Metaschema, 9> kMetaschemas = {{
    {"https://json-schema.org/draft/2020-12/schema", R"JSON({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://json-schema.org/draft/2020-12/schema",
"$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/core":true,"https://json-schema.org/draft/2020-12/vocab/applicator":true,
"https://json-schema.org/draft/2020-12/vocab/unevaluated":true,"https://json-schema.org/draft/2020-12/vocab/validation":true,
"https://json-schema.org/draft/2020-12/vocab/meta-data":true,"https://json-schema.org/draft/2020-12/vocab/format-annotation":true,
"https://json-schema.org/draft/2020-12/vocab/content":true},"$dynamicAnchor":"meta",
"allOf":[{"$ref":"meta/core"},{"$ref":"meta/applicator"},{"$ref":"meta/unevaluated"},
{"$ref":"meta/validation"},{"$ref":"meta/meta-data"},{"$ref":"meta/format-annotation"},
{"$ref":"meta/content"}],"type":["object","boolean"],"properties":{"definitions":{
"type":"object","additionalProperties":{"$dynamicRef":"#meta"},"deprecated":true,
"default":{}},"dependencies":{"type":"object","additionalProperties":{"anyOf":[{"$dynamicRef":"#meta"},
{"$ref":"meta/validation#/$defs/stringArray"}]},"deprecated":true,"default":{}},"$recursiveAnchor":{
"$ref":"meta/core#/$defs/anchorString","deprecated":true},"$recursiveRef":{"$ref":"meta/core#/$defs/uriReferenceString",
"deprecated":true}}})JSON"},
    {"https://json-schema.org/draft/2020-12/meta/core", R"JSON({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://json-schema.org/draft/2020-12/meta/core",
"$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/core":true},"$dynamicAnchor":"meta",
"type":["object","boolean"],"properties":{"$id":{"$ref":"#/$defs/uriReferenceString",
"pattern":"^[^#]*#?$"},"$schema":{"$ref":"#/$defs/uriString"},"$ref":{"$ref":"#/$defs/uriReferenceString"},
"$anchor":{"$ref":"#/$defs/anchorString"},"$dynamicRef":{"$ref":"#/$defs/uriReferenceString"},
"$dynamicAnchor":{"$ref":"#/$defs/anchorString"},"$vocabulary":{"type":"object","propertyNames":{
"$ref":"#/$defs/uriString"},"additionalProperties":{"type":"boolean"}},"$comment":{
"type":"string"},"$defs":{"type":"object","additionalProperties":{"$dynamicRef":"#meta"}}},
"$defs":{"anchorString":{"type":"string","pattern":"^[A-Za-z_][-A-Za-z0-9._]*$"},
"uriString":{"type":"string","format":"uri"},"uriReferenceString":{"type":"string",
"format":"uri-reference"}}})JSON"},
    {"https://json-schema.org/draft/2020-12/meta/applicator", R"JSON({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://json-schema.org/draft/2020-12/meta/applicator",
"$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/applicator":true},"$dynamicAnchor":"meta",
"type":["object","boolean"],"properties":{"prefixItems":{"$ref":"#/$defs/schemaArray"},
"items":{"$dynamicRef":"#meta"},"contains":{"$dynamicRef":"#meta"},"additionalProperties":{
"$dynamicRef":"#meta"},"properties":{"type":"object","additionalProperties":{"$dynamicRef":"#meta"},
"default":{}},"patternProperties":{"type":"object","additionalProperties":{"$dynamicRef":"#meta"},
"propertyNames":{"format":"regex"},"default":{}},"dependentSchemas":{"type":"object",
"additionalProperties":{"$dynamicRef":"#meta"},"default":{}},"propertyNames":{"$dynamicRef":"#meta"},
"if":{"$dynamicRef":"#meta"},"then":{"$dynamicRef":"#meta"},"else":{"$dynamicRef":"#meta"},
"allOf":{"$ref":"#/$defs/schemaArray"},"anyOf":{"$ref":"#/$defs/schemaArray"},"oneOf":{
"$ref":"#/$defs/schemaArray"},"not":{"$dynamicRef":"#meta"}},"$defs":{"schemaArray":{
"type":"array","minItems":1,"items":{"$dynamicRef":"#meta"}}}})JSON"},
    {"https://json-schema.org/draft/2020-12/meta/unevaluated", R"JSON({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://json-schema.org/draft/2020-12/meta/unevaluated",
"$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/unevaluated":true},"$dynamicAnchor":"meta",
"type":["object","boolean"],"properties":{"unevaluatedItems":{"$dynamicRef":"#meta"},
"unevaluatedProperties":{"$dynamicRef":"#meta"}}})JSON"},
    {"https://json-schema.org/draft/2020-12/meta/validation", R"JSON({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://json-schema.org/draft/2020-12/meta/validation",
"$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/validation":true},"$dynamicAnchor":"meta",
"type":["object","boolean"],"properties":{"type":{"anyOf":[{"$ref":"#/$defs/simpleTypes"},
{"type":"array","items":{"$ref":"#/$defs/simpleTypes"},"minItems":1,"uniqueItems":true}]},
"const":true,"enum":{"type":"array","items":true},"multipleOf":{"type":"number","exclusiveMinimum":0},
"maximum":{"type":"number"},"exclusiveMaximum":{"type":"number"},"minimum":{"type":"number"},
"exclusiveMinimum":{"type":"number"},"maxLength":{"$ref":"#/$defs/nonNegativeInteger"},
"minLength":{"$ref":"#/$defs/nonNegativeIntegerDefault0"},"pattern":{"type":"string",
"format":"regex"},"maxItems":{"$ref":"#/$defs/nonNegativeInteger"},"minItems":{"$ref":"#/$defs/nonNegativeIntegerDefault0"},
"uniqueItems":{"type":"boolean","default":false},"maxContains":{"$ref":"#/$defs/nonNegativeInteger"},
"minContains":{"$ref":"#/$defs/nonNegativeInteger","default":1},"maxProperties":{
"$ref":"#/$defs/nonNegativeInteger"},"minProperties":{"$ref":"#/$defs/nonNegativeIntegerDefault0"},
"required":{"$ref":"#/$defs/stringArray"},"dependentRequired":{"type":"object","additionalProperties":{
"$ref":"#/$defs/stringArray"}}},"$defs":{"nonNegativeInteger":{"type":"integer","minimum":0},
"nonNegativeIntegerDefault0":{"$ref":"#/$defs/nonNegativeInteger","default":0},"simpleTypes":{
"enum":["array","boolean","integer","null","number","object","string"]},"stringArray":{
"type":"array","items":{"type":"string"},"uniqueItems":true,"default":[]}}})JSON"},
    {"https://json-schema.org/draft/2020-12/meta/meta-data", R"JSON({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://json-schema.org/draft/2020-12/meta/meta-data",
"$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/meta-data":true},"$dynamicAnchor":"meta",
"type":["object","boolean"],"properties":{"title":{"type":"string"},"description":{
"type":"string"},"default":true,"deprecated":{"type":"boolean","default":false},"readOnly":{
"type":"boolean","default":false},"writeOnly":{"type":"boolean","default":false},
"examples":{"type":"array","items":true}}})JSON"},
    {"https://json-schema.org/draft/2020-12/meta/format-annotation", R"JSON({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://json-schema.org/draft/2020-12/meta/format-annotation",
"$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/format-annotation":true},
"$dynamicAnchor":"meta","type":["object","boolean"],"properties":{"format":{"type":"string"}}})JSON"},
    {"https://json-schema.org/draft/2020-12/meta/content", R"JSON({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://json-schema.org/draft/2020-12/meta/content",
"$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/content":true},"$dynamicAnchor":"meta",
"type":["object","boolean"],"properties":{"contentEncoding":{"type":"string"},"contentMediaType":{
"type":"string"},"contentSchema":{"$dynamicRef":"#meta"}}})JSON"},
    {"http://json-schema.org/draft-07/schema", R"JSON({"$schema":"http://json-schema.org/draft-07/schema#","$id":"http://json-schema.org/draft-07/schema#",
"definitions":{"schemaArray":{"type":"array","minItems":1,"items":{"$ref":"#"}},"nonNegativeInteger":{
"type":"integer","minimum":0},"nonNegativeIntegerDefault0":{"allOf":[{"$ref":"#/definitions/nonNegativeInteger"},
{"default":0}]},"simpleTypes":{"enum":["array","boolean","integer","null","number",
"object","string"]},"stringArray":{"type":"array","items":{"type":"string"},"uniqueItems":true,
"default":[]}},"type":["object","boolean"],"properties":{"$id":{"type":"string","format":"uri-reference"},
"$schema":{"type":"string","format":"uri"},"$ref":{"type":"string","format":"uri-reference"},
"$comment":{"type":"string"},"title":{"type":"string"},"description":{"type":"string"},
"default":true,"readOnly":{"type":"boolean","default":false},"examples":{"type":"array",
"items":true},"multipleOf":{"type":"number","exclusiveMinimum":0},"maximum":{"type":"number"},
"exclusiveMaximum":{"type":"number"},"minimum":{"type":"number"},"exclusiveMinimum":{
"type":"number"},"maxLength":{"$ref":"#/definitions/nonNegativeInteger"},"minLength":{
"$ref":"#/definitions/nonNegativeIntegerDefault0"},"pattern":{"type":"string","format":"regex"},
"additionalItems":{"$ref":"#"},"items":{"anyOf":[{"$ref":"#"},{"$ref":"#/definitions/schemaArray"}],
"default":true},"maxItems":{"$ref":"#/definitions/nonNegativeInteger"},"minItems":{
"$ref":"#/definitions/nonNegativeIntegerDefault0"},"uniqueItems":{"type":"boolean",
"default":false},"contains":{"$ref":"#"},"maxProperties":{"$ref":"#/definitions/nonNegativeInteger"},
"minProperties":{"$ref":"#/definitions/nonNegativeIntegerDefault0"},"required":{"$ref":"#/definitions/stringArray"},
"additionalProperties":{"$ref":"#"},"definitions":{"type":"object","additionalProperties":{
"$ref":"#"},"default":{}},"properties":{"type":"object","additionalProperties":{"$ref":"#"},
"default":{}},"patternProperties":{"type":"object","additionalProperties":{"$ref":"#"},
"propertyNames":{"format":"regex"},"default":{}},"dependencies":{"type":"object",
"additionalProperties":{"anyOf":[{"$ref":"#"},{"$ref":"#/definitions/stringArray"}]}},
"propertyNames":{"$ref":"#"},"const":true,"enum":{"type":"array","items":true,"minItems":1,
"uniqueItems":true},"type":{"anyOf":[{"$ref":"#/definitions/simpleTypes"},{"type":"array",
"items":{"$ref":"#/definitions/simpleTypes"},"minItems":1,"uniqueItems":true}]},"format":{
"type":"string"},"contentMediaType":{"type":"string"},"contentEncoding":{"type":"string"},
"if":{"$ref":"#"},"then":{"$ref":"#"},"else":{"$ref":"#"},"allOf":{"$ref":"#/definitions/schemaArray"},
"anyOf":{"$ref":"#/definitions/schemaArray"},"oneOf":{"$ref":"#/definitions/schemaArray"},
"not":{"$ref":"#"}},"default":true})JSON"},
}};
// clang-format on

std::optional<std::string_view> metaschema(std::string_view uri) {
  const auto found = std::ranges::find(kMetaschemas, uri, &Metaschema::uri);
  if (found == kMetaschemas.end()) return std::nullopt;
  return found->text;
}

}  // namespace

namespace {

std::unexpected<Error> invalid(std::string what, std::string why = "") {
  return fail(ErrorId::kSchemaInvalid, std::move(what), {.why = std::move(why)});
}

// The largest real listing has some 3,000 schemas in one tool; each costs up to a few hundred
// bytes.
constexpr std::size_t kMaxSchemas = 200'000;

bool is_schema(const Json& value) {
  return value.is_object() || value.is_boolean();
}

Result<Dialect> dialect_of_uri(std::string_view uri) {
  if (uri.ends_with('#')) uri.remove_suffix(1);
  if (uri == "https://json-schema.org/draft/2020-12/schema") return Dialect::kDraft2020;
  for (const std::string_view draft : {"07", "06"}) {  // 06 is a part of 07
    for (const std::string_view scheme : {"http", "https"}) {
      if (uri == fmt::format("{}://json-schema.org/draft-{}/schema", scheme, draft))
        return Dialect::kDraft7;
    }
  }
  return invalid(fmt::format("the schema dialect \"{}\" is not known", uri.substr(0, 200)),
                 "mcpac checks arguments by draft 2020-12 and draft 7");
}

// The schemas directly below `schema`, each handed to `visit`.
template <class Visit>
void for_each_child(const Json& schema, Visit visit) {
  for (const auto& [keyword, value] : schema.items()) {
    const Holds kind = holds(keyword);
    if (kind == Holds::kNothing) continue;
    const bool one =
        kind == Holds::kSchema || (kind == Holds::kSchemaOrSchemas && !value.is_array());
    if (one) {
      if (is_schema(value)) visit(value);
    } else if (value.is_structured()) {
      for (const Json& child : value) {
        if (is_schema(child)) visit(child);
      }
    }
  }
}

}  // namespace

Holds holds(std::string_view keyword) {
  static const std::map<std::string_view, Holds> kHolds = {
      {"additionalItems", Holds::kSchema},
      {"additionalProperties", Holds::kSchema},
      {"allOf", Holds::kSchemas},
      {"anyOf", Holds::kSchemas},
      {"contains", Holds::kSchema},
      {"contentSchema", Holds::kSchema},
      {"$defs", Holds::kNamedSchemas},
      {"definitions", Holds::kNamedSchemas},
      {"dependencies", Holds::kNamedSchemas},
      {"dependentSchemas", Holds::kNamedSchemas},
      {"else", Holds::kSchema},
      {"if", Holds::kSchema},
      {"items", Holds::kSchemaOrSchemas},
      {"not", Holds::kSchema},
      {"oneOf", Holds::kSchemas},
      {"patternProperties", Holds::kNamedSchemas},
      {"prefixItems", Holds::kSchemas},
      {"properties", Holds::kNamedSchemas},
      {"propertyNames", Holds::kSchema},
      {"then", Holds::kSchema},
      {"unevaluatedItems", Holds::kSchema},
      {"unevaluatedProperties", Holds::kSchema},
  };
  const auto found = kHolds.find(keyword);
  return found == kHolds.end() ? Holds::kNothing : found->second;
}

Result<const Json*> SchemaIndex::add_document(Json document, std::string_view retrieval_uri) {
  documents_.push_back(std::move(document));
  const Json& root = documents_.back();
  if (!is_schema(root)) return invalid("a schema must be an object, true or false");
  Dialect dialect = Dialect::kDraft2020;
  if (const Json* named = find_member(root, "$schema"); named != nullptr) {
    if (!named->is_string()) return invalid("\"$schema\" must be a string");
    const auto known = dialect_of_uri(named->get_ref<const std::string&>());
    if (!known) return std::unexpected(known.error());
    dialect = *known;
  }
  const ResourceId id = resources_.size();
  resources_.push_back({std::string(retrieval_uri), dialect, &root, {}, {}});
  by_uri_.emplace(retrieval_uri, id);
  if (auto walked = walk(root, id); !walked) return pass_on(walked);
  return &root;
}

// A list of open places instead of recursion: a schema may be as deep as its writer likes.
Result<void> SchemaIndex::walk(const Json& start, ResourceId within) {
  std::vector<std::pair<const Json*, ResourceId>> open{{&start, within}};
  while (!open.empty()) {
    const auto [schema, outer] = open.back();
    open.pop_back();
    if (place_.contains(schema)) continue;
    const auto inner = enter(*schema, outer);
    if (!inner) return std::unexpected(inner.error());
    place_.emplace(schema, *inner);
    if (place_.size() > kMaxSchemas) {
      return invalid(fmt::format("the schema has more than {} subschemas", kMaxSchemas));
    }
    if (schema->is_object()) {
      for_each_child(*schema, [&](const Json& child) { open.emplace_back(&child, *inner); });
    }
  }
  return {};
}

// Records the names that a schema gives itself; the answer is the resource that it belongs to.
Result<ResourceId> SchemaIndex::enter(const Json& schema, ResourceId within) {
  if (!schema.is_object()) return within;
  const bool draft7 = resources_[within].dialect == Dialect::kDraft7;
  // In draft 7 a "$ref" makes its neighbours mean nothing.
  if (draft7 && schema.contains("$ref")) return within;
  ResourceId resource = within;
  if (const Json* id = find_member(schema, "$id"); id != nullptr) {
    if (!id->is_string()) return invalid("\"$id\" must be a string");
    auto opened = open_resource(schema, id->get_ref<const std::string&>(), within);
    if (!opened) return opened;
    resource = *opened;
  }
  if (resources_[resource].dialect == Dialect::kDraft7) return resource;
  for (const char* keyword : {"$anchor", "$dynamicAnchor"}) {
    if (auto added = add_anchor(resource, schema, keyword); !added) return pass_on(added);
  }
  return resource;
}

Result<ResourceId> SchemaIndex::open_resource(const Json& schema, std::string_view id,
                                              ResourceId within) {
  const Reference reference = resolve(resources_[within].uri, id);
  const bool draft7 = resources_[within].dialect == Dialect::kDraft7;
  if (!reference.fragment.empty() && !draft7) {
    return invalid(fmt::format("\"$id\" has a fragment: \"{}\"", id.substr(0, 200)));
  }
  if (!reference.fragment.empty() && reference.uri == resources_[within].uri) {
    resources_[within].anchors.emplace(reference.fragment, &schema);
    return within;
  }
  if (resources_[within].root == &schema && reference.uri == resources_[within].uri) return within;
  Resource opened{reference.uri, resources_[within].dialect, &schema, {}, {}};
  if (const Json* named = find_member(schema, "$schema"); named != nullptr && named->is_string()) {
    const auto known = dialect_of_uri(named->get_ref<const std::string&>());
    if (!known) return std::unexpected(known.error());
    opened.dialect = *known;
  }
  if (!reference.fragment.empty()) opened.anchors.emplace(reference.fragment, &schema);
  if (!by_uri_.emplace(reference.uri, resources_.size()).second) {
    return invalid(fmt::format("two schemas have the \"$id\" \"{}\"", id.substr(0, 200)));
  }
  resources_.push_back(std::move(opened));
  return resources_.size() - 1;
}

Result<void> SchemaIndex::add_anchor(ResourceId resource, const Json& schema,
                                     std::string_view keyword) {
  const Json* name = find_member(schema, keyword);
  if (name == nullptr) return {};
  if (!name->is_string()) return invalid(fmt::format("\"{}\" must be a string", keyword));
  const auto& text = name->get_ref<const std::string&>();
  auto& into = resources_[resource];
  if (keyword == "$dynamicAnchor") into.dynamic_anchors.emplace(text, &schema);
  const auto [place, fresh] = into.anchors.emplace(text, &schema);
  if (!fresh && place->second != &schema) {
    return invalid(fmt::format("two schemas have the anchor \"{}\"", text.substr(0, 200)));
  }
  return {};
}

Result<bool> SchemaIndex::load_metaschema(std::string_view uri) {
  const auto text = metaschema(uri);
  if (!text) return false;
  auto document = parse_json(*text, uri);
  if (!document) return pass_on(document);
  auto added = add_document(std::move(*document), uri);
  if (!added) return pass_on(added);
  return true;
}

Result<Target> SchemaIndex::find(const Json& from, std::string_view reference) {
  const Reference target = resolve(resources_[resource_of(from)].uri, reference);
  if (!by_uri_.contains(target.uri)) {
    const auto loaded = load_metaschema(target.uri);
    if (!loaded) return std::unexpected(loaded.error());
    if (!*loaded) {
      return invalid(
          fmt::format("the reference \"{}\" leads out of the schema", reference.substr(0, 200)),
          "remote schemas are never fetched");
    }
  }
  const Resource& resource = resources_[by_uri_.at(target.uri)];
  if (target.fragment.empty()) return Target{resource.root, ""};
  if (target.fragment.front() == '/') {
    const auto found = follow(*resource.root, target.fragment);
    if (!found) return std::unexpected(found.error());
    return Target{*found, ""};
  }
  const auto anchor = resource.anchors.find(target.fragment);
  if (anchor == resource.anchors.end()) {
    return invalid(fmt::format("the reference \"{}\" leads nowhere", reference.substr(0, 200)));
  }
  const bool dynamic = resource.dynamic_anchors.contains(target.fragment);
  return Target{anchor->second, dynamic ? target.fragment : ""};
}

Result<const Json*> SchemaIndex::follow(const Json& from, std::string_view pointer) {
  const auto nowhere = [&] {
    return invalid(fmt::format("the reference \"#{}\" leads nowhere", pointer.substr(0, 200)));
  };
  const auto tokens = pointer_tokens(pointer);
  if (!tokens) return nowhere();
  const Json* at = &from;
  ResourceId within = resource_of(from);
  for (const std::string& token : *tokens) {
    if (at->is_object()) {
      at = find_member(*at, token);
    } else if (at->is_array()) {
      std::size_t index = 0;
      const auto end = std::from_chars(token.data(), token.data() + token.size(), index);
      const bool whole = end.ec == std::errc() && end.ptr == token.data() + token.size();
      at = whole && index < at->size() ? &(*at)[index] : nullptr;
    } else {
      at = nullptr;
    }
    if (at == nullptr) return nowhere();
    if (const auto known = place_.find(at); known != place_.end()) within = known->second;
  }
  if (!is_schema(*at)) return nowhere();
  // A schema under a keyword that we do not know becomes one by being referred to.
  if (auto walked = walk(*at, within); !walked) return pass_on(walked);
  return at;
}

}  // namespace mcpac::schema
