#include "core/schema/keywords.h"

#include <fmt/format.h>

#include <limits>

#include "core/json_compare.h"
#include "core/schema/node.h"

namespace mcpac::schema {
namespace {

std::uint8_t type_bit(std::string_view name) {
  if (name == "null") return kNullBit;
  if (name == "boolean") return kBooleanBit;
  if (name == "object") return kObjectBit;
  if (name == "array") return kArrayBit;
  if (name == "number") return kNumberBit;
  if (name == "string") return kStringBit;
  if (name == "integer") return kIntegerBit;
  return 0;
}

}  // namespace

void KeywordReader::refuse(std::string_view keyword, std::string_view what) {
  if (error_) return;
  error_ = Error{ErrorId::kSchemaInvalid, fmt::format("\"{}\" {}", keyword, what),
                 fmt::format("{}/{}", location_, keyword), "", ""};
}

void KeywordReader::pass_on(Error error, std::string_view keyword) {
  if (error_) return;
  error_ = std::move(error);
  error_->where = fmt::format("{}/{}", location_, keyword);
}

const Json* KeywordReader::of_type(std::string_view keyword, bool (*is)(const Json&),
                                   std::string_view type) {
  const Json* value = any(keyword);
  if (value == nullptr || is(*value)) return value;
  refuse(keyword, fmt::format("must be {}", type));
  return nullptr;
}

const Json* KeywordReader::number(std::string_view keyword) {
  return of_type(
      keyword, [](const Json& value) { return value.is_number(); }, "a number");
}
const Json* KeywordReader::text(std::string_view keyword) {
  return of_type(
      keyword, [](const Json& value) { return value.is_string(); }, "a string");
}
const Json* KeywordReader::array(std::string_view keyword) {
  return of_type(
      keyword, [](const Json& value) { return value.is_array(); }, "an array");
}
const Json* KeywordReader::object(std::string_view keyword) {
  return of_type(
      keyword, [](const Json& value) { return value.is_object(); }, "an object");
}

bool KeywordReader::flag(std::string_view keyword) {
  const Json* value = of_type(
      keyword, [](const Json& json) { return json.is_boolean(); }, "true or false");
  return value != nullptr && value->get<bool>();
}

std::optional<std::uint64_t> KeywordReader::count(std::string_view keyword) {
  const Json* value = number(keyword);
  if (value == nullptr) return std::nullopt;
  if (!is_integral(*value) || compare_numbers(*value, Json(0U)) < 0) {
    refuse(keyword, "must be a whole number, zero or more");
    return std::nullopt;
  }
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  if (compare_numbers(*value, Json(kMost)) >= 0) return kMost;
  return value->get<std::uint64_t>();
}

std::vector<std::string> KeywordReader::names_in(const Json& value, std::string_view keyword) {
  std::vector<std::string> names;
  for (const Json& name : value) {
    if (!name.is_string()) {
      refuse(keyword, "must be a list of names");
      return {};
    }
    names.push_back(name.get<std::string>());
  }
  return names;
}

std::vector<std::string> KeywordReader::names(std::string_view keyword) {
  const Json* value = array(keyword);
  return value == nullptr ? std::vector<std::string>() : names_in(*value, keyword);
}

std::uint8_t KeywordReader::types() {
  const Json* value = any("type");
  if (value == nullptr) return 0;
  std::uint8_t bits = 0;
  const auto add = [&](const Json& name) {
    const std::uint8_t bit =
        name.is_string() ? type_bit(name.get_ref<const std::string&>()) : std::uint8_t{0};
    if (bit == 0) refuse("type", "must name types of JSON values");
    bits = static_cast<std::uint8_t>(bits | bit);
  };
  if (value->is_array()) {
    for (const Json& name : *value) add(name);
    if (value->empty()) refuse("type", "must name at least one type");
  } else {
    add(*value);
  }
  return bits;
}

}  // namespace mcpac::schema
