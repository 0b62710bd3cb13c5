#include "gateway/support_lists.h"

#include <doctest/doctest.h>

namespace mcpac::gateway::testing {

Json resource(std::string_view uri) {
  return {{"uri", uri}, {"name", uri}, {"_meta", {{"of", "the server"}}}};
}
Json prompt(std::string_view name) {
  return {{"name", name}, {"title", "a prompt"}};
}
Json uri_template(std::string_view text) {
  return {{"uriTemplate", text}, {"name", text}};
}

std::set<std::string> keys(const Json& answer, const char* member, const char* key) {
  std::set<std::string> all;
  for (const Json& entry : answer.at("result").at(member)) all.insert(entry.at(key));
  return all;
}
std::set<std::string> uris(Talk& talk, int id) {
  return keys(talk.ask(id, "resources/list"), "resources", "uri");
}
std::set<std::string> prompts(Talk& talk, int id) {
  return keys(talk.ask(id, "prompts/list"), "prompts", "name");
}

void two_servers(FakeServers& servers) {
  servers.add("fs", {resource("file:///data/a"), resource("file:///data/b"), resource("x://both")},
              {uri_template("file:///data/{name}"), uri_template("file:///etc/{name}")},
              {prompt("ask"), prompt("review")});
  servers.add("git", {resource("git://log"), resource("x://both")},
              Json::array({uri_template("git://{ref}")}), Json::array({prompt("ask")}));
}

Json read(Talk& talk, int id, std::string_view uri, const Json& contents) {
  const auto before = talk.world.upstream.calls.size();
  const auto at_once = talk.send(request(id, "resources/read", {{"uri", uri}}));
  if (talk.world.upstream.calls.size() == before) {
    REQUIRE(at_once.size() == 1);
    return at_once.front();
  }
  talk.world.upstream.answer(before, Json{{"contents", contents}});
  return talk.heard().at(0);
}

}  // namespace mcpac::gateway::testing
