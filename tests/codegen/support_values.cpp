#include "support_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

namespace mcpac::codegen::testing {
namespace {

constexpr int kDeep = 5;  // below it nothing optional any more

double bound(const OrderedJson& schema, const char* name, double otherwise) {
  const OrderedJson* value = keyword(schema, name);
  return value != nullptr && value->is_number() ? value->get<double>() : otherwise;
}

std::size_t count(const OrderedJson& schema, const char* name, std::size_t otherwise) {
  const double value = bound(schema, name, static_cast<double>(otherwise));
  return static_cast<std::size_t>(std::clamp(value, 0.0, 10'000.0));
}

// Texts that formats and common patterns let in, and some that must survive as they are.
constexpr auto kTexts = std::to_array<const char*>({"a",
                                                    "",
                                                    "text with \"quotes\" and \\ and\nlines",
                                                    "ä搜索\U0001F600",
                                                    "2024-02-29",
                                                    "2024-02-29T12:30:00Z",
                                                    "https://example.com/a?b=c",
                                                    "user@example.com",
                                                    "abc123",
                                                    "ABC-123",
                                                    "0",
                                                    "1.5",
                                                    "#a1b2c3",
                                                    "12:30",
                                                    "owner/name",
                                                    "3fa85f64-5717-4562-b3fc-2c963f66afa6",
                                                    "0123456789abcdef0123456789abcdef01234567",
                                                    "true",
                                                    "null",
                                                    "key-1",
                                                    "A1:B2",
                                                    "192.0.2.1"});

}  // namespace

std::uint64_t Values::below(std::uint64_t end) {
  return end == 0 ? 0 : random_() % end;
}

Json Values::next() {
  least_ = below(8) == 0;
  resolver_.emplace(schema_);
  return value(schema_, 0);
}

Json Values::any(int depth) {
  switch (below(depth > kDeep ? 4 : 6)) {
    case 0: return static_cast<std::int64_t>(random_());
    case 1: return text(OrderedJson::object());
    case 2: return below(2) == 0;
    case 3: return number(OrderedJson::object());
    case 4: return Json::array({any(depth + 1), any(depth + 1)});
    default: return Json{{"k", any(depth + 1)}, {"", any(depth + 1)}};
  }
}

Json Values::value(const OrderedJson& schema, int depth) {
  Resolved target = resolver_->follow(schema);
  for (int i = 0; i < 4 && target.schema != nullptr; ++i) {
    target = resolver_->merged(*target.schema);
    if (target.schema != nullptr) target = resolver_->follow(*target.schema);
  }
  if (target.schema == nullptr || !target.schema->is_object() || depth > 4 * kDeep)
    return any(depth);
  const OrderedJson& at = *target.schema;
  if (const OrderedJson* constant = keyword(at, "const")) return Json::parse(constant->dump());
  if (const OrderedJson* values = keyword(at, "enum");
      values != nullptr && values->is_array() && !values->empty())
    return Json::parse((*values)[below(values->size())].dump());
  for (const char* name : {"anyOf", "oneOf"}) {
    const OrderedJson* branches = keyword(at, name);
    if (branches == nullptr || !branches->is_array() || branches->empty()) continue;
    const OrderedJson& branch = (*branches)[below(branches->size())];
    if (keyword(at, "properties") == nullptr && keyword(at, "type") == nullptr)
      return value(branch, depth + 1);
    // What stands beside the branches holds as well.
    OrderedJson both = at;
    both.erase(name);
    both["allOf"].push_back(branch);
    return value(both, depth + 1);
  }
  if (const OrderedJson* type = keyword(at, "type")) {
    if (type->is_string()) return of_type(type->get<std::string>(), at, depth);
    if (type->is_array() && !type->empty()) {
      const OrderedJson& one = (*type)[below(type->size())];
      return of_type(one.is_string() ? one.get<std::string>() : "", at, depth);
    }
  }
  if (keyword(at, "properties") != nullptr) return object(at, depth);
  if (keyword(at, "items") != nullptr || keyword(at, "prefixItems") != nullptr)
    return array(at, depth);
  return any(depth);
}

Json Values::of_type(const std::string& type, const OrderedJson& schema, int depth) {
  if (type == "string") return text(schema);
  if (type == "boolean") return below(2) == 0;
  if (type == "integer") return integer(schema);
  if (type == "number") return number(schema);
  if (type == "array") return array(schema, depth);
  if (type == "object") return object(schema, depth);
  return nullptr;
}

Json Values::object(const OrderedJson& schema, int depth) {
  Json made = Json::object();
  std::set<std::string> must;
  if (const OrderedJson* required = keyword(schema, "required")) {
    for (const auto& name : *required) must.insert(name.is_string() ? name.get<std::string>() : "");
  }
  const OrderedJson* properties = keyword(schema, "properties");
  if (properties != nullptr && properties->is_object()) {
    const bool sparse = least_ || depth > kDeep;
    for (const auto& [name, property] : properties->items()) {
      const bool wanted = must.contains(name) || (!sparse && below(3) != 0);
      if (wanted && property != false) made[name] = value(property, depth + 1);
    }
  }
  const OrderedJson* more = keyword(schema, "additionalProperties");
  const bool open = more != nullptr && *more != false;
  for (std::uint64_t i = open && !least_ && depth <= kDeep ? below(3) : 0; i > 0; --i) {
    const std::string name = "extra" + std::to_string(i);
    if (!made.contains(name)) made[name] = value(*more, depth + 1);
  }
  return made;
}

Json Values::array(const OrderedJson& schema, int depth) {
  Json made = Json::array();
  const OrderedJson* first = keyword(schema, "prefixItems");
  const OrderedJson* items = keyword(schema, "items");
  if (items != nullptr && items->is_array()) std::swap(first, items);
  if (first != nullptr && first->is_array()) {
    for (const auto& item : *first) made.push_back(value(item, depth + 1));
  }
  const std::size_t least = count(schema, "minItems", 0);
  const std::size_t most = std::max(least, count(schema, "maxItems", least + 3));
  const bool more = first == nullptr || (items != nullptr && items->is_object());
  std::size_t wanted = least + below(std::min<std::size_t>(most - least, 3) + 1);
  if (depth > kDeep || least_) wanted = least;
  while (more && made.size() < wanted)
    made.push_back(items == nullptr ? any(depth + 1) : value(*items, depth + 1));
  return made;
}

Json Values::integer(const OrderedJson& schema) {
  const double low =
      std::max(bound(schema, "minimum", -1e30), bound(schema, "exclusiveMinimum", -1e30) + 1);
  const double high =
      std::min(bound(schema, "maximum", 1e30), bound(schema, "exclusiveMaximum", 1e30) - 1);
  if (low >= 0 && high >= 1.8e19 && below(2) == 0 && high < 1e20)
    return std::numeric_limits<std::uint64_t>::max() - below(1000);
  // The ends of 64 bits, where digits are lost first.
  if (below(3) == 0) {
    const std::int64_t edge = below(2) == 0 ? std::numeric_limits<std::int64_t>::max()
                                            : std::numeric_limits<std::int64_t>::min();
    const auto from_edge = static_cast<std::int64_t>(below(1000));
    const std::int64_t value = edge > 0 ? edge - from_edge : edge + from_edge;
    if (static_cast<double>(value) >= low && static_cast<double>(value) <= high) return value;
  }
  const double least = std::max(low, -1e6);
  const double span = std::clamp(high - least, 0.0, 2e6);
  return static_cast<std::int64_t>(least) +
         static_cast<std::int64_t>(below(static_cast<std::uint64_t>(span) + 1));
}

Json Values::number(const OrderedJson& schema) {
  if (below(3) == 0) {
    OrderedJson small = schema;
    for (const char* name : {"minimum", "maximum"}) {
      if (keyword(small, name) == nullptr) small[name] = name[1] == 'i' ? -1e6 : 1e6;
    }
    return integer(small);
  }
  const double low =
      std::max(bound(schema, "minimum", -1e300), bound(schema, "exclusiveMinimum", -1e300));
  const double high =
      std::min(bound(schema, "maximum", 1e300), bound(schema, "exclusiveMaximum", 1e300));
  const double part = static_cast<double>(below(1'000'003) + 1) / 1'000'004.0;
  if (high - low > 1e6 && below(2) == 0) return std::clamp(part * 1e3, low, high);
  return low / 2 + high / 2 + (high / 2 - low / 2) * (2 * part - 1);
}

Json Values::text(const OrderedJson& schema) {
  std::string made = kTexts[below(kTexts.size())];
  const std::size_t least = count(schema, "minLength", 0);
  const std::size_t most = count(schema, "maxLength", 10'000);
  if (made.size() < least) made.append(least - made.size(), 'x');
  if (made.size() > most) made = std::string(most, 'y');
  return made;
}

}  // namespace mcpac::codegen::testing
