// SPDX-License-Identifier: Apache-2.0

#include "mcp/secrets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "core/ascii.h"
#include "core/file.h"
#include "mcp/environment.h"
#include "mcp/placeholders.h"

namespace mcpac::mcp {
namespace {

constexpr std::size_t kMinRedacted = 4;
constexpr std::size_t kMinRedactedLine =
    8;  // shorter lines of a longer secret are words like "end"
constexpr std::size_t kMaxSecretFile = std::size_t{64} << 10U;

// Of mcpac's own environment; nothing: the default is used.
Result<std::optional<std::string>> read_variable(const VariableReference& variable,
                                                 std::string_view reference,
                                                 std::string_view where) {
  const std::string name(variable.name);
  const char* value = std::getenv(name.c_str());
  if (variable.otherwise && (value == nullptr || *value == '\0')) return std::nullopt;
  if (value != nullptr) return std::string(value);
  return fail(ErrorId::kSecretMissing, fmt::format("the variable {} is not set", name),
              {.where = std::string(where),
               .why = fmt::format("{} stands for its value", reference),
               .fix = fmt::format("export {0}=…, or ${{env:{0}:-TEXT}} with a default", name)});
}

Result<std::string> read_secret_file(std::string_view path, std::string_view reference,
                                     std::string_view where) {
  auto text = read_file(std::string(path), kMaxSecretFile);
  if (!text) {
    return fail(ErrorId::kSecretMissing, fmt::format("{} cannot be read", reference),
                {.where = std::string(where), .why = text.error().what});
  }
  if (text->ends_with('\n')) text->pop_back();
  if (text->ends_with('\r')) text->pop_back();
  if (text->find('\0') != std::string::npos) {
    return fail(ErrorId::kConfigInvalid, fmt::format("{} holds a NUL byte", reference),
                {.where = std::string(where)});
  }
  return text;
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_bare(c) || c == '.' || c == '~') {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

// All in which a value is looked for.
std::vector<std::string> forms_of(const std::string& value) {
  if (value.size() < kMinRedacted) return {};
  const std::string json = to_text(Json(value));
  std::vector<std::string> forms = {value, json.substr(1, json.size() - 2), percent_encoded(value)};
  for (std::size_t at = 0; value.find('\n') != std::string::npos && at < value.size();) {
    const auto end = std::min(value.find('\n', at), value.size());
    if (end - at >= kMinRedactedLine) forms.push_back(value.substr(at, end - at));
    at = end + 1;
  }
  return forms;
}

template <class Value>
void rename_members(const SecretValues& secrets, Value& object) {
  using Object = typename Value::object_t;
  Object renamed;
  for (auto& [key, member] : object.template get_ref<Object&>()) {
    if constexpr (std::is_same_v<Value, OrderedJson>) {
      // Past ordered_map's own insertion, which searches all members each time.
      static_cast<typename Object::Container&>(renamed).emplace_back(secrets.redact(key),
                                                                     std::move(member));
    } else {
      renamed.emplace(secrets.redact(key), std::move(member));
    }
  }
  object = Value(std::move(renamed));
}

template <class Value>
void redact_value(const SecretValues& secrets, Value& value) {
  if (value.is_string()) {
    auto& text = value.template get_ref<typename Value::string_t&>();
    if (secrets.occurs_in(text)) text = secrets.redact(text);
  } else if (value.is_array()) {
    for (auto& element : value) redact_value(secrets, element);
  } else if (value.is_object()) {
    bool rename = false;
    for (auto& [key, member] : value.items()) {
      redact_value(secrets, member);
      rename = rename || secrets.occurs_in(key);
    }
    if (rename) rename_members(secrets, value);
  }
}

}  // namespace

Result<std::string> SecretValues::expand(std::string_view text, std::string_view where) {
  std::string out;
  while (!text.empty()) {
    const auto env = text.find("${env:");
    const auto file = text.find("${file:");
    const auto start = std::min(env, file);
    if (const auto escaped = text.find("$${"); escaped < start) {
      out += text.substr(0, escaped);
      out += "${";
      text.remove_prefix(escaped + 3);
      continue;
    }
    out += text.substr(0, start);
    if (start == std::string_view::npos) break;
    text.remove_prefix(start);
    const auto end = text.find('}');
    if (end == std::string_view::npos) {
      return fail(ErrorId::kConfigInvalid, "a reference to a secret is not closed",
                  {.where = std::string(where), .fix = "${env:NAME} or ${file:PATH}"});
    }
    const std::string reference(text.substr(0, end + 1));
    const auto colon = text.find(':');
    const auto name = text.substr(colon + 1, end - colon - 1);
    if (file < env) {
      auto value = read_secret_file(name, reference, where);
      if (!value) return pass_on(value);
      remember(*value, reference);
      out += *value;
    } else {
      const auto variable = variable_reference(name);
      if (!variable)
        return fail(ErrorId::kConfigInvalid, fmt::format("{} names no variable", reference),
                    {.where = std::string(where),
                     .fix = "${env:NAME}, or ${env:NAME:-TEXT} with a default that holds no "
                            "reference"});
      auto value = read_variable(*variable, reference, where);
      if (!value) return pass_on(value);
      // What takes its place in what is shown has no default: that may look like a place.
      if (*value && !is_base_variable(variable->name))
        remember(**value, fmt::format("${{env:{}}}", variable->name));
      out += value->value_or(std::string(variable->otherwise.value_or("")));
    }
    text.remove_prefix(end + 1);
  }
  return out;
}

void SecretValues::keep(const std::string& value, const std::string& reference) {
  auto one = std::pair(value, reference);
  if (const auto known = std::ranges::find(kept_, one); known != kept_.end()) kept_.erase(known);
  kept_.push_back(std::move(one));
  remember(value, reference);
  if (kept_.size() <= kMostKept) return;
  const auto [oldest, its_reference] = std::move(kept_.front());
  kept_.pop_front();
  forget(oldest, its_reference);
  // What two of them have in common stays known.
  for (const auto& [other, stands] : kept_) remember(other, stands);
}

void SecretValues::know(const std::string& value, const std::string& reference) {
  remember(value, reference);
}

void SecretValues::remember(const std::string& value, const std::string& reference) {
  for (auto& form : forms_of(value)) {
    const std::size_t size = form.size();
    if (forms_.try_emplace(std::move(form), reference).second) bytes_ += size;
  }
  search_.reset();
}

void SecretValues::forget(const std::string& value, const std::string& reference) {
  for (const auto& form : forms_of(value)) {
    const auto known = forms_.find(form);
    if (known == forms_.end() || known->second != reference) continue;
    bytes_ -= form.size();
    forms_.erase(known);
  }
  search_.reset();
}

const SecretValues::Search& SecretValues::search() const {
  if (search_) return *search_;
  std::vector<std::string> forms;
  std::vector<std::string> references;
  for (const auto& [form, reference] : forms_) {
    forms.push_back(form);
    references.push_back(reference);
  }
  search_ = std::make_shared<const Search>(Search{TextFinder(forms), std::move(references)});
  return *search_;
}

bool SecretValues::occurs_in(std::string_view text) const {
  return !empty() && search().finder.occurs_in(text);
}

bool SecretValues::occurs_within(const Json& value) const {
  if (empty()) return false;
  if (value.is_string()) return occurs_in(value.get_ref<const std::string&>());
  if (value.is_array())
    return std::ranges::any_of(value,
                               [this](const Json& element) { return occurs_within(element); });
  if (!value.is_object()) return false;
  const auto& members = value.get_ref<const Json::object_t&>();
  return std::ranges::any_of(members, [this](const auto& member) {
    return occurs_in(member.first) || occurs_within(member.second);
  });
}

// One pass over the text: what was put in is not searched again, since a reference may itself
// contain the value of another secret. Of values that overlap all is taken out, for the first.
std::string SecretValues::redact(std::string_view text) const {
  if (empty()) return std::string(text);
  const Search& known = search();
  std::string out;
  std::size_t at = 0;
  for (const auto& place : known.finder.find(text)) {
    out += text.substr(at, place.begin - at);
    out += known.references[place.needle];
    at = place.end;
  }
  out += text.substr(at);
  return out;
}

Error SecretValues::redact(Error error) const {
  error.what = redact(error.what);
  error.where = redact(error.where);
  error.why = redact(error.why);
  error.fix = redact(error.fix);
  return error;
}

void SecretValues::redact(Json& value) const {
  if (!empty()) redact_value(*this, value);
}

void SecretValues::redact(OrderedJson& value) const {
  if (!empty()) redact_value(*this, value);
}

}  // namespace mcpac::mcp
