// SPDX-License-Identifier: Apache-2.0

// A client's lists and notifications of resources and prompts; session_reading.cpp has its
// requests.
#include "gateway/session_offers.h"

#include <algorithm>
#include <utility>

#include "core/offer.h"
#include "gate/servers.h"
#include "gateway/lists/shown_lists.h"
#include "gateway/lists/uri_bound.h"
#include "gateway/log_message.h"
#include "gateway/mcp_session.h"
#include "gateway/session_waiting.h"

namespace mcpac::gateway {
namespace {

// A client watches some; each is kept, and told to a server.
constexpr std::size_t kMaxSubscriptions = 1'024;
// The longest that we give is shorter (server_lists.cpp: keys of 8 KiB).
constexpr std::size_t kMaxCursor = 16'384;
// Memory of a watched resource beside its URI, as the client wrote it and as its server was told.
constexpr std::size_t kOfWatched = 256;

std::size_t bytes_of_watched(const std::string& uri) {
  return 2 * uri.size() + kOfWatched;
}

bool is_short_text(const Json& uri) {
  return uri.is_string() && uri.get_ref<const std::string&>().size() <= kMaxUri;
}

bool wants(const Json& filter, std::string_view name) {
  const Json* value = find_member(filter, name);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

}  // namespace

SessionOffers::Servers SessionOffers::with(std::string_view capability,
                                           std::string_view flag) const {
  if (offers_ == nullptr) return {};
  const auto offer = capability == "prompts" ? Offer::kPrompt : Offer::kResource;
  Servers have;
  for (const std::string& server : session_.setup_.catalog->offering(offer)) {
    if (offers_->any_has({process_of(server)}, capability, flag)) have.insert(server);
  }
  return have;
}

std::string SessionOffers::process_of(const std::string& server) const {
  return session_.setup_.process_of ? session_.setup_.process_of(server) : server;
}

SessionOffers::Servers SessionOffers::processes_of(const Servers& servers) const {
  Servers processes;
  for (const std::string& server : servers) processes.insert(process_of(server));
  return processes;
}

void SessionOffers::get_lists(ListKind kind, const Servers& servers,
                              std::function<void(const ListsByServer&)> done) const {
  if (!session_.setup_.process_of) return offers_->lists().get(kind, servers, std::move(done));
  offers_->lists().get(kind, processes_of(servers),
                       [done = std::move(done)](const ListsByServer& lists) {
                         ListsByServer named;
                         for (const auto& [process, list] : lists)
                           named.emplace(gate::server_of(process), list);
                         done(named);
                       });
}

Json SessionOffers::capabilities() const {
  Json said = Json::object();
  if (offers_ == nullptr) return said;
  // Lists that came late are told by mcpac, whatever their servers tell.
  if (!with("resources").empty()) said["resources"] = {{"listChanged", true}};
  if (!with("resources", "subscribe").empty()) said["resources"]["subscribe"] = true;
  if (!with("prompts").empty()) said["prompts"] = {{"listChanged", true}};
  Servers complete = with("prompts");
  complete.merge(with("resources"));
  if (offers_->any_has(processes_of(complete), "completions")) said["completions"] = Json::object();
  if (offers_->any_has(processes_of(session_.setup_.catalog->servers()), "logging"))
    said["logging"] = Json::object();
  return said;
}

void SessionOffers::when_known(const ipc::Id& id, std::function<void()> done) {
  if (offers_ == nullptr) return done();
  offers_->when_settled(processes_of(session_.setup_.catalog->servers()),
                        unless_over(id, std::move(done)));
}

bool SessionOffers::forget(const ipc::Id& id) {
  if (waiting_.erase(id) == 0) return false;
  session_.say_nothing(id);
  return true;
}

void SessionOffers::say_no_room(const ipc::Id& id) {
  session_.say_error(id, ipc::kInvalidRequest, "too much of this client waits for servers already");
}

void SessionOffers::say_too_many(const ipc::Id& id) {
  session_.say_error(id, ipc::kInvalidRequest,
                     "too many resources are watched: of one server 1,024 by a client, with 64 KiB "
                     "of URIs, and 4,096 by all clients, with 512 KiB");
}

void SessionOffers::say_too_long(const ipc::Id& id) {
  session_.say_error(id, ipc::kInvalidParams, "params.uri is longer than 8,192 bytes");
}

void SessionOffers::close() {
  waiting_.clear();
  end(own_);
  own_ = {};
}

void SessionOffers::list(const ipc::Request& request, const RequestContext& context,
                         ListKind kind) {
  const Json* cursor = find_member(request.params, "cursor");
  if (cursor != nullptr &&
      (!cursor->is_string() || cursor->get_ref<const std::string&>().size() > kMaxCursor))
    return session_.say_error(request.id, ipc::kInvalidParams, "Invalid cursor");
  const auto say = [this, id = request.id, era = context.era, kind,
                    from = string_member(request.params, "cursor")](const ShownEntries& entries) {
    auto page = page_of(entries, from, kind == ListKind::kPrompts ? key_of(kind) : "");
    if (!page) return session_.say_error(id, ipc::kInvalidParams, "Invalid cursor");
    Json result{{std::string(member_of(kind)), std::move(page->entries)}};
    if (!page->next.empty()) result["nextCursor"] = std::move(page->next);
    session_.say_result(id, in_form(era, cacheable(era, std::move(result))));
  };
  const Servers servers = with(capability_of(kind));
  if (kind == ListKind::kResources)
    return resource_lists(servers, unless_over(request.id, [this, servers, say](const auto& lists) {
                            say(*session_.setup_.shown->resources(servers, lists));
                          }));
  get_lists(kind, servers, unless_over(request.id, [this, kind, say](const ListsByServer& lists) {
              if (kind == ListKind::kTemplates)
                return say(session_.setup_.shown->templates(lists)->entries);
              say(shown_prompts(lists)->entries);
            }));
}

std::shared_ptr<const ShownPrompts> SessionOffers::shown_prompts(const ListsByServer& lists) const {
  const Catalog& catalog = *session_.setup_.catalog;
  return session_.setup_.shown->prompts(lists, catalog.names(), catalog.offering(Offer::kPrompt));
}

// Both at a time: a silent server is waited for once.
void SessionOffers::resource_lists(const Servers& servers,
                                   std::function<void(const ResourceLists&)> done) {
  struct Gathered {
    ResourceLists lists{};
    bool is_half = false;
    std::function<void(const ResourceLists&)> done;
  };
  const auto gathered = std::make_shared<Gathered>(Gathered{.done = std::move(done)});
  const auto into = [gathered](ListsByServer ResourceLists::*which) {
    return [gathered, which](const ListsByServer& lists) {
      gathered->lists.*which = lists;
      if (std::exchange(gathered->is_half, true)) gathered->done(gathered->lists);
    };
  };
  get_lists(ListKind::kResources, servers, into(&ResourceLists::resources));
  get_lists(ListKind::kTemplates, servers, into(&ResourceLists::templates));
}

void SessionOffers::agree(const ipc::Id& id, const Json& wanted,
                          std::function<void(Listening)> done) {
  Listening agreed{.tools = wants(wanted, "toolsListChanged") && session_.has_tools()};
  agreed.prompts = wants(wanted, "promptsListChanged") && !with("prompts").empty();
  agreed.resources = wants(wanted, "resourcesListChanged") && !with("resources").empty();
  std::set<std::string> uris;
  const Json* named = find_member(wanted, "resourceSubscriptions");
  if (named != nullptr && named->is_array() && offers_ != nullptr) {
    for (const Json& uri : *named) {
      if (is_short_text(uri) && uris.size() < kMaxSubscriptions)
        uris.insert(uri.get<std::string>());
    }
  }
  if (uris.empty()) return done(std::move(agreed));
  std::size_t bytes = 0;
  for (const std::string& uri : uris) bytes += bytes_of_watched(uri);
  agreed.seat = session_.setup_.room->take(bytes);
  if (!agreed.seat) return say_no_room(id);
  find_owners(uris, unless_over(id, [this, id, agreed, done](const Owners& owners) {
                Listening heard = agreed;
                for (const auto& [uri, owner] : owners) {
                  if (owner.server && may_hear(*owner.server, owner.uri))
                    heard.uris[uri] = {.server = *owner.server, .uri = owner.uri};
                }
                if (!may_watch(heard.uris)) return say_too_many(id);
                done(std::move(heard));
              }));
}

Subscriptions::Subscriber SessionOffers::who(std::uint64_t number) const {
  return {.client = session_.setup_.client, .number = number};
}

bool SessionOffers::may_watch(const std::map<std::string, Watched>& uris) const {
  std::map<std::string, std::set<std::string>> at_servers;
  for (const auto& [text, watched] : uris)
    at_servers[process_of(watched.server)].insert(watched.uri);
  const auto& subscriptions = offers_->watch().subscriptions();
  return std::ranges::all_of(at_servers, [&](const auto& one) {
    return subscriptions.has_room_for(session_.setup_.client, one.first, one.second);
  });
}

void SessionOffers::begin(Listening& listening) {
  if (listening.uris.empty()) return;
  listening.subscriber = offers_->watch().new_subscriber();
  for (const auto& [text, watched] : listening.uris)
    offers_->watch().subscribe(who(listening.subscriber), process_of(watched.server), watched.uri,
                               session_.caller_of_nothing(), [](const auto&) {});
}

void SessionOffers::end(const Listening& listening) {
  for (const auto& [text, watched] : listening.uris)
    offers_->watch().unsubscribe(who(listening.subscriber), process_of(watched.server),
                                 watched.uri);
}

void SessionOffers::stop_watching(const Watched& watched) {
  const bool is_named_again =
      std::ranges::any_of(own_.uris, [&](const auto& one) { return one.second == watched; });
  if (!is_named_again)
    offers_->watch().unsubscribe(who(own_.subscriber), process_of(watched.server), watched.uri);
}

void SessionOffers::subscribe(const ipc::Request& request) {
  const Json* uri = find_member(request.params, "uri");
  if (uri == nullptr || !uri->is_string())
    return session_.say_error(request.id, ipc::kInvalidParams, "params.uri must be a URI");
  if (!is_short_text(*uri)) return say_too_long(request.id);
  if (own_.uris.size() >= kMaxSubscriptions)
    return session_.say_error(request.id, ipc::kInvalidRequest, "too many subscriptions are open");
  const auto text = uri->get<std::string>();
  const auto seat = session_.setup_.room->take(bytes_of_watched(text));
  if (!seat) return say_no_room(request.id);
  auto subscribed = unless_over(
      request.id, [this, id = request.id, text](const Result<gate::Servers::Outcome>& said) {
        if (said && *said) return session_.say_result(id, Json::object());
        if (const auto node = own_.uris.extract(text); !node.empty()) stop_watching(node.mapped());
        if (said) return session_.say_error(id, without_our_name((*said).error()));
        session_.say_error(id, ipc::kInternalError, "the server cannot be asked");
      });
  find_owner(text, [this, id = request.id, text, seat, subscribed](const Owner& owner) {
    if (!waiting_.contains(id)) return;
    if (!owner.server || !may_hear(*owner.server, owner.uri)) {
      waiting_.erase(id);
      return session_.say_error(id, resource_not_found(text));
    }
    const Watched watched{*owner.server, owner.uri, seat};
    if (!may_watch({{text, watched}})) {
      waiting_.erase(id);
      return say_too_many(id);
    }
    const auto before = own_.uris.extract(text);
    if (own_.subscriber == 0) own_.subscriber = offers_->watch().new_subscriber();
    own_.uris[text] = watched;
    // Another server's by now: the one that it was hears of it.
    if (!before.empty()) stop_watching(before.mapped());
    offers_->watch().subscribe(who(own_.subscriber), process_of(watched.server), watched.uri,
                               session_.caller_of_nothing(), subscribed);
  });
}

bool SessionOffers::may_hear(const std::string& server, const std::string& uri) const {
  const auto permission = Permission::of(server, kReadResource);
  return permission && with("resources", "subscribe").contains(server) &&
         session_.setup_.gate->allows_now(*permission, {{"uri", uri}});
}

void SessionOffers::unsubscribe(const ipc::Request& request) {
  const std::string uri = string_member(request.params, "uri");
  if (uri.size() > kMaxUri) return say_too_long(request.id);
  if (const auto node = own_.uris.extract(uri); !node.empty()) stop_watching(node.mapped());
  session_.say_result(request.id, Json::object());
}

void SessionOffers::set_level(const ipc::Request& request) {
  const std::string level = string_member(request.params, "level");
  if (!is_log_level(level))
    return session_.say_error(request.id, ipc::kInvalidParams, "level must be one of MCP's eight");
  log_level_ = level;
  want_level(level);
  session_.say_result(request.id, Json::object());
}

void SessionOffers::want_level(const std::string& level) {
  if (offers_ == nullptr || level.empty()) return;
  for (const std::string& server : session_.setup_.catalog->servers())
    offers_->watch().want_level(process_of(server), level);
}

void SessionOffers::heard(const std::string& server, const std::string& method,
                          const Json& params) {
  if (method == "notifications/resources/updated") return updated(server, params);
  if (method == "notifications/message") return logged(server, params);
  const bool is_prompts = method == "notifications/prompts/list_changed";
  if (!is_prompts && method != "notifications/resources/list_changed") return;
  if (!with(is_prompts ? "prompts" : "resources").contains(server)) return;
  if (session_.version_)
    session_.say_about(std::nullopt, ipc::encode_notification(method, nullptr));
  session_.tell_listeners(method, Json::object(), [is_prompts](const Listening& one) {
    return is_prompts ? one.prompts : one.resources;
  });
}

bool SessionOffers::means(const Listening& listening, const std::string& server,
                          const std::string& uri) const {
  return std::ranges::any_of(listening.uris, [&](const auto& one) {
    return one.second.server == server && is_part_of(uri, one.second.uri);
  });
}

void SessionOffers::updated(const std::string& server, const Json& params) {
  const std::string uri = string_member(params, "uri");
  const auto is_meant = [&](const Listening& one) { return means(one, server, uri); };
  // Whether it is watched is looked up, what the rules say is worked out.
  const bool is_own = is_meant(own_);
  const bool is_watched = is_own || session_.listens_to(is_meant);
  if (!is_watched || !may_hear(server, uri)) return;
  constexpr std::string_view kUpdated = "notifications/resources/updated";
  if (is_own) session_.say_about(std::nullopt, ipc::encode_notification(kUpdated, {{"uri", uri}}));
  session_.tell_listeners(kUpdated, {{"uri", uri}}, is_meant);
}

// Of no call: only to a client that is its server's only one, which its run has made sure of.
void SessionOffers::logged(const std::string& server, const Json& params) {
  if (!session_.version_ || log_level_.empty()) return;
  if (!session_.setup_.catalog->servers().contains(server)) return;
  auto message = log_message(server, params);
  if (!message || !is_wanted(*message, log_level_)) return;
  session_.say_about(std::nullopt, ipc::encode_notification("notifications/message", *message));
}

}  // namespace mcpac::gateway
