#include "history/support_recording.h"

namespace mcpac::history::testing {
namespace {

codegen::LockedTool locked(const std::string& name, OrderedJson definition) {
  definition["name"] = name;
  codegen::LockedTool tool{.name = name, .cpp_name = name, .digest = {}, .definition = {}};
  tool.digest = codegen::definition_digest(definition);
  tool.definition = std::move(definition);
  return tool;
}

OrderedJson plain() {
  return {{"inputSchema", {{"type", "object"}}}};
}

OrderedJson reading() {
  OrderedJson definition = plain();
  definition["annotations"] = {{"readOnlyHint", true}};
  return definition;
}

codegen::LockedServer server(const std::string& name, std::vector<codegen::LockedTool> tools) {
  return {.name = name,
          .identity = name,
          .implementation = "",
          .protocol_version = "",
          .cpp_name = "mcp::" + name,
          .tools = std::move(tools)};
}

}  // namespace

codegen::Lock some_lock() {
  const OrderedJson secret{
      {"type", "object"},
      {"properties", {{"password", {{"type", "string"}, {"writeOnly", true}}}}}};
  codegen::Lock lock;
  lock.servers.push_back(server(
      "files", {locked("list", reading()), locked("read", reading()), locked("write", plain())}));
  lock.servers.push_back(server("git", {locked("log", plain())}));
  lock.servers.push_back(server("vault", {locked("login", {{"inputSchema", secret}}),
                                          locked("show", {{"inputSchema", {{"type", "object"}}},
                                                          {"outputSchema", secret}})}));
  return lock;
}

std::shared_ptr<Made> make_call(gate::Upstream& at, const std::string& name, Json arguments,
                                std::shared_ptr<gate::Caller> caller) {
  auto made = std::make_shared<Made>();
  made->token =
      at.forward(tool(name), std::move(arguments), std::move(caller), [made](Result<Json> answer) {
        REQUIRE_FALSE(made->answer.has_value());
        made->answer = std::move(answer);
      });
  return made;
}

std::string text_of(const std::shared_ptr<Made>& made) {
  REQUIRE(made->answer.has_value());
  REQUIRE(made->answer->has_value());
  return (**made->answer).at("content").at(0).at("text");
}

Recording sequence(const codegen::Lock& lock, const std::vector<Step>& steps) {
  Servers servers;
  Recorder recorder(servers, servers, lock);
  for (const Step& step : steps) {
    const auto made = make_call(recorder, step.tool, step.arguments);
    servers.answer(servers.calls.size() - 1, said(step.answer));
  }
  auto taken = recorder.take();
  REQUIRE(taken.has_value());
  return std::move(*taken);
}

}  // namespace mcpac::history::testing
