// SPDX-License-Identifier: Apache-2.0

#include "gateway/lists/offer_view.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/offer.h"
#include "gateway/lists/page_bounds.h"
#include "policy/text/printer.h"

namespace mcpac::gateway {
namespace {

std::optional<Permission> permission_for(const std::string& server, Offer offer) {
  auto permission = Permission::of(server, name_of(offer));
  return permission ? std::optional(std::move(*permission)) : std::nullopt;
}

const ServerList& list_of(const ListsByServer& lists, const std::string& server) {
  static const ServerList none;
  const auto found = lists.find(server);
  return found == lists.end() ? none : found->second;
}

// Of a URI that `server` lists: no other of `servers` lists it or has a template for it, and all
// could be asked.
bool is_alone_with(const std::string& server, const Readers& servers, const ResourceLists& lists,
                   Work& work) {
  if (!list_of(lists.templates, server)) return false;
  return std::ranges::all_of(servers, [&](const auto& other) {
    const auto& [name, uri] = other;
    const auto& resources = list_of(lists.resources, name);
    const auto& templates = list_of(lists.templates, name);
    return name == server || (resources && templates && !resources->has(uri, work) &&
                              templates->may_mean(uri, work) == Meaning::kNo);
  });
}

}  // namespace

Readers could_read(const gate::Gate& gate, const std::set<std::string>& servers,
                   const std::string& uri, Work& work) {
  Readers could;
  for (const std::string& server : servers) {
    const auto permission = permission_for(server, Offer::kResource);
    work.spend(uri.size());
    if (work.left() == 0) return {};
    auto sent = permission ? gate.as_sent(*permission, {{"uri", uri}}) : std::nullopt;
    if (!sent) continue;
    policy::CallInSource call;
    call.known = std::move(*sent);
    if (gate.could_allow(*permission, call, work))
      could.emplace(server, string_member(call.known, "uri"));
  }
  return work.left() == 0 ? Readers() : could;
}

std::optional<std::string> owner_of(const Readers& servers, const ResourceLists& lists,
                                    Work& work) {
  if (servers.size() == 1) return servers.begin()->first;
  std::optional<std::string> owner;
  for (const auto& [server, uri] : servers) {
    const auto& resources = list_of(lists.resources, server);
    const auto& templates = list_of(lists.templates, server);
    // What a server that cannot be asked has is unknown.
    if (!resources || !templates) return std::nullopt;
    if (!resources->has(uri, work)) {
      const auto meaning = templates->may_mean(uri, work);
      if (meaning == Meaning::kNo) continue;
      if (meaning == Meaning::kCannotTell) return std::nullopt;
    }
    if (owner) return std::nullopt;
    owner = server;
  }
  return owner;
}

namespace {

// The texts and the variables of a URI template (RFC 6570, section 2), in their order.
template <class OnText, class OnVariable>
void walk(std::string_view uri_template, const OnText& on_text, const OnVariable& on_variable) {
  for (;;) {
    const auto open = uri_template.find('{');
    on_text(uri_template.substr(0, open));
    const auto close = open == std::string_view::npos ? open : uri_template.find('}', open);
    if (close == std::string_view::npos) return;
    std::string_view names = uri_template.substr(open + 1, close - open - 1);
    uri_template.remove_prefix(close + 1);
    if (!names.empty() && std::string_view("+#./;?&").contains(names.front()))
      names.remove_prefix(1);
    while (!names.empty()) {
      const std::string_view one = names.substr(0, names.find(','));
      on_variable(one.substr(0, one.find_first_of(":*")));
      names.remove_prefix(std::min(one.size() + 1, names.size()));
    }
  }
}

}  // namespace

std::optional<std::string> filled_in(std::string_view uri_template, const Json& values,
                                     std::size_t most) {
  std::string text;
  const auto add = [&](std::string_view piece) {
    if (text.size() <= most) text += piece;
  };
  walk(uri_template, add, [&](std::string_view name) { add(string_member(values, name)); });
  return text.size() <= most ? std::optional(std::move(text)) : std::nullopt;
}

std::set<std::string, std::less<>> variables_of(std::string_view uri_template) {
  std::set<std::string, std::less<>> names;
  walk(
      uri_template, [](std::string_view) {}, [&](std::string_view name) { names.emplace(name); });
  return names;
}

// As owner_of() says.
ShownEntries shown_resources(const gate::Gate& gate, const std::set<std::string>& servers,
                             const ResourceLists& lists, const WorkOnLists& work_on_lists) {
  ShownEntries shown;
  for (const auto& [server, list] : lists.resources) {
    if (!list) continue;
    Work work(work_on_lists.templates / lists.resources.size());
    Work on_rules(work_on_lists.rules / lists.resources.size());
    for (const Json& entry : *list) {
      const std::string uri = string_member(entry, key_of(ListKind::kResources));
      const auto could = could_read(gate, servers, uri, on_rules);
      if (on_rules.left() == 0) break;
      if (!could.contains(server)) continue;
      if (could.size() == 1 || is_alone_with(server, could, lists, work))
        shown.emplace(uri, std::shared_ptr<const Json>(list, &entry));
    }
  }
  return shown;
}

namespace {

// The servers whose rules could ever allow a template, by the text before its variables.
class TemplateReaders {
 public:
  TemplateReaders(const gate::Gate& gate, std::size_t steps) : gate_(gate), work_(steps) {}

  [[nodiscard]] bool could_read(const std::string& server, const std::string& text) {
    const std::string begin = text.substr(0, text.find('{'));
    const auto known = asked_.find({server, begin});
    if (known != asked_.end()) return known->second;
    const auto permission = permission_for(server, Offer::kResource);
    const std::string where =
        begin.empty() ? "uri any" : "uri starts " + policy::print_string(begin);
    const bool could = permission && gate_.could_allow(*permission, where, work_);
    if (is_over()) return false;
    asked_.emplace(std::pair(server, begin), could);
    return could;
  }
  [[nodiscard]] bool is_over() const { return work_.left() == 0; }

 private:
  const gate::Gate& gate_;
  Work work_;
  std::map<std::pair<std::string, std::string>, bool> asked_;
};

std::set<std::string> unknown_in(const ListsByServer& lists) {
  std::set<std::string> unknown;
  for (const auto& [server, list] : lists) {
    if (!list) unknown.insert(server);
  }
  return unknown;
}

}  // namespace

ShownTemplates shown_templates(const gate::Gate& gate, const ListsByServer& lists,
                               const WorkOnLists& work) {
  ShownTemplates shown;
  std::set<std::string> twice;
  const auto unknown = unknown_in(lists);
  for (const auto& [server, list] : lists) {
    if (!list) continue;
    TemplateReaders readers(gate, work.rules / lists.size());
    for (const Json& entry : *list) {
      const std::string text = string_member(entry, key_of(ListKind::kTemplates));
      const bool is_readable = readers.could_read(server, text);
      const bool may_be_others = std::ranges::any_of(
          unknown, [&](const std::string& other) { return readers.could_read(other, text); });
      // What is not known any more is claimed all the same: else it would be left to another.
      if (readers.is_over()) twice.insert(text);
      if (readers.is_over() || !is_readable) continue;
      if (may_be_others || !shown.owners.emplace(text, server).second) twice.insert(text);
      shown.entries.emplace(text, std::shared_ptr<const Json>(list, &entry));
    }
  }
  for (const std::string& text : twice) {
    shown.entries.erase(text);
    shown.owners.erase(text);
  }
  return shown;
}

ShownPrompts shown_prompts(const gate::Gate& gate, const ListsByServer& lists, NameForm form,
                           const std::set<std::string>& servers, const WorkOnLists& work) {
  std::map<Permission, std::shared_ptr<const Json>> could;
  for (const auto& [server, list] : lists) {
    const auto permission = permission_for(server, Offer::kPrompt);
    if (!list || !permission) continue;
    Work on_rules(work.rules / lists.size());
    for (const Json& entry : *list) {
      const std::string name = string_member(entry, key_of(ListKind::kPrompts));
      auto prompt = Permission::of(server, name);
      policy::CallInSource call;
      call.known["name"] = name;
      call.unknown = {"arguments"};
      if (prompt && gate.could_allow(*permission, call, on_rules))
        could.emplace(*prompt, std::shared_ptr<const Json>(list, &entry));
    }
  }
  std::vector<Permission> all;
  for (const auto& [prompt, entry] : could) all.push_back(prompt);
  ShownPrompts shown;
  for (auto& [name, prompt] : names_of_prompts(all, form, servers)) {
    shown.entries.emplace(name, could.at(prompt));
    shown.prompts.emplace(name, prompt);
  }
  return shown;
}

std::optional<Page> page_of(const ShownEntries& entries, std::string_view cursor,
                            std::string_view named) {
  auto at = entries.begin();
  if (!cursor.empty()) {
    if (!cursor.starts_with(kCursor)) return std::nullopt;
    at = entries.upper_bound(std::string(cursor.substr(kCursor.size())));
  }
  Page page;
  std::size_t bytes = 0;
  for (std::string last; at != entries.end(); last = at->first, ++at) {
    Json entry = *at->second;
    if (!named.empty()) entry[std::string(named)] = at->first;
    const std::size_t size = to_text(entry).size();
    if (page.entries.size() == kPageEntries || (bytes > 0 && bytes + size > kPageBytes)) {
      page.next = std::string(kCursor) + last;
      return page;
    }
    bytes += size;
    page.entries.push_back(std::move(entry));
  }
  return page;
}

}  // namespace mcpac::gateway
