// SPDX-License-Identifier: Apache-2.0

#include "analyzer/form.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace mcpac::analyzer {

void Form::reject(std::string_view at, std::string_view why) {
  if (failed()) return;
  at_ = at;
  why_ = why;
}

std::unexpected<Error> Form::error(std::string_view what) const {
  return fail(ErrorId::kAnalyzerFailed, fmt::format("{} is malformed", what),
              {.where = at_, .why = why_});
}

const Json* Form::member(const Json& object, std::string_view name, std::string_view at) {
  const Json* found = object.is_object() ? find_member(object, name) : nullptr;
  if (found == nullptr) reject(fmt::format("{}/{}", at, name), "the member is missing");
  return found;
}

void Form::expect_members(const Json& object, std::initializer_list<std::string_view> names,
                          std::string_view at) {
  if (!object.is_object()) return reject(at, "an object belongs here");
  for (const auto& [name, value] : object.items()) {
    if (std::ranges::find(names, std::string_view(name)) == names.end())
      reject(fmt::format("{}/{}", at, name), "no such member is known");
  }
  for (const std::string_view name : names) member(object, name, at);
}

std::string Form::text_value(const Json& value, std::string_view at) {
  if (!value.is_string()) {
    reject(at, "a text belongs here");
    return {};
  }
  const auto& text = value.get_ref<const std::string&>();
  if (text.size() > kMaxText) {
    reject(at, "the text is too long");
    return {};
  }
  return text;
}

std::string Form::text(const Json& object, std::string_view name, std::string_view at) {
  const Json* found = member(object, name, at);
  return found == nullptr ? std::string() : text_value(*found, fmt::format("{}/{}", at, name));
}

unsigned Form::number(const Json& object, std::string_view name, std::string_view at) {
  const Json* found = member(object, name, at);
  if (found == nullptr) return 0;
  const bool fits = found->is_number_unsigned() &&
                    found->get<std::uint64_t>() <= std::numeric_limits<unsigned>::max();
  if (!fits) {
    reject(fmt::format("{}/{}", at, name), "a number from 0 to 4294967295 belongs here");
    return 0;
  }
  return found->get<unsigned>();
}

bool Form::truth(const Json& object, std::string_view name, std::string_view at) {
  const Json* found = member(object, name, at);
  if (found == nullptr) return false;
  if (!found->is_boolean()) reject(fmt::format("{}/{}", at, name), "true or false belongs here");
  return found->is_boolean() && found->get<bool>();
}

const Json& Form::list(const Json& object, std::string_view name, std::string_view at) {
  static const Json kEmpty = Json::array();
  const Json* found = member(object, name, at);
  if (found == nullptr) return kEmpty;
  if (found->is_array() && found->size() <= kMaxEntries) return *found;
  reject(fmt::format("{}/{}", at, name), "a list of at most 100000 entries belongs here");
  return kEmpty;
}

const Json& Form::map(const Json& object, std::string_view name, std::string_view at) {
  static const Json kEmpty = Json::object();
  const Json* found = member(object, name, at);
  if (found == nullptr) return kEmpty;
  if (found->is_object() && found->size() <= kMaxEntries) return *found;
  reject(fmt::format("{}/{}", at, name), "an object of at most 100000 members belongs here");
  return kEmpty;
}

}  // namespace mcpac::analyzer
