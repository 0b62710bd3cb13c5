// SPDX-License-Identifier: Apache-2.0

#include "gateway/lists/shown_lists.h"

#include <time.h>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpac::gateway {
namespace {

std::set<std::string> servers_in(const ListsByServer& lists) {
  std::set<std::string> servers;
  for (const auto& [server, list] : lists) servers.insert(server);
  return servers;
}

// Processor time of this thread; time that others took meanwhile is no list's.
std::chrono::nanoseconds time_of_thread() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

template <class Shown, class Make>
std::shared_ptr<const Shown> ShownLists::kept_or_made(Kept<Shown>& kept, Origin origin,
                                                      ListKind kind, Make make) {
  if (!kept.shown || kept.origin != origin) {
    const auto begun = time_of_thread();
    kept.shown = std::make_shared<const Shown>(make());
    tell(kept.origin, origin, kind, time_of_thread() - begun);
    kept.origin = std::move(origin);
  }
  kept.is_used = true;
  return kept.shown;
}

void ShownLists::tell(const Origin& before, const Origin& now, ListKind kind,
                      std::chrono::nanoseconds time) const {
  if (!worked_) return;
  struct New {
    const std::string* server;
    ListKind kind;
    double weight;
  };
  std::vector<New> all;
  double whole = 0;
  const auto add = [&](const ListsByServer& lists, const ListsByServer& former, ListKind of) {
    for (const auto& [server, list] : lists) {
      const auto known = former.find(server);
      if (!list || (known != former.end() && known->second == list)) continue;
      all.push_back({&server, of, static_cast<double>(list->weight() + 1)});
      whole += all.back().weight;
    }
  };
  add(now.lists, before.lists, kind);
  add(now.templates, before.templates, ListKind::kTemplates);
  for (const New& one : all) {
    const double part = static_cast<double>(time.count()) * (one.weight / whole);
    worked_(*one.server, one.kind, std::chrono::nanoseconds(static_cast<std::int64_t>(part)));
  }
}

template <class Shown>
void ShownLists::drop_unused(Kept<Shown>& kept) {
  if (!std::exchange(kept.is_used, false)) kept = {};
}

std::set<std::string> ShownLists::standing(const std::set<std::string>& servers,
                                           Offer offer) const {
  std::set<std::string> stand;
  for (const std::string& server : servers) {
    const auto permission = Permission::of(server, name_of(offer));
    if (permission && gate_.stands(*permission)) stand.insert(server);
  }
  return stand;
}

std::shared_ptr<const ShownEntries> ShownLists::resources(const std::set<std::string>& servers,
                                                          const ResourceLists& lists) {
  Origin origin{lists.resources, lists.templates, standing(servers, Offer::kResource)};
  return kept_or_made(resources_, std::move(origin), ListKind::kResources,
                      [&] { return shown_resources(gate_, servers, lists); });
}

std::shared_ptr<const ShownTemplates> ShownLists::templates(const ListsByServer& lists) {
  Origin origin{{}, lists, standing(servers_in(lists), Offer::kResource)};
  return kept_or_made(templates_, std::move(origin), ListKind::kTemplates,
                      [&] { return shown_templates(gate_, lists); });
}

std::shared_ptr<const ShownPrompts> ShownLists::prompts(const ListsByServer& lists, NameForm form,
                                                        const std::set<std::string>& servers) {
  Origin origin{lists, {}, standing(servers_in(lists), Offer::kPrompt)};
  return kept_or_made(prompts_, std::move(origin), ListKind::kPrompts,
                      [&] { return shown_prompts(gate_, lists, form, servers); });
}

void ShownLists::sweep() {
  drop_unused(resources_);
  drop_unused(templates_);
  drop_unused(prompts_);
}

}  // namespace mcpac::gateway
