// SPDX-License-Identifier: Apache-2.0

// OfferView: the resources, templates and prompts visible to one client, and the owner of a URI.
//
// A list shows what the client's rules could ever allow. A URI is one server's: rules say whose it
// may be, and where they leave several, it is the one that lists it or has a template for it. Where
// that are several, or a server that may be it cannot be asked, it has no owner: else one server
// could replace another's resource by listing it. Pure but for the gate, which it asks.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/permission.h"
#include "core/work.h"
#include "gate/gate.h"
#include "gateway/lists/client_name.h"
#include "gateway/lists/server_lists.h"

namespace mcpac::gateway {

// Entries of the servers' lists, under what they are sorted and paged by.
using ShownEntries = std::map<std::string, std::shared_ptr<const Json>>;

struct ResourceLists {
  ListsByServer resources;
  ListsByServer templates;
};

// Servers, and the URI in the spelling in which each of them gets it: where a rule reads it as a
// URL, it is sent as that was read (docs/grants.md, "Resources and prompts").
using Readers = std::map<std::string, std::string>;
// Of `servers`, which this client may read from: those that its rules leave for this URI. Where the
// work does not suffice to ask about all of them, none: one that is left alone would be believed.
[[nodiscard]] Readers could_read(const gate::Gate& gate, const std::set<std::string>& servers,
                                 const std::string& uri, Work& work);
// Of these the owner; nothing: it has none. So it is where the work does not suffice to tell.
[[nodiscard]] std::optional<std::string> owner_of(const Readers& servers,
                                                  const ResourceLists& lists, Work& work);
// A template (RFC 6570) with what is known of its variables; of the others nothing is put in. Not
// encoded: for rules, and not to be sent. Nothing: it is longer than `most`, since a template may
// name a variable as often as it likes.
[[nodiscard]] std::optional<std::string> filled_in(std::string_view uri_template,
                                                   const Json& values, std::size_t most);
// The names of a template's variables.
[[nodiscard]] std::set<std::string, std::less<>> variables_of(std::string_view uri_template);
// What all lists together may take: of holding URIs against templates, some tenths of a second at
// the most, and entries against the client's rules, one or two seconds: once for a list, and not
// for each of its pages. Each server's list has a share: none uses up another's. What is left when
// it is used up is not shown; of templates' share, but where the rules leave one server.
struct WorkOnLists {
  std::size_t templates = std::size_t{1} << 26U;
  std::size_t rules = std::size_t{1} << 27U;
};
[[nodiscard]] ShownEntries shown_resources(const gate::Gate& gate,
                                           const std::set<std::string>& servers,
                                           const ResourceLists& lists,
                                           const WorkOnLists& work = {});
// And the owner of each template: one that several servers have has none, nor has one of a server
// whose list is not known.
struct ShownTemplates {
  ShownEntries entries;
  std::map<std::string, std::string> owners;
};
[[nodiscard]] ShownTemplates shown_templates(const gate::Gate& gate, const ListsByServer& lists,
                                             const WorkOnLists& work = {});

// Prompts by the names that the client knows them by: the server's entry, and server and own name.
struct ShownPrompts {
  ShownEntries entries;
  std::map<std::string, Permission> prompts;
};
// `servers`: all that the rules leave for prompts, whether they answer or not.
[[nodiscard]] ShownPrompts shown_prompts(const gate::Gate& gate, const ListsByServer& lists,
                                         NameForm form, const std::set<std::string>& servers,
                                         const WorkOnLists& work = {});

// At most 250 entries and about 1 MiB. `cursor` is empty or what a page before gave; nothing for a
// text that is none. `named`: the member of an entry that is the client's name for it, not the
// server's; empty: there is none.
struct Page {
  Json entries = Json::array();
  std::string next;
};
[[nodiscard]] std::optional<Page> page_of(const ShownEntries& entries, std::string_view cursor,
                                          std::string_view named = {});

}  // namespace mcpac::gateway
