#include "core/offer.h"

namespace mcpac {
namespace {

// A URI has a scheme (RFC 3986, 3.1), no blanks or control bytes, and no dot segments: these are
// removed by some readers (6.2.2.3; WHATWG's URL standard also where dots or slashes are encoded)
// and not by others, so a rule over the text would admit another place than the server reads. For
// the same reason no unreserved character is percent-encoded (2.3, 6.2.2.2): "%73ecret" is "secret"
// to most readers, and another text to a rule that denies that. Nor is a control byte: readers that
// decode first end the text at %00, or leave out the others.
constexpr const char* kUri = R"re(^[A-Za-z][A-Za-z0-9+.\-]*:[^\u0000-\u0020\u007f\\]*$)re";
constexpr const char* kReadApart =
    R"re((?:[/:]|%2[fF]|%5[cC])(?:\.|%2[eE]){1,2}(?:[/?#]|%2[fF]|%5[cC]|$))re"
    R"re(|%(?:[01][0-9a-fA-F]|2[dDeE]|3[0-9]|[46][1-9a-fA-F]|[57][0-9aA]|5[fF]|7[eEfF]))re";
constexpr int kMaxUri = 8'192;

Json resource_schema() {
  Json uri{{"type", "string"},
           {"maxLength", kMaxUri},
           {"pattern", kUri},
           {"not", {{"pattern", kReadApart}}}};
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
