// SPDX-License-Identifier: Apache-2.0

#include "gateway/lists/catalog.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "codegen/client_form.h"
#include "gateway/lists/page_bounds.h"

namespace mcpac::gateway {
std::shared_ptr<const Catalog> Catalog::make(const codegen::Lock& lock,
                                             const policy::Authority& authority, NameForm form,
                                             const std::set<std::string>& taken,
                                             const std::set<Permission>& withheld) {
  auto catalog = std::make_shared<Catalog>();
  catalog->names_ = form;
  std::map<Permission, OrderedJson> forms;
  for (const auto& server : lock.servers) {
    for (const auto& tool : server.tools) {
      auto permission = Permission::of(server.name, tool.name);
      // A lock that mcpac wrote has no tool whose name means another thing in rules.
      if (!permission || offer_named(tool.name) || withheld.contains(*permission)) continue;
      if (authority.coverage(*permission, "") == policy::Coverage::kMissing) continue;
      auto fit = codegen::client_form(tool.definition);
      for (const std::string& note : fit.notes)
        catalog->notes_.push_back(fmt::format("{}: {}", permission->text(), note));
      if (!fit.definition) continue;
      forms.emplace(*permission, std::move(*fit.definition));
      catalog->permissions_.insert(std::move(*permission));
    }
  }
  const std::vector<Permission> all(catalog->permissions_.begin(), catalog->permissions_.end());
  for (const auto& server : lock.servers) {
    for (const Offer offer : {Offer::kResource, Offer::kPrompt}) {
      auto permission = Permission::of(server.name, name_of(offer));
      if (permission && authority.coverage(*permission, "") != policy::Coverage::kMissing)
        catalog->permissions_.insert(std::move(*permission));
    }
  }
  for (auto& [name, permission] : client_names(all, form, taken)) {
    OrderedJson definition = std::move(forms.at(permission));
    definition["name"] = name;
    const std::size_t bytes = to_text(definition).size();
    catalog->tools_.emplace(name, Entry{permission, std::move(definition), bytes});
  }
  return catalog;
}

const Permission* Catalog::find(const std::string& name) const {
  const auto found = tools_.find(name);
  return found == tools_.end() ? nullptr : &found->second.permission;
}

std::set<std::string> Catalog::servers() const {
  std::set<std::string> names;
  for (const Permission& permission : permissions_) names.insert(permission.server());
  return names;
}

std::set<std::string> Catalog::offering(Offer offer) const {
  std::set<std::string> names;
  for (const Permission& permission : permissions_) {
    if (permission.tool() == name_of(offer)) names.insert(permission.server());
  }
  return names;
}

std::optional<ToolPage> Catalog::page(std::string_view cursor, const Hidden& is_hidden) const {
  auto at = tools_.begin();
  if (!cursor.empty()) {
    if (!cursor.starts_with(kCursor)) return std::nullopt;
    at = tools_.find(std::string(cursor.substr(kCursor.size())));
    if (at == tools_.end()) return std::nullopt;
    ++at;
  }
  ToolPage page;
  std::size_t bytes = 0;
  for (std::string last; at != tools_.end(); last = at->first, ++at) {
    if (is_hidden(at->second.permission)) continue;
    const bool is_full =
        page.tools.size() == kPageEntries || (bytes > 0 && bytes + at->second.bytes > kPageBytes);
    if (is_full) {
      page.next = std::string(kCursor) + last;
      return page;
    }
    bytes += at->second.bytes;
    page.tools.push_back(at->second.definition);
  }
  return page;
}

}  // namespace mcpac::gateway
