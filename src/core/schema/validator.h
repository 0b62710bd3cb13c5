// SPDX-License-Identifier: Apache-2.0

// Validator: the state of one validation, from the whole value down.
//
// Schema and value are both a stranger's. What a server writes as `anyOf` in a recursion can take
// exponential time, and a reference to itself takes forever; so work and depth have budgets, and a
// value that exhausts one is refused, also from within "not", which would turn a failure around.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "core/json_schema.h"
#include "core/schema/node.h"

namespace mcpac::schema {

// Current place in the value, as a chain on the stack: made into text only for a violation.
struct Path {
  const Path* outer = nullptr;
  std::string_view name;
  std::size_t index = 0;
  enum class Step { kRoot, kMember, kItem } step = Step::kRoot;
};

// As a JSON pointer (RFC 6901).
[[nodiscard]] std::string pointer_of(const Path& path);

// The schema resources that were entered on the way: the dynamic scope of "$dynamicRef".
struct Scope {
  const Scope* outer = nullptr;
  ResourceId resource = 0;
};

// Members or items that the "unevaluated" keywords no longer see, by their address.
class Evaluated {
 public:
  void add(const Json& child) { children_.insert(&child); }
  void add(const Evaluated& other) {
    children_.insert(other.children_.begin(), other.children_.end());
  }
  [[nodiscard]] bool has(const Json& child) const { return children_.contains(&child); }

 private:
  std::unordered_set<const Json*> children_;
};

class Validator {
 public:
  explicit Validator(const Program& program) : program_(program) {}
  std::optional<SchemaViolation> run(const Json& value) { return run(*program_.root, value); }
  // As if this were the whole schema.
  std::optional<SchemaViolation> run(const Node& root, const Json& value);
  [[nodiscard]] std::size_t work() const { return work_; }

 private:
  // Arguments of every check. `evaluated` is null where it is not needed.
  struct At {
    const Json& value;
    const Path& path;
    const Scope& scope;
    Evaluated* evaluated;
  };

  bool check(const Node& node, const At& at);
  bool check_scoped(const Node& node, const At& at);
  bool check_rules(const Node& node, const At& at);
  bool check_by_type(const Node& node, const At& at);
  bool check_type(const Node& node, const At& at);
  bool check_values(const Node& node, const At& at);
  bool check_number(const NumberRules& rules, const At& at);
  bool check_string(const StringRules& rules, const At& at);

  bool check_array(const ArrayRules& rules, const At& at);
  bool check_items(const ArrayRules& rules, const At& at);
  bool check_contains(const ArrayRules& rules, const At& at);
  bool check_unique(const At& at);
  bool check_object(const ObjectRules& rules, const At& at);
  bool check_members(const ObjectRules& rules, const At& at);
  bool check_member(const ObjectRules& rules, const At& at, const std::string& name,
                    const Json& value);
  bool check_dependent(const ObjectRules& rules, const At& at);
  bool check_unevaluated(const Node& node, const At& at);

  bool check_in_place(const InPlace& rules, const At& at);
  bool check_any_of(const InPlace& rules, const At& at);
  bool check_one_of(const InPlace& rules, const At& at);
  bool check_condition(const InPlace& rules, const At& at);
  bool check_dynamic(const InPlace& rules, const At& at);
  // Whether a schema holds, saying nothing when it does not; keeps what it evaluated when it does.
  bool holds_quietly(const Node& node, const At& at);
  bool check_child(const Node& node, const At& at, const Json& child, const Path& path);

  // Returns false. The first violation counts; in a quiet place none does.
  bool violated(const At& at, std::string_view keyword,
                const std::function<std::string()>& message);
  // False when the budget is used up.
  bool spend(std::size_t work);

  const Program& program_;
  std::optional<SchemaViolation> violation_;
  std::size_t work_ = 0;
  std::size_t depth_ = 0;
  std::size_t quiet_ = 0;
  bool exhausted_ = false;
};

}  // namespace mcpac::schema
