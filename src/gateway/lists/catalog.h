// SPDX-License-Identifier: Apache-2.0

// Catalog: the tools that one client sees: those of the lock that its policy could ever allow.
//
// What is not here does not exist for the client: a tool without a grant is answered like an
// unknown one. Definitions are the lock's, in the form that every client takes
// (codegen/client_form.h), under the client's name. Immutable, and shared by all sessions under one
// policy.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/lock.h"
#include "core/json.h"
#include "core/offer.h"
#include "core/permission.h"
#include "gateway/lists/client_name.h"
#include "policy/authority.h"

namespace mcpac::gateway {

// One page of tools/list. An empty `next` is the last one.
struct ToolPage {
  OrderedJson tools = OrderedJson::array();  // members in the servers' order
  std::string next;
};

class Catalog {
 public:
  // `taken`: names of tools of our own. `withheld`: not offered to any client.
  [[nodiscard]] static std::shared_ptr<const Catalog> make(
      const codegen::Lock& lock, const policy::Authority& authority, NameForm form,
      const std::set<std::string>& taken = {}, const std::set<Permission>& withheld = {});

  // Null: the client has no such tool.
  [[nodiscard]] const Permission* find(const std::string& name) const;
  // Whether the client was granted any tool.
  [[nodiscard]] bool has_tools() const { return !tools_.empty(); }
  // Tools that clients see in another form than their servers said, and tools that they do not see.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  [[nodiscard]] const std::set<Permission>& permissions() const { return permissions_; }
  [[nodiscard]] std::set<std::string> servers() const;
  // Servers whose resources, or prompts, the client may read or get.
  [[nodiscard]] std::set<std::string> offering(Offer offer) const;
  [[nodiscard]] NameForm names() const { return names_; }

  // At most 250 tools and about 1 MiB a page. `cursor` is empty or what a page before gave; nothing
  // for any other. Tools for which `is_hidden` holds are left out.
  using Hidden = std::function<bool(const Permission&)>;
  [[nodiscard]] std::optional<ToolPage> page(std::string_view cursor,
                                             const Hidden& is_hidden) const;

 private:
  struct Entry {
    Permission permission;
    OrderedJson definition;
    std::size_t bytes = 0;
  };
  std::map<std::string, Entry> tools_;  // by the client's name
  std::vector<std::string> notes_;
  std::set<Permission> permissions_;  // of the tools, and of what else servers offer
  NameForm names_ = NameForm::kDotted;
};

}  // namespace mcpac::gateway
