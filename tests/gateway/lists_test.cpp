// Whose a URI is, where servers and clients make that as long as they can.
#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gateway/lists/offer_view.h"
#include "gateway/support_session.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;

namespace {

constexpr std::size_t kMuch = 1'000'000;

Json listed_resource(const std::string& uri) {
  return {{"uri", uri}, {"name", "n"}};
}
Json listed_template(const std::string& text) {
  return {{"uriTemplate", text}, {"name", "n"}};
}
std::string uri_of(int i) {
  return "zz://" + std::to_string(i) + "/" + std::string(200, 'a');
}

ServerList resources(int count) {
  std::vector<Json> entries;
  for (int i = 0; i < count; ++i) entries.push_back(listed_resource(uri_of(i)));
  return std::make_shared<const KnownList>(ListKind::kResources, std::move(entries));
}
ServerList templates(const std::vector<std::string>& texts) {
  std::vector<Json> entries;
  for (const std::string& text : texts) entries.push_back(listed_template(text));
  return std::make_shared<const KnownList>(ListKind::kTemplates, std::move(entries));
}

// Each has to be looked for to the end of a URI, and none means it.
std::vector<std::string> hostile(int count) {
  std::vector<std::string> texts;
  for (int i = 0; i < count; ++i)
    texts.push_back("zz://{a}" + std::string(100, 'a') + "b" + std::to_string(i) + "{z}");
  return texts;
}

ResourceLists lists_with(ServerList of_fs, const std::vector<std::string>& of_git) {
  ResourceLists lists;
  lists.resources = {{"fs", std::move(of_fs)}, {"git", resources(0)}};
  lists.templates = {{"fs", templates({})}, {"git", templates(of_git)}};
  return lists;
}

Meaning meaning(const std::string& text, const std::string& uri, std::size_t steps = kMuch) {
  Work work(steps);
  return UriPattern(text).may_mean(uri, work);
}
bool may_mean(const std::string& text, const std::string& uri) {
  return meaning(text, uri) == Meaning::kMay;
}

}  // namespace

TEST_SUITE("gateway/lists") {
  TEST_CASE("a template may mean what its expressions can stand for") {
    CHECK(may_mean("file:///{path}", "file:///a/b"));
    CHECK(may_mean("a://{x}/data/{y}", "a://1/data/2"));
    CHECK(may_mean("a://{x}/end", "a://1/2/end"));
    CHECK(may_mean("a://b", "a://b"));
    CHECK_FALSE(may_mean("a://b", "a://bc"));
    CHECK_FALSE(may_mean("a://bc", "a://b"));
    CHECK_FALSE(may_mean("a://{x}/end", "a://1/ends"));
    CHECK_FALSE(may_mean("a://{x}", "b://1"));
    CHECK_FALSE(may_mean("a://{x}aab{y}", "a://aaaa"));
    CHECK(may_mean("a://{x}aab{y}", "a://aaab"));
    CHECK_FALSE(may_mean("a://{x}b{y}b", "a://b"));
    CHECK(may_mean("{x}{y}", ""));
    CHECK(may_mean("a://{x", "a://1"));
    CHECK(may_mean("", ""));
  }

  TEST_CASE("a template that is larger than anybody's claims what its beginning does") {
    std::string many = "a://";
    for (int i = 0; i < 20; ++i) many += "{x}/" + std::to_string(i);
    std::string eight = "a://";
    for (int i = 0; i < 8; ++i) eight += "/" + std::to_string(i);
    CHECK(may_mean(many, eight + "/and more"));
    CHECK_FALSE(may_mean(many, "a:///0/1"));
    const std::string beginning = "a://" + std::string(1'020, 'x');
    CHECK(may_mean(beginning + "y{z}", beginning));
    CHECK(may_mean(beginning + "y", beginning + "other"));
    CHECK_FALSE(may_mean(beginning + "y{z}", "a://x"));
  }

  TEST_CASE("holding a URI against a template takes no more steps than it has characters") {
    const std::string pattern = "a://{x}" + std::string(500, 'a') + "b{y}";
    const std::string uri = "a://" + std::string(8'000, 'a');
    CHECK(meaning(pattern, uri, 8'010) == Meaning::kNo);
    CHECK(meaning(pattern, uri, 7'000) == Meaning::kCannotTell);
    CHECK(meaning(pattern, "b://", 7'000) == Meaning::kNo);
    CHECK(meaning("a://b", "a://b", 5) == Meaning::kCannotTell);
  }

  TEST_CASE("whose a URI is does not take a look at every entry of a list") {
    const auto lists = lists_with(resources(10'000), {});
    Work work(kMuch);
    const std::string none = "zz://none";
    CHECK_FALSE(owner_of({{"fs", none}, {"git", none}}, lists, work));
    CHECK(owner_of({{"fs", uri_of(9'999)}, {"git", uri_of(9'999)}}, lists, work) == "fs");
    CHECK(kMuch - work.left() < 100);
  }

  TEST_CASE("a URI is nobody's where the work does not suffice to tell") {
    const auto lists = lists_with(resources(10), hostile(100));
    const Readers both{{"fs", uri_of(1)}, {"git", uri_of(1)}};
    Work much(kMuch);
    CHECK(owner_of(both, lists, much) == "fs");
    Work little(5'000);
    CHECK_FALSE(owner_of(both, lists, little));
    // Rules that leave one server need no list.
    CHECK(owner_of({{"fs", uri_of(1)}}, lists, little) == "fs");
  }

  TEST_CASE("a long list against many templates ends, and what could not be told is not shown") {
    Talk talk({.grants = {"fs.*", "git.*"}, .offers = true});
    const auto lists = lists_with(resources(300), hostile(100));
    CHECK(shown_resources(*talk.world.gate, {"fs", "git"}, lists).size() == 300);
    const auto some = shown_resources(*talk.world.gate, {"fs", "git"}, lists, {kMuch});
    CHECK(some.size() > 10);
    CHECK(some.size() < 100);
    // The same each time: it does not depend on how fast the machine is.
    CHECK(shown_resources(*talk.world.gate, {"fs", "git"}, lists, {kMuch}).size() == some.size());
  }

  TEST_CASE("holding entries against rules takes no more than its budget, and the rest is hidden") {
    std::vector<std::string> grants;
    for (int i = 0; i < 50; ++i)
      grants.push_back(R"(fs."resources/read"(uri ends ")" + std::to_string(i) + "\")");
    grants.insert(grants.end(), {"fs.*", "git.*"});
    Talk talk({.grants = grants, .offers = true});
    auto& gate = *talk.world.gate;
    const auto lists = lists_with(resources(300), {});
    CHECK(shown_resources(gate, {"fs", "git"}, lists).size() == 300);
    const auto some = shown_resources(gate, {"fs", "git"}, lists, {.rules = kMuch});
    CHECK(some.size() > 1);
    CHECK(some.size() < 300);
    Work little(30'000);
    CHECK(could_read(gate, {"fs", "git"}, uri_of(1), little).size() == 2);
    // Nobody is the only one because another could not be asked about any more.
    CHECK(could_read(gate, {"fs", "git"}, uri_of(1), little).empty());
    CHECK(could_read(gate, {"git"}, uri_of(1), little).empty());
  }

  TEST_CASE("templates that cannot be held against rules any more are nobody's") {
    Talk talk({.grants = {R"(fs."resources/read"(uri re /a.*b.*c/))", "git.*"}, .offers = true});
    ListsByServer lists;
    std::vector<std::string> many;
    for (int i = 0; i < 100; ++i) many.push_back("zz://" + std::to_string(i) + "/{a}");
    lists["git"] = templates(many);
    CHECK(shown_templates(*talk.world.gate, lists).owners.size() == 100);
    const auto some = shown_templates(*talk.world.gate, lists, {.rules = kMuch});
    CHECK(some.owners.size() > 10);
    CHECK(some.owners.size() < 100);
    lists["fs"] = templates(many);
    CHECK(shown_templates(*talk.world.gate, lists, {.rules = 100}).owners.empty());
  }

  TEST_CASE("a server whose list takes much work leaves that of another its share") {
    Talk talk({.grants = {"fs.*", "git.*"}, .offers = true});
    ResourceLists lists;
    lists.resources["fs"] = resources(300);
    lists.resources["git"] = std::make_shared<const KnownList>(
        ListKind::kResources, std::vector<Json>{listed_resource("git://log")});
    lists.templates = {{"fs", templates({})}, {"git", templates(hostile(100))}};
    const auto shown = shown_resources(*talk.world.gate, {"fs", "git"}, lists, {1'000});
    CHECK(shown.size() < 300);
    CHECK(shown.contains("git://log"));
  }

  TEST_CASE("a request that names many resources asks for lists once, and waits in one place") {
    Talk talk({.grants = {"fs.*", "git.*"}, .offers = true});
    talk.with_servers([](FakeServers& servers) {
      servers.add("fs", Json::array({listed_resource("x://a")}));
      servers.add("git", Json::array());
    });
    talk.initialize();
    Json named = Json::array({"x://a"});
    for (int i = 0; i < 1'023; ++i) named.push_back("x://none/" + std::to_string(i));
    const Json wanted{{"resourceSubscriptions", named}};
    // No server answers yet.
    talk.session->receive(
        request("l", "subscriptions/listen", stateless({{"notifications", wanted}})).dump());
    CHECK(talk.heard().empty());
    CHECK(talk.send(request(1, "resources/read", {{"uri", "x://a"}})).size() == 1);  // of the first
    CHECK(talk.world.upstream.calls.size() == 1);
    CHECK(talk.servers.count("resources/list") == 2);
  }

  TEST_CASE("a list that is read again and did not change is the one that there was") {
    Talk talk({.grants = {"fs.*"}, .offers = true});
    talk.with_servers(
        [](FakeServers& servers) { servers.add("fs", Json::array({listed_resource("x://a")})); });
    const auto read = [&] {
      ServerList list;
      talk.offers.lists().get(ListKind::kResources, {"fs"},
                              [&](const ListsByServer& lists) { list = lists.at("fs"); });
      talk.servers.deliver();
      return list;
    };
    const auto first = read();
    talk.offers.lists().forget("fs", ListKind::kResources);
    CHECK(read() == first);
    CHECK(talk.servers.count("resources/list") == 2);
    talk.servers.add("fs", Json::array({listed_resource("x://b")}));
    talk.offers.lists().forget("fs", ListKind::kResources);
    CHECK(read() != first);
  }
}
