#include "gateway/shown_lists.h"

#include <string_view>
#include <utility>

namespace mcpac::gateway {
namespace {

std::set<std::string> servers_in(const ListsByServer& lists) {
  std::set<std::string> servers;
  for (const auto& [server, list] : lists) servers.insert(server);
  return servers;
}

}  // namespace

template <class Shown, class Make>
std::shared_ptr<const Shown> ShownLists::kept_or_made(Kept<Shown>& kept, Origin origin, Make make) {
  if (!kept.shown || kept.origin != origin) {
    kept.shown = std::make_shared<const Shown>(make());
    kept.origin = std::move(origin);
  }
  kept.is_used = true;
  return kept.shown;
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
  return kept_or_made(resources_, std::move(origin),
                      [&] { return shown_resources(gate_, servers, lists); });
}

std::shared_ptr<const ShownTemplates> ShownLists::templates(const ListsByServer& lists) {
  Origin origin{{}, lists, standing(servers_in(lists), Offer::kResource)};
  return kept_or_made(templates_, std::move(origin), [&] { return shown_templates(gate_, lists); });
}

std::shared_ptr<const ShownPrompts> ShownLists::prompts(const ListsByServer& lists, NameForm form,
                                                        const std::set<std::string>& servers) {
  Origin origin{lists, {}, standing(servers_in(lists), Offer::kPrompt)};
  return kept_or_made(prompts_, std::move(origin),
                      [&] { return shown_prompts(gate_, lists, form, servers); });
}

void ShownLists::sweep() {
  drop_unused(resources_);
  drop_unused(templates_);
  drop_unused(prompts_);
}

}  // namespace mcpac::gateway
