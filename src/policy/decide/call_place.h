// SPDX-License-Identifier: Apache-2.0

// CallPlace: one place in the arguments of a call, with all that rules look for there.
//
// A place knows which tests end at it, which go on to a member or to the elements, which closed
// brackets count its members, and what the schema says of it. What a concrete value means to it is
// answered here, with the real matchers; call_classes.h asks about all values.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/json_schema.h"
#include "policy/decide/call_marks.h"
#include "policy/rules/schema_view.h"

namespace mcpac::policy {

struct Watch {
  const CompiledArg* arg;
  std::size_t step;
  Reading reading;
  std::size_t mark;  // set when it fails; where it looks into many values: set when it has caught
  [[nodiscard]] bool ends() const { return step == arg->steps.size(); }
  [[nodiscard]] const ast::Member* member() const {
    return ends() ? nullptr : std::get_if<ast::Member>(&arg->steps[step]);
  }
  void note(bool passed, Marks& marks) const;
};

// The closed world of an allow, as far as it is about members of this place.
struct NameWatch {
  const NameTree* tree;
  std::size_t mark;
};

class CallPlace {
 public:
  CallPlace(const std::vector<MarkedLayer>& layers, const Permission& tool, SchemaView view,
            const DefaultPlace* defaults = nullptr);

  [[nodiscard]] CallPlace member(const std::string& name) const;
  [[nodiscard]] CallPlace elements() const;

  // A match of one matcher; string classes answer for strings that are not written down.
  using Answer = std::function<Outcome(const CompiledArg&, std::size_t matcher, const CallView&)>;
  // What a value does here by itself, its members and elements left aside.
  [[nodiscard]] Marks of_value(const Json& value, const Answer& answer) const;
  [[nodiscard]] Marks of_value(const Json& value) const;
  // What a whole value does, everything in it included.
  [[nodiscard]] Marks of_all(const Json& value) const;
  // What the absence of a member does, and its presence whatever its value is.
  [[nodiscard]] Marks of_absence(const std::string& name) const;
  [[nodiscard]] Marks of_presence(const std::string& name, bool equals_default) const;
  [[nodiscard]] Marks of_any_string(const Json& text, const Answer& answer) const;

  // Members that rules or the schema name.
  [[nodiscard]] std::set<std::string> known_members() const;
  [[nodiscard]] bool forbids_member(const std::string& name) const;
  // Nothing that could be here makes a difference to any rule.
  [[nodiscard]] bool is_unwatched() const {
    return watches_.empty() && names_.empty() && any_strings_.empty();
  }
  [[nodiscard]] const std::vector<Watch>& watches() const { return watches_; }
  [[nodiscard]] const std::vector<Watch>& any_strings() const { return any_strings_; }
  [[nodiscard]] bool counts_names() const { return !names_.empty(); }
  [[nodiscard]] const SchemaView& view() const { return view_; }
  [[nodiscard]] std::size_t depth() const { return depth_; }
  [[nodiscard]] CallView call_view(const Watch& watch) const;

 private:
  CallPlace(const CallPlace& above, SchemaView view, const DefaultPlace* defaults, MeantAs meant);
  void add_names(const NameWatch& above, const NameTree& tree);

  const Permission* tool_;
  SchemaView view_;
  const DefaultPlace* defaults_ = nullptr;  // what may stand in members that are left out
  std::size_t depth_ = 0;
  MeantAs meant_ = MeantAs::kUnknown;  // strings here
  std::vector<Watch> watches_;
  std::vector<NameWatch> names_;
  std::vector<Watch> any_strings_;
};

}  // namespace mcpac::policy
