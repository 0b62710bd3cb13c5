// SPDX-License-Identifier: Apache-2.0

#include "codegen/client_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codegen/resolve.h"

namespace mcpac::codegen {
namespace {

using IsFit = bool (*)(const OrderedJson& value);

bool is_text(const OrderedJson& value) {
  return value.is_string();
}
bool is_truth(const OrderedJson& value) {
  return value.is_boolean();
}
bool is_object(const OrderedJson& value) {
  return value.is_object();
}
bool is_list_of_texts(const OrderedJson& value) {
  return value.is_array() && std::ranges::all_of(value, is_text);
}
bool is_list_of_icons(const OrderedJson& value) {
  const auto is_icon = [](const OrderedJson& icon) {
    return icon.is_object() && icon.contains("src") && icon["src"].is_string();
  };
  return value.is_array() && std::ranges::all_of(value, is_icon);
}

struct Member {
  const char* name;
  IsFit is_fit;
};
constexpr Member kMembers[] = {{"title", is_text},         {"description", is_text},
                               {"annotations", is_object}, {"icons", is_list_of_icons},
                               {"execution", is_object},   {"_meta", is_object}};
constexpr Member kHints[] = {{"title", is_text},
                             {"readOnlyHint", is_truth},
                             {"destructiveHint", is_truth},
                             {"idempotentHint", is_truth},
                             {"openWorldHint", is_truth}};

class Form {
 public:
  explicit Form(const OrderedJson& definition) : definition_(definition) {}

  ClientForm take() && {
    drop_unfit(definition_, kMembers, "");
    if (definition_.contains("annotations"))
      drop_unfit(definition_["annotations"], kHints, "annotations.");
    drop_unfit_output();
    if (!fit_input()) return {std::nullopt, std::move(notes_)};
    return {std::move(definition_), std::move(notes_)};
  }

 private:
  template <std::size_t N>
  void drop_unfit(OrderedJson& object, const Member (&members)[N], const char* before) {
    for (const Member& member : members) {
      const auto found = object.find(member.name);
      if (found == object.end() || member.is_fit(*found)) continue;
      // A null is how some libraries write that there is none.
      if (!found->is_null())
        notes_.push_back(fmt::format("its {}{} is of a type that no client takes, and is not shown",
                                     before, member.name));
      object.erase(member.name);
    }
  }

  // Every call has an object of arguments.
  bool fit_input() {
    const auto found = definition_.find("inputSchema");
    if (found == definition_.end() || found->is_null()) {
      notes_.emplace_back("it has no inputSchema: it is shown, and called, without arguments");
      definition_["inputSchema"] = {{"type", "object"}, {"additionalProperties", false}};
      return true;
    }
    if (*found == true) *found = OrderedJson::object();
    const std::string why = fit_root(*found, "inputSchema");
    if (!why.empty()) notes_.push_back(why + ", so clients are not shown the tool");
    return why.empty();
  }

  void drop_unfit_output() {
    const auto found = definition_.find("outputSchema");
    if (found == definition_.end()) return;
    const std::string why = found->is_null() ? "" : fit_root(*found, "outputSchema");
    if (!why.empty()) notes_.push_back(why + ", so clients are not shown it");
    if (found->is_null() || !why.empty()) definition_.erase("outputSchema");
  }

  // "" and a root that is an object's, or why it cannot be one.
  std::string fit_root(OrderedJson& schema, const char* name) {
    if (!schema.is_object()) return fmt::format("its {} is no object", name);
    const OrderedJson* type = keyword(schema, "type");
    const bool may_be_object =
        type == nullptr || *type == "object" ||
        (type->is_array() && std::ranges::find(*type, OrderedJson("object")) != type->end());
    if (!may_be_object) return fmt::format("its {} is none of an object", name);
    if (type == nullptr || *type != "object") {
      notes_.push_back(
          fmt::format("its {} has no \"type\": \"object\", which clients are shown", name));
      schema["type"] = "object";
    }
    fit_members(schema, name);
    return {};
  }

  void fit_members(OrderedJson& schema, const char* name) {
    if (const auto properties = schema.find("properties"); properties != schema.end()) {
      if (properties->is_object()) {
        for (auto& member : *properties) {
          if (member.is_boolean())
            member = member == true ? OrderedJson::object()
                                    : OrderedJson{{"not", OrderedJson::object()}};
        }
      } else {
        notes_.push_back(fmt::format("the properties of its {} are no object", name));
        schema.erase("properties");
      }
    }
    const auto required = schema.find("required");
    if (required != schema.end() && !is_list_of_texts(*required)) schema.erase("required");
  }

  OrderedJson definition_;
  std::vector<std::string> notes_;
};

}  // namespace

ClientForm client_form(const OrderedJson& definition) {
  return Form(definition).take();
}

}  // namespace mcpac::codegen
