// SPDX-License-Identifier: Apache-2.0

// A client's requests about resources and prompts: read, get, complete.
#include <algorithm>
#include <expected>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json_cost.h"
#include "core/offer.h"
#include "gateway/call_answer.h"
#include "gateway/lists/shown_lists.h"
#include "gateway/lists/uri_bound.h"
#include "gateway/mcp_session.h"
#include "gateway/session_offers.h"
#include "gateway/session_waiting.h"

namespace mcpac::gateway {
namespace {

// Work to find the owners of one request's URIs; some hundredths of a second (core/work.h).
constexpr std::size_t kWorkOfRequest = std::size_t{1} << 23U;
// The same of holding them against the client's rules; some tenths.
constexpr std::size_t kWorkOnRules = std::size_t{1} << 24U;
// What is completed is not decided by any rule, so it is short: a text that a person types.
constexpr std::size_t kMaxCompleted = 8'192;

// Of a request that may wait for a list what the call is made from: a body of it may be large.
ipc::Request kept_of(const ipc::Request& request, std::vector<std::string_view> names) {
  names.insert(names.end(), {"requestState", "inputResponses"});
  ipc::Request kept{request.id, request.method, Json::object()};
  for (const std::string_view name : names) {
    if (const Json* value = find_member(request.params, name); value != nullptr)
      kept.params[std::string(name)] = *value;
  }
  kept.weight = to_text(kept.params).size() + beside_text(kept.params);
  return kept;
}

// A client's request for completion (2025-11-25, CompleteRequestParams). Every value is a text: so
// the rules look at exactly what the server gets, which is made from this and from nothing else.
struct Completing {
  bool is_prompt = false;
  std::string called;           // the prompt's name, as the client sees it; or a template
  std::string name;             // of the argument
  std::string value;            // of it, so far
  Json known = Json::object();  // of the other arguments
};

// Reads a completion request; the error says what is wrong with it.
std::expected<Completing, std::string> completing_of(const Json& params) {
  const auto bad = [](const char* what) { return std::unexpected<std::string>(what); };
  if (to_text(params).size() > kMaxCompleted) return bad("this is too long to be completed");
  const Json* ref = find_member(params, "ref");
  const Json* argument = find_member(params, "argument");
  const std::string type = ref == nullptr ? "" : string_member(*ref, "type");
  Completing wanted;
  wanted.is_prompt = type == "ref/prompt";
  if (argument == nullptr || !argument->is_object() ||
      (!wanted.is_prompt && type != "ref/resource"))
    return bad("params.ref and params.argument must say what to complete");
  wanted.called = string_member(*ref, wanted.is_prompt ? "name" : "uri");
  const Json* name = find_member(*argument, "name");
  const Json* value = find_member(*argument, "value");
  if (name == nullptr || value == nullptr || !name->is_string() || !value->is_string())
    return bad("params.argument must have a name and a value, both texts");
  wanted.name = name->get<std::string>();
  wanted.value = value->get<std::string>();
  const Json* more = find_member(params, "context");
  if (more != nullptr && !more->is_object()) return bad("params.context must be an object");
  const Json* given = more == nullptr ? nullptr : find_member(*more, "arguments");
  if (given == nullptr) return wanted;
  if (!given->is_object() ||
      !std::ranges::all_of(*given, [](const Json& one) { return one.is_string(); }))
    return bad("params.context.arguments must be an object of texts");
  wanted.known = *given;
  wanted.known.erase(wanted.name);
  return wanted;
}

// Of these values those of the variables.
Json only(const std::set<std::string, std::less<>>& variables, const Json& values) {
  Json some = Json::object();
  for (const auto& [name, value] : values.items()) {
    if (variables.contains(name)) some[name] = value;
  }
  return some;
}

// As its server is asked.
Json params_of(const Completing& wanted, Json ref, Json known) {
  Json params{{"ref", std::move(ref)},
              {"argument", {{"name", wanted.name}, {"value", wanted.value}}}};
  if (!known.empty()) params["context"] = {{"arguments", std::move(known)}};
  return params;
}

}  // namespace

bool SessionOffers::handle(const ipc::Request& request, const RequestContext& context) {
  const auto& method = request.method;
  if (method == "resources/list" && !with("resources").empty()) {
    list(request, context, ListKind::kResources);
  } else if (method == "resources/templates/list" && !with("resources").empty()) {
    list(request, context, ListKind::kTemplates);
  } else if (method == "prompts/list" && !with("prompts").empty()) {
    list(request, context, ListKind::kPrompts);
  } else if (method == kReadResource) {
    read(request, context);
  } else if (method == kGetPrompt) {
    get_prompt(request, context);
  } else if (method == "completion/complete" && capabilities().contains("completions")) {
    complete(request, context);
  } else {
    return false;
  }
  return true;
}

bool SessionOffers::handle_initialized(const ipc::Request& request) {
  const auto can_subscribe = [&] { return !with("resources", "subscribe").empty(); };
  if (request.method == "logging/setLevel") {
    set_level(request);
  } else if (request.method == "resources/subscribe" && can_subscribe()) {
    subscribe(request);
  } else if (request.method == "resources/unsubscribe" && can_subscribe()) {
    unsubscribe(request);
  } else {
    return false;
  }
  return true;
}

void SessionOffers::refuse(const ipc::Request& request, std::string name,
                           const ipc::ErrorObject& error) {
  session_.refuse_unoffered(request.id, {.permission = std::move(name)}, error);
}

void SessionOffers::find_owner(const std::string& uri, std::function<void(Owner)> done) {
  find_owners({uri}, [uri, done = std::move(done)](Owners owners) { done(owners[uri]); });
}

void SessionOffers::find_owners(const std::set<std::string>& uris,
                                std::function<void(Owners)> done) {
  const Servers servers = with("resources");
  Work on_rules(kWorkOnRules);
  Owners owners;
  std::map<std::string, Readers> open;  // the rules leave several
  Servers asked;
  for (const std::string& uri : uris) {
    Readers could = could_read(*session_.setup_.gate, servers, uri, on_rules);
    if (could.empty()) owners[uri] = {};
    if (could.size() == 1) owners[uri] = {could.begin()->first, could.begin()->second};
    if (could.size() < 2) continue;
    for (const auto& [server, sent] : could) asked.insert(server);
    open.emplace(uri, std::move(could));
  }
  if (open.empty()) return done(std::move(owners));
  resource_lists(asked, [weak = session_.weak_from_this(), owners, open,
                         done = std::move(done)](const ResourceLists& lists) {
    const auto session = weak.lock();
    if (!session) return;
    Owners found = owners;
    Work work(kWorkOfRequest);
    for (const auto& [uri, could] : open) {
      auto owner = owner_of(could, lists, work);
      const std::string sent = owner ? could.at(*owner) : "";
      found[uri] = {.server = owner, .uri = sent, .is_disputed = !owner};
    }
    done(std::move(found));
  });
}

void SessionOffers::read(const ipc::Request& request, const RequestContext& context) {
  const Json* uri = find_member(request.params, "uri");
  if (uri == nullptr || !uri->is_string())
    return session_.say_error(request.id, ipc::kInvalidParams, "params.uri must be a URI");
  const auto kept = kept_of(request, {"uri"});
  const auto seat = session_.setup_.room->take(kept.weight);
  if (!seat) return say_no_room(request.id);
  find_owner(uri->get<std::string>(),
             unless_over(request.id, [this, kept, seat, context](const Owner& owner) {
               read_from(kept, context, owner);
             }));
}

void SessionOffers::read_from(const ipc::Request& request, const RequestContext& context,
                              const Owner& owner) {
  const std::string uri = string_member(request.params, "uri");
  const Servers servers = with("resources");
  if (owner.is_disputed)
    return refuse(request, std::string(kReadResource), resource_not_found(uri));
  if (servers.empty()) return refuse(request, std::string(kReadResource), resource_not_found(uri));
  // Where no rule admits it, the gate says so, and records why by the rules of one of them.
  const auto permission =
      Permission::of(owner.server.value_or(*servers.begin()), kReadResource).value();
  gate::CallRequest call{.permission = permission.text(), .arguments = {{"uri", uri}}};
  session_.make_call(request, context, std::move(call), {CallForm::kResource, uri});
}

void SessionOffers::get_prompt(const ipc::Request& request, const RequestContext& context) {
  const Json* name = find_member(request.params, "name");
  if (name == nullptr || !name->is_string())
    return session_.say_error(request.id, ipc::kInvalidParams,
                              "params.name must be the name of a prompt");
  const auto kept = kept_of(request, {"name", "arguments"});
  const auto seat = session_.setup_.room->take(kept.weight);
  if (!seat) return say_no_room(request.id);
  const auto get = [this, kept, seat, context](const ListsByServer& lists) {
    const std::string called = string_member(kept.params, "name");
    const auto shown = shown_prompts(lists);
    const auto found = shown->prompts.find(called);
    if (found == shown->prompts.end())
      return refuse(kept, gate::bounded(called, kMaxCompleted), unknown_prompt(called));
    const auto permission = Permission::of(found->second.server(), kGetPrompt).value();
    Json arguments{{"name", found->second.tool()}};
    if (const Json* given = find_member(kept.params, "arguments"); given != nullptr)
      arguments["arguments"] = *given;
    gate::CallRequest call{.permission = permission.text(), .arguments = std::move(arguments)};
    session_.make_call(kept, context, std::move(call), {CallForm::kPrompt, called});
  };
  const Servers servers = with("prompts");
  if (servers.empty()) return get({});
  get_lists(ListKind::kPrompts, servers, unless_over(request.id, get));
}

void SessionOffers::complete(const ipc::Request& request, const RequestContext& context) {
  auto read = completing_of(request.params);
  if (!read) return session_.say_error(request.id, ipc::kInvalidParams, std::move(read.error()));
  const ListKind kind = read->is_prompt ? ListKind::kPrompts : ListKind::kTemplates;
  const auto ask = [this, id = request.id, context,
                    wanted = std::move(*read)](const ListsByServer& lists) {
    const auto& gate = *session_.setup_.gate;
    // Completing tells what there is: where such a call would not be made without a question,
    // nothing.
    const auto is_allowed = [&](const std::string& server, Offer offer, Json arguments) {
      const auto permission = Permission::of(server, name_of(offer));
      return permission && gate.allows_now(*permission, std::move(arguments));
    };
    Json values = wanted.known;
    values[wanted.name] = wanted.value;
    if (!wanted.is_prompt) {
      const auto shown = session_.setup_.shown->templates(lists);
      const auto found = shown->owners.find(wanted.called);
      if (found == shown->owners.end())
        return session_.say_error(id, resource_not_found(wanted.called));
      const auto variables = variables_of(wanted.called);
      if (!variables.contains(wanted.name))
        return session_.say_error(id, ipc::kInvalidParams,
                                  "params.argument.name is no variable of the template");
      const auto uri = filled_in(wanted.called, values, kMaxUri);
      if (!uri)
        return session_.say_error(id, ipc::kInvalidParams,
                                  "the template with these values is longer than 8,192 bytes");
      if (!is_allowed(found->second, Offer::kResource, {{"uri", *uri}}))
        return complete_with_nothing(id, context);
      return complete_at(id, context, found->second,
                         params_of(wanted, {{"type", "ref/resource"}, {"uri", wanted.called}},
                                   only(variables, wanted.known)));
    }
    const auto shown = shown_prompts(lists);
    const auto found = shown->prompts.find(wanted.called);
    if (found == shown->prompts.end()) return session_.say_error(id, unknown_prompt(wanted.called));
    const std::string& prompt = found->second.tool();
    if (!is_allowed(found->second.server(), Offer::kPrompt,
                    {{"name", prompt}, {"arguments", values}}))
      return complete_with_nothing(id, context);
    complete_at(id, context, found->second.server(),
                params_of(wanted, {{"type", "ref/prompt"}, {"name", prompt}}, wanted.known));
  };
  get_lists(kind, with(capability_of(kind)), unless_over(request.id, ask));
}

void SessionOffers::complete_with_nothing(const ipc::Id& id, const RequestContext& context) {
  session_.say_result(id, in_form(context.era, {{"completion", {{"values", Json::array()}}}}));
}

void SessionOffers::complete_at(const ipc::Id& id, const RequestContext& context,
                                const std::string& server, Json params) {
  if (!offers_->any_has({process_of(server)}, "completions"))
    return complete_with_nothing(id, context);
  auto done =
      unless_over(id, [this, id, era = context.era](Result<gate::Servers::Outcome> outcome) {
        if (!outcome)
          return session_.say_error(id, ipc::kInternalError, "the server cannot be asked");
        if (!*outcome)
          return session_.say_error(id, without_our_name(std::move((*outcome).error())));
        session_.say_result(id, complete_in_form(era, without_our_name(std::move(**outcome))));
      });
  // Questions about it are not answered; but the server knows for whom it works.
  offers_->servers().request(process_of(server), "completion/complete", std::move(params),
                             session_.caller_of_nothing(), std::move(done));
}

}  // namespace mcpac::gateway
