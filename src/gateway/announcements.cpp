// SPDX-License-Identifier: Apache-2.0

#include "gateway/announcements.h"

#include <fmt/format.h>

#include "gateway/lists/uri_bound.h"

namespace mcpac::gateway {

void Announcements::let_in(const std::string& client, const std::set<std::string>& servers) {
  for (const std::string& server : servers) clients_of_[server].insert(client);
}

void Announcements::heard(const std::string& server, const std::string& method,
                          const Json& params) {
  offers_.heard(server, method, params);
  if (method == "notifications/message") {
    if (!offers_.watch().is_too_much(server, clock_)) pass_on(server, method, params);
    return;
  }
  Announced about{.server = server, .method = method, .watched = {}};
  const bool is_update = method == "notifications/resources/updated";
  const std::string uri = is_update ? string_member(params, "uri") : "";
  if (is_update) {
    if (uri.size() > kMaxUri) return say_too_long(server);
    // Names that a server makes up use up no client's share.
    const auto watched = offers_.watch().subscriptions().watched_whole(server, uri);
    if (!watched) return;
    about.watched = *watched;
  } else if (method != "notifications/resources/list_changed" &&
             method != "notifications/prompts/list_changed") {
    return;
  }
  pace_.tell(about, uri, [this, server, method, is_update](const std::string& told) {
    pass_on(server, method, is_update ? Json{{"uri", told}} : Json());
  });
}

// Clients need not know why: to them it is a list that changed.
void Announcements::came_late(const std::string& server, ListKind kind) {
  const std::string method = kind == ListKind::kPrompts ? "notifications/prompts/list_changed"
                                                        : "notifications/resources/list_changed";
  pace_.tell({.server = server, .method = method, .watched = {}}, "",
             [this, server, method](const std::string&) { pass_on(server, method, Json()); });
}

void Announcements::say_too_long(const std::string& server) const {
  if (warning_)
    warning_(fmt::format("the server {} tells of a resource whose URI is longer than {} bytes",
                         gate::server_of(server), kMaxUri));
}

void Announcements::pass_on(const std::string& server, const std::string& method,
                            const Json& params) {
  // A log message of no call may be about any client's: after several clients it is for none of
  // them, though all but one have gone.
  if (method == "notifications/message" && clients_of_[server].size() != 1) return;
  for (const auto& run : runs_.all()) run->heard(server, method, params);
}

}  // namespace mcpac::gateway
