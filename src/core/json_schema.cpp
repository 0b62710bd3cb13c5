// SPDX-License-Identifier: Apache-2.0

#include "core/json_schema.h"

#include <fmt/format.h>

#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/schema/node.h"
#include "core/schema/places.h"
#include "core/schema/validate.h"

namespace mcpac {

namespace {

// Of a text that a JSON value was written into, as models do: "an array"; else empty.
std::string_view held_kind(const std::string& text) {
  constexpr std::size_t kMostRead = std::size_t{1} << 20U;
  if (text.empty() || text.size() > kMostRead) return "";
  const auto held = parse_json(text);
  if (!held) return "";
  if (held->is_array()) return "array";
  if (held->is_object()) return "object";
  if (held->is_boolean()) return "boolean";
  return held->is_number() ? "number" : "";
}

std::string kind_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null: return "null";
    case Json::value_t::boolean: return value.get<bool>() ? "true" : "false";
    case Json::value_t::object: return "an object";
    case Json::value_t::array: return "an array";
    case Json::value_t::string:
      return value.get_ref<const std::string&>().empty() ? "an empty text" : "a text";
    default: return "a number";
  }
}

}  // namespace

std::string came_instead(const SchemaViolation& violation, const Json& value) {
  const bool is_choice = violation.keyword == "anyOf" || violation.keyword == "oneOf";
  if (violation.keyword != "type" && !is_choice) return "";
  const Json* came = &value;
  if (!violation.pointer.empty()) {
    const Json::json_pointer place(violation.pointer);
    if (!value.contains(place)) return "";
    came = &value.at(place);
  }
  const std::string_view held =
      came->is_string() ? held_kind(came->get_ref<const std::string&>()) : std::string_view();
  const auto names = [&](std::string_view kind) {
    return violation.message.find(kind) != std::string::npos;
  };
  const bool is_meant =
      is_choice ? held == "array" || held == "object"
                : !held.empty() && (names(held) || (held == "number" && names("an integer")));
  if (is_meant)
    return fmt::format(", and is a text that holds {} {}: pass the {}",
                       held == "array" || held == "object" ? "an" : "a", held, held);
  return is_choice ? "" : ", and is " + kind_of(*came);
}

struct JsonSchema::Impl {
  std::unique_ptr<const schema::Program> program;
};

JsonSchema::JsonSchema(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JsonSchema::~JsonSchema() = default;

Result<std::shared_ptr<const JsonSchema>> JsonSchema::compile(const Json& schema,
                                                              UncheckablePatterns patterns) {
  auto program = schema::compile(schema, patterns);
  if (!program) return pass_on(program);
  auto impl = std::make_unique<Impl>();
  impl->program = std::move(*program);
  return std::shared_ptr<const JsonSchema>(new JsonSchema(std::move(impl)));
}

std::optional<SchemaViolation> JsonSchema::validate(const Json& value) const {
  return schema::validate(*impl_->program, value);
}

bool JsonSchema::fill_defaults(Json& value) const {
  return schema::fill_defaults(*impl_->program, value);
}

const std::vector<SchemaRemark>& JsonSchema::refused_defaults() const {
  return impl_->program->refused_defaults;
}

UnfilledDefaults JsonSchema::unfilled_defaults(const Json& text) const {
  UnfilledDefaults found;
  const auto& refused = impl_->program->refusing_defaults;
  if (refused.empty()) return found;
  // The same places of two equal values.
  std::vector<std::pair<const Json*, const Json*>> open{{impl_->program->document, &text}};
  while (!open.empty()) {
    const auto [own, given] = open.back();
    open.pop_back();
    if (refused.contains(own)) found.insert(given);
    if (!own->is_structured() || own->type() != given->type() || own->size() != given->size())
      continue;
    for (auto one = own->begin(), other = given->begin(); one != own->end(); ++one, ++other)
      open.emplace_back(&*one, &*other);
  }
  return found;
}

const std::vector<SchemaRemark>& JsonSchema::unchecked_patterns() const {
  return impl_->program->unchecked_patterns;
}

std::optional<SchemaViolation> JsonSchema::find_misnamed(const Json& value,
                                                         const AlsoNamed& also) const {
  return schema::find_misnamed(*impl_->program, value, also);
}

const DefaultPlace* DefaultPlace::member(std::string_view name) const {
  const auto found = members_.find(name);
  return found == members_.end() ? others_ : found->second;
}

// From the schemas of each place to what is left out there. Schemas below which nothing has a
// default are left aside, so of most schemas few places remain.
class SchemaDefaults::Builder {
 public:
  Builder(const schema::Program& program, SchemaDefaults& into)
      : program_(program),
        into_(into),
        useful_(schema::nodes_with_defaults(program)),
        places_(program, [this](const schema::Node* node) { return useful_.contains(node); }) {}

  void build() {
    if (useful_.empty()) return;
    schema::Place& root = places_.root();
    into_.root_ = made(root);
    while (!open_.empty()) {
      const auto [place, to] = open_.back();
      open_.pop_back();
      fill(*place, *to);
      if (is_spent()) make_unknown(*to);
    }
    if (into_.root_ == nullptr) return;
    merge_defaults_of_objects();
    // A copy: where the schema leads back into itself nothing is filled.
    into_.places_.push_back(std::make_unique<DefaultPlace>(*into_.root_));
    into_.root_ = into_.places_.back().get();
    forget_what_is_filled(*into_.places_.back());
  }

 private:
  // Real schemas have some hundred; recursive unions of many forms can be made to have any number.
  static constexpr std::size_t kMostPlaces = 10'000;
  static constexpr std::size_t kMostWork = 2'000'000;

  const DefaultPlace* made(schema::Place& place) {
    if (place.nodes.empty()) return nullptr;
    const auto [at, fresh] = known_.try_emplace(&place, nullptr);
    if (!fresh) return at->second;
    if (known_.size() > kMostPlaces || is_spent()) return at->second = unknown();
    into_.places_.push_back(std::make_unique<DefaultPlace>());
    at->second = into_.places_.back().get();
    open_.emplace_back(&place, at->second);
    return at->second;
  }

  DefaultPlace* unknown() {
    if (unknown_ != nullptr) return unknown_;
    into_.places_.push_back(std::make_unique<DefaultPlace>());
    unknown_ = into_.places_.back().get();
    make_unknown(*unknown_);
    return unknown_;
  }

  void make_unknown(DefaultPlace& place) {
    place.values_.clear();
    place.members_.clear();
    place.is_unknown_ = true;
    place.others_ = unknown();
    place.elements_ = unknown();
  }

  // Once spent, it stays so: nothing more is looked at, and what was begun is not known.
  [[nodiscard]] bool is_spent() const { return work_ + places_.work() > kMostWork; }

  void fill(schema::Place& place, DefaultPlace& to) {
    if (is_spent()) return;
    for (const schema::Node* node : place.nodes) {
      for (const Json* value : {node->default_value, node->default_beside_reference}) {
        if (value != nullptr) to.values_.push_back(value);
      }
    }
    for (const auto& name : schema::Places::named_members(place)) {
      if (++work_; is_spent()) return;
      if (const auto* below = made(places_.member(place, name)); below != nullptr)
        to.members_.emplace(name, below);
    }
    to.others_ = made(places_.any_other_member(place));
    to.elements_ = made(places_.any_element(place));
  }

  // A server may lay what it is given over the default of a whole object ({...DEFAULTS, ...given}):
  // what that has for a member is a default of the member.
  void merge_defaults_of_objects() {
    for (std::size_t i = 0; i < into_.places_.size(); ++i) {
      DefaultPlace& place = *into_.places_[i];
      for (std::size_t j = 0; j < place.values_.size(); ++j) {
        const Json& value = *place.values_[j];
        if (!value.is_object()) continue;
        for (const auto& [name, member] : value.get_ref<const Json::object_t&>()) {
          ++work_;
          if (is_spent() || into_.places_.size() > 2 * kMostPlaces) return know_nothing_from(i);
          place.members_[name] = with_value(place.member(name), member);
        }
      }
    }
  }

  // A copy of the place, which may be the member of other objects as well; null: there is none.
  const DefaultPlace* with_value(const DefaultPlace* known, const Json& value) {
    if (known != nullptr && known->is_unknown_) return known;
    const auto [at, fresh] = merged_.try_emplace({known, &value}, nullptr);
    if (!fresh) return at->second;
    into_.places_.push_back(known == nullptr ? std::make_unique<DefaultPlace>()
                                             : std::make_unique<DefaultPlace>(*known));
    DefaultPlace& made = *into_.places_.back();
    made.values_.push_back(&value);
    return at->second = &made;
  }

  void know_nothing_from(std::size_t first) {
    for (std::size_t i = first, end = into_.places_.size(); i < end; ++i)
      make_unknown(*into_.places_[i]);
  }

  static bool is_last(const DefaultPlace& place) {
    return place.members_.empty() && place.others_ == nullptr && place.elements_ == nullptr;
  }

  // A member of the whole value that is filled is never left out: where nothing below it has a
  // default either, there is nothing to look for.
  void forget_what_is_filled(DefaultPlace& root) {
    Json filled = Json::object();
    if (!schema::fill_defaults(program_, filled)) return;
    for (const auto& [name, value] : filled.items()) {
      const auto found = root.members_.find(name);
      if (found != root.members_.end() && is_last(*found->second)) root.members_.erase(found);
    }
    if (root.others_ == nullptr && root.members_.empty()) into_.root_ = nullptr;
  }

  const schema::Program& program_;
  SchemaDefaults& into_;
  std::unordered_set<const schema::Node*> useful_;
  schema::Places places_;
  std::unordered_map<const schema::Place*, DefaultPlace*> known_;
  std::vector<std::pair<schema::Place*, DefaultPlace*>> open_;
  std::map<std::pair<const DefaultPlace*, const Json*>, const DefaultPlace*> merged_;
  DefaultPlace* unknown_ = nullptr;
  std::size_t work_ = 0;  // beside that of places_
};

SchemaDefaults::SchemaDefaults(std::shared_ptr<const JsonSchema> schema, const Json* text)
    : schema_(std::move(schema)) {
  if (text != nullptr) unfilled_ = schema_->unfilled_defaults(*text);
  Builder(*schema_->impl_->program, *this).build();
}

}  // namespace mcpac
