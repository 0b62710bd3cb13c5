// SPDX-License-Identifier: Apache-2.0

#include "core/offer.h"

#include "core/uri_spelling.h"

namespace mcpac {
namespace {

// A URI has a scheme (RFC 3986, 3.1), no blanks or control bytes, and no dot segments: these are
// removed by some readers (6.2.2.3; WHATWG's URL standard also where dots or slashes are encoded)
// and not by others, so a rule over the text would admit another place than the server reads. For
// the same reason no unreserved character is percent-encoded (2.3, 6.2.2.2) and no control byte
// (core/uri_spelling.h).
constexpr const char* kUri = R"re(^[A-Za-z][A-Za-z0-9+.\-]*:[^\u0000-\u0020\u007f\\]*$)re";
constexpr int kMaxUri = 8'192;

Json resource_schema() {
  Json uri{{"type", "string"},
           {"maxLength", kMaxUri},
           {"pattern", kUri},
           {"not", {{"pattern", read_apart_pattern()}}},
           {"examples", {"file:///a"}}};
  return {{"type", "object"},
          {"properties", {{"uri", std::move(uri)}}},
          {"required", {"uri"}},
          {"additionalProperties", false}};
}

// Arguments of a prompt are texts (GetPromptRequestParams).
Json prompt_schema() {
  Json arguments{{"type", "object"},
                 {"additionalProperties", {{"type", "string"}}},
                 {"default", Json::object()}};
  return {{"type", "object"},
          {"properties",
           {{"name", {{"type", "string"}, {"minLength", 1}}}, {"arguments", std::move(arguments)}}},
          {"required", {"name"}},
          {"additionalProperties", false}};
}

}  // namespace

std::optional<Offer> offer_named(std::string_view tool) {
  if (tool == kReadResource) return Offer::kResource;
  if (tool == kGetPrompt) return Offer::kPrompt;
  return std::nullopt;
}

std::string_view name_of(Offer offer) {
  return offer == Offer::kResource ? kReadResource : kGetPrompt;
}

const Json& schema_of(Offer offer) {
  static const Json resource = resource_schema();
  static const Json prompt = prompt_schema();
  return offer == Offer::kResource ? resource : prompt;
}

}  // namespace mcpac
