#include "gateway/support_offers.h"

#include <algorithm>
#include <utility>

#include "ipc/json_rpc.h"

namespace mcpac::gateway::testing {

FakeServers::Server& FakeServers::add(const std::string& name, const Json& resources,
                                      const Json& templates, const Json& prompts) {
  Server& server = servers[name];
  server.capabilities = {{"tools", Json::object()},
                         {"resources", {{"subscribe", true}, {"listChanged", true}}},
                         {"prompts", {{"listChanged", true}}}};
  const auto list = [&server](const char* method, const char* member, Json entries) {
    server.answers[method] = [member, entries](const Json&) {
      return Outcome(Json{{member, entries}});
    };
  };
  list("resources/list", "resources", resources);
  list("resources/templates/list", "resourceTemplates", templates);
  list("prompts/list", "prompts", prompts);
  for (const char* method : {"resources/subscribe", "resources/unsubscribe", "logging/setLevel"})
    server.answers[method] = [](const Json&) { return Outcome(Json::object()); };
  return server;
}

void FakeServers::deliver() {
  while (!queue_.empty()) {
    const auto next = std::move(queue_.front());
    queue_.pop_front();
    next();
  }
}

std::size_t FakeServers::count(std::string_view method) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(asked, [&](const Asked& one) { return one.method == method; }));
}

bool FakeServers::is_settled(const std::string& server) const {
  const auto found = servers.find(server);
  return found != servers.end() && found->second.is_settled;
}

const Json* FakeServers::capabilities(const std::string& server) const {
  const auto found = servers.find(server);
  const bool is_known =
      found != servers.end() && found->second.is_settled && found->second.capabilities.is_object();
  return is_known ? &found->second.capabilities : nullptr;
}

bool FakeServers::is_stateless(const std::string& server) const {
  const auto found = servers.find(server);
  return found != servers.end() && found->second.is_stateless;
}

gate::Servers::RequestToken FakeServers::request(const std::string& server, std::string method,
                                                 Json params, std::shared_ptr<gate::Caller>,
                                                 std::function<void(Result<Outcome>)> done) {
  asked.push_back({server, method, params});
  queue_.emplace_back([this, server, method, params, done = std::move(done)] {
    const auto found = servers.find(server);
    if (found == servers.end()) return done(fail(ErrorId::kServerDied, "it is not there"));
    const auto answer = found->second.answers.find(method);
    if (answer == found->second.answers.end())
      return done(Outcome(std::unexpected(ipc::ErrorObject{ipc::kMethodNotFound, "no", nullptr})));
    done(answer->second(params));
  });
  return ++last_;
}

gate::Servers::RequestToken FakeServers::listen(const std::string& server, Json params,
                                                std::function<void()> ended) {
  asked.push_back({server, "subscriptions/listen", params});
  if (to_text(params).size() > longest) {
    queue_.push_back(std::move(ended));
  } else {
    listening[last_ + 1] = {server, "subscriptions/listen", std::move(params)};
    ends[last_ + 1] = std::move(ended);
  }
  return ++last_;
}

}  // namespace mcpac::gateway::testing
