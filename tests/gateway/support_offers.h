// Servers as a gateway sees them besides calls: what they have, and what they were asked.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gate/servers.h"

namespace mcpac::gateway::testing {

class FakeServers final : public gate::Servers {
 public:
  struct Server {
    Json capabilities = Json::object();
    bool is_stateless = false;
    bool is_settled = true;
    std::uint64_t starts = 1;
    std::chrono::milliseconds timeout = std::chrono::minutes(1);
    // What it answers to a method; without an entry: no such method.
    std::map<std::string, std::function<Result<Outcome>(const Json& params)>> answers{};
  };
  struct Asked {
    std::string server;
    std::string method;
    Json params;
  };

  // A server with these resources, templates and prompts, each an array of entries.
  Server& add(const std::string& name, const Json& resources, const Json& templates = Json::array(),
              const Json& prompts = Json::array());
  // Everything that was asked so far is answered.
  void deliver();
  void say(const std::string& server, const std::string& method, const Json& params) const {
    if (heard) heard(server, method, params);
  }
  [[nodiscard]] std::size_t count(std::string_view method) const;

  [[nodiscard]] bool is_settled(const std::string& server) const override;
  [[nodiscard]] const Json* capabilities(const std::string& server) const override;
  [[nodiscard]] bool is_stateless(const std::string& server) const override;
  [[nodiscard]] std::uint64_t starts(const std::string& server) const override {
    return servers.at(server).starts;
  }
  [[nodiscard]] std::chrono::milliseconds timeout(const std::string& server) const override {
    return servers.at(server).timeout;
  }
  RequestToken request(const std::string& server, std::string method, Json params,
                       std::shared_ptr<gate::Caller> caller,
                       std::function<void(Result<Outcome>)> done) override;
  RequestToken listen(const std::string& server, Json params, std::function<void()> ended) override;
  void forget(RequestToken token) override { listening.erase(token); }
  void on_notified(OnNotified told) override { heard = std::move(told); }
  void on_settled(std::function<void()> told) override { settled = std::move(told); }

  std::map<std::string, Server> servers;
  std::vector<Asked> asked;
  std::map<RequestToken, Asked> listening;
  std::map<RequestToken, std::function<void()>> ends;  // what they hear when they end
  std::size_t longest = 16U << 20U;  // what is asked to listen with more ends at once
  OnNotified heard;
  std::function<void()> settled;

 private:
  std::deque<std::function<void()>> queue_;
  RequestToken last_ = 0;
};

}  // namespace mcpac::gateway::testing
